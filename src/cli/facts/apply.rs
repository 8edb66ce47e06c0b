//! `annals facts apply`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, input, short};
use crate::error::Result;
use crate::facts;
use crate::facts::JudgedTurn;

/// Apply the auditor's answer to a queued turn: all of its actions or none
///
/// Reads the JSON that `annals facts prompt` asks for. The rules decide what each action does,
/// whatever it claims. Repeating the same answer changes nothing and returns the first result.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts apply 7f3a --user ada < actions.json")]
pub(crate) struct ApplyArgs {
    /// The turn's id
    #[arg(value_name = "TURN")]
    turn: String,
    /// Keep a value that looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &ApplyArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let answer = input()?;
    let mut store = context.write()?;
    let judged = facts::apply(&mut store, &user, &args.turn, &answer, args.allow_secret.into())?;
    context.out.result(&judged, show)
}

pub(crate) fn show(judged: &JudgedTurn, to: &mut dyn Write) -> io::Result<()> {
    if judged.applied.is_empty() {
        return writeln!(to, "{}: nothing to do", judged.turn_id);
    }
    for applied in &judged.applied {
        let id = applied.fact_id.as_deref().map_or("-", short);
        writeln!(to, "{}: {}  {}  {id}", judged.turn_id, applied.outcome.as_str(), applied.key)?;
    }
    Ok(())
}
