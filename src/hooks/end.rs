//! A session's end: the blocks that are there are brought up to date, none is made, and other devices are told.

use std::time::Duration;

use crate::error::Result;
use crate::facts::Facts;
use crate::facts::Purpose;
use crate::lifecycle;
use crate::lifecycle::SyncRequest;
use crate::project::Project;
use crate::share;
use crate::share::Direction;

/// Refreshes each context file that has a block already.
pub(crate) fn refresh(project: &Project) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let request = SyncRequest {
        present_only: true,
        ..SyncRequest::default()
    };
    lifecycle::sync(project, &request)?.verdict(&request)
}

/// How long other devices may be waited for: all hooks at a session's end share 1.5 s.
const SYNC: Duration = Duration::from_millis(700);

/// Brings facts and journal in step with the user's other devices, where they are shared.
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
