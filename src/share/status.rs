//! Reports the state of sharing: on this device, and on the server if it can be reached.

use std::time::Duration;

use serde::Serialize;

use crate::error::Result;
use crate::facts;
use crate::facts::{Facts, SharingState};
use crate::project::Project;
use crate::share::server::SharedDevice;
use crate::share::{address, run};

/// Timeout for the server, short because the local state alone is useful.
const WAIT: Duration = Duration::from_secs(3);

/// The state of sharing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// Returns the state of sharing; with `offline`, without contacting the server.
pub fn status(project: &Project, facts: &Facts, offline: bool) -> Result<ShareStatus> {
    let mut status = ShareStatus {
        server: None,
        here: facts::sharing(facts)?,
        devices: Vec::new(),
        unreachable: None,
    };
    if !run::is_configured(project) {
        return Ok(status);
    }
    status.server = Some(address::find(project)?.to_string());
    let is_part = status.here.as_ref().is_some_and(|here| !here.has_left);
    if offline || !is_part {
        return Ok(status);
    }
    let devices = run::connect(project, facts, Some(WAIT)).and_then(|(_, mut server)| {
        server.state()?;
        server.devices()
    });
    match devices {
        Ok(devices) => status.devices = devices,
        Err(error) => status.unreachable = Some(error.reason()),
    }
    Ok(status)
}
