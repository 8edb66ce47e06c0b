//! Manages the folder for our own files: locks, history and caches.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::dir::Visibility;
use crate::storage::disk;
use crate::storage::listing;
use crate::storage::read;

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

    /// Returns whether what lies below is what the paths say: no folder on the way is a link.
    pub(crate) fn is_own(&self) -> bool {
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        is_folder(&self.path)
    }

    /// Creates the folder if it is missing, ignored by git.
    pub(crate) fn create(&self) -> Result<()> {
        if !is_there(&self.path)? {
            if let Some(parent) = self.path.parent() {
                create_all(parent, Visibility::Shared, Visibility::Shared)?;
            }
            disk::create_directory(&self.path, Visibility::Shared).at("create", &self.path)?;
        }
        let ignore = self.path.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            // An empty file: the process was killed before it wrote the content.
            Ok(metadata) if !metadata.is_file() || metadata.len() > 0 => Ok(()),
            _ => disk::open_or_create(&ignore)
                .and_then(|file| disk::write_at(&file, 0, b"*\n"))
                .at("write", &ignore),
        }
    }

    /// Creates the folder with room for locks and records.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.create()?;
        let locks = self.locks();
        if !is_there(&locks)? {
            disk::create_directory(&locks, Visibility::Shared).at("create", &locks)?;
        }
        let history = self.history();
        if !is_there(&history)? {
            // Records contain old bytes of files that others may not be permitted to read.
            disk::create_directory(&history, Visibility::Private).at("create", &history)?;
        }
        Ok(())
    }

    /// Creates the folder for files that are set aside.
    pub(crate) fn prepare_unverified(&self) -> Result<PathBuf> {
        // A repository can bring a link in place of the folder above.
        self.prepare()?;
        let folder = self.unverified();
        if !is_there(&folder)? {
            disk::create_directory(&folder, Visibility::Private).at("create", &folder)?;
        }
        Ok(folder)
    }
}

/// Creates a directory if it is missing, and those above it, which can have another visibility.
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

/// Returns whether a directory is there; a link in its place, which a repository can bring, is refused.
fn is_there(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => Ok(false),
        Err(error) => Err(error).at("open", path),
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(Error::refused("is in the way of annals' own folder")
            .at(path, None)
            .hint("move it away: annals keeps its locks and its history there")),
    }
}

/// Returns whether a change of a project's files is in progress, or was interrupted and must be completed.
pub(crate) fn has_pending(root: &Path) -> bool {
    let history = StoreFolder::new(root.join(NAME)).history();
    let found = listing::entries(&history).unwrap_or_default();
    found.iter().any(|(name, _)| name.ends_with(".pending"))
}
