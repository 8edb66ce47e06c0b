//! A new folder that is filled file by file; if a killed process left it incomplete, it is cleared and begun again.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};
use crate::storage::root::Root;
use crate::storage::signature::SignatureKind;
use crate::storage::{Storage, disk, read, root};

/// The marker file in the folder until it is complete.
const MARKER: &str = ".annals-unfinished";

/// The content of the marker: the planned files of the folder, signed by its owner.
#[derive(Serialize, Deserialize)]
struct Marker {
    files: Vec<String>,
    signature: String,
}

/// A folder that is being filled.
#[derive(Debug)]
pub struct Unfinished {
    folder: PathBuf,
    is_begun: bool,
}

impl Unfinished {
    /// Returns the folder, with links in its path followed.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Marks the folder as complete.
    pub fn finish(self) -> Result<()> {
        if !self.is_begun {
            return Ok(());
        }
        let marker = self.folder.join(MARKER);
        disk::remove_file(&marker).at("remove", &marker)
    }
}

impl Storage {
    /// Begins to fill a folder with files of these names; refused if it has any file that is not ours.
    ///
    /// On a dry run nothing is created. A link inside the project to a folder outside is refused.
    pub fn begin_folder(&self, folder: &Path, files: &[String]) -> Result<Unfinished> {
        let real = root::real_path(folder)?;
        if folder.starts_with(self.root()) {
            Root::open(self.root(), self.linked())?.relative(&real)?;
        }
        let left = self.leftover_marker(&real)?;
        if self.is_dry_run() {
            return Ok(Unfinished { folder: real, is_begun: false });
        }
        fs::create_dir_all(&real).at("create", &real)?;
        for name in left.iter().flat_map(|marker| &marker.files) {
            let path = real.join(name);
            disk::remove_file(&path).at("remove", &path)?;
        }
        self.mark(&real, files)?;
        Ok(Unfinished { folder: real, is_begun: true })
    }

    /// Returns the marker left by a killed process, or `None` if the folder is empty or missing.
    fn leftover_marker(&self, folder: &Path) -> Result<Option<Marker>> {
        let hint = "name a folder that does not exist yet";
        let refused = |what: &str| Err(Error::refused(what).at(folder, None).hint(hint));
        let mut names = Vec::new();
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    names.push(entry.at("list", folder)?.file_name());
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return refused("is not a folder");
            }
            Err(error) => return Err(error).at("open", folder),
        }
        // A marker on its own may be incomplete: no other file was begun.
        if names.iter().all(|name| name == MARKER) {
            return Ok(None);
        }
        match self.marker(folder)? {
            Some(marker) => Ok(Some(marker)),
            None => refused("is not empty"),
        }
    }

    fn marker(&self, folder: &Path) -> Result<Option<Marker>> {
        let path = folder.join(MARKER);
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            return Ok(None);
        }
        let bytes = read::bytes(&path)?.unwrap_or_default();
        let Ok(marker) = serde_json::from_slice::<Marker>(&bytes) else {
            return Ok(None);
        };
        let list = marker.files.join("\n");
        let is_own = self.signer().existing().is_some_and(|key| {
            let signature = marker.signature.as_bytes();
            key.has_signed(SignatureKind::Export, &id(folder), &[list.as_bytes()], signature)
        });
        Ok(is_own.then_some(marker))
    }

    fn mark(&self, folder: &Path, files: &[String]) -> Result<()> {
        let list = files.join("\n");
        let key = self.signer().key()?;
        let marker = Marker {
            files: files.to_vec(),
            signature: key.sign(SignatureKind::Export, &id(folder), &[list.as_bytes()])?,
        };
        let text = serde_json::to_vec(&marker)
            .map_err(|error| Error::failed(format!("cannot write the marker: {error}")))?;
        let path = folder.join(MARKER);
        disk::remove_file(&path).at("remove", &path)?;
        let file = disk::create_new(&path).at("create", &path)?;
        disk::write(&file, &text).and_then(|()| disk::sync(&file)).at("write", &path)
    }
}

/// Returns the id that a marker is signed for, so that it is invalid when copied to another folder.
fn id(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}
