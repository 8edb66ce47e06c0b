//! `annals facts turns`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::facts::{Turn, TurnStatus};
use crate::{facts, text};

/// List a user's turns in the queue: pending, running, done, and dead ones with the reason
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts turns --user ada --status dead")]
pub(crate) struct TurnsArgs {
    /// Only this status
    #[arg(long, value_name = "STATUS")]
    status: Option<TurnStatus>,
}

value_enum!(TurnStatus);

pub(crate) fn run(args: &TurnsArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut turns = facts::turns(&context.read()?, &user)?;
    turns.retain(|turn| args.status.is_none_or(|status| turn.status == status));
    context.out.list("turns", &turns, show)
}

fn show(turns: &Vec<Turn>, to: &mut dyn Write) -> io::Result<()> {
    if turns.is_empty() {
        return writeln!(to, "No turns.");
    }
    for turn in turns {
        let said = text::Line::new(&turn.user_input);
        writeln!(to, "{:<7}  {}  {}", turn.status.as_str(), turn.turn_id, said.clipped(60))?;
        if let Some(error) = &turn.last_error {
            writeln!(to, "         {error}")?;
        }
    }
    Ok(())
}
