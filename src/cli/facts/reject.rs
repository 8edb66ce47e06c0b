//! `annals facts reject`

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::facts::answer;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::project::Project;

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

pub(crate) fn run(
    args: &RejectArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let mut store = place.write(project)?;
    let answered = facts::reject(&mut store, &user, &args.id, &args.reason)?;
    out.result(&answered, answer);
    Ok(())
}
