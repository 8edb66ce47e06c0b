//! `annals share`

#![expect(clippy::doc_markdown, reason = "help shows the examples as they stand")]

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::output::{Output, text};
use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::share;
use crate::share::Direction;
use crate::text::quantity;

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
    let facts = &mut Facts::open(project, args.db.as_deref(), purpose)?;
    match args.action {
        Action::Init => {
            let done = share::init(project, facts)?;
            if project.dry_run {
                out.note("dry run: the server was reached, nothing was changed");
            }
            out.show(&done, text!("share/initialised"))
        }
        Action::Push => sync(project, facts, Direction::Push, out),
        Action::Pull => sync(project, facts, Direction::Pull, out),
        Action::Sync => sync(project, facts, Direction::Both, out),
        Action::Status => {
            let status = share::status(project, facts, args.offline)?;
            if let Some(why) = &status.unreachable {
                out.note(&format!("{why}; everything on this device works without it"));
            }
            out.show(&status, text!("share/status"))
        }
        Action::Leave => {
            let left = share::leave(project, facts)?;
            if let Some(why) = &left.server_error {
                let still = "the server could not be notified and still lists this device";
                out.note(&format!("{still}: {why}"));
            }
            out.show(&left, text!("share/left"))
        }
    }
}

/// Synchronises this device with the server, and reports what was sent and received.
fn sync(
    project: &Project,
    facts: &mut Facts,
    direction: Direction,
    out: &mut Output,
) -> Result<()> {
    let synced = share::sync(project, facts, direction, None)?;
    if synced.is_renamed {
        let device = &synced.device;
        out.note(&format!(
            "this database is a copy of another device's; its device is now {device}"
        ));
    }
    for device in &synced.stuck {
        let lacks = "the server lacks an operation of device";
        out.note(&format!("{lacks} {device}: its later operations are on hold"));
    }
    for (count, one, what) in [
        (
            synced.set_aside,
            "operation",
            "not understood and set aside; `annals share status` says why",
        ),
        (synced.withheld, "operation", "not sent: looks like a secret"),
        (synced.missing_lines, "journal line", "not sent: no longer in any journal"),
    ] {
        if count > 0 {
            out.note(&format!("{} {what}", quantity(count, one)));
        }
    }
    if synced.is_unclean {
        out.note("facts forgotten on other devices are erased, but may remain in free pages of the file: the next sync with exclusive access to it clears them");
    }
    let would = if project.dry_run { "would have " } else { "" };
    let sends = direction != Direction::Pull;
    let receives = direction != Direction::Push;
    let more = json!({ "would": would, "sends": sends, "receives": receives });
    out.show_with(&synced, &more, text!("share/synced"))
}
