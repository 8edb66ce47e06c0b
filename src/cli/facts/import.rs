//! `annals facts import`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::facts::input;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Imported;
use crate::project::Project;

/// Import facts about a user from standard input, one JSON object per line; overwrites nothing
///
/// What is already known is left as it is. What contradicts a current fact waits for confirmation.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts import --user ada < ada.jsonl")]
pub(crate) struct ImportArgs {
    /// Keep a value that looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(
    args: &ImportArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let lines = input()?;
    let mut store = place.write(project)?;
    let imported = facts::import(
        &mut store,
        &user,
        &lines,
        args.allow_secret.into(),
        &project.progress,
    )?;
    out.result(&imported, show);
    Ok(())
}

fn show(imported: &Imported, to: &mut dyn Write) -> io::Result<()> {
    writeln!(
        to,
        "{} imported, {} of them pending, {} already known",
        imported.imported, imported.pending, imported.known
    )
}
