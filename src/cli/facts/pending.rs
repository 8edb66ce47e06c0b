//! `annals facts pending`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::facts::line;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Pending;
use crate::project::Project;

/// List what waits for the user's confirmation, with a question to ask if one is worth asking
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts pending --user ada")]
pub(crate) struct PendingArgs {}

pub(crate) fn run(
    _: &PendingArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let pending = facts::pending(&place.read(project)?, &user)?;
    out.list("pending", &pending, show);
    Ok(())
}

fn show(pending: &Vec<Pending>, to: &mut dyn Write) -> io::Result<()> {
    if pending.is_empty() {
        return writeln!(to, "Nothing waits for confirmation.");
    }
    for one in pending {
        line(&one.fact, to)?;
        if let Some(question) = &one.question {
            writeln!(to, "          {question}")?;
        }
    }
    Ok(())
}
