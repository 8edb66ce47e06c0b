//! Lists folders.

#[cfg(not(target_os = "linux"))]
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

#[cfg(not(target_os = "linux"))]
use crate::storage::boundary::Boundary;
#[cfg(target_os = "linux")]
use crate::storage::open;
#[cfg(target_os = "linux")]
use crate::storage::open::OpenAs;
use crate::storage::read;
use crate::storage::stat::PathKind;

/// Lists a project's folder, sorted by name, without following links in it.
///
/// Returns nothing if the folder does not exist or is a link that leads outside. Invalid UTF-8 in a name is
/// replaced by U+FFFD.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(String, PathKind)>> {
    match all_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => {
            let mut found = found?;
            found.sort();
            Ok(found)
        }
    }
}

#[cfg(target_os = "linux")]
fn all_entries(path: &Path) -> io::Result<Vec<(String, PathKind)>> {
    use rustix::fs::{AtFlags, Dir, FileType};

    let Some(folder) = open::in_project(path, OpenAs::Folder)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut listing = Dir::new(folder)?;
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report it.
            FileType::Unknown => {
                let stat = rustix::fs::statat(listing.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_string_lossy().into_owned(), PathKind::from(kind)));
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn all_entries(path: &Path) -> io::Result<Vec<(String, PathKind)>> {
    let real = match Boundary::around(path) {
        None => path.to_owned(),
        Some(boundary) => match boundary.resolve(path)? {
            None => return Ok(Vec::new()),
            Some(real) => real,
        },
    };
    let kinds = fs::read_dir(real)?.map(|entry| {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok((name, PathKind::from(entry.file_type()?)))
    });
    kinds.collect()
}

/// Maximum depth of folders in another.
const MAX_DEPTH: usize = 12;

/// Returns the files below a folder, sorted, leaving out files and folders whose name `is_wanted` rejects.
///
/// Links are not followed. A folder that cannot be listed counts as empty; reading it reports the error.
pub(crate) fn below(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    if !read::is_folder(folder) {
        return Vec::new();
    }
    let is_wanted =
        |entry: &DirEntry| entry.depth() == 0 || entry.file_name().to_str().is_some_and(is_wanted);
    let walk = WalkDir::new(folder).max_depth(MAX_DEPTH + 1).into_iter().filter_entry(is_wanted);
    let files = walk.flatten().filter(|entry| entry.file_type().is_file());
    let mut found: Vec<PathBuf> = files.map(DirEntry::into_path).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_sockets_are_not_files() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;

        let folder = tempfile::tempdir().unwrap();
        fs::File::create(folder.path().join("a.md")).unwrap();
        fs::create_dir(folder.path().join("c.md")).unwrap();
        symlink("/", folder.path().join("b")).unwrap();
        let _socket = UnixListener::bind(folder.path().join("d")).unwrap();
        let found = entries(folder.path()).unwrap();
        let found: Vec<_> = found.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let kinds = [
            ("a.md", PathKind::File),
            ("b", PathKind::Link),
            ("c.md", PathKind::Folder),
            ("d", PathKind::Other),
        ];
        assert_eq!(found, kinds);
        assert_eq!(entries(&folder.path().join("e")).unwrap(), []);
    }
}
