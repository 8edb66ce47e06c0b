//! `annals share`

#![expect(clippy::doc_markdown, reason = "help shows the examples as they stand")]

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::render::text;
use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::share;
use crate::share::Direction;

/// Share facts and the journal between devices, through your own PostgreSQL database
///
/// `share.url` in your own config.toml, or `ANNALS_SHARE_URL`, names the database. Everything is read and
/// written here as before; the server only passes on what each device did. Only facts and journal lines are sent,
/// in batches, each whole or not at all; what is interrupted resumes where it stopped.
///
/// Example: annals share sync
///
/// Example: ANNALS_SHARE_URL=postgres://ada@db.example.com/annals annals share init
#[derive(Args, Debug)]
pub(crate) struct ShareArgs {
    /// What to do
    #[arg(default_value = "status", hide_default_value = true)]
    action: Action,
    /// The database of facts [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// With `status`, show only what this device knows; ask no server
    #[arg(long)]
    offline: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// Set up the server if necessary, and register this database as a device; nothing is sent yet
    Init,
    /// Receive changes from other devices, then send those made here, as `annals facts work` does
    Sync,
    /// Send changes made on this device
    Push,
    /// Receive changes from other devices: facts are merged, lines are added to the journal
    Pull,
    /// Show the operations to be sent or set aside, and all devices; a device that has received nothing since
    /// facts were forgotten is marked
    Status,
    /// Stop sharing this database; its facts and its journal stay, as does what it sent
    Leave,
}

pub(crate) fn run(args: &ShareArgs, project: &Project, out: &mut Output) -> Result<()> {
    let purpose =
        if matches!(args.action, Action::Status) { Purpose::Read } else { Purpose::Write };
    let facts = &Facts::open(project, args.db.as_deref(), purpose)?;
    let direction = match args.action {
        Action::Init => return out.show(&share::init(project, facts)?, text!("share/initialised")),
        Action::Status => {
            let status = share::status(project, facts, args.offline)?;
            return out.show(&status, text!("share/status"));
        }
        Action::Leave => return out.show(&share::leave(project, facts)?, text!("share/left")),
        Action::Push => Direction::Push,
        Action::Pull => Direction::Pull,
        Action::Sync => Direction::Both,
    };
    let synced = share::sync(project, facts, direction, None)?;
    let more = json!({
        "would": if project.dry_run { "would have " } else { "" },
        "sends": direction != Direction::Pull,
        "receives": direction != Direction::Push,
    });
    out.show_with(&synced, &more, text!("share/synced"))
}
