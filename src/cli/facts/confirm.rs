//! `annals facts confirm`

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::cli::facts::answer;
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

pub(crate) fn run(args: &ConfirmArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.write()?;
    let answered = facts::confirm(&mut store, &user, &args.id)?;
    context.out.result(&answered, answer)
}
