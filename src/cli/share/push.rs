//! `annals share push`

use clap::Args;

use crate::cli::output::Output;
use crate::cli::share::exchange;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share::Direction;

/// Send what was done on this device
///
/// Operations are sent in batches, each whole or not at all; an interrupted push resumes where it stopped.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share push")]
pub(crate) struct PushArgs {}

pub(crate) fn run(
    _args: &PushArgs,
    project: &Project,
    facts: &mut Facts,
    out: &mut Output,
) -> Result<()> {
    exchange(project, facts, Direction::Push, out)
}
