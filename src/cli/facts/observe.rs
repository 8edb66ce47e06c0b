//! `annals facts observe`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, input};
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Observation, Receipt};

/// Queue a finished turn of a conversation for the memory auditor
///
/// Reads one JSON object: `user_input`, and if known `assistant_response`, `turn_id`, `timestamp`,
/// `user_id`, `session_id`, `project`. It is only queued; `annals facts work` judges it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: echo '{\"user_input\": \"I moved to Turin\"}' | annals facts observe --user ada"
)]
pub(crate) struct ObserveArgs {
    /// The turn's id: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Keep text that looks like a secret instead of removing it
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &ObserveArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let text = input()?;
    let mut observation: Observation = serde_json::from_str(&text).map_err(|error| {
        Error::usage(format!("standard input is not a turn: {error}")).hint(
            "one JSON object: user_input, assistant_response, turn_id, timestamp, user_id, session_id, project, session_end",
        )
    })?;
    let user = match (&context.database.user, &observation.user_id) {
        (None, Some(in_turn)) => facts::user(context.project, Some(in_turn))?,
        (Some(named), Some(in_turn)) if named.trim() != in_turn.trim() => {
            return Err(Error::usage(format!("--user says {named}, the turn says {in_turn}")));
        }
        _ => context.user()?,
    };
    match (&args.request_id, &observation.turn_id) {
        (Some(id), Some(in_turn)) if id != in_turn => {
            return Err(Error::usage(format!("--request-id says {id}, the turn says {in_turn}")));
        }
        (Some(id), _) => observation.turn_id = Some(id.clone()),
        _ => {}
    }
    let mut store = context.write()?;
    let receipt = facts::observe(&mut store, &user, &observation, args.allow_secret.into())?;
    context.out.result(&receipt, show)
}

fn show(receipt: &Receipt, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "queued {}", receipt.turn_id)
}
