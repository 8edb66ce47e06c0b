//! Links a path to a file, or copies the file if links are not supported.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Result};
use crate::storage::disk::{Spot, Visibility};
use crate::storage::{disk, read, root};

/// The current state of a path at which a link is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Nothing.
    Missing,
    /// A link to the file, or its copy.
    Same,
    /// A link that leads elsewhere, or nowhere.
    Elsewhere,
    /// Something else.
    Other,
}

/// Returns the current state of a path at which a link to a file is wanted.
pub fn linked(path: &Path, target: &Path) -> Result<LinkState> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(LinkState::Missing),
        metadata => metadata.at("read", path)?,
    };
    if metadata.is_symlink() {
        let leads_there = match (fs::canonicalize(path), fs::canonicalize(target)) {
            (Ok(there), Ok(target)) => there == target,
            _ => false,
        };
        return Ok(if leads_there { LinkState::Same } else { LinkState::Elsewhere });
    }
    let is_copy = metadata.is_file()
        && fs::read(path).at("read", path)? == fs::read(target).at("read", target)?;
    Ok(if is_copy { LinkState::Same } else { LinkState::Other })
}

/// Links a path to a file, or copies the file if links are not supported; replaces an existing link.
pub fn link(path: &Path, target: &Path) -> Result<()> {
    let path = &root::real_entry(path)?;
    if let Some(parent) = path.parent() {
        disk::create_all(parent, Visibility::Shared, Visibility::Shared).at("create", parent)?;
    }
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        unlink(path)?;
    }
    match Spot::new(path).and_then(|spot| spot.symlink(target)) {
        Err(error)
            if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) =>
        {
            disk::copy(target, path).at("copy the program to", path)
        }
        done => done.at("link", path),
    }
}

/// Removes a link or a copy; a missing one is not an error.
pub fn unlink(path: &Path) -> Result<()> {
    let path = root::real_entry(path)?;
    disk::remove_file(&path).at("remove", &path)
}

/// Removes a folder and its ancestors as long as they are empty, up to another folder, which stays.
pub fn remove_empty_folders(folder: &Path, within: &Path) -> Result<()> {
    let (folder, within) = (root::real_path(folder)?, root::real_path(within)?);
    let inside =
        folder.ancestors().take_while(|folder| folder.starts_with(&within) && *folder != within);
    for folder in inside {
        Spot::new(folder).and_then(|spot| spot.remove_directory()).at("remove", folder)?;
        if folder.exists() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn linked_recognises_links_and_copies() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        disk::write(&File::create(at("program")).unwrap(), b"program").unwrap();
        disk::write(&File::create(at("script")).unwrap(), b"another").unwrap();
        let place = at("a/b/tool");
        assert_eq!(linked(&place, &at("program")).unwrap(), LinkState::Missing);
        link(&place, &at("program")).unwrap();
        assert_eq!(linked(&place, &at("program")).unwrap(), LinkState::Same);
        assert_eq!(linked(&place, &at("script")).unwrap(), LinkState::Elsewhere);
        link(&place, &at("script")).unwrap();
        assert_eq!(linked(&place, &at("script")).unwrap(), LinkState::Same);
        assert_eq!(linked(&at("script"), &at("program")).unwrap(), LinkState::Other);
        disk::copy(&at("program"), &at("copy")).unwrap();
        assert_eq!(linked(&at("copy"), &at("program")).unwrap(), LinkState::Same);
        unlink(&place).unwrap();
        unlink(&place).unwrap();
        assert_eq!(linked(&place, &at("program")).unwrap(), LinkState::Missing);
    }
}
