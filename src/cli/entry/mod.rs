//! `annals entry`

mod classify;
mod read;

use clap::Args;
use clap::Subcommand;

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;

/// Keep knowledge that outlives a session, one file a key
///
/// The entries lie in .vibekit/memory/ (`store` in annals.toml names another folder).
#[derive(Args, Debug)]
#[command(after_help = "Example: annals entry query --text \"test runner\"")]
pub(crate) struct EntryArgs {
    #[command(subcommand)]
    command: EntryCommand,
}

#[derive(Debug, Subcommand)]
enum EntryCommand {
    Read(read::ReadArgs),
    Classify(classify::ClassifyArgs),
}

pub(crate) fn run(args: &EntryArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        EntryCommand::Read(args) => read::run(args, project, out),
        EntryCommand::Classify(args) => classify::run(args, project, out),
    }
}
