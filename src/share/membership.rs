//! How a database comes to be shared, and how it stops.

use std::time::Duration;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::Device;
use crate::facts::Facts;
use crate::facts::replication;
use crate::facts::replication::DEVICE;
use crate::facts::replication::PRIVATE;
use crate::project::Project;
use crate::share::run;
use crate::share::server::SyncServer;

/// How long one statement may take.
const WAIT: Duration = Duration::from_secs(30);

/// What `annals share init` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Initialised {
    /// The server.
    pub server: String,
    /// Whether its tables were made.
    pub has_made_tables: bool,
    /// This device's name; nothing on a dry run of the first time.
    pub device: Option<String>,
    /// How many operations wait to be sent.
    pub pending: usize,
}

/// What `annals share leave` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaveReport {
    /// The device that left.
    pub device: String,
    /// How many of its operations were erased on the server, where that was asked for.
    pub erased: Option<u64>,
    /// Why the server could not be told, where it could not.
    pub untold: Option<String>,
}

/// Makes the server's tables where they are missing, and this database one of the devices.
pub fn init(project: &Project, facts: &mut Facts) -> Result<Initialised> {
    let address = run::address(project)?;
    let mut server = SyncServer::connect(project, &address, WAIT)?;
    if facts.is_dry_run() {
        return Ok(Initialised {
            server: address.shown,
            has_made_tables: false,
            device: Device::find(facts.connection())?.map(|device| device.id),
            pending: replication::pending(facts.connection(), usize::MAX)?.len(),
        });
    }
    let has_made_tables = server.set_up()?;
    server.state()?;
    let device = replication::join(facts)?;
    server.introduce(&device.id, &scopes(project))?;
    Ok(Initialised {
        server: address.shown,
        has_made_tables,
        device: Some(device.id),
        pending: replication::pending(facts.connection(), usize::MAX)?.len(),
    })
}

/// Every scope that the settings name, and the user's own.
fn scopes(project: &Project) -> Vec<String> {
    let share = &project.settings.share;
    let named = share.scopes.iter().map(|rule| rule.1.clone());
    let mut scopes: Vec<String> = named
        .chain([PRIVATE.to_owned(), share.journal.clone()])
        .collect();
    scopes.retain(|scope| scope != DEVICE);
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

/// Stops sharing this database; its facts stay. What it sent can be erased on the server.
pub fn leave(project: &Project, facts: &mut Facts, erase: bool) -> Result<LeaveReport> {
    let Some(device) = Device::joined(facts.connection())? else {
        return Err(Error::not_found("this database is not shared"));
    };
    let mut left = LeaveReport {
        device: device.id.clone(),
        erased: None,
        untold: None,
    };
    if facts.is_dry_run() {
        return Ok(left);
    }
    match dismiss(project, facts, &device.id, erase) {
        Ok(erased) => left.erased = erased,
        // What is to be erased must be; the list of devices can wait.
        Err(error) if erase => return Err(error),
        Err(error) => left.untold = Some(error.reason()),
    }
    if erase {
        // Whoever comes back sends everything again, under a name of its own.
        let sent = replication::cursors(facts.connection())?;
        let own = sent.into_keys().filter(|(_, name)| *name == device.id);
        let agreed: Vec<(String, i64)> = own.map(|(scope, _)| (scope, 0)).collect();
        replication::renew(facts, &agreed)?;
    }
    replication::leave(facts)?;
    Ok(left)
}

fn dismiss(project: &Project, facts: &Facts, device: &str, erase: bool) -> Result<Option<u64>> {
    let (_, mut server) = run::connect(project, facts, Some(WAIT))?;
    server.state()?;
    let erased = if erase {
        Some(server.erase_device(device)?)
    } else {
        None
    };
    server.dismiss(device)?;
    Ok(erased)
}
