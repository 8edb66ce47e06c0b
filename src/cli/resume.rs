//! `annals resume`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::ResumeReport;
use crate::project::Project;

/// Read the note that the last session left, and show what has progressed since
///
/// Reads RESUME.md of the active milestone, else of the planning folder. A note of another tool is read as
/// far as it can be understood.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals resume --json | jq .since")]
pub(crate) struct ResumeArgs {}

pub(crate) fn run(_: &ResumeArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = lifecycle::resume(project)?;
    out.warnings(&report.warnings);
    out.interrupted(project)?;
    out.result(&report, show)
}

fn show(report: &ResumeReport, to: &mut dyn Write) -> io::Result<()> {
    let lines = [
        ("Paused", &report.paused),
        ("Phase", &report.phase),
        ("Last completed", &report.last_completed),
        ("Next pending", &report.next_pending),
    ];
    for (label, value) in lines {
        if let Some(value) = value {
            writeln!(to, "{label}: {value}")?;
        }
    }
    if let Some(notes) = &report.notes {
        writeln!(to, "\n{notes}\n")?;
    }
    let since = &report.since;
    match &since.plans {
        Some(plans) if !plans.is_empty() => {
            writeln!(to, "Done since: plan {}", plans.join(", "))?;
        }
        Some(_) => writeln!(to, "Done since: no plan")?,
        None => {}
    }
    if let Some(phase) = &since.phase {
        writeln!(to, "Now at phase {phase}")?;
    }
    if let Some(commits) = since.commits.filter(|commits| *commits > 0) {
        writeln!(to, "Commits since: {commits}")?;
    }
    writeln!(to, "Next: {}", report.next.command)?;
    match report.next.contest() {
        Some(contest) => writeln!(to, "Contested: {contest}"),
        None => Ok(()),
    }
}
