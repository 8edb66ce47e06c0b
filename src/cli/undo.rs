//! `annals undo`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::lifecycle::{UndoReport, undo};
use crate::project::Project;
use crate::storage::OperationId;

/// Undo the last change, or the one with ID
///
/// Restores the exact bytes from before it; lines in log.md stay. Refused if a file was changed since. An
/// undo is itself a change, so a second `annals undo` reverts it. Git commits, git tags and git configuration
/// are not undone, and are listed.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals undo 17")]
pub(crate) struct UndoArgs {
    /// The operation, as `annals log` numbers it
    #[arg(value_name = "ID")]
    id: Option<OperationId>,
}

pub(crate) fn run(args: &UndoArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = undo(project, args.id)?;
    out.warnings(&report.warnings);
    out.result(&report, show)
}

fn show(report: &UndoReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &report.diff {
        return write!(to, "{diff}");
    }
    writeln!(to, "Undid operation {} ({}).", report.undone.id, report.undone.operation)?;
    for path in &report.changed {
        writeln!(to, "  {}", path.display())?;
    }
    for sentence in &report.stays {
        writeln!(to, "{sentence}")?;
    }
    Ok(())
}
