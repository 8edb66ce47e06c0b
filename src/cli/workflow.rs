//! The commands of a planning workflow, and `annals patterns`

use std::num::NonZeroUsize;
use std::path;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::completions::phases;
use crate::cli::input::document;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::style::status_style;
use crate::cli::value_enum;
use crate::error::{At, Error, Result};
use crate::hooks::{Harness, SetupScope, setup};
use crate::lifecycle::{ExecuteRequest, InitRequest, ShipRequest, SyncRequest};
use crate::patterns::{NoteRequest, PatternOutcome, PlanRef, RelevantPattern, SubmittedLessons};
use crate::plan::{Drift, Handoff, PhaseNumber, StatusReport, Survey};
use crate::project::{ContextTarget, LayoutName, Project};
use crate::text::{clip, quantity, sentences, shell_word};
use crate::warning::Warning;
use crate::{claude_md, context, knowledge, lifecycle, patterns, plan};

value_enum!(LayoutName, dir);
value_enum!(ContextTarget, file; other_clients);

/// Create a planning folder, and write CLAUDE.md for the first time
///
/// Creates PROJECT.md, REQUIREMENTS.md, ROADMAP.md, STATE.md, phases/ and (vbw, yolo) config.json if they are
/// missing; what exists stays as it is. STATE.md records the installed skills and a profile of
/// existing code. On a terminal, asks for what is not given, also whether there should be a planning folder at
/// all; otherwise takes it from the manifest (Cargo.toml, package.json, …), git and the folder's name.
///
/// Example: annals init --core-value "Never buy what is in the pantry" "A shared pantry"
#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    request: InitRequest,
}

/// Record what a finished phase taught in PATTERNS.md
///
/// Run it when all plans of a phase have summaries. Without PHASE, it records the latest complete phase
/// that is not recorded yet.
///
/// Example: annals execute 3
#[derive(Args, Debug)]
pub(crate) struct ExecuteArgs {
    /// The phase's number
    #[arg(conflicts_with = "all", add = phases())]
    phase: Option<PhaseNumber>,
    #[command(flatten)]
    request: ExecuteRequest,
    /// Print what is needed to choose the phase's lessons, and record nothing
    #[arg(long, conflicts_with_all = ["all", "again", "lessons"])]
    digest: bool,
    /// Record these lessons instead of the summaries' sentences; `-` reads standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "all")]
    lessons: Option<PathBuf>,
}

/// Archive the active milestone and leave the folder ready for the next
///
/// Moves it to milestones/<slug>/ with a SHIPPED.md, keeps PATTERNS.md and shared files, carries
/// decisions, todos and blockers over into a fresh STATE.md, and removes RESUME.md.
/// Where the workflow archives milestones itself, ship is refused (exit 4); --cleanup-only does the clean-up.
///
/// Example: annals ship --dry-run
#[derive(Args, Debug)]
pub(crate) struct ShipArgs {
    #[command(flatten)]
    request: ShipRequest,
}

/// Bring CLAUDE.md up to date with the planning folder
///
/// Only the block between the annals markers is written; everything around it stays as it is. Without a planning
/// folder, --target writes what is remembered: entries, notes and ledger.
///
/// Example: annals sync --check
#[derive(Args, Debug)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    request: SyncRequest,
    /// Print the file as it would be written, and write nothing
    #[arg(long, conflicts_with_all = ["check", "fix_state"])]
    pub(crate) stdout: bool,
}

/// Leave a note for the next session in RESUME.md
///
/// The note contains the position, the last completed and the next pending plan, your notes and the next command.
/// A note that someone else wrote or edited is not replaced.
///
/// Example: annals pause The parser is half done, see src/parse.rs
#[derive(Args, Debug)]
pub(crate) struct PauseArgs {
    /// What the next session should know, in plain words
    notes: Vec<String>,
}

/// Read the note that the last session left, and show what has progressed since
///
/// Reads RESUME.md of the active milestone, else of the planning folder. A note of another tool, such as GSD's
/// HANDOFF.json and .continue-here.md, is read as far as it can be understood.
///
/// Example: annals resume --json | jq .since
#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {}

/// List milestones, start one or switch to another
///
/// A new milestone becomes the active one, in the planning folder itself, where no other may be unfinished. If the workflow
/// keeps the active one's name in ACTIVE, it gets a folder, and work in the planning folder itself moves to default/ first.
///
/// Example: annals milestone new offline-mode --dry-run
#[derive(Args, Debug)]
pub(crate) struct MilestoneArgs {
    /// What to do
    #[arg(default_value = "list", hide_default_value = true, requires_ifs = [("new", "slug"), ("switch", "slug")])]
    action: MilestoneAction,
    /// The milestone: lower-case letters, digits and hyphens
    slug: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MilestoneAction {
    /// List the milestones: the active one, the open ones, the archived ones
    List,
    /// Start a milestone and make it the active one
    New,
    /// Make an open milestone the active one
    Switch,
}

/// Show how planning files are understood
///
/// One JSON object for each FILE, indented, or one per line with --json: the kind of file, its fields,
/// and a warning for whatever was not understood, with its line.
///
/// Example: annals inspect --json .vbw-planning/phases/01-core/01-01-SUMMARY.md
#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// STATE, ROADMAP, PROJECT, PLAN, SUMMARY or PATTERNS files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also read files outside the project
    #[arg(long)]
    outside: bool,
}

pub(crate) fn init(args: &InitArgs, project: &Project, out: &mut Output) -> Result<()> {
    let mut request = args.request.clone();
    if let Some(workflow) = request.description.as_deref().and_then(LayoutName::from_word) {
        let workflow = workflow.as_str();
        return Err(Error::usage(format!(
            "{workflow} is a workflow, not a description of the project"
        ))
        .hint(format!("annals init --layout {workflow}")));
    }
    if out.can_ask() && !ask(&mut request, project, out)? {
        out.note("No planning folder: `annals remember TEXT`, `annals recall WORDS` and `annals setup CLIENT` work without one.");
        return Ok(());
    }
    let done = lifecycle::init(project, &request)?;
    out.outcome(&done, text!("workflow/init"), done.refusal())
}

/// Asks for the values of a new planning folder that are missing on the command line; returns whether one is
/// wanted.
fn ask(request: &mut InitRequest, project: &Project, out: &mut Output) -> Result<bool> {
    let Some(defaults) = lifecycle::init_defaults(project, request)? else {
        return Ok(true);
    };
    let is_new = project.planning().is_err() && project.settings.planning_dir.is_none();
    let names = LayoutName::ALL.map(LayoutName::as_str).join(", ");
    while is_new && request.layout.is_none() {
        let question =
            format!("Planning folder of which workflow ({names}; Enter for none, memory only)? ");
        match out.ask(&question)? {
            None => return Ok(false),
            Some(answer) => {
                request.layout = LayoutName::from_any_case(&answer);
                if request.layout.is_none() {
                    out.note(&format!("{answer:?} is not one of {names}."));
                }
            }
        }
    }
    if request.name.is_none() {
        request.name = out.ask(&format!("Project name [{}]: ", defaults.name))?;
    }
    if request.description.is_none() {
        let known = defaults.description.map(|text| format!(" [{text}]")).unwrap_or_default();
        request.description = out.ask(&format!("What it is, in a sentence{known}: "))?;
    }
    if request.core_value.is_none() {
        request.core_value = out.ask("Core value, the one thing that must work: ")?;
    }
    Ok(true)
}

pub(crate) fn execute(args: &ExecuteArgs, project: &Project, out: &mut Output) -> Result<()> {
    if args.digest {
        let digest = lifecycle::digest(project, args.phase.as_ref())?;
        return out.show(&digest, "{{ text }}");
    }
    let lessons = args.lessons.as_deref().map(|file| document(Some(file), "the lessons"));
    let request = ExecuteRequest {
        lessons: lessons.transpose()?.map(|text| SubmittedLessons::parse(&text)).transpose()?,
        phase: args.phase.clone(),
        ..args.request.clone()
    };
    let done = lifecycle::execute(project, &request)?;
    out.outcome(&done, text!("workflow/execute"), done.refusal())
}

pub(crate) fn ship(args: &ShipArgs, project: &Project, out: &mut Output) -> Result<()> {
    let done = lifecycle::ship(project, &args.request)?;
    out.outcome(&done, text!("workflow/ship"), done.verdict())
}

pub(crate) fn sync(args: &SyncArgs, project: &Project, out: &mut Output) -> Result<()> {
    let mut warnings = Vec::new();
    let request =
        sync_request(args, project, &mut warnings).inspect_err(|_| out.warnings(&warnings))?;
    if args.stdout {
        let mut preview = lifecycle::preview(project, &request)?;
        preview.warnings.splice(..0, warnings);
        out.warnings(&preview.warnings);
        return out.file(&preview, &preview.bytes);
    }
    let mut done = lifecycle::sync(project, &request).inspect_err(|_| out.warnings(&warnings))?;
    done.warnings.splice(..0, warnings);
    out.outcome(&done, text!("workflow/sync"), done.verdict(&request))
}

/// Returns the request with what is remembered, if it is for a project without a plan.
fn sync_request(
    args: &SyncArgs,
    project: &Project,
    warnings: &mut Vec<Warning>,
) -> Result<SyncRequest> {
    let SyncRequest { targets, fix_state, check, .. } = &args.request;
    if !(*check || args.stdout) {
        // The memory is read before the transaction.
        warnings.extend(project.named(project.storage().complete_interrupted()?));
    }
    let mut unread = Vec::new();
    let memory = context::memory(project)?.into_value(&mut unread).filter(|_| !fix_state);
    let is_planless = !context::has_plan(project) && !fix_state;
    let is_targeted = !targets.is_empty() || claude_md::with_memory(project).next().is_some();
    // A block that has nothing left to say is taken out.
    let memory = memory.or_else(|| (is_planless && is_targeted).then(Vec::new));
    let target = claude_md::default_targets(project).first().map_or("claude", |one| one.as_str());
    let hint = match memory.as_deref() {
        Some(_) if !is_targeted => Some(format!(
            "`annals sync --target {target}` writes what is remembered here into a file that sessions read; `annals init` starts a plan"
        )),
        Some([]) if claude_md::with_memory(project).next().is_none() => Some(
            "nothing is remembered here yet: `annals remember TEXT` stores a sentence; `annals init` starts a plan".to_owned(),
        ),
        _ => None,
    };
    if let Some(hint) = hint {
        return Err(Error::not_found("no planning folder here").about(&project.root).hint(hint));
    }
    let is_over = memory.as_ref().is_some_and(Vec::is_empty);
    let unread = project.named(unread);
    let is_read = unread.is_empty();
    warnings.extend(unread);
    if is_over && !is_read {
        // A store that could not be read may have what the block says.
        return Err(Error::refused(
            "some of the project's memory could not be read, so no block was removed",
        )
        .hint("fix what the warnings report"));
    }
    // Without a target, only what was asked for before is brought up to date.
    let present_only = is_planless && targets.is_empty() && !is_over;
    Ok(SyncRequest { present_only, memory, ..args.request.clone() })
}

pub(crate) fn pause(args: &PauseArgs, project: &Project, out: &mut Output) -> Result<()> {
    let notes = Some(args.notes.join(" ")).filter(|notes| !notes.is_empty());
    let done = lifecycle::pause(project, notes.as_deref())?;
    out.outcome(&done, text!("workflow/pause"), Ok(()))
}

pub(crate) fn resume(_: &ResumeArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = lifecycle::resume(project)?;
    out.warnings(&report.warnings);
    out.interrupted(project);
    out.show_with(&report, &json!({ "contest": report.next.contest() }), text!("workflow/resume"))
}

pub(crate) fn milestone(args: &MilestoneArgs, project: &Project, out: &mut Output) -> Result<()> {
    let slug = &args.slug.join(" ");
    let done = match args.action {
        MilestoneAction::List if !slug.is_empty() => {
            return Err(Error::usage("`list` takes no milestone")
                .hint(format!("annals milestone switch {}", shell_word(slug))));
        }
        MilestoneAction::List => {
            return out.show(
                &json!({ "milestones": lifecycle::milestones(project)? }),
                text!("workflow/milestones"),
            );
        }
        MilestoneAction::New => lifecycle::new_milestone(project, slug)?,
        MilestoneAction::Switch => lifecycle::switch_milestone(project, slug)?,
    };
    out.outcome(&done, text!("workflow/milestone"), done.refusal())
}

pub(crate) fn inspect(args: &InspectArgs, project: &Project, out: &mut Output) -> Result<()> {
    for file in &args.files {
        let file = path::absolute(file).at("find", file)?;
        match lifecycle::inspect(project, &file, args.outside) {
            Ok(found) if out.mode.json => out.json_line(&found),
            Ok(found) => {
                out.warnings(&found.warnings);
                let text = serde_json::to_string_pretty(&found).unwrap_or_default();
                out.show_with(&found, &json!({ "text": text }), "{{ text }}\n")?;
            }
            // An unreadable file must not prevent printing the others; the last failure determines the exit
            // code.
            Err(error) => out.failure(&error),
        }
    }
    Ok(())
}

/// Maximum length of a lesson in the brief, in characters: half a lesson would mislead, so a longer one is left out.
const MAX_LESSON_CHARS: usize = 320;

/// Print the brief for a phase: goal, relevant lessons, risky files, open plans
///
/// Its goal and requirements, the relevant patterns, and problems that keep its plans from being executed
/// as they are. Without PHASE, the current phase. Brings CLAUDE.md up to date.
///
/// Example: annals plan 4
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The phase's number
    #[arg(add = phases())]
    phase: Option<PhaseNumber>,
}

pub(crate) fn plan(args: &PlanArgs, project: &Project, out: &mut Output) -> Result<()> {
    let done = lifecycle::plan(project, args.phase.as_ref())?;
    out.warnings(&done.warnings);
    let brief = &done.value;
    let known: Vec<String> = brief.know.iter().filter_map(lesson).collect();
    let last = |plans: &[PlanRef]| plans.last().map(PlanRef::to_string);
    let more = json!({
        "known": known,
        "last_plans": brief.careful.iter().map(|file| last(&file.plans)).collect::<Vec<_>>(),
    });
    out.show_until(&done, &more, text!("workflow/plan"), done.refusal())
}

/// Returns a line with the lesson, its outcome, its source, and why it may be stale.
fn lesson(pattern: &RelevantPattern) -> Option<String> {
    let outcome = match pattern.outcome {
        PatternOutcome::Worked => "worked: ",
        PatternOutcome::Failed => "failed: ",
        PatternOutcome::Noted => "",
    };
    let mut line = format!("{outcome}{}", pattern.with_reference());
    if let Some(reason) = &pattern.stale {
        line.push_str(&format!(" [possibly stale: {reason}]"));
    }
    (line.chars().count() <= MAX_LESSON_CHARS).then_some(line)
}

/// Maximum length of the core value, in characters; a sentence within the limit is not truncated.
const MAX_CORE_VALUE_CHARS: usize = 320;

/// Show where the work stands and what comes next
///
/// Without a planning folder, says what is remembered. With one, worked out from the files: phase folders, plans and
/// summaries first, ROADMAP.md and STATE.md where they know more. Statements in these two that contradict the files are
/// listed as drift; missing documents and unlisted phases as findings.
///
/// Example: annals status --json | jq .next
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {}

pub(crate) fn status(_: &StatusArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint = status_style;
    if !context::has_plan(project) {
        let found = context::overview(project);
        out.warnings(&found.warnings);
        out.interrupted(project);
        let is_in = |harness, scope| setup::is_in(project, harness, scope);
        let is_read = Harness::ALL
            .into_iter()
            .any(|one| SetupScope::ALL.into_iter().any(|scope| is_in(one, scope)))
            || claude_md::with_block(project).next().is_some();
        return out.show_with(&found, &json!({ "is_read": is_read }), text!("overview"));
    }
    let survey = Survey::read(project)?;
    let report = StatusReport::with_metrics(project, &survey);
    if !out.mode.json {
        out.warnings(&report.warnings);
    }
    out.interrupted(project);
    // A whole value, else its first sentence.
    let purpose = report.core_value.as_deref().map(|value| {
        let first = sentences(value).into_iter().next().unwrap_or(value);
        clip(
            if value.chars().count() > MAX_CORE_VALUE_CHARS { first } else { value },
            MAX_CORE_VALUE_CHARS,
        )
    });
    // Nothing is corrected while it is open what comes next.
    let is_sure = report.next.contest().is_none() && report.next.action != plan::Action::Unknown;
    let left = lifecycle::current_notes(&survey, &mut Vec::new()).unwrap_or_else(|error| {
        out.warnings(&project.named(vec![error.into()]));
        None
    });
    let left = left.as_ref().and_then(|notes| notes.lines().find(|line| !line.trim().is_empty()));
    let handoff = report.paused.as_ref().map(Handoff::line);
    let more = json!({
        "purpose": purpose,
        "milestone_name": report.milestone.display_name(),
        "remark": report.stated_remark(),
        "contest": report.next.contest(),
        "paused_line": left.map(|note| format!("{note} (`annals resume`)")).or(handoff),
        "is_fixable": is_sure && report.drift.iter().any(Drift::is_fixable),
        "entries_of_repository": knowledge::entries_of_repository(project),
        "sentences": report.drift.iter().map(Drift::sentence).collect::<Vec<String>>(),
    });
    out.show_with(&report, &more, text!("status"))
}

/// Read the lessons of finished phases, and note one
///
/// `check` looks for each path that an entry names, and where a missing one moved since the entry was recorded. An
/// entry is called fresh only if a path that it names exists. Nothing is changed or deleted.
///
/// `insights` covers all summaries, archived milestones included; for each comparison, summaries that do not
/// mention it are left out. A difference is significant if both groups have at least five plans and it holds
/// among all comparisons of the run (two-sided: Fisher's exact test of rates, Mann-Whitney of durations;
/// Benjamini-Hochberg at 0.1).
///
/// Example: annals patterns relevant 4 --limit 3
///
/// Example: annals patterns note cargo test needs the fail point --file Cargo.toml
#[derive(Args, Debug)]
pub(crate) struct PatternsArgs {
    /// What to do
    #[arg(default_value = "list", hide_default_value = true)]
    action: Action,
    /// The entry's number, the phase, or the lesson in plain words
    #[arg(value_name = "N|PHASE|TEXT")]
    what: Vec<String>,
    /// With `relevant`, the maximum number of patterns
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// With `check`, exit with 1 if an entry is stale
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    note: NoteRequest,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// List the entries of PATTERNS.md, in its order
    List,
    /// Show entry N verbatim
    Show,
    /// List the patterns most relevant to PHASE or the current one, stale ones last
    Relevant,
    /// List the patterns that refer to files that no longer exist
    Check,
    /// Note a lesson at any time, in the Notes section
    Note,
    /// Show what the project's whole history teaches
    Insights,
}

pub(crate) fn patterns(args: &PatternsArgs, project: &Project, out: &mut Output) -> Result<()> {
    let text = args.what.join(" ");
    let refused = match (args.action, text.is_empty()) {
        (Action::Show, true) => "`patterns show` needs an entry's number",
        (Action::Note, true) => "`patterns note` needs a lesson, in plain words",
        (Action::List | Action::Check | Action::Insights, false) => {
            "only `show`, `relevant` and `note` take words"
        }
        _ => "",
    };
    if !refused.is_empty() {
        return Err(Error::usage(refused).hint("`annals patterns --help` has examples"));
    }
    match args.action {
        Action::List => {
            let found = out.understood(patterns::traced(project)?);
            out.show(&found, text!("patterns/list"))
        }
        Action::Show => show_entry(&text, project, out),
        Action::Relevant => {
            let phase = (!text.is_empty()).then(|| text.parse()).transpose()?;
            let mut found = out.understood(patterns::relevant_patterns(project, phase.as_ref())?);
            found.truncate(args.limit.get());
            let line = |one: &RelevantPattern| one.standalone().unwrap_or_else(|| one.text.clone());
            let more = json!({ "lines": found.iter().map(line).collect::<Vec<_>>() });
            out.show_with(&json!({ "patterns": found }), &more, text!("patterns/relevant"))
        }
        Action::Check => check(args.check, project, out),
        Action::Note => {
            let request = NoteRequest { text, ..args.note.clone() };
            let report = patterns::note(project, &request)?;
            out.warnings(&report.warnings);
            out.show(&report, text!("patterns/note"))
        }
        Action::Insights => {
            let found = out.understood(patterns::insights(project)?);
            out.show(&found, text!("patterns/insights"))
        }
    }
}

fn show_entry(number: &str, project: &Project, out: &mut Output) -> Result<()> {
    let index: usize = number.parse().map_err(|_| {
        Error::usage(format!("`patterns show` takes a whole number, not '{number}'"))
            .hint("`annals patterns list` numbers the entries")
    })?;
    let found = patterns::traced(project)?;
    let entry = index.checked_sub(1).and_then(|index| found.value.entries.get(index));
    let entry = entry.ok_or_else(|| {
        Error::not_found(format!("there is no entry {index}"))
            .hint(format!("`annals patterns list` shows {}", found.value.entries.len()))
    })?;
    out.show_with(entry, &json!({ "text": entry.text.trim_end() }), "{{ text }}\n")
}

fn check(fails: bool, project: &Project, out: &mut Output) -> Result<()> {
    let found = out.understood(patterns::check(project)?);
    let stale = found.entries.iter().filter(|entry| entry.is_stale).count();
    let end = if fails && stale > 0 {
        Err(Error::failed(quantity(stale, "stale entry")))
    } else {
        Ok(())
    };
    out.show_until(&found, &(), text!("patterns/staleness"), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_whole_and_says_where_it_is_from() {
        let pattern = |text: &str| RelevantPattern {
            text: text.to_owned(),
            outcome: PatternOutcome::Failed,
            source: "Phase 1: First".to_owned(),
            line: 1,
            judged: false,
            reference: Some("phase 1".to_owned()),
            score: 0.5,
            stale: Some("`a.rs` no longer exists".to_owned()),
        };
        assert_eq!(
            lesson(&pattern("`a.rs` needs the lock (plan 02)")).unwrap(),
            "failed: `a.rs` needs the lock (phase 1, plan 02) [possibly stale: `a.rs` no longer exists]"
        );
        assert_eq!(lesson(&pattern(&"word ".repeat(200))), None);
    }
}
