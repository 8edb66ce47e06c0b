//! `annals facts apply`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::facts::input;
use crate::cli::facts::short;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::JudgedTurn;
use crate::project::Project;

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

pub(crate) fn run(
    args: &ApplyArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let answer = input()?;
    let mut store = place.write(project)?;
    let judged = facts::apply(
        &mut store,
        &user,
        &args.turn,
        &answer,
        args.allow_secret.into(),
    )?;
    out.result(&judged, show);
    Ok(())
}

pub(crate) fn show(judged: &JudgedTurn, to: &mut dyn Write) -> io::Result<()> {
    if judged.applied.is_empty() {
        return writeln!(to, "{}: nothing to do", judged.turn_id);
    }
    for applied in &judged.applied {
        let id = applied.fact_id.as_deref().map_or("-", short);
        writeln!(
            to,
            "{}: {}  {}  {id}",
            judged.turn_id,
            applied.outcome.as_str(),
            applied.key
        )?;
    }
    Ok(())
}
