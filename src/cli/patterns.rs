//! `annals patterns`

use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use crate::cli::output::Output;
use crate::cli::text;
use crate::cli::text::text;
use crate::error::{Error, Result};
use crate::patterns::{
    Comparison, DeviatingFile, Insights, NoteRequest, PatternEntry, PlanRef, Rate, RelevantPattern,
    Sizes,
};
use crate::project::Project;
use crate::text::quantity;
use crate::{lifecycle, patterns};

/// Maximum number of files listed, and of plans listed per file.
const FILES: usize = 8;
const PLANS: usize = 4;

/// Read the lessons of finished phases, and note one
///
/// `check` looks for each path that an entry names, and where a missing one moved since the entry was recorded. An
/// entry is called fresh only if a path that it names exists. Nothing is changed or deleted.
///
/// `insights` covers all summaries, archived milestones included; for each comparison, summaries that do not
/// mention it are left out. A difference is significant if both groups have at least five plans and it holds
/// among all comparisons of the run (two-sided: Fisher's exact test of rates, Mann-Whitney of durations;
/// Benjamini-Hochberg at 0.1).
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns relevant 4 --limit 3\n\
                  Example: annals patterns note \"`cargo test` needs `fail-point`\" --file Cargo.toml")]
pub(crate) struct PatternsArgs {
    /// What to do
    #[arg(value_name = "ACTION", default_value = "list", hide_default_value = true)]
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
            let shown = BTreeMap::from([("patterns", &found.value)]);
            out.result(&shown, |_, to| show_relevant(&found.value, to))
        }
        Action::Check => check(args.check, project, out),
        Action::Note => {
            let text = args.what.clone().ok_or_else(|| missing("the lesson"))?;
            let phase = args.phase.as_deref().map(str::parse).transpose()?;
            let request = NoteRequest { text, phase, files: args.files.clone() };
            out.show(&patterns::note(project, &request)?, text!("patterns/note"))
        }
        Action::Insights => {
            let found = patterns::insights(project)?;
            out.warnings(&found.warnings);
            out.result(&found.value, show_insights)
        }
    }
}

fn list(project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::traced(project)?;
    out.warnings(&found.warnings);
    let unrecorded = if found.value.entries.is_empty() && !out.is_json() {
        lifecycle::unrecorded(project)?.len()
    } else {
        0
    };
    out.result(&found.value, |patterns, to| {
        write!(to, "{}", text::render(text!("patterns/list"), patterns)?)?;
        if unrecorded > 0 {
            let phases = quantity(unrecorded, "phase");
            writeln!(
                to,
                "Finished and not recorded: {phases}; annals execute --all records them."
            )?;
        }
        Ok(())
    })
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
            .hint(format!("annals patterns list shows {}", found.value.entries.len()))
    })?;
    out.result(entry, |entry: &PatternEntry, to: &mut dyn Write| {
        writeln!(to, "{}", entry.text.trim_end())
    })
}

fn show_relevant(patterns: &[RelevantPattern], to: &mut dyn Write) -> io::Result<()> {
    if patterns.is_empty() {
        writeln!(to, "No patterns to list: PATTERNS.md has no lessons.")?;
    }
    for pattern in patterns {
        writeln!(to, "{}", pattern.standalone().unwrap_or_else(|| pattern.text.clone()))?;
        if let Some(reason) = &pattern.stale {
            writeln!(to, "    possibly stale: {reason}")?;
        }
    }
    Ok(())
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
    out.show_until(&found.value, text!("patterns/staleness"), end)
}

fn show_insights(insights: &Insights, to: &mut dyn Write) -> io::Result<()> {
    if insights.plans == 0 {
        return writeln!(to, "No plan has a summary yet.");
    }
    let (plans, phases) = (quantity(insights.plans, "plan"), quantity(insights.phases, "phase"));
    let (deviations, completion) = (deviations(insights), completion(insights));
    writeln!(to, "{plans} in {phases}: {deviations}; {completion}.")?;
    sizes("tasks", &insights.by_tasks, to)?;
    sizes("files", &insights.by_files, to)?;
    let lessons = insights.lessons();
    let lessons = lessons.map(|one| format!("{} ({})", one.statement, one.p_value_text()));
    bullets("Significant differences", &lessons.collect::<Vec<_>>(), to)?;
    let files = insights.deviating_files.iter().take(FILES).map(deviating_file);
    bullets("Named in deviations of several plans", &files.collect::<Vec<_>>(), to)?;
    let rest: Vec<String> = alike(insights).into_iter().chain(too_little(insights)).collect();
    if !rest.is_empty() {
        writeln!(to)?;
    }
    rest.iter().try_for_each(|line| writeln!(to, "{line}"))
}

fn bullets(title: &str, lines: &[String], to: &mut dyn Write) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{title}:")?;
    lines.iter().try_for_each(|line| writeln!(to, "- {line}"))
}

fn sizes(unit: &str, sizes: &Sizes, to: &mut dyn Write) -> io::Result<()> {
    let buckets: Vec<_> = sizes.buckets.iter().filter(|one| one.plans > 0).collect();
    if buckets.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{unit:>7}  deviated   complete   median")?;
    for bucket in buckets {
        let end = bucket.to.map_or("+".to_owned(), |last| format!("-{last}"));
        let range = format!("{}{end}", bucket.from);
        let median = bucket.median_minutes.map(|median| median.to_string());
        let median = median.unwrap_or_else(|| "unknown".to_owned());
        let (deviated, completed) = (rate(bucket.deviated), rate(bucket.completed));
        writeln!(to, "{range:>7}  {deviated:<9}  {completed:<9}  {median}")?;
    }
    if sizes.unknown > 0 {
        writeln!(to, "unknown  in {}", quantity(sizes.unknown, "plan"))?;
    }
    Ok(())
}

fn rate(rate: Rate) -> String {
    if rate.of == 0 { "unknown".to_owned() } else { format!("{}/{}", rate.count, rate.of) }
}

/// Describes how many plans deviated, and how many report on deviations if not all do.
fn deviations(insights: &Insights) -> String {
    let (Rate { count, of }, sum) = (insights.deviated, insights.deviations);
    let report = if of == 1 { "reports" } else { "report" };
    match of {
        0 => "deviations not reported".to_owned(),
        of if of == insights.plans => format!("{count} had deviations ({sum} in all)"),
        of => format!("{count} of the {of} that {report} on deviations had some ({sum} in all)"),
    }
}

/// Describes how many plans are complete, and how many report a status if not all do.
fn completion(insights: &Insights) -> String {
    let Rate { count, of } = insights.completed;
    let are = if count == 1 { "is" } else { "are" };
    let report = if of == 1 { "reports" } else { "report" };
    match of {
        0 => "completion not reported".to_owned(),
        of if of == insights.plans => format!("{count} {are} complete"),
        of => format!("{count} of the {of} that {report} a status {are} complete"),
    }
}

fn deviating_file(file: &DeviatingFile) -> String {
    let mut plans: Vec<String> = file.named_in.iter().take(PLANS).map(PlanRef::to_string).collect();
    if let Some(more @ 1..) = file.named_in.len().checked_sub(PLANS) {
        plans.push(format!("{more} more"));
    }
    let (named, Rate { count, of }) = (quantity(file.named_in.len(), "plan"), file.deviated);
    let plans = plans.join(", ");
    format!("`{}`: {named} ({plans}); {count} of {of} that touched it deviated", file.file)
}

/// Returns a line about comparisons without a significant difference, with the number of those of a subject:
/// `deviations by tasks, deviations by file (7)`.
fn alike(insights: &Insights) -> Option<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    let is_alike = |one: &&Comparison| one.is_evidence() && !one.is_lesson;
    for one in insights.comparisons.iter().filter(is_alike) {
        match counted.iter_mut().find(|(known, _)| *known == one.subject) {
            Some((_, count)) => *count += 1,
            None => counted.push((&one.subject, 1)),
        }
    }
    let parts = counted.into_iter().map(|(subject, count)| match count {
        1 => subject.to_owned(),
        many => format!("{subject} ({many})"),
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    (!parts.is_empty()).then(|| format!("No significant difference: {parts}."))
}

/// Returns a line about comparisons with too little data.
fn too_little(insights: &Insights) -> Option<String> {
    let few = insights.comparisons.iter().filter(|one| !one.is_evidence());
    let few = few.map(|one| format!("{} (n={})", one.subject, one.plans()));
    let parts: Vec<String> = few.chain(insights.not_compared.iter().cloned()).collect();
    (!parts.is_empty()).then(|| format!("Not enough data: {}.", parts.join("; ")))
}
