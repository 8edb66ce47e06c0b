//! `annals status`

use std::borrow::Cow;
use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::{Output, status_style};
use crate::cli::text::text;
use crate::context;
use crate::error::Result;
use crate::patterns::sentences;
use crate::plan::{Action, PhaseReport, StatusReport, Survey};
use crate::project::Project;
use crate::text::{clip, one_line, quantity};

/// Show where the work stands and what comes next
///
/// Without a planning folder, says what is remembered. With one, worked out from the files: phase folders, plans and summaries first, ROADMAP.md and STATE.md
/// where they know more. Statements in these two that contradict the files are listed as drift;
/// missing, duplicate or inconsistent items as findings.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals status --json | jq .next")]
pub(crate) struct StatusArgs {}

pub(crate) fn run(_: &StatusArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint(status_style);
    if project.planning().is_err() && project.settings.planning_dir.is_none() {
        let found = context::overview(project)?;
        out.warnings(&found.warnings);
        out.interrupted(project)?;
        return out.show(&found, text!("overview"));
    }
    let survey = Survey::read(project)?;
    let mut report = StatusReport::from_survey(project, &survey);
    report.add_metric_drift(project, &survey);
    if !out.is_json() {
        out.warnings(&report.warnings);
    }
    out.interrupted(project)?;
    out.result(&report, show)
}

/// Maximum width of a value, to keep the page easy to scan; `--json` contains the full values.
const WIDTH: usize = 160;

/// Maximum number of todos, and of blockers, that are printed.
const LISTED: usize = 5;

/// Maximum length of a phase's name, in characters, since its status follows it.
const NAME: usize = 100;

/// Maximum length of the core value, in characters; a sentence within the limit is not truncated.
const CORE_VALUE: usize = 320;

/// Returns the core value, otherwise its first sentence, otherwise a truncated one.
fn core_value(value: &str) -> Cow<'_, str> {
    if value.chars().count() <= CORE_VALUE {
        return Cow::Borrowed(value);
    }
    let first = sentences(value).into_iter().next().unwrap_or(value);
    if first.chars().count() <= CORE_VALUE {
        return Cow::Borrowed(first);
    }
    clip(value, WIDTH)
}

fn show(report: &StatusReport, to: &mut dyn Write) -> io::Result<()> {
    writeln!(
        to,
        "{} ({}, {})",
        clip(&report.project, WIDTH),
        report.layout.as_str(),
        report.planning_dir.display()
    )?;
    if let Some(value) = &report.core_value {
        writeln!(to, "Core value: {}", core_value(value))?;
    }
    if let Some(name) = report.milestone.display_name() {
        writeln!(to, "Milestone:  {}", clip(&name, WIDTH))?;
    }
    writeln!(to, "Phase:      {}", phase(&report.derived))?;
    if let Some(remark) = report.stated_remark() {
        writeln!(to, "            STATE.md: {}", clip(remark, WIDTH))?;
    }
    let plans = &report.plans;
    if plans.total == 0 {
        write!(to, "Plans:      none")?;
    } else {
        let (complete, total) = (plans.complete, plans.total);
        write!(to, "Plans:      {complete} of {total} complete")?;
    }
    for (count, word) in [(plans.partial, "partial"), (plans.failed, "failed")] {
        if count > 0 {
            write!(to, ", {count} {word}")?;
        }
    }
    // `16 of 16 complete` alone would read as the end of the work.
    if plans.total > 0 && plans.complete == plans.total && plans.unplanned_phases > 0 {
        let phases = quantity(plans.unplanned_phases, "phase");
        write!(to, "; {phases} not planned")?;
    }
    writeln!(to)?;
    for (items, one) in [(&report.todos, "todo"), (&report.blockers, "blocker")] {
        listed(items, one, to)?;
    }
    if !report.decisions.is_empty() {
        writeln!(to, "            {}", quantity(report.decisions.len(), "decision"))?;
    }
    next(report, to)?;
    if let Some(paused) = &report.paused {
        writeln!(to, "Paused:     {}", paused.line())?;
    }
    drift(report, to)
}

/// Prints the number of items, and the first of them.
fn listed(items: &[String], one: &str, to: &mut dyn Write) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(to, "            {}", quantity(items.len(), one))?;
    for item in items.iter().take(LISTED) {
        writeln!(to, "            - {}", clip(&one_line(item), WIDTH))?;
    }
    match items.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(to, "            and {more} more"),
    }
}

fn next(report: &StatusReport, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "Next:       {}", report.next.command)?;
    let next = &report.next;
    let contest = next.contest();
    let rival = next.alternative.as_ref();
    // The evidence of a rival comes last, and is listed with it.
    let of_rival = rival.filter(|_| next.conflict).map_or(0, |rival| rival.because.len());
    if next.action == Action::Unknown {
        writeln!(to, "            unknown, since this was not understood:")?;
    }
    evidence(&next.because[..next.because.len() - of_rival], to)?;
    match (rival, contest) {
        (Some(rival), Some(contest)) => {
            writeln!(to, "Contested:  {contest}")?;
            evidence(rival.because.get(1..).unwrap_or_default(), to)
        }
        (Some(rival), None) => {
            writeln!(to, "Or:         {}", rival.command)?;
            evidence(&rival.because, to)
        }
        (None, _) => Ok(()),
    }
}

fn evidence(because: &[String], to: &mut dyn Write) -> io::Result<()> {
    for reason in because {
        writeln!(to, "            {}", clip(reason, WIDTH))?;
    }
    Ok(())
}

fn drift(report: &StatusReport, to: &mut dyn Write) -> io::Result<()> {
    for drift in &report.drift {
        writeln!(to, "Drift:      {}:{}: {}", drift.file.display(), drift.line, drift.sentence())?;
    }
    for finding in &report.findings {
        writeln!(to, "Finding:    {}", clip(&finding.to_string(), WIDTH))?;
    }
    Ok(())
}

fn phase(phase: &PhaseReport) -> String {
    let Some(number) = &phase.number else {
        return "none".to_owned();
    };
    let name =
        phase.name.as_ref().map(|name| format!(" - {}", clip(name, NAME))).unwrap_or_default();
    let total = phase.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let status = phase.status.as_deref().unwrap_or("unknown");
    format!("{number}{total}{name} ({status})")
}
