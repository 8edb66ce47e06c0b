//! A session's end: the blocks that are there are brought up to date, none is made.

use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::SyncRequest;
use crate::project::Project;

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
