//! Starts and stops sharing a database.

use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::replication::{DEVICE, PRIVATE};
use crate::facts::{Device, Facts, replication};
use crate::project::Project;
use crate::share::server::SyncServer;
use crate::share::{address, run};

/// Timeout for a statement.
const WAIT: Duration = Duration::from_secs(30);

/// The outcome of `annals share init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaveReport {
    /// The device that left.
    pub device: String,
    /// Number of its operations that were erased on the server, if requested.
    pub erased: Option<u64>,
    /// The reason if the server could not be updated.
    #[serde(rename = "untold")]
    pub server_error: Option<String>,
}

/// Creates the server's tables if they are missing, and adds this database as a device.
pub fn init(project: &Project, facts: &mut Facts) -> Result<Initialised> {
    let address = address::find(project)?;
    let mut server = SyncServer::connect(project, &address, WAIT)?;
    let mut has_made_tables = false;
    let device = if facts.is_dry_run() {
        Device::find(facts.connection())?.map(|device| device.id)
    } else {
        has_made_tables = server.set_up()?;
        server.state()?;
        let device = replication::join(facts)?;
        server.introduce(&device.id, &scopes(project))?;
        Some(device.id)
    };
    Ok(Initialised {
        server: address.to_string(),
        has_made_tables,
        device,
        pending: replication::pending_count(facts.connection())?,
    })
}

/// Returns all scopes in the settings, and the private one.
fn scopes(project: &Project) -> Vec<String> {
    let share = &project.settings.share;
    let named = share.scopes.iter().map(|rule| rule.1.clone());
    let mut scopes: Vec<String> =
        named.chain([PRIVATE.to_owned(), share.journal.clone()]).collect();
    scopes.retain(|scope| scope != DEVICE);
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

/// Stops sharing this database, and keeps its facts. With `erase`, erases on the server what it sent.
pub fn leave(project: &Project, facts: &mut Facts, erase: bool) -> Result<LeaveReport> {
    let Some(device) = Device::joined(facts.connection())? else {
        return Err(Error::not_found("this database is not shared"));
    };
    let mut left = LeaveReport { device: device.id.clone(), erased: None, server_error: None };
    if facts.is_dry_run() {
        return Ok(left);
    }
    match remove_device(project, facts, &device.id, erase) {
        Ok(erased) => left.erased = erased,
        // A requested erasure must succeed; the list of devices may become outdated.
        Err(error) if erase => return Err(error),
        Err(error) => left.server_error = Some(error.reason()),
    }
    if erase {
        // If the database joins again, it sends everything again, as a new device.
        let sent = replication::cursors(facts.connection())?;
        let own = sent.into_keys().filter(|(_, name)| *name == device.id);
        let agreed: Vec<(String, i64)> = own.map(|(scope, _)| (scope, 0)).collect();
        replication::renew(facts, &agreed)?;
    }
    replication::leave(facts)?;
    Ok(left)
}

fn remove_device(
    project: &Project,
    facts: &Facts,
    device: &str,
    erase: bool,
) -> Result<Option<u64>> {
    let (_, mut server) = run::connect(project, facts, Some(WAIT))?;
    server.state()?;
    let erased = if erase { Some(server.erase_device(device)?) } else { None };
    server.remove_device(device)?;
    Ok(erased)
}
