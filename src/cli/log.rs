//! `annals log`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;
use crate::storage::Operation;
use crate::storage::OperationId;

/// List the changes that annals made, newest first
///
/// The last 200 operations are kept, or 64 MiB of them, in .annals/history/.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals log --limit 5")]
pub(crate) struct LogArgs {
    /// How many to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Drop the record of one operation, with the old and new text in it
    #[arg(long, value_name = "ID")]
    forget: Option<OperationId>,
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
    let found = history.list()?;
    out.warnings(&found.warnings);
    let newest: Vec<Operation> = found.value.into_iter().take(args.limit).collect();
    out.result(&newest, show);
    Ok(())
}

fn show(operations: &Vec<Operation>, to: &mut dyn Write) -> io::Result<()> {
    if operations.is_empty() {
        writeln!(to, "No changes recorded.")?;
    }
    for operation in operations {
        writeln!(
            to,
            "{}  {}  {}",
            operation.id, operation.time, operation.operation
        )?;
        for file in &operation.files {
            writeln!(
                to,
                "      {} {}",
                file.happened.as_str(),
                file.path.display()
            )?;
        }
    }
    Ok(())
}
