//! `annals facts confirm`

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::facts::answer;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::project::Project;

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

pub(crate) fn run(
    args: &ConfirmArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let mut store = place.write(project)?;
    let answered = facts::confirm(&mut store, &user, &args.id)?;
    out.result(&answered, answer);
    Ok(())
}
