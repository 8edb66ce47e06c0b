//! Caches and logs in `.annals/`: files that may be lost, and are in no history.

use std::fs;
use std::fs::File;
use std::path::PathBuf;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::Storage;
use crate::storage::append;
use crate::storage::disk;
use crate::storage::read;

impl Storage {
    /// Returns the path of a cache or log in `.annals/`, whether it exists or not.
    pub fn own_file(&self, name: &str) -> PathBuf {
        self.folder().path().join(name)
    }

    /// Returns a cache's bytes, or nothing where there is none.
    pub fn cache(&self, name: &str) -> Result<Option<Vec<u8>>> {
        read::bytes(&self.own_file(name))
    }

    /// Opens a cache of any size for reading, or nothing where there is none; no other file takes its place meanwhile.
    pub fn open_cache(&self, name: &str) -> Result<Option<File>> {
        let path = self.own_file(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            // A link or a pipe, which a cloned repository can bring, is no cache of ours.
            _ => return Ok(None),
        }
        match File::open(&path) {
            Err(error) if read::is_absent(&error) => Ok(None),
            file => file.at("read", &path).map(Some),
        }
    }

    /// Writes a cache, whole or not at all; not flushed, so a power cut may lose it. Not on a dry run.
    pub fn write_cache(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.is_dry_run() {
            return Ok(());
        }
        self.folder().create()?;
        let path = self.own_file(name);
        let temporary = self.own_file(&format!("{name}.{}.tmp", std::process::id()));
        disk::remove_file(&temporary).at("remove", &temporary)?;
        let file = disk::create_new(&temporary).at("create", &temporary)?;
        disk::write(&file, bytes).at("write", &temporary)?;
        disk::rename(&temporary, &path).at("replace", &path)
    }

    /// Adds a line to a log such as `hook.log`. Not on a dry run.
    pub fn log(&self, name: &str, line: &str) -> Result<()> {
        if self.is_dry_run() {
            return Ok(());
        }
        self.folder().create()?;
        let path = self.own_file(name);
        // A cloned repository can bring a link that leads anywhere.
        if path.is_symlink() {
            return Err(Error::refused("is a symbolic link, remove it").at(&path, None));
        }
        append(&path, line.as_bytes())
    }
}
