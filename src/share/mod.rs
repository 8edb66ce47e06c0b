//! Shares facts and journal between devices, through the user's own PostgreSQL database.
//!
//! SQLite and the journal file remain the stores that are read and written; the server only passes operations
//! on. `docs/share.md` describes what is sent, and `facts::replication` how it is merged.

mod server;
mod sync;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
pub use server::SharedDevice;
pub use sync::{Direction, Synced, sync};

use crate::error::{Error, Result};
use crate::facts;
use crate::facts::replication::{Cursors, DEVICE, PRIVATE};
use crate::facts::{Facts, Forgotten, SharingState, UserId, replication};
use crate::project::Project;
use crate::share::server::{SyncServer, find_address};

/// Timeout for a statement of `init` and `leave`.
const WAIT: Duration = Duration::from_secs(30);

/// Timeout for the server where its state is only shown, since the local state alone is useful.
const SHOWN: Duration = Duration::from_secs(3);

/// Time budget for each direction of the sync around a `forget`.
const FORGET: Duration = Duration::from_secs(20);

/// The outcome of `annals share init`.
#[derive(Debug, Serialize)]
pub struct Initialised {
    /// The server.
    pub server: String,
    /// Whether the tables were created.
    pub has_made_tables: bool,
    /// The id of this device; `None` on a dry run if it has none yet.
    pub device: Option<String>,
    /// Number of operations to be sent.
    pub pending: usize,
}

/// The outcome of `annals share leave`.
#[derive(Debug, Serialize)]
pub struct LeaveReport {
    /// The device that left.
    pub device: String,
    /// The reason if the server could not be updated.
    #[serde(rename = "untold")]
    pub server_error: Option<String>,
}

/// The state of sharing.
#[derive(Debug, Serialize)]
pub struct ShareStatus {
    /// The server in the settings, without its password.
    pub server: Option<String>,
    /// This device, or `None` if the database was never shared.
    #[serde(flatten)]
    pub here: Option<SharingState>,
    /// All devices, if the server was reached.
    pub devices: Vec<SharedDevice>,
    /// The reason if the server was not reached.
    pub unreachable: Option<String>,
}

/// Returns whether a server is set.
pub fn is_configured(project: &Project) -> bool {
    project.settings.share.url.is_some()
}

/// Returns whether this database is shared and a server is set.
pub fn is_active(project: &Project, facts: &Facts) -> Result<bool> {
    Ok(is_configured(project) && replication::joined(facts)?.is_some())
}

/// Creates the server's tables if they are missing, and adds this database as a device.
pub fn init(project: &Project, facts: &Facts) -> Result<Initialised> {
    let address = find_address(project)?;
    let mut server = SyncServer::connect(project, &address, WAIT)?;
    let mut has_made_tables = false;
    let device = if facts.dry_run {
        replication::joined(facts)?
    } else {
        has_made_tables = server.set_up()?;
        server.state()?;
        let device = replication::join(facts)?;
        // All scopes in the settings, and the private one.
        let share = &project.settings.share;
        let mut scopes: BTreeSet<String> =
            share.scopes.iter().map(|rule| &rule.1).chain([&share.journal]).cloned().collect();
        scopes.insert(PRIVATE.to_owned());
        scopes.remove(DEVICE);
        server.introduce(&device, &Vec::from_iter(scopes))?;
        Some(device)
    };
    let pending = replication::pending_count(facts)?;
    Ok(Initialised { server: address.to_string(), has_made_tables, device, pending })
}

/// Stops sharing this database, and keeps its facts.
pub fn leave(project: &Project, facts: &Facts) -> Result<LeaveReport> {
    let Some(device) = replication::joined(facts)? else {
        return Err(Error::not_found("this database is not shared"));
    };
    let mut server_error = None;
    if !facts.dry_run {
        // The server's list of devices may become outdated.
        server_error = connect(project, facts, WAIT)
            .and_then(|(_, mut server, _)| server.note(&device, "left_at"))
            .err()
            .map(|error| error.reason());
        replication::leave(facts)?;
    }
    Ok(LeaveReport { device, server_error })
}

/// Returns the state of sharing; with `offline`, without contacting the server.
pub fn status(project: &Project, facts: &Facts, offline: bool) -> Result<ShareStatus> {
    let here = facts::sharing(facts)?;
    let is_part = here.as_ref().is_some_and(|here| !here.has_left);
    let mut status = ShareStatus { server: None, here, devices: Vec::new(), unreachable: None };
    if !is_configured(project) {
        return Ok(status);
    }
    status.server = Some(find_address(project)?.to_string());
    if is_part && !offline {
        let devices =
            connect(project, facts, SHOWN).and_then(|(_, mut server, _)| server.devices());
        match devices {
            Ok(devices) => status.devices = devices,
            Err(error) => status.unreachable = Some(error.reason()),
        }
    }
    Ok(status)
}

/// Forgets a user's facts, all or those under one key, and at once on the server if the database is shared; the
/// second value is the reason if the server could not be updated.
///
/// Operations of other devices are pulled first, so that all mentions of the facts are known.
pub fn forget(
    project: &Project,
    facts: &Facts,
    user: &UserId,
    key: Option<&str>,
    reason: &str,
) -> Result<(Forgotten, Option<String>)> {
    if !is_active(project, facts)? || facts.dry_run {
        return Ok((facts::forget(facts, user, key, reason)?, None));
    }
    // An unreachable server is updated by the next sync.
    let pulled = sync(project, facts, Direction::Pull, Some(FORGET));
    let forgotten = facts::forget(facts, user, key, reason)?;
    let pushed = pulled.and_then(|_| sync(project, facts, Direction::Push, Some(FORGET)));
    Ok((forgotten, pushed.err().map(|error| error.reason())))
}

/// Returns the device id, a connection, and the number of each device's last operation on the server; fails if the
/// database is not shared or no server is set.
fn connect(
    project: &Project,
    facts: &Facts,
    wait: Duration,
) -> Result<(String, SyncServer, Cursors)> {
    let device = replication::required(facts)?;
    let mut server = SyncServer::connect(project, &find_address(project)?, wait)?;
    let highest = server.state()?;
    Ok((device, server, highest))
}
