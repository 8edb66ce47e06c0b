//! `annals facts turns`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Turn;
use crate::project::Project;
use crate::text;

/// List a user's turns in the queue: pending, running, done, and dead ones with the reason
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts turns --user ada --status dead")]
pub(crate) struct TurnsArgs {
    /// Only this status: pending, running, done, dead
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "running", "done", "dead"])]
    status: Option<String>,
}

pub(crate) fn run(
    args: &TurnsArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let mut turns = facts::turns(&place.read(project)?, &user)?;
    turns.retain(|turn| {
        args.status
            .as_ref()
            .is_none_or(|status| turn.status == *status)
    });
    out.list("turns", &turns, show);
    Ok(())
}

fn show(turns: &Vec<Turn>, to: &mut dyn Write) -> io::Result<()> {
    if turns.is_empty() {
        return writeln!(to, "No turns.");
    }
    for turn in turns {
        let said = text::Line::new(&turn.user_input);
        writeln!(
            to,
            "{:<7}  {}  {}",
            turn.status,
            turn.turn_id,
            said.clipped(60)
        )?;
        if let Some(error) = &turn.last_error {
            writeln!(to, "         {error}")?;
        }
    }
    Ok(())
}
