//! `annals pause`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::PauseReport;
use crate::project::Project;

/// Leave a note for the next session in RESUME.md
///
/// The note contains the position, the last completed and the next pending plan, your notes and the next command.
/// A note that someone else wrote or edited is not replaced.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals pause \"The parser is half done; see src/parse.rs\"")]
pub(crate) struct PauseArgs {
    /// What the next session should know
    #[arg(value_name = "NOTES")]
    notes: Option<String>,
}

pub(crate) fn run(args: &PauseArgs, project: &Project, out: &mut Output) -> Result<()> {
    let done = lifecycle::pause(project, args.notes.as_deref())?;
    out.outcome(&done, show, Ok(()))
}

fn show(report: &PauseReport, to: &mut dyn Write) -> io::Result<()> {
    let phase = report.phase.as_deref().unwrap_or("none");
    writeln!(to, "Paused in {}.", report.file.display())?;
    writeln!(to, "Phase: {phase}")?;
    if let Some(plan) = &report.next_pending {
        writeln!(to, "Next pending: {plan}")?;
    }
    Ok(())
}
