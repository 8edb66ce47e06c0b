//! `annals share`

mod init;
mod leave;
mod pull;
mod push;
mod status;
mod sync;

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap::Subcommand;
use serde::Serialize;

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::Facts;
use crate::facts::Purpose;
use crate::project::Project;
use crate::share;
use crate::share::Direction;
use crate::share::Synced;
use crate::text::quantity;

/// Share facts and the journal between devices, through your own PostgreSQL database
///
/// `share.url` in your own config.toml, or `ANNALS_SHARE_URL`, names the database. Everything is read and
/// written here as before; the server only passes on what each device did. `docs/share.md` says what is sent.
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
    Init(init::InitArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    Sync(sync::SyncArgs),
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
        ShareCommand::Init(args) => init::run(args, project, &mut facts, out),
        ShareCommand::Push(args) => push::run(args, project, &mut facts, out),
        ShareCommand::Pull(args) => pull::run(args, project, &mut facts, out),
        ShareCommand::Sync(args) => sync::run(args, project, &mut facts, out),
        ShareCommand::Status(args) => status::run(args, project, &facts, out),
        ShareCommand::Leave(args) => leave::run(args, project, &mut facts, out),
    }
}

/// Synchronises this device with the server, and prints what was sent and received.
fn exchange(
    project: &Project,
    facts: &mut Facts,
    direction: Direction,
    out: &mut Output,
) -> Result<()> {
    let synced = share::sync(project, facts, direction, None)?;
    if synced.is_renamed {
        out.note(&format!(
            "this database is a copy of another device's; its device is now {}",
            synced.device
        ));
    }
    if synced.set_aside > 0 {
        out.note(&format!(
            "{} not understood and set aside; `annals share status` says why",
            quantity(synced.set_aside, "operation")
        ));
    }
    for device in &synced.stuck {
        out.note(&format!(
            "the server lacks an operation of device {device}: its later operations are on hold"
        ));
    }
    if synced.withheld > 0 {
        out.note(&format!(
            "{} not sent: looks like a secret",
            quantity(synced.withheld, "operation")
        ));
    }
    if synced.is_unclean {
        out.note("another process has the database open: facts forgotten on other devices are erased, but may remain in its free pages");
    }
    let exchange = Exchange {
        synced,
        direction,
        is_dry_run: project.dry_run,
    };
    out.result(&exchange, show);
    Ok(())
}

/// The result of an exchange, with what is needed to print it.
#[derive(Serialize)]
struct Exchange {
    #[serde(flatten)]
    synced: Synced,
    #[serde(skip)]
    direction: Direction,
    #[serde(skip)]
    is_dry_run: bool,
}

fn show(exchange: &Exchange, to: &mut dyn Write) -> io::Result<()> {
    let would = if exchange.is_dry_run {
        "would have "
    } else {
        ""
    };
    let mut parts = Vec::new();
    if exchange.direction != Direction::Pull {
        let sent = quantity(exchange.synced.pushed, "operation");
        parts.push(format!("{would}sent {sent}"));
    }
    if exchange.direction != Direction::Push {
        let taken = quantity(exchange.synced.pulled, "operation");
        parts.push(format!("{would}received {taken}"));
    }
    writeln!(to, "{}", parts.join(", "))
}
