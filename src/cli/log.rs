//! `annals log`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::storage::{History, Operation, OperationId};
use crate::text;

/// List the changes that annals made, newest first
///
/// The last 200 operations are kept, or 64 MiB of them, in .annals/history/.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals log --limit 5")]
pub(crate) struct LogArgs {
    /// Maximum number of changes to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Delete the record of one operation, with the old and new text in it
    #[arg(long, value_name = "ID")]
    forget: Option<OperationId>,
    /// Show a record that you did not write on this machine, and sign it after you confirm; terminal only
    #[arg(long, value_name = "ID", conflicts_with = "forget")]
    adopt: Option<OperationId>,
}

pub(crate) fn run(args: &LogArgs, project: &Project, out: &mut Output) -> Result<()> {
    let history = project.storage().history();
    if let Some(id) = args.forget {
        if project.dry_run {
            history.find(Some(id))?;
            out.note(&format!("Would forget operation {id}."));
        } else {
            history.forget(id)?;
            out.note(&format!("Forgot operation {id}."));
        }
    }
    if let Some(id) = args.adopt {
        return adopt(&history, id, project.dry_run, out);
    }
    let found = history.list()?;
    out.warnings(&found.warnings);
    let newest: Vec<Operation> = found.value.into_iter().take(args.limit).collect();
    out.list("operations", &newest, show)
}

/// Signs a record after confirmation: `undo` and recovery act on signed records, so a person must have seen
/// it.
fn adopt(history: &History, id: OperationId, dry_run: bool, out: &mut Output) -> Result<()> {
    let (operation, diff) = history.unverified(id)?;
    if !out.can_ask() && !dry_run {
        return Err(Error::refused(
            "a record can be signed only on a terminal, by a person who has seen it",
        )
        .hint("--dry-run shows it"));
    }
    out.result(&vec![operation], show)?;
    out.note(&text::strip_controls(&diff));
    if dry_run {
        return Ok(());
    }
    let question = "`annals undo`, or the next write if it was interrupted, will act on this record. Sign it? [yes/no]";
    if out.ask(question)?.as_deref() != Some("yes") {
        return Err(Error::refused("not signed: the answer was not `yes`"));
    }
    let signed = history.adopt(id)?;
    out.note(&format!("Signed as operation {signed}."));
    Ok(())
}

fn show(operations: &Vec<Operation>, to: &mut dyn Write) -> io::Result<()> {
    if operations.is_empty() {
        writeln!(to, "No changes recorded.")?;
    }
    for operation in operations {
        writeln!(to, "{}  {}  {}", operation.id, operation.time, operation.operation)?;
        for file in &operation.files {
            writeln!(to, "      {} {}", file.happened.as_str(), file.path.display())?;
        }
    }
    Ok(())
}
