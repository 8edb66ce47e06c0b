//! Shows files as a plan will leave them, before anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::append;
use crate::storage::change::Change;
use crate::storage::fingerprint;
use crate::storage::read;

/// What a path will be.
pub(crate) enum Look {
    File(Vec<u8>),
    Directory,
    Absent,
    /// The plan changes nothing there: what is on disk at this path, which a move may have renamed.
    OnDisk(PathBuf),
}

/// The tree after some changes; paths are real ones.
#[derive(Clone, Copy)]
pub(crate) struct Preview<'a> {
    changes: &'a [Change<Vec<u8>>],
}

impl<'a> Preview<'a> {
    /// Returns the tree after these changes.
    pub(crate) fn of(changes: &'a [Change<Vec<u8>>]) -> Self {
        Self { changes }
    }

    /// Looks from the newest change back to the disk.
    pub(crate) fn look(self, path: &Path) -> Result<Look> {
        let mut path = path.to_owned();
        for (index, change) in self.changes.iter().enumerate().rev() {
            match change {
                Change::Write { path: at, new, .. } if *at == path => {
                    return Ok(new.clone().map_or(Look::Absent, Look::File));
                }
                Change::Append { path: at, lines } if *at == path => {
                    let before = Self::of(&self.changes[..index]).bytes(&path)?;
                    let bytes = append::joined(before.unwrap_or_default(), lines);
                    return Ok(Look::File(bytes));
                }
                Change::CreateDirectory { path: at } if *at == path => return Ok(Look::Directory),
                Change::RemoveDirectory { path: at } if *at == path => return Ok(Look::Absent),
                Change::Move { from, to, .. } => {
                    if let Ok(below) = path.strip_prefix(to) {
                        path = fingerprint::join(from, below);
                    } else if path.starts_with(from) {
                        return Ok(Look::Absent);
                    }
                }
                _ => {}
            }
        }
        Ok(Look::OnDisk(path))
    }

    /// Returns a file's bytes, or nothing where no file will be.
    pub(crate) fn bytes(self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.look(path)? {
            Look::File(bytes) => Ok(Some(bytes)),
            Look::Absent => Ok(None),
            Look::OnDisk(path) => read::bytes(&path),
            Look::Directory => {
                Err(Error::failed("is a directory, a file was expected").at(path, None))
            }
        }
    }

    /// Says whether anything will be there.
    pub(crate) fn exists(self, path: &Path) -> Result<bool> {
        match self.look(path)? {
            Look::File(_) | Look::Directory => Ok(true),
            Look::Absent => Ok(false),
            Look::OnDisk(path) => match fs::symlink_metadata(&path) {
                Err(error) if read::is_absent(&error) => Ok(false),
                metadata => metadata.at("read", &path).map(|_| true),
            },
        }
    }

    /// Says whether a directory will be there.
    pub(crate) fn is_directory(self, path: &Path) -> Result<bool> {
        Ok(match self.look(path)? {
            Look::Directory => true,
            Look::File(_) | Look::Absent => false,
            Look::OnDisk(path) => path.is_dir(),
        })
    }

    /// Says whether nothing will be in a directory.
    pub(crate) fn is_vacant(self, directory: &Path) -> Result<bool> {
        let mut below: Vec<PathBuf> = self
            .changes
            .iter()
            .map(|change| change.path().to_owned())
            .filter(|path| path.starts_with(directory) && path != directory)
            .collect();
        if let Look::OnDisk(path) = self.look(directory)? {
            for entry in fs::read_dir(&path).at("list", &path)? {
                below.push(directory.join(entry.at("list", &path)?.file_name()));
            }
        }
        for path in below {
            if self.exists(&path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the digests of the files at and below a path.
    pub(crate) fn contents(self, path: &Path) -> Result<BTreeMap<PathBuf, String>> {
        let on_disk = match self.look(path)? {
            Look::OnDisk(path) => path,
            Look::File(bytes) => {
                let digest = fingerprint::of_bytes(&bytes);
                return Ok(BTreeMap::from([(PathBuf::new(), digest)]));
            }
            Look::Directory | Look::Absent => return Ok(BTreeMap::new()),
        };
        let mut contents = BTreeMap::new();
        for below in fingerprint::files_below(&on_disk)? {
            let digest = match self.look(&fingerprint::join(path, &below))? {
                Look::File(bytes) => fingerprint::of_bytes(&bytes),
                Look::OnDisk(path) => fingerprint::of_file(&path)?,
                Look::Directory | Look::Absent => continue,
            };
            contents.insert(below, digest);
        }
        Ok(contents)
    }
}
