//! The functions behind the fuzz targets: one for each parser and for each document read from standard input.
//!
//! The ordinary tests replay the corpora through the same functions, to prevent regressions.

use std::path::Path;

use annals::facts::Observation;
use annals::hooks::{Input, setup};
use annals::markdown::{FrontMatter, Lines, Outline};
use annals::plan::{PhaseNumbering, Plan, ProjectFile, Roadmap, StateFile, Summary};
use annals::project::{Environment, OpenRequest, Project};
use annals::secrets::SecretPolicy;
use annals::{facts, journal, knowledge, ledger, mcp, merge, patterns, recall, secrets};

/// A target: its name, and the function that processes an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets by name; the corpus of each is in `corpus/<name>`.
pub const TARGETS: &[Target] = &[
    ("auditor_answer", auditor_answer),
    ("entry", entry),
    ("hook_input", hook_input),
    ("journal_draft", journal_draft),
    ("journal_query", journal_query),
    ("ledger_update", ledger_update),
    ("markdown", markdown),
    ("mcp_call", mcp_call),
    ("merge_file", merge_file),
    ("notepad", notepad),
    ("observation", observation),
    ("patterns", patterns_file),
    ("plan", plan),
    ("project_file", project_file),
    ("recall_query", recall_query),
    ("roadmap", roadmap),
    ("secret", secret),
    ("settings_json", settings_json),
    ("settings_toml", settings_toml),
    ("state", state),
    ("summary", summary),
];

/// Parses arbitrary bytes as text, with invalid UTF-8 replaced.
fn with_text(bytes: &[u8], parse: impl Fn(&str, &Path)) {
    parse(&String::from_utf8_lossy(bytes), Path::new("FILE.md"));
}

/// Accepts an error as a valid outcome; only a panic is a failure.
fn answered<T, E>(result: Result<T, E>) {
    drop(result);
}

/// Parses the auditor's answer.
pub fn auditor_answer(bytes: &[u8]) {
    with_text(bytes, |text, _| {
        answered(facts::parse_answer(text, SecretPolicy::Refuse));
    });
}

/// Parses a knowledge entry.
pub fn entry(bytes: &[u8]) {
    with_text(bytes, |text, path| {
        drop(knowledge::Entry::parse(text, path));
    });
}

/// Parses the input of a hook, and calls all of its accessors.
pub fn hook_input(bytes: &[u8]) {
    let Some(input) = Input::parse(bytes) else {
        return;
    };
    drop((input.event(), input.cwd(), input.trigger(), input.is_compacted()));
    drop(input.written());
}

/// Parses a record to write to the journal.
pub fn journal_draft(bytes: &[u8]) {
    answered(journal::RecordDraft::parse(bytes));
}

/// Parses a query of the journal.
pub fn journal_query(bytes: &[u8]) {
    answered(journal::JournalQuery::parse(bytes));
}

/// Parses an update of the ledger.
pub fn ledger_update(bytes: &[u8]) {
    with_text(bytes, |text, _| drop(ledger::update_problems(text)));
}

/// Splits a markdown file into its parts.
pub fn markdown(bytes: &[u8]) {
    with_text(bytes, |text, path| {
        drop(FrontMatter::parse(text, path));
        drop(Lines::new(text));
        drop(Outline::parse(text, 0));
    });
}

/// Calls a tool on the example project, as a dry run: nothing is written.
pub fn mcp_call(bytes: &[u8]) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = |folder: &Path| folder.join("examples/vbw-project");
    let mut examples = manifest.ancestors().map(example);
    // A path below a file does not exist and cannot be created.
    let home = manifest.join("Cargo.toml/home");
    let now = "2026-03-01T12:00:00Z".into();
    let variables = [("HOME", home), ("ANNALS_USER", "ada".into()), ("ANNALS_NOW", now)];
    let project = Project::open(OpenRequest {
        directory: examples
            .find(|folder| folder.is_dir())
            .expect("the example is beside the targets"),
        dry_run: true,
        no_history: true,
        environment: Environment::new(variables.map(|(name, value)| (name.into(), value.into()))),
        ..OpenRequest::default()
    });
    answered(mcp::call(&project.expect("the example opens"), bytes));
}

/// Merges three versions, separated by NUL; identical versions must merge to the same text.
pub fn merge_file(bytes: &[u8]) {
    with_text(bytes, |text, _| {
        let mut versions = text.split('\0');
        let mut next = || versions.next().unwrap_or_default();
        let (base, ours, theirs) = (next(), next(), next());
        drop(merge::merge(base, ours, theirs));
        assert_eq!(merge::merge(base, ours, ours).as_deref(), Some(ours));
    });
}

/// Parses a notepad.
pub fn notepad(bytes: &[u8]) {
    with_text(bytes, |text, _| drop(knowledge::notepad::Notepad::parse(text)));
}

/// Parses a turn to queue.
pub fn observation(bytes: &[u8]) {
    answered(serde_json::from_slice::<Observation>(bytes));
}

/// Parses PATTERNS.md.
pub fn patterns_file(bytes: &[u8]) {
    with_text(bytes, |text, path| {
        drop(patterns::Patterns::parse(text, path));
        drop(patterns::mentions(text));
    });
}

/// Parses a plan.
pub fn plan(bytes: &[u8]) {
    with_text(bytes, |text, path| drop(Plan::parse(text, path)));
}

/// Parses PROJECT.md.
pub fn project_file(bytes: &[u8]) {
    with_text(bytes, |text, path| drop(ProjectFile::parse(text, path)));
}

/// Parses a search query.
pub fn recall_query(bytes: &[u8]) {
    with_text(bytes, |text, _| answered(recall::RecallQuery::new(text)));
}

/// Parses ROADMAP.md.
pub fn roadmap(bytes: &[u8]) {
    with_text(bytes, |text, path| drop(Roadmap::parse(text, path)));
    let numbering = PhaseNumbering::MilestonePrefixed;
    with_text(bytes, |text, path| {
        drop(Roadmap::parse_with(text, path, numbering));
    });
}

/// Finds and redacts secrets.
pub fn secret(bytes: &[u8]) {
    with_text(bytes, |text, _| {
        drop(secrets::find(text));
        drop(secrets::redact(text));
    });
}

/// Adds our entries to a harness's JSON settings and removes them again: a second time must leave the same bytes.
pub fn settings_json(bytes: &[u8]) {
    round_trip(false, bytes);
}

/// Does the same with Codex's TOML settings.
pub fn settings_toml(bytes: &[u8]) {
    round_trip(true, bytes);
}

/// Refused edits are a valid outcome.
fn round_trip(is_toml: bool, bytes: &[u8]) {
    if let Ok(Some(once)) = setup::setup_round_trip(is_toml, bytes) {
        let twice = setup::setup_round_trip(is_toml, &once);
        assert_eq!(twice.ok().flatten(), Some(once));
    }
}

/// Parses STATE.md, with phases numbered in either way.
pub fn state(bytes: &[u8]) {
    for numbering in [PhaseNumbering::Plain, PhaseNumbering::MilestonePrefixed] {
        with_text(bytes, |text, path| {
            drop(StateFile::parse_with(text, path, numbering));
        });
    }
}

/// Parses a summary.
pub fn summary(bytes: &[u8]) {
    with_text(bytes, |text, path| drop(Summary::parse(text, path)));
}
