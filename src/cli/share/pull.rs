//! `annals share pull`

use clap::Args;

use crate::cli::output::Output;
use crate::cli::share::exchange;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share::Direction;

/// Receive what other devices did
///
/// Facts are merged and lines are added to the journal; an interrupted pull resumes where it stopped.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share pull")]
pub(crate) struct PullArgs {}

pub(crate) fn run(
    _args: &PullArgs,
    project: &Project,
    facts: &mut Facts,
    out: &mut Output,
) -> Result<()> {
    exchange(project, facts, Direction::Pull, out)
}
