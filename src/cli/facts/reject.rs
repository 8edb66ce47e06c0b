//! `annals facts reject`

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::cli::facts::answer;
use crate::error::Result;
use crate::facts;

/// Mark a fact as rejected by the user: a pending one is dropped, an active one ends
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts reject 4f2c81d0 --user ada")]
pub(crate) struct RejectArgs {
    /// The fact's id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "rejected")]
    reason: String,
}

pub(crate) fn run(args: &RejectArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.write()?;
    let answered = facts::reject(&mut store, &user, &args.id, &args.reason)?;
    context.out.result(&answered, answer)
}
