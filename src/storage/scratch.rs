//! A temporary folder that is deleted when it is no longer needed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};

/// Maximum number of scratch folders of one process.
const MAX_NAMES: u32 = 100;

/// A temporary folder outside all projects, deleted with its content when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a new folder in another one, such as the system's folder for temporary files.
    pub fn create(parent: &Path, name: &str) -> Result<Self> {
        let id = std::process::id();
        for number in 0..MAX_NAMES {
            let path = parent.join(format!("{name}-{id}-{number}"));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => {
                    created.at("create", &path)?;
                    return Ok(Self { path });
                }
            }
        }
        Err(Error::failed("has no free name for a temporary folder").at(parent, None))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the folder now, and returns an error if that fails.
    #[expect(clippy::disallowed_methods, reason = "this is `storage`, which created the folder")]
    pub fn delete(&mut self) -> Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            deleted => deleted.at("delete", &self.path),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Callers that need the error use `delete`.
        let _deleted = self.delete().is_ok();
    }
}

/// Creates a folder; refused if it exists and is not empty.
pub fn create_empty(path: &Path) -> Result<()> {
    fs::create_dir_all(path).at("create", path)?;
    let first = fs::read_dir(path).at("list", path)?.next();
    match first {
        None => Ok(()),
        Some(_) => Err(Error::refused("this folder is not empty")
            .at(path, None)
            .hint("name a new folder, or an empty one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_scratch_folder_is_removed_on_drop() {
        let temp = tempfile::tempdir().unwrap();
        let first = Scratch::create(temp.path(), "try").unwrap();
        let second = Scratch::create(temp.path(), "try").unwrap();
        assert_ne!(first.path(), second.path());
        fs::create_dir(first.path().join("below")).unwrap();
        drop(first);
        drop(second);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_with_content_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let new = temp.path().join("a/b");
        create_empty(&new).unwrap();
        create_empty(&new).unwrap();
        assert_eq!(create_empty(temp.path()).unwrap_err().kind, ErrorKind::Refused);
    }
}
