//! Handles the end of a session: refreshes existing blocks in context files, and syncs with other devices.

use std::time::Duration;

use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::lifecycle::SyncRequest;
use crate::project::Project;
use crate::share::Direction;
use crate::{lifecycle, share};

/// Refreshes each context file that already has a block.
pub(crate) fn refresh(project: &Project) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let request = SyncRequest { present_only: true, ..SyncRequest::default() };
    lifecycle::sync(project, &request)?.verdict(&request)
}

/// Timeout for the sync with other devices: all hooks at session end share 1.5 s.
const SYNC: Duration = Duration::from_millis(700);

/// Syncs facts and journal with the user's other devices, if sharing is set up.
pub(crate) fn sync(project: &Project) -> Result<()> {
    if !share::is_configured(project) {
        return Ok(());
    }
    let mut facts = Facts::open(project, None, Purpose::Read)?;
    if !share::is_active(project, &facts)? {
        return Ok(());
    }
    share::sync(project, &mut facts, Direction::Both, Some(SYNC)).map(|_| ())
}
