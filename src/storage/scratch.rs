//! A temporary folder that is deleted when it is no longer needed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};

/// A temporary folder outside all projects, deleted with its content when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a new folder in the system's folder for temporary files.
    pub fn create(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path).at("create", &path)?;
        Ok(Self { path })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the folder now, and returns an error if that fails.
    pub fn delete(self) -> Result<()> {
        fs::remove_dir_all(&self.path).at("delete", &self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone if it was deleted; other callers need no error.
        fs::remove_dir_all(&self.path).ok();
    }
}
