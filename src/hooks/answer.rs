//! Handles one hook call: the text at the start of a session, and the news of a phase that a summary completed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::context::{AlreadyRead, BREADCRUMB, DigestPart, DigestRequest};
use crate::error::{Error, Result};
use crate::facts::{Facts, Purpose};
use crate::hooks::input::{Input, is_first, queue, take_waiting};
use crate::hooks::{Event, Harness, SetupScope, harness, setup};
use crate::knowledge::notepad;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::plan::{FileKind, FileName, Phase, PhaseReport, PhaseState, Survey};
use crate::project::{OpenRequest, Project};
use crate::secrets::SecretPolicy;
use crate::share::Direction;
use crate::storage::read;
use crate::text::{Line, clip, estimate_tokens, sha256};
use crate::warning::{Parsed, Warning};
use crate::{context, lifecycle, share};

/// Maximum time that a session waits for another process's lock.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Time span in which two calls of a hook count as the same event, in seconds.
const DUPLICATE_WINDOW_SECONDS: i64 = 10;

/// A hook call, as given on the command line; what is missing is found in the input and the environment.
#[derive(Args, Clone, Debug, Default)]
pub struct HookRequest {
    /// session-start, post-tool-use, pre-compact, subagent-stop or session-end, or the harness's name for it
    pub event: Option<String>,
    /// Harness that calls the hook: claude, codex, gemini, opencode, qwen or copilot
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,
    /// Leave out the notepad
    #[arg(long)]
    pub no_notepad: bool,
    /// Leave out the knowledge entries
    #[arg(long)]
    pub no_entries: bool,
}

/// The outcome of a call.
#[derive(Debug, Default)]
pub struct Reply {
    /// The answer that the harness reads, with the text for the model; `None` if there is nothing to say.
    pub answer: Option<Value>,
    /// An error that could not be logged because the log cannot be written.
    pub log_error: Option<Error>,
}

/// Answers a hook.
///
/// `input` is the content of standard input. Errors are logged in `.annals/hook.log` and do not suppress the
/// rest of the answer, even if the log cannot be written. Fails only if no project can be opened.
pub fn answer(request: &HookRequest, place: &OpenRequest, input: &[u8]) -> Result<Reply> {
    let Some(input) = Input::parse(input) else {
        let project = Project::open(place.clone())?;
        let problem = match input.trim_ascii() {
            [] => "the input is empty",
            _ => "the input is not a JSON object, or too large",
        };
        let log_error = note_problem(&project, "annals", problem).err();
        return Ok(Reply { answer: None, log_error });
    };
    let fired = input.event().and_then(harness::safe_event_name);
    let Some(event) = request.event.as_deref().or(fired).and_then(harness::parse_event) else {
        return Ok(Reply::default());
    };
    let Some(mut project) = project_of(place, &input, event)? else {
        return Ok(Reply::default());
    };
    project.settings.lock_wait = project.settings.lock_wait.min(LOCK_WAIT);
    let harness = request
        .harness
        .as_deref()
        .and_then(Harness::from_word)
        .unwrap_or_else(|| Harness::from_environment(&project.environment));
    let name = harness.profile().event_name(event).unwrap_or("annals");
    let mut problems = Vec::new();
    let text = context_for(request, &project, harness, event, &input, &mut problems)
        .unwrap_or_else(|error| {
            problems.push(error);
            None
        });
    let noted: Result<()> = problems.into_iter().try_for_each(|problem| {
        let problem = problem.relative_to(&project.root).to_string();
        note_problem(&project, name, &problem)
    });
    Ok(Reply {
        log_error: noted.err(),
        answer: text.filter(|_| event.accepts_context()).map(|text| {
            if harness.profile().has_plain_answers {
                return json!({ "additionalContext": text });
            }
            let name = fired.unwrap_or(name);
            json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
        }),
    })
}

/// Opens the project of a session: of its working directory, else the one that its harness specifies.
///
/// Returns `None` if none of them has a memory, or, at a start, parts that have one.
fn project_of(place: &OpenRequest, input: &Input, event: Event) -> Result<Option<Project>> {
    let mut folders = Vec::new();
    if place.project.is_none() {
        let named = Harness::ALL.into_iter().filter_map(|harness| {
            place.environment.get(harness.profile().project_variable.as_ref()?)
        });
        folders.extend(input.cwd().into_iter().chain(named.map(PathBuf::from)));
        folders.retain(|dir| dir.is_dir());
    }
    folders.push(place.directory.clone());
    folders.dedup();
    for directory in folders {
        let project = Project::open(OpenRequest { directory, ..place.clone() })?;
        let is_start = event == Event::SessionStart;
        if context::has_memory(&project) || is_start && !context::parts(&project).is_empty() {
            return Ok(Some(project));
        }
    }
    Ok(None)
}

fn context_for(
    request: &HookRequest,
    project: &Project,
    harness: Harness,
    event: Event,
    input: &Input,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    match event {
        Event::SessionStart | Event::PreCompact
            if is_answered_by_other_scope(project, harness, event, input)? =>
        {
            Ok(None)
        }
        Event::SessionStart => {
            let start = Start {
                is_compacted: input.is_compacted(),
                notepad: project.settings.notepad && !request.no_notepad,
                entries: project.settings.entries && !request.no_entries,
            };
            let text = start_text(project, harness, start, problems)?;
            let Some(text) = text else { return Ok(None) };
            let what = format!("start text {}", sha256(&text));
            // In a folder above the projects that have a memory, nothing is created.
            let is_first = context::has_memory(project)
                && is_first(project, input, &what, None).unwrap_or_else(|error| {
                    problems.push(error);
                    true
                });
            // A resumed conversation still has what was said at its start.
            Ok((is_first || input.source() != Some("resume")).then_some(text))
        }
        Event::PostToolUse => phase_text(project, input, problems),
        Event::SubagentStop => from_subagents(project, input),
        Event::SessionEnd => {
            let refreshed = context::refresh_blocks(project);
            problems.extend(sync_devices(project).err());
            refreshed.map(|_| None)
        }
        Event::PreCompact => leave_breadcrumb(project, input).map(|()| None),
    }
}

/// Returns whether the same hook in the other scope has already answered this event; if both are set up, only
/// one answers.
fn is_answered_by_other_scope(
    project: &Project,
    harness: Harness,
    event: Event,
    input: &Input,
) -> Result<bool> {
    if !harness.profile().runs_both_scopes
        || !SetupScope::ALL.into_iter().all(|scope| setup::is_in(project, harness, scope))
    {
        return Ok(false);
    }
    let cause = match event {
        Event::PreCompact => "before compaction".to_owned(),
        _ if input.is_compacted() => "after compaction".to_owned(),
        _ => format!("start: {}", clip(input.source().unwrap_or_default(), 40)),
    };
    is_first(project, input, &cause, Some(DUPLICATE_WINDOW_SECONDS)).map(|is_first| !is_first)
}

/// Timeout for the sync with other devices: all hooks at session end share 1.5 s.
const SYNC_TIMEOUT: Duration = Duration::from_millis(700);

/// Syncs facts and journal with the user's other devices, if sharing is set up.
fn sync_devices(project: &Project) -> Result<()> {
    if !share::is_configured(project) {
        return Ok(());
    }
    let facts = Facts::open(project, None, Purpose::Read)?;
    if !share::is_active(project, &facts)? {
        return Ok(());
    }
    share::sync(project, &facts, Direction::Both, Some(SYNC_TIMEOUT)).map(|_| ())
}

/// Maximum length of a breadcrumb, in characters.
const MAX_BREADCRUMB_CHARS: usize = 160;

/// Adds a breadcrumb to the working memory.
fn leave_breadcrumb(project: &Project, input: &Input) -> Result<()> {
    // Without a plan, it could say only that there was a compaction.
    if project.planning().is_err() {
        return Ok(());
    }
    let trigger = input.trigger().unwrap_or("unasked");
    let text = format!("{BREADCRUMB}{trigger}){}", describe_position(project)?);
    let text = Line::sanitized(&text).clipped(MAX_BREADCRUMB_CHARS);
    let note = Note {
        section: NotepadSection::Working,
        text: text.as_str(),
        secrets: SecretPolicy::Refuse,
        request_id: None,
        replaces_equal: true,
    };
    notepad::write(project, &note).map(|_| ())
}

/// Describes the position: `: phase 4 - Low-Stock Alerts (in progress, 1 of 3 plans), next /vbw:execute 4`.
fn describe_position(project: &Project) -> Result<String> {
    let position = Survey::read(project)?.position;
    let phase = PhaseReport::derived(&position)
        .line()
        .map(|phase| format!(": phase {phase}"))
        .unwrap_or_default();
    let contested = if position.next.conflict { " (contested)" } else { "" };
    Ok(format!("{phase}, next {}{contested}", position.next.command))
}

/// The log, in `.annals/`.
const LOG_FILE: &str = "hook.log";
/// Size at which the log begins anew, in bytes.
const MAX_LOG_BYTES: usize = 256 * 1024;

/// Appends a line to `.annals/hook.log` if the project has a memory; never creates the folder elsewhere.
fn note_problem(project: &Project, event: &str, problem: &str) -> Result<()> {
    let storage = project.storage();
    let is_there = storage.own_file("").is_dir();
    if !is_there && project.planning().is_err() {
        return Ok(());
    }
    if storage.cache(LOG_FILE)?.is_some_and(|bytes| bytes.len() > MAX_LOG_BYTES) {
        storage.write_cache(LOG_FILE, b"")?;
    }
    let problem = problem.replace('\n', " ");
    storage.log(LOG_FILE, &format!("{} {event}: {problem}", project.clock.timestamp()))
}

/// The last line, with the command that prints what did not fit.
const REST: &str = "More: `annals context`";

/// Maximum length of an answer, in UTF-16 code units: harnesses drop a longer one, or show only a preview.
pub const LIMIT: usize = 9_500;

/// The parameters of a session's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Whether the conversation has just been compacted.
    pub(crate) is_compacted: bool,
    /// Whether to include the notepad.
    pub(crate) notepad: bool,
    /// Whether to include the knowledge entries.
    pub(crate) entries: bool,
}

/// Returns the text for a new session, or `None` if there is nothing new.
pub(crate) fn start_text(
    project: &Project,
    harness: Harness,
    start: Start,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let already_read = already_read(project, harness);
    let without = [
        (DigestPart::Notepad, !start.notepad),
        (DigestPart::Entries, !start.entries),
        (DigestPart::Decisions, already_read.has_decisions),
    ]
    .into_iter()
    .filter(|(_, is_out)| *is_out)
    .map(|(part, _)| part);
    let request = DigestRequest {
        // Joining two texts may add a token.
        budget: context::START_BUDGET - estimate_tokens(REST) - 2,
        compacted: start.is_compacted,
        without: without.collect(),
        max_lines_per_list: context::START_LINES,
        already_read,
        ..DigestRequest::default()
    };
    let digest = context::digest(project, &request)?;
    problems.extend(
        digest.warnings.into_iter().map(|warning| {
            Error::failed(warning.message).at(&warning.place.file, warning.place.line)
        }),
    );
    Ok((!digest.text.is_empty()).then(|| capped(&digest.text)))
}

/// Estimates the tokens that a new session of a harness reads: those of the context files in the project, and those of the
/// text for its start.
pub fn start_tokens(project: &Project, harness: Harness) -> (usize, usize) {
    let start = Start {
        is_compacted: false,
        notepad: project.settings.notepad,
        entries: project.settings.entries,
    };
    let text = start_text(&project.dry_run(true), harness, start, &mut Vec::new())
        .ok()
        .flatten()
        .unwrap_or_default();
    let shown = &harness.profile().context;
    let files = context_texts(project, harness)
        .into_iter()
        .map(|text| estimate_tokens(&shown.visible(&text.value)));
    (files.sum(), estimate_tokens(&text))
}

fn already_read(project: &Project, harness: Harness) -> AlreadyRead {
    let mut known = AlreadyRead::default();
    for text in context_texts(project, harness) {
        // Of a file in conflict, the session cannot tell which side holds.
        if !text.warnings.iter().any(Warning::is_conflict) {
            known.add(&harness.profile().context.visible(&text.value));
        }
        known.add_generated(&text.value);
    }
    known
}

/// Reads the context files in the project that a harness shows its model, and `AGENTS.md` if one of them imports it; a file
/// that cannot be read counts as missing, so nothing is omitted because of it.
fn context_texts(project: &Project, harness: Harness) -> Vec<Parsed<String>> {
    let files = &harness.profile().context;
    let text = |name: &str| read::text(&project.root.join(name)).ok().flatten();
    let mut texts: Vec<Parsed<String>> =
        files.names.iter().filter_map(|group| group.iter().find_map(|name| text(name))).collect();
    if files.has_imports
        && texts.iter().any(|text| text.value.lines().any(|line| line.trim() == "@AGENTS.md"))
    {
        texts.extend(text("AGENTS.md"));
    }
    texts
}

/// Returns as many leading lines of a text as fit into the limit, followed by the last line.
fn capped(text: &str) -> String {
    let units = |text: &str| text.encode_utf16().count();
    let room = LIMIT.saturating_sub(units(REST) + 2);
    let mut used = 0;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        used += units(line);
        if used > room {
            break;
        }
        kept.push_str(line);
    }
    // A heading with nothing below it is dropped.
    let mut kept = kept.trim_end();
    while let Some((before, last)) = kept.rsplit_once('\n')
        && last.starts_with('#')
    {
        kept = before.trim_end();
    }
    format!("{kept}\n\n{REST}")
}

/// Returns the text for the agent after a tool use: pending texts from subagents, and a completed phase.
fn phase_text(
    project: &Project,
    input: &Input,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let waiting = from_subagents(project, input).unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    let said: Vec<String> =
        waiting.into_iter().chain(of_phase(project, input, problems)?).collect();
    Ok((!said.is_empty()).then(|| said.join("\n")))
}

/// Returns the texts that subagents received and the main conversation did not; `None` in the conversation of a subagent.
fn from_subagents(project: &Project, input: &Input) -> Result<Option<String>> {
    if input.is_subagent() {
        return Ok(None);
    }
    let texts = take_waiting(project, input)?;
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Returns the texts about a phase; none if no summary was written.
fn of_phase(project: &Project, input: &Input, problems: &mut Vec<Error>) -> Result<Vec<String>> {
    let cwd = input.cwd();
    let summaries: Vec<PathBuf> = input
        .written()
        .into_iter()
        .map(|path| cwd.as_ref().map_or_else(|| path.into(), |cwd| cwd.join(path)))
        .filter(|path: &PathBuf| is_summary(path))
        .collect();
    if summaries.is_empty() || project.planning().is_err() {
        return Ok(Vec::new());
    }
    let mut survey = Survey::read(project)?;
    let Some(at) = survey
        .position
        .phases
        .iter()
        .position(|phase| summaries.iter().any(|path| is_in(phase, path)))
    else {
        return Ok(Vec::new());
    };
    let mut said = Vec::new();
    if project.settings.fix_state {
        let repair = lifecycle::fix_state(project)?;
        let corrected = repair.corrections.len();
        if corrected > 0 {
            let what = format!("{corrected} position lines in STATE.md and ROADMAP.md");
            said.push(format!("annals corrected {what}."));
        }
        survey = repair.survey;
    }
    let done = survey.position.phases.get(at).filter(|phase| phase.state == PhaseState::Done);
    if let Some(phase) = done {
        let text = completion_text(&survey, phase);
        let (plans, slug) = (phase.plans.len(), &survey.folder.active.slug);
        let what = format!("phase {} of {plans} plans in {slug}", phase.number);
        // The main conversation gets it once, a subagent is asked to pass it on.
        let answer = if input.is_subagent() {
            let passed_on = format!("{text} Include this in your report.");
            queue(project, input, &what, &text).map(|()| Some(passed_on))
        } else {
            is_first(project, input, &what, None).map(|is_first| is_first.then(|| text.clone()))
        };
        // Saying it twice is better than not at all.
        said.extend(answer.unwrap_or_else(|error| {
            problems.push(error);
            Some(text)
        }));
    }
    Ok(said)
}

fn completion_text(survey: &Survey, phase: &Phase) -> String {
    let number = &phase.number;
    let name = phase.name.as_ref().map(|name| format!(" ({name})"));
    let next = &survey.position.next;
    let contested = next.contest().map(|contest| format!("\nContested: {contest}"));
    format!(
        "annals: phase {number}{} is complete, {} of {} plans. \
         Run `annals execute {number} --digest`, submit the lessons that would change the next plan with \
         `annals execute {number} --lessons -`; then {}.{}",
        name.unwrap_or_default(),
        phase.plans.len(),
        phase.plans.len(),
        next.command,
        contested.unwrap_or_default()
    )
}

fn is_summary(path: &Path) -> bool {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let (Some(file), Some(folder)) = (name(path), path.parent().and_then(name)) else {
        return false;
    };
    FileName::parse(&file, &folder).is_some_and(|name| name.kind == FileKind::Summary)
}

/// Returns whether a file is in a phase's folder, after resolving links.
fn is_in(phase: &Phase, path: &Path) -> bool {
    let (Some(dir), Some(parent)) = (&phase.dir, path.parent()) else {
        return false;
    };
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(parent).starts_with(real(&dir.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_at_a_line_and_with_the_way_to_the_rest() {
        let line = format!("- {}\n", "\u{1f600}".repeat(40));
        let long = capped(&format!("# Title\n\n## A\n{}", line.repeat(500)));
        let units = |text: &str| text.encode_utf16().count();
        assert!(units(&long) <= LIMIT);
        assert!(units(&long) > LIMIT - 2 * units(&line));
        assert!(long.ends_with("\u{1f600}\n\nMore: `annals context`"));
        assert_eq!(capped("# T\n- a\n\n## C\n"), "# T\n- a\n\nMore: `annals context`");
    }
}
