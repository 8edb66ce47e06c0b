//! `annals facts export`

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;

/// Print all facts of a user as JSON Lines, archived ones too
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts export --user ada > ada.jsonl")]
pub(crate) struct ExportArgs {}

pub(crate) fn run(_: &ExportArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    for fact in facts::export(&context.read()?, &user)? {
        context.out.json_line(&fact);
    }
    Ok(())
}
