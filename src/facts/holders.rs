//! Finds other processes that have a file open, where the system provides that.

use std::fs;
use std::path::Path;

/// Returns the id of another process that has the file open, or `None` if none can be found.
#[expect(clippy::disallowed_methods, reason = "reads the process list of the system")]
pub(crate) fn find_open_process(file: &Path) -> Option<u32> {
    let file = fs::canonicalize(file).ok()?;
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?;
    let ids =
        processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut others: Vec<u32> = ids.filter(|id| *id != own && has_open(*id, &file)).collect();
    others.sort_unstable();
    others.first().copied()
}

#[expect(clippy::disallowed_methods, reason = "reads the process list of the system")]
fn has_open(process: u32, file: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == file))
}
