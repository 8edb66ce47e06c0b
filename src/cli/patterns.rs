//! `annals patterns`

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::text::text;
use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::{NoteRequest, RelevantPattern};
use crate::project::Project;
use crate::text::quantity;

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
/// Example: annals patterns note "`cargo test` needs `fail-point`" --file Cargo.toml
#[derive(Args, Debug)]
pub(crate) struct PatternsArgs {
    /// What to do
    #[arg(default_value = "list", hide_default_value = true)]
    action: Action,
    /// The entry's number, the phase, or the lesson in a sentence
    #[arg(value_name = "N|PHASE|TEXT")]
    what: Option<String>,
    /// With `relevant`, the maximum number of patterns
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// With `check`, exit with 1 if an entry is stale
    #[arg(long)]
    check: bool,
    /// With `note`, the phase that the lesson belongs to
    #[arg(long, value_name = "N")]
    phase: Option<String>,
    /// With `note`, a file that the lesson is about, relative to the project
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// List the entries of PATTERNS.md, oldest first
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

pub(crate) fn run(args: &PatternsArgs, project: &Project, out: &mut Output) -> Result<()> {
    let missing = |what: &str| {
        Error::usage(format!("{what} is missing")).hint("`annals patterns --help` has an example")
    };
    match args.action {
        Action::List => list(project, out),
        Action::Show => {
            let number = args.what.as_deref().ok_or_else(|| missing("the entry's number"))?;
            show_entry(number, project, out)
        }
        Action::Relevant => {
            let phase = args.what.as_deref().map(str::parse).transpose()?;
            let mut found = patterns::relevant_patterns(project, phase.as_ref())?;
            found.value.truncate(args.limit.get());
            out.warnings(&found.warnings);
            let line = |one: &RelevantPattern| one.standalone().unwrap_or_else(|| one.text.clone());
            let more = json!({ "lines": found.value.iter().map(line).collect::<Vec<_>>() });
            out.show_with(&json!({ "patterns": found.value }), &more, text!("patterns/relevant"))
        }
        Action::Check => check(args.check, project, out),
        Action::Note => {
            let text = args.what.clone().ok_or_else(|| missing("the lesson"))?;
            let phase = args.phase.as_deref().map(str::parse).transpose()?;
            let request = NoteRequest { text, phase, files: args.files.clone() };
            out.show(&patterns::note(project, &request)?, text!("patterns/note"))
        }
        Action::Insights => insights(project, out),
    }
}

fn list(project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::traced(project)?;
    out.warnings(&found.warnings);
    out.show(&found.value, text!("patterns/list"))
}

fn show_entry(number: &str, project: &Project, out: &mut Output) -> Result<()> {
    let index: usize = number.parse().map_err(|_| {
        Error::usage(format!("invalid value '{number}' for '<N>': not a whole number"))
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
    let found = patterns::check(project)?;
    out.warnings(&found.warnings);
    let stale = found.value.entries.iter().filter(|entry| entry.is_stale).count();
    let end = match stale {
        0 => Ok(()),
        _ if !fails => Ok(()),
        _ => Err(Error::failed(quantity(stale, "stale entry")).hint("annals patterns check")),
    };
    out.show_until(&found.value, &(), text!("patterns/staleness"), end)
}

fn insights(project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::insights(project)?;
    out.warnings(&found.warnings);
    out.show(&found.value, text!("patterns/insights"))
}
