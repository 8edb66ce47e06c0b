//! `annals facts forget`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::Place;
use crate::cli::output::Output;
use crate::error::Error;
use crate::error::Result;
use crate::facts;
use crate::facts::Forgotten;
use crate::project::Project;

/// Erase a user's facts for good, all or those under one key
///
/// Facts, archive, history, indexes, vectors, and the turns that mention them; the file is written anew,
/// so that no byte stays. One line stays that says when, how many and why. This cannot be undone.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts forget --user ada --key home.address --reason 'asked to'"
)]
pub(crate) struct ForgetArgs {
    /// Only what is under this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Why; what was forgotten is taken out of it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn run(
    args: &ForgetArgs,
    place: &Place,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    if place.user.is_none() {
        // What cannot be undone is not done to whom a setting happens to name.
        return Err(
            Error::usage("forget needs --user").hint("annals facts forget --user ID --reason TEXT")
        );
    }
    let user = place.user(project)?;
    let mut store = place.write(project)?;
    let forgotten = facts::forget(&mut store, &user, args.key.as_deref(), &args.reason)?;
    out.result(&forgotten, show);
    Ok(())
}

fn show(forgotten: &Forgotten, to: &mut dyn Write) -> io::Result<()> {
    writeln!(
        to,
        "forgot {} facts, {} changes, {} turns",
        forgotten.facts, forgotten.changes, forgotten.turns
    )
}
