//! Handles one hook call, from the harness's input to the answer.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::context::BREADCRUMB;
use crate::error::{Error, Result};
use crate::facts::{Facts, Purpose};
use crate::hooks::input::Input;
use crate::hooks::start::Start;
use crate::hooks::{Event, Harness, harness, notices, phase, setup, start};
use crate::knowledge::notepad;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::lifecycle::SyncRequest;
use crate::plan::{StatusReport, Survey};
use crate::project::{OpenRequest, Project};
use crate::secrets::SecretPolicy;
use crate::share::Direction;
use crate::text::{Line, clip, hexadecimal, sanitized};
use crate::{context, lifecycle, share};

/// Maximum time that a session waits for another process's lock.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Time span in which two calls of a hook count as the same event, in seconds.
const DUPLICATE_WINDOW_SECONDS: i64 = 10;

/// A hook call, as given on the command line.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// The event from the command line; if missing, the event in the input is used.
    pub event: Option<String>,
    /// The harness from the command line; if missing, it is detected.
    pub harness: Option<Harness>,
    /// Whether to leave out the notepad.
    pub no_notepad: bool,
    /// Whether to leave out the knowledge entries.
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
        if input.trim_ascii().is_empty() {
            return Ok(Reply::default());
        }
        let project = Project::open(place.clone())?;
        let noted =
            note_problem(&project, "annals", "the input is not a JSON object, or too large");
        return Ok(Reply { answer: None, log_error: noted.err() });
    };
    let fired = input.event().and_then(harness::safe_event_name);
    let name = request.event.as_deref().or(fired);
    let Some(event) = name.and_then(harness::parse_event) else {
        return Ok(Reply::default());
    };
    let Some(mut project) = project_of(place, &input, event)? else {
        return Ok(Reply::default());
    };
    project.settings.lock_wait = project.settings.lock_wait.min(LOCK_WAIT);
    let harness =
        request.harness.unwrap_or_else(|| Harness::from_environment(&project.environment));
    let name = harness.profile().event_name(event).unwrap_or("annals");
    let mut problems = Vec::new();
    let text = context_for(request, &project, harness, event, &input, &mut problems);
    let text = text.unwrap_or_else(|error| {
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
        let variables = Harness::ALL.map(|harness| harness.profile().project_variable.as_ref());
        let named = variables.into_iter().flatten().map(|name| place.environment.get(name));
        folders.extend([input.cwd()].into_iter().chain(named.map(|path| path.map(PathBuf::from))));
    }
    let mut folders: Vec<PathBuf> =
        folders.into_iter().flatten().filter(|dir| dir.is_dir()).collect();
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
            let text = start::text(project, harness, start, problems)?;
            let Some(text) = text else { return Ok(None) };
            let what = format!("start text {}", hexadecimal(&Sha256::digest(text.as_bytes())));
            let is_first = notices::is_first(project, input, &what, None).unwrap_or_else(|error| {
                problems.push(error);
                true
            });
            // A resumed conversation still has what was said at its start.
            Ok((is_first || input.source() != Some("resume")).then_some(text))
        }
        Event::PostToolUse => phase::text(project, input, problems),
        Event::SubagentStop => phase::from_subagents(project, input),
        Event::SessionEnd => {
            let refreshed = refresh_blocks(project);
            problems.extend(sync_devices(project).err());
            refreshed.map(|()| None)
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
    if !harness.profile().runs_both_scopes || !setup::is_in_both_scopes(project, harness) {
        return Ok(false);
    }
    let cause = match event {
        Event::PreCompact => "before compaction".to_owned(),
        _ if input.is_compacted() => "after compaction".to_owned(),
        _ => format!("start: {}", clip(input.source().unwrap_or_default(), 40)),
    };
    notices::is_first(project, input, &cause, Some(DUPLICATE_WINDOW_SECONDS))
        .map(|is_first| !is_first)
}

/// Refreshes each context file that already has a block.
fn refresh_blocks(project: &Project) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let request = SyncRequest { present_only: true, ..SyncRequest::default() };
    lifecycle::sync(project, &request)?.verdict(&request)
}

/// Timeout for the sync with other devices: all hooks at session end share 1.5 s.
const SYNC_TIMEOUT: Duration = Duration::from_millis(700);

/// Syncs facts and journal with the user's other devices, if sharing is set up.
fn sync_devices(project: &Project) -> Result<()> {
    if !share::is_configured(project) {
        return Ok(());
    }
    let mut facts = Facts::open(project, None, Purpose::Read)?;
    if !share::is_active(project, &facts)? {
        return Ok(());
    }
    share::sync(project, &mut facts, Direction::Both, Some(SYNC_TIMEOUT)).map(|_| ())
}

/// Maximum length of a breadcrumb, in characters.
const MAX_BREADCRUMB_CHARS: usize = 160;

/// Adds a breadcrumb to the working memory.
fn leave_breadcrumb(project: &Project, input: &Input) -> Result<()> {
    let trigger = input.trigger().unwrap_or("unasked");
    let place =
        if project.planning().is_ok() { describe_position(project)? } else { String::new() };
    let text = format!("{BREADCRUMB}{trigger}){place}");
    let text = Line::new(&sanitized(&text)).clipped(MAX_BREADCRUMB_CHARS);
    let note = Note {
        section: NotepadSection::Working,
        text: text.as_str(),
        secrets: SecretPolicy::Refuse,
        request_id: None,
    };
    notepad::write(project, &note).map(|_| ())
}

/// Describes the position: `: phase 4 - Low-Stock Alerts (in progress, 1 of 3 plans), next /vbw:execute 4`.
fn describe_position(project: &Project) -> Result<String> {
    let status = StatusReport::from_survey(project, &Survey::read(project)?);
    let phase = status.derived;
    let name = phase.name.map(|name| format!(" - {name}"));
    let state = phase.status.map(|state| format!(" ({state})"));
    let parts = [name, state].into_iter().flatten();
    let number = phase.number.map(|number| format!(": phase {number}"));
    let text: String = number.into_iter().chain(parts).collect();
    let contested = if status.next.conflict { " (contested)" } else { "" };
    Ok(format!("{text}, next {}{contested}", status.next.command))
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
