//! Logs the errors of hooks in a file, where the user of the session can find them.

use crate::error::Result;
use crate::project::Project;

const FILE: &str = "hook.log";
/// Size at which the first half of the log is dropped, in bytes.
const MAX_LOG: usize = 256 * 1024;

/// Appends a line to `.annals/hook.log` if the project has a memory; never creates the folder elsewhere.
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
    storage.log(FILE, &format!("{} {event}: {problem}", project.clock.timestamp()))
}
