//! `annals facts import`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, input};
use crate::error::Result;
use crate::facts;
use crate::facts::Imported;

/// Import facts about a user from standard input, one JSON object per line; overwrites nothing
///
/// Known facts are left unchanged. A fact that contradicts a current one waits for confirmation.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts import --user ada < ada.jsonl")]
pub(crate) struct ImportArgs {
    /// Keep a value that looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &ImportArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let lines = input()?;
    let mut store = context.write()?;
    let imported = facts::import(
        &mut store,
        &user,
        &lines,
        args.allow_secret.into(),
        &context.project.progress,
    )?;
    context.out.result(&imported, show)
}

fn show(imported: &Imported, to: &mut dyn Write) -> io::Result<()> {
    writeln!(
        to,
        "{} imported, {} of them pending, {} already known",
        imported.imported, imported.pending, imported.known
    )
}
