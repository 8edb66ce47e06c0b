//! `annals share`

mod exchange;
mod init;
mod leave;
mod status;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::share::Direction;

/// Share facts and the journal between devices, through your own PostgreSQL database
///
/// `share.url` in your own config.toml, or `ANNALS_SHARE_URL`, names the database. Everything is read and
/// written here as before; the server only passes on what each device did. Only facts and journal lines are sent.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share sync")]
pub(crate) struct ShareArgs {
    /// The database of facts [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
    #[command(subcommand)]
    command: ShareCommand,
}

#[derive(Debug, Subcommand)]
enum ShareCommand {
    /// Set up the server if necessary, and register this database as a device
    ///
    /// Nothing is sent yet. Existing facts become operations; `share.scopes` keeps keys on this device.
    #[command(
        after_help = "Example: ANNALS_SHARE_URL=postgres://ada@db.example.com/annals annals share init"
    )]
    Init,
    /// Send changes made on this device
    ///
    /// Operations are sent in batches, each whole or not at all; an interrupted push resumes where it stopped.
    #[command(after_help = "Example: annals share push")]
    Push,
    /// Receive changes from other devices
    ///
    /// Facts are merged and lines are added to the journal; an interrupted pull resumes where it stopped.
    #[command(after_help = "Example: annals share pull")]
    Pull,
    /// Receive changes from other devices, then send those made here
    ///
    /// `annals facts work` and a session's end do the same if a server is set.
    #[command(after_help = "Example: annals share sync")]
    Sync,
    Status(status::StatusArgs),
    Leave(leave::LeaveArgs),
}

pub(crate) fn run(args: &ShareArgs, project: &Project, out: &mut Output) -> Result<()> {
    let purpose = match &args.command {
        ShareCommand::Status(_) => Purpose::Read,
        _ => Purpose::Write,
    };
    let mut facts = Facts::open(project, args.db.as_deref(), purpose)?;
    match &args.command {
        ShareCommand::Init => init::run(project, &mut facts, out),
        ShareCommand::Push => exchange::run(project, &mut facts, Direction::Push, out),
        ShareCommand::Pull => exchange::run(project, &mut facts, Direction::Pull, out),
        ShareCommand::Sync => exchange::run(project, &mut facts, Direction::Both, out),
        ShareCommand::Status(args) => status::run(args, project, &facts, out),
        ShareCommand::Leave(args) => leave::run(args, project, &mut facts, out),
    }
}
