//! `annals facts prompt`

use clap::Args;
use serde::Serialize;

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;

/// Print the memory auditor's prompt for a queued turn: the old facts and the new input
///
/// Pass the answer to `annals facts apply`.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts prompt 7f3a --user ada")]
pub(crate) struct PromptArgs {
    /// The turn's id
    #[arg(value_name = "TURN")]
    turn: String,
}

#[derive(Serialize)]
struct Prompt {
    turn_id: String,
    prompt: String,
}

pub(crate) fn run(args: &PromptArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.read()?;
    let turn = facts::find_turn(&store, &user, &args.turn)?;
    let prompt = facts::prompt(&mut store, &turn, &facts::embedder(context.project)?)?;
    let document = Prompt { turn_id: turn.turn_id, prompt };
    context.out.file(&document, document.prompt.as_bytes())
}
