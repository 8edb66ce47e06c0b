//! `annals entry`

mod audit;
mod classify;
mod delete;
mod filter;
mod list;
mod query;
mod read;
mod supersede;
mod write;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;

/// Store and find what is worth knowing in later sessions, one file per key
///
/// The entries are in .vibekit/memory/ (`store` in annals.toml replaces .vibekit).
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
    Query(query::QueryArgs),
    List(list::ListArgs),
    Write(write::WriteArgs),
    Supersede(supersede::SupersedeArgs),
    Delete(delete::DeleteArgs),
    /// Check all entries, rebuild INDEX.md if it drifted, prune Working Memory
    ///
    /// Finds old guesses, old entries, duplicates, broken links, bodies over 500 lines, links to superseded
    /// entries, and files that could not be understood. No entry is ever changed.
    #[command(after_help = "Example: annals entry audit --dry-run")]
    Audit,
}

pub(crate) fn run(args: &EntryArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        EntryCommand::Read(args) => read::run(args, project, out),
        EntryCommand::Classify(args) => classify::run(args, project, out),
        EntryCommand::Query(args) => query::run(args, project, out),
        EntryCommand::List(args) => list::run(args, project, out),
        EntryCommand::Write(args) => write::run(args, project, out),
        EntryCommand::Supersede(args) => supersede::run(args, project, out),
        EntryCommand::Delete(args) => delete::run(args, project, out),
        EntryCommand::Audit => audit::run(project, out),
    }
}
