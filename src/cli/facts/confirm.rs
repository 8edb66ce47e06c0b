//! `annals facts confirm` and `reject`

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::cli::facts::add::show;
use crate::error::Result;
use crate::facts;

/// Mark a fact as confirmed by the user: its confidence is 1.00 from then on
///
/// A pending fact takes effect; one that was superseded or expired becomes active again.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts confirm 4f2c81d0 --user ada")]
pub(crate) struct ConfirmArgs {
    /// The fact's id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn confirm(args: &ConfirmArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.write()?;
    let answered = facts::confirm(&mut store, &user, &args.id)?;
    context.out.result(&answered, show)
}

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

pub(crate) fn reject(args: &RejectArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.write()?;
    let answered = facts::reject(&mut store, &user, &args.id, &args.reason)?;
    context.out.result(&answered, show)
}
