//! `annals execute`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::ledger::document;
use crate::cli::output::Output;
use crate::cli::print;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ExecuteReport, ExecuteRequest};
use crate::patterns::SubmittedLessons;
use crate::project::Project;

/// Record what a finished phase taught in PATTERNS.md
///
/// Run it when all plans of a phase have summaries. Without PHASE, it records the latest complete phase
/// that is not recorded yet.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals execute 3")]
#[expect(clippy::struct_excessive_bools, reason = "one flag each")]
pub(crate) struct ExecuteArgs {
    /// The phase's number
    #[arg(value_name = "PHASE", conflicts_with = "all")]
    phase: Option<String>,
    /// Record every complete phase not yet recorded, archived milestones included
    #[arg(long)]
    all: bool,
    /// Record an incomplete phase as far as it has got
    #[arg(long)]
    partial: bool,
    /// Append a new entry for a phase that is already recorded
    #[arg(long)]
    again: bool,
    /// Print what is needed to choose the phase's lessons, and record nothing
    #[arg(long, conflicts_with_all = ["all", "again", "lessons"])]
    digest: bool,
    /// Record these lessons instead of the summaries' sentences; `-` reads standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "all")]
    lessons: Option<PathBuf>,
    /// The effort profile it was executed with, if the plans do not name it
    #[arg(long, value_name = "PROFILE")]
    effort: Option<String>,
}

pub(crate) fn run(args: &ExecuteArgs, project: &Project, out: &mut Output) -> Result<()> {
    let phase = args.phase.as_deref().map(str::parse).transpose()?;
    if args.digest {
        let digest = lifecycle::digest(project, phase.as_ref())?;
        return out.result(&digest, |digest, to| write!(to, "{}", digest.text));
    }
    let lessons = args.lessons.as_deref().map(|file| document(Some(file), "the lessons"));
    let request = ExecuteRequest {
        lessons: lessons.transpose()?.map(|text| SubmittedLessons::parse(&text)).transpose()?,
        phase,
        all: args.all,
        partial: args.partial,
        again: args.again,
        effort: args.effort.clone(),
    };
    let done = lifecycle::execute(project, &request)?;
    out.outcome(&done, show, done.refusal())?;
    let is_asked = request.lessons.is_none() && !request.all && out.can_ask();
    if is_asked && !done.value.recorded.is_empty() {
        let number = args.phase.as_ref().map(|phase| format!(" {phase}")).unwrap_or_default();
        out.note(&format!(
            "These are the summaries' words. Yours are better: annals execute{number} --digest, then --lessons"
        ));
    }
    Ok(())
}

fn show(report: &ExecuteReport, to: &mut dyn Write) -> io::Result<()> {
    print::phases("Recorded", &report.recorded, to)?;
    print::phases("Lessons replaced", &report.judged, to)?;
    print::phases("Already recorded", &report.already, to)?;
    for phase in &report.changed_since {
        writeln!(
            to,
            "{phase}: its summaries changed since it was recorded; --again appends a new entry."
        )?;
    }
    if report.recorded.is_empty() && report.already.is_empty() && report.judged.is_empty() {
        writeln!(to, "No complete phase to record.")?;
    }
    Ok(())
}
