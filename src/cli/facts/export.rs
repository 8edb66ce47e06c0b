//! `annals facts export`

use clap::Args;

use crate::cli::facts::DatabaseArgs;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::project::Project;

/// Print all facts of a user as JSON Lines, archived ones too
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts export --user ada > ada.jsonl")]
pub(crate) struct ExportArgs {}

pub(crate) fn run(
    _: &ExportArgs,
    place: &DatabaseArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    for fact in facts::export(&place.read(project)?, &user)? {
        out.json_line(&fact);
    }
    Ok(())
}
