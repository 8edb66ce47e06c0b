//! `annals share sync`

use clap::Args;

use crate::cli::output::Output;
use crate::cli::share::exchange;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share::Direction;

/// Receive what other devices did, then send what was done here
///
/// `annals facts work` and a session's end do the same if a server is set.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share sync")]
pub(crate) struct SyncArgs {}

pub(crate) fn run(
    _args: &SyncArgs,
    project: &Project,
    facts: &mut Facts,
    out: &mut Output,
) -> Result<()> {
    exchange(project, facts, Direction::Both, out)
}
