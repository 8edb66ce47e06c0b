//! Limits the amount of text that one command reads.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::storage::stat::Stat;
use crate::text::quantity;
use crate::warning::Warning;

/// The largest file that is read whole: 8 MiB.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Maximum size of the text that one command reads from a store, in bytes.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of files that one command reads from a store.
pub(crate) const MAX_FILES: usize = 20_000;

/// Counts the text read below a folder, each file once, because the checks of one command read the same files.
#[derive(Debug)]
pub(crate) struct ReadLimit {
    folder: PathBuf,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// The paths as strings, because comparing paths by their components is much slower.
    files: BTreeSet<OsString>,
    bytes: u64,
}

impl ReadLimit {
    /// Returns a limit for a folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), counted: Mutex::default() }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Counts a file of this size, once; fails if it exceeds the limit.
    pub(crate) fn count(&self, path: &Path, bytes: u64) -> Result<()> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if !counted.files.insert(path.as_os_str().to_owned()) {
            return Ok(());
        }
        if counted.bytes + bytes <= MAX_BYTES && counted.files.len() <= MAX_FILES {
            counted.bytes += bytes;
            return Ok(());
        }
        counted.files.remove(path.as_os_str());
        Err(Error::refused(exceeded())
            .at(&self.folder, None)
            .hint("move finished milestones out of the planning folder"))
    }
}

/// Removes the files beyond the limit from a list; returns a warning that counts them.
pub(crate) fn truncate(folder: &Path, files: &mut Vec<PathBuf>) -> Option<Warning> {
    let mut bytes = 0;
    let is_beyond = |file: &PathBuf| {
        bytes += Stat::read(file).map_or(0, |stat| stat.size.min(MAX_FILE));
        bytes > MAX_BYTES
    };
    let within = files.iter().position(is_beyond).unwrap_or(files.len());
    let rest = files.split_off(within.min(MAX_FILES)).len();
    let message = || format!("{}; {} left out", exceeded(), quantity(rest, "file"));
    (rest > 0).then(|| Warning::file(folder, message()))
}

fn exceeded() -> String {
    let mib = MAX_BYTES / 1024 / 1024;
    format!("exceeds what one command may read ({mib} MiB or {MAX_FILES} files)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn reading_beyond_the_limit_is_refused() {
        let limit = || ReadLimit::new(Path::new(".planning"));
        let path = |number: usize| PathBuf::from(format!(".planning/{number}.md"));
        let next = path(MAX_FILES);
        let refused =
            |limit: &ReadLimit| limit.count(&next, 1).unwrap_err().kind == ErrorKind::Refused;
        let bytes = limit();
        bytes.count(&path(0), MAX_BYTES).unwrap();
        assert!(refused(&bytes));
        let files = limit();
        for number in 0..MAX_FILES {
            files.count(&path(number), 0).unwrap();
        }
        assert!(refused(&files));
    }

    #[test]
    fn a_file_that_is_read_again_counts_once() {
        let limit = ReadLimit::new(Path::new(".planning"));
        let path = Path::new(".planning/a.md");
        for _ in 0..3 {
            limit.count(path, MAX_BYTES).unwrap();
        }
    }
}
