//! `annals export`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::absolute;
use crate::cli::output::Output;
use crate::error::Result;
use crate::exchange::Exported;
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::text::quantity;
use crate::{exchange, facts};

/// Copy every memory into a new folder of plain files
///
/// Entries, notepad, ledger and patterns as they are, the journal as JSON Lines, the facts of the user that
/// --user names, if any, and MANIFEST.md, which lists them all. A non-empty folder is refused, unless an
/// interrupted export left it.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals export ../memory-backup")]
pub(crate) struct ExportArgs {
    /// The folder to create
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The user whose facts to include [default: no facts]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The database of the facts [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE", requires = "user")]
    db: Option<PathBuf>,
}

pub(crate) fn run(args: &ExportArgs, project: &Project, out: &mut Output) -> Result<()> {
    let folder = absolute(&args.folder)?;
    let exported = match &args.user {
        Some(user) => {
            let user = facts::user(project, Some(user))?;
            let store = Facts::open(project, args.db.as_deref(), Purpose::Read)?;
            exchange::export(project, &folder, Some((&store, &user)))?
        }
        None => exchange::export(project, &folder, None)?,
    };
    out.warnings(&exported.warnings);
    let has_facts = args.user.is_some();
    let show = |exported: &Exported, to: &mut dyn Write| show(exported, has_facts, to);
    out.result_until(&exported, show, exported.verdict())
}

fn show(exported: &Exported, has_facts: bool, to: &mut dyn Write) -> io::Result<()> {
    for file in &exported.files {
        writeln!(to, "{:>10}  {}", file.bytes, file.file)?;
    }
    let done = if exported.dry_run { "Would export" } else { "Exported" };
    write!(
        to,
        "{done} {} to {}",
        quantity(exported.files.len(), "file"),
        exported.folder.display()
    )?;
    if !exported.empty.is_empty() {
        write!(to, "; nothing to export from: {}", exported.empty.join(", "))?;
    }
    writeln!(to, ".")?;
    if has_facts {
        return Ok(());
    }
    writeln!(to, "Facts are not included: --user ID includes that user's.")
}
