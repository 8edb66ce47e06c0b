//! Files that are made of a database and lie beside it: for nobody but the user, and made anew when lost.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::At;
use crate::error::Result;
use crate::storage::disk;

/// Ends the name of a file that is being written.
const UNFINISHED: &str = ".tmp";

/// Writes a derived file, whole or not at all; what a killed process left of it is removed.
pub fn write_derived(path: &Path, bytes: &[u8]) -> Result<()> {
    for left in of_name(path) {
        if left != path {
            disk::remove_file(&left).at("remove", &left)?;
        }
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{UNFINISHED}", std::process::id()));
    let temporary = PathBuf::from(name);
    let file = disk::create_new(&temporary).at("create", &temporary)?;
    disk::set_mode(&file, 0o600).at("protect", &temporary)?;
    disk::write(&file, bytes).at("write", &temporary)?;
    // After a power cut it must not have its length without its bytes.
    disk::sync_content(&file).at("flush", &temporary)?;
    disk::rename(&temporary, path).at("replace", path)
}

/// Removes a derived file, and what a killed process left of it.
pub fn remove_derived(path: &Path) -> Result<()> {
    for left in of_name(path) {
        disk::remove_file(&left).at("remove", &left)?;
    }
    Ok(())
}

/// Returns the file and the unfinished ones beside it, as far as they are there.
fn of_name(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let name = name.to_string_lossy();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_of_name = |other: &str| {
        let rest = other.strip_prefix(name.as_ref());
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('.') && rest.ends_with(UNFINISHED)
        })
    };
    entries
        .filter(|entry| is_of_name(&entry.file_name().to_string_lossy()))
        .map(|entry| folder.join(entry.file_name()))
        .collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_whole_for_its_owner_alone_and_removed_with_what_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db-vectors");
        let left = folder.path().join("a.db-vectors.77.tmp");
        let other = folder.path().join("a.db");
        fs::write(&left, "half").unwrap();
        fs::write(&other, "kept").unwrap();
        write_derived(&path, b"one").unwrap();
        write_derived(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(!left.exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;

            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(&left, "half").unwrap();
        remove_derived(&path).unwrap();
        remove_derived(&path).unwrap();
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
        assert!(other.exists());
    }
}
