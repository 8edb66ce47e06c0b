//! Notes what went wrong where a session's user can find it, and nowhere else.

use crate::error::Result;
use crate::project::Project;

const FILE: &str = "hook.log";
/// A longer log loses its first half.
const MAX_LOG: usize = 256 * 1024;

/// Adds a line to `.annals/hook.log`, where the project has a memory; elsewhere no folder is made.
pub(crate) fn note(project: &Project, event: &str, problem: &str) -> Result<()> {
    let storage = project.storage();
    let is_there = storage.own_file("").is_dir();
    if !is_there && project.planning().is_err() {
        return Ok(());
    }
    if let Some(bytes) = storage.cache(FILE)?.filter(|bytes| bytes.len() > MAX_LOG) {
        let newer = &bytes[bytes.len() / 2..];
        let start = newer.iter().position(|byte| *byte == b'\n');
        storage.write_cache(FILE, &newer[start.map_or(0, |at| at + 1)..])?;
    }
    let problem = problem.replace('\n', " ");
    storage.log(
        FILE,
        &format!("{} {event}: {problem}", project.clock.timestamp()),
    )
}
