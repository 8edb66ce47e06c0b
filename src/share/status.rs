//! Where sharing stands: here, and on the server where it can be reached.

use std::time::Duration;

use serde::Serialize;

use crate::error::Result;
use crate::facts;
use crate::facts::Facts;
use crate::facts::Summary;
use crate::project::Project;
use crate::share::run;
use crate::share::server::SharedDevice;

/// How long the server is waited for: what is known here is worth more than a wait.
const WAIT: Duration = Duration::from_secs(3);

/// Where sharing stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShareStatus {
    /// The server that the settings name, without its password.
    pub server: Option<String>,
    /// This device, or `None` if the database was never shared.
    #[serde(flatten)]
    pub here: Option<Summary>,
    /// All devices, where the server was reached.
    pub devices: Vec<SharedDevice>,
    /// Why the server was not reached.
    pub unreachable: Option<String>,
}

/// Returns where sharing stands; with `offline`, the server is not asked.
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
    status.server = Some(run::address(project)?.shown);
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
