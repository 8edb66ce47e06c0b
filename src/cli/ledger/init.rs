//! `annals ledger init`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::ledger;
use crate::ledger::InitReport;
use crate::project::Project;

/// Make the three files where they are missing
///
/// What exists stays as it is. The commit that is checked out becomes the anchor: what came before
/// counts as covered.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger init")]
pub(crate) struct InitArgs {}

pub(crate) fn run(_: &InitArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = ledger::init(project)?;
    out.warnings(&report.warnings);
    out.result(&report, show);
    Ok(())
}

fn show(report: &InitReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = report.diff.as_ref().filter(|diff| !diff.is_empty()) {
        return write!(to, "{diff}");
    }
    let folder = report.folder.display();
    if report.created.is_empty() {
        return writeln!(to, "{folder} is complete already; nothing created.");
    }
    let names = report.created.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    writeln!(to, "Created in {folder}: {}.", names.join(", "))?;
    writeln!(to, "Next: annals ledger skill")
}
