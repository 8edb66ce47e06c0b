//! `annals share leave`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share;
use crate::share::LeaveReport;
use crate::text::quantity;

/// Stop sharing this database; its facts and its journal stay as they are
///
/// What it sent stays on the server and the other devices; `--erase` removes it from the server.
/// `annals share init` joins again.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share leave --erase")]
pub(crate) struct LeaveArgs {
    /// Erase from the server what this device sent
    #[arg(long)]
    erase: bool,
}

pub(crate) fn run(
    args: &LeaveArgs,
    project: &Project,
    facts: &mut Facts,
    out: &mut Output,
) -> Result<()> {
    let left = share::leave(project, facts, args.erase)?;
    if let Some(why) = &left.server_error {
        out.note(&format!("the server could not be notified and still lists this device: {why}"));
    }
    out.result(&left, show)
}

fn show(left: &LeaveReport, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "device {} no longer shares", left.device)?;
    match left.erased {
        Some(erased) => writeln!(to, ", {} erased on the server", quantity(erased, "operation")),
        None => writeln!(to),
    }
}
