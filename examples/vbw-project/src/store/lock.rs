//! One writer at a time: a lock file beside the pantry file.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Held until dropped.
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    pub fn take(pantry: &Path) -> io::Result<Lock> {
        let path = pantry.with_extension("lock");
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(Lock { path, _file: file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nobody is left to tell, and a stale lock names itself to the next writer.
        let _ = std::fs::remove_file(&self.path);
    }
}
