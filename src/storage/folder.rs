//! Manages the folder of our own files: locks, history and caches.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::disk::{Access, Create, Visibility};
use crate::storage::{disk, listing, read};

/// The folder's name in a project.
pub(crate) const NAME: &str = ".annals";

/// `.annals/` of a project, or the platform's data folder for files outside of one.
#[derive(Clone, Debug)]
pub(crate) struct StoreFolder {
    path: PathBuf,
}

impl StoreFolder {
    /// Returns the folder, which need not exist.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the lock files.
    pub(crate) fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// Returns the folder of the records.
    pub(crate) fn history(&self) -> PathBuf {
        self.path.join("history")
    }

    /// Returns whether the folder exists and is not a link.
    pub(crate) fn is_own(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Returns whether there are records, and not through a link, which could lead to those of another project.
    pub(crate) fn has_history(&self) -> bool {
        let history = fs::symlink_metadata(self.history());
        self.is_own() && history.is_ok_and(|found| found.is_dir())
    }

    /// Creates the folder if it is missing, ignored by git.
    pub(crate) fn create(&self) -> Result<()> {
        create(&self.path, Visibility::Shared)?;
        let ignore = self.path.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            // An empty file was left by a process that was killed before it wrote the content.
            Ok(metadata) if !metadata.is_file() || metadata.len() > 0 => Ok(()),
            _ => disk::open(&ignore, Access::Write, Create::IfMissing(Visibility::Shared))
                .and_then(|file| disk::write_at(&file, 0, b"*\n"))
                .at("write", &ignore),
        }
    }

    /// Creates the folder and those for locks and records.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.create()?;
        create(&self.locks(), Visibility::Shared)?;
        // Records contain text from files that others may not read.
        create(&self.history(), Visibility::Private)
    }
}

/// Creates a directory if it is missing; a link in its place, which a repository can contain, is refused.
fn create(path: &Path, visibility: Visibility) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => {
            disk::create_all(path, visibility, Visibility::Shared).at("create", path)
        }
        Err(error) => Err(error).at("open", path),
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Error::refused("is in the way of annals' own folder")
            .at(path, None)
            .hint("move it away: annals keeps its locks and its history there")),
    }
}

/// Returns whether an operation on a project is in progress, or was interrupted and must be completed.
pub(crate) fn has_pending(root: &Path) -> bool {
    let history = StoreFolder::new(root.join(NAME)).history();
    let entries = listing::entries(&history).unwrap_or_default();
    entries.iter().any(|(name, _)| name.ends_with(".pending"))
}
