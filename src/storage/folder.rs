//! Manages the folder of our own files: locks, history and caches.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::dir::Visibility;
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

    /// Returns the folder for foreign files that were found among the records.
    pub(crate) fn unverified(&self) -> PathBuf {
        self.history().join("unverified")
    }

    /// Returns whether the folder exists and is not a link.
    pub(crate) fn is_own(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Creates the folder if it is missing, ignored by git.
    pub(crate) fn create(&self) -> Result<()> {
        if !has_directory(&self.path)? {
            if let Some(parent) = self.path.parent() {
                create_all(parent, Visibility::Shared, Visibility::Shared)?;
            }
            disk::create_directory(&self.path, Visibility::Shared).at("create", &self.path)?;
        }
        let ignore = self.path.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            // An empty file was left by a process that was killed before it wrote the content.
            Ok(metadata) if !metadata.is_file() || metadata.len() > 0 => Ok(()),
            _ => disk::open_or_create(&ignore)
                .and_then(|file| disk::write_at(&file, 0, b"*\n"))
                .at("write", &ignore),
        }
    }

    /// Creates the folder and those for locks and records.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.create()?;
        let locks = self.locks();
        if !has_directory(&locks)? {
            disk::create_directory(&locks, Visibility::Shared).at("create", &locks)?;
        }
        let history = self.history();
        if !has_directory(&history)? {
            // Records contain text from files that others may not read.
            disk::create_directory(&history, Visibility::Private).at("create", &history)?;
        }
        Ok(())
    }

    /// Creates the folder for files that are set aside.
    pub(crate) fn prepare_unverified(&self) -> Result<PathBuf> {
        // Also refuses a link in place of the folders above, which a repository can contain.
        self.prepare()?;
        let folder = self.unverified();
        if !has_directory(&folder)? {
            disk::create_directory(&folder, Visibility::Private).at("create", &folder)?;
        }
        Ok(folder)
    }
}

/// Creates a directory and the missing ones above it, which may have another visibility.
pub(crate) fn create_all(path: &Path, visibility: Visibility, above: Visibility) -> Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.is_dir())
        .collect();
    for (index, path) in missing.into_iter().enumerate().rev() {
        let visibility = if index == 0 { visibility } else { above };
        disk::create_directory(path, visibility).at("create", path)?;
    }
    Ok(())
}

/// Returns whether a directory exists; a link in its place, which a repository can contain, is refused.
fn has_directory(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => Ok(false),
        Err(error) => Err(error).at("open", path),
        Ok(metadata) if metadata.is_dir() => Ok(true),
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
