//! Opens a file or a folder for reading, without following links or blocking on pipes.

use std::fs::File;
use std::path::{Component, Path};
use std::{fs, io};

use crate::storage::boundary::Boundary;
use crate::storage::stat::{PathKind, is_absent};

/// The kind of file to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenAs {
    /// A file; the caller must check the kind of the opened file.
    File,
    /// A folder.
    #[cfg(target_os = "linux")]
    Folder,
    /// A folder whose entries are opened or changed by name; it does not have to be readable.
    #[cfg(target_os = "linux")]
    Handle,
}

/// Opens a file or folder of a project; returns `None` if a link leads outside.
pub(crate) fn in_project(path: &Path, wanted: OpenAs) -> io::Result<Option<File>> {
    if !goes_up(path) {
        match without_links(path, wanted) {
            Err(error) if is_link(&error) => {}
            opened => return opened.map(Some),
        }
    }
    match Boundary::around(path) {
        None => following_links(path, wanted).map(Some),
        Some(boundary) => match boundary.resolve(path)? {
            // A link that has replaced the resolved path meanwhile is not followed.
            Some(real) => without_links(&real, wanted).map(Some),
            None => Ok(None),
        },
    }
}

/// Returns whether a path contains `..` as a component.
fn goes_up(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Returns the kind of file at a project's path, links followed, or `None` if one leads outside or nowhere.
pub(crate) fn kind(path: &Path) -> io::Result<Option<PathKind>> {
    match fs::symlink_metadata(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        metadata => _ = metadata?,
    }
    // One of the folders in the path may be a link.
    let real = match Boundary::around(path) {
        None => path.to_owned(),
        Some(boundary) => match boundary.resolve(path)? {
            Some(real) => real,
            None => return Ok(None),
        },
    };
    match fs::metadata(&real) {
        Err(error) if is_absent(&error) => Ok(None),
        found => Ok(Some(found?.file_type().into())),
    }
}

/// Opens a path that the user named, following all links.
#[cfg(target_os = "linux")]
pub(crate) fn following_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    use rustix::fs::Mode;

    let opened = rustix::fs::open(path, flags(wanted), Mode::empty());
    opened.map(File::from).map_err(plain_error)
}

/// Opens a path that the user named, following all links.
#[cfg(not(target_os = "linux"))]
pub(crate) fn following_links(path: &Path, _: OpenAs) -> io::Result<File> {
    // Opening a pipe waits for its other end.
    if PathKind::from(fs::metadata(path)?.file_type()) == PathKind::Other {
        return Err(not_regular());
    }
    File::open(path)
}

/// Opens a directory whose path contains no link, to change its entries by name.
#[cfg(target_os = "linux")]
pub(crate) fn directory(path: &Path) -> io::Result<File> {
    without_links(path, OpenAs::Handle)
}

/// Opens a path that contains no link.
#[cfg(target_os = "linux")]
pub(crate) fn without_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    use rustix::io::Errno;

    let only = ResolveFlags::NO_SYMLINKS;
    match openat2(CWD, path, flags(wanted), Mode::empty(), only) {
        // Linux before 5.6 and some sandboxes do not support this call.
        Err(Errno::NOSYS | Errno::PERM) => open_and_compare(path, wanted),
        opened => opened.map(File::from).map_err(plain_error),
    }
}

/// Opens a path that contains no link.
#[cfg(not(target_os = "linux"))]
pub(crate) fn without_links(path: &Path, wanted: OpenAs) -> io::Result<File> {
    open_and_compare(path, wanted)
}

/// Opens a path that resolves to itself, and checks that it still does after it was opened.
fn open_and_compare(path: &Path, wanted: OpenAs) -> io::Result<File> {
    let is_plain = || Ok::<_, io::Error>(fs::canonicalize(path)? == path);
    if fs::symlink_metadata(path)?.is_symlink() || !is_plain()? {
        return Err(link_error());
    }
    let file = following_links(path, wanted)?;
    if is_plain()? { Ok(file) } else { Err(link_error()) }
}

#[cfg(target_os = "linux")]
fn flags(wanted: OpenAs) -> rustix::fs::OFlags {
    use rustix::fs::OFlags;

    // Opening a pipe must not wait for its other end.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match wanted {
        OpenAs::File => flags,
        OpenAs::Folder => flags | OFlags::DIRECTORY,
        OpenAs::Handle => OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY,
    }
}

/// Converts an error to one of the standard library; `NXIO` is the error for a socket.
#[cfg(target_os = "linux")]
fn plain_error(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::NXIO => not_regular(),
        rustix::io::Errno::LOOP => link_error(),
        error => error.into(),
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "is not a regular file")
}

/// The error for a path that contains a link; opening a file causes no other error of this kind.
fn link_error() -> io::Error {
    let message = "leads through a symbolic link, which is not followed";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn is_link(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(path: &Path) -> io::Result<Option<File>> {
        in_project(path, OpenAs::File)
    }

    #[test]
    fn a_path_with_links_is_not_opened_directly() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        File::create(root.join("file")).unwrap();
        symlink("file", root.join("link")).unwrap();
        symlink(&root, root.join("around")).unwrap();
        for open in [without_links, open_and_compare] {
            assert!(open(&root.join("file"), OpenAs::File).is_ok());
            for link in ["link", "around/file"] {
                let error = open(&root.join(link), OpenAs::File).unwrap_err();
                assert!(is_link(&error), "{link}: {error}");
            }
            let absent = open(&root.join("absent"), OpenAs::File).unwrap_err();
            assert!(is_absent(&absent));
        }
    }

    #[test]
    fn links_are_followed_inside_a_project_and_to_allowed_folders() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let root = top.join("project");
        fs::create_dir_all(root.join("in")).unwrap();
        fs::create_dir(top.join("out")).unwrap();
        File::create(root.join("in/file")).unwrap();
        File::create(top.join("out/file")).unwrap();
        for (link, target) in [
            ("inside", "in/file"),
            ("outside", "../out/file"),
            ("folder", "../out"),
            ("dangling", "../nothing/file"),
            ("chain", "outside"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let boundary = Boundary::open(&root);
        assert!(file(&root.join("inside")).unwrap().is_some());
        let outside = ["outside", "folder/file", "dangling", "chain", "in/../../out/file"];
        for path in outside {
            assert!(file(&root.join(path)).unwrap().is_none(), "{path}");
            let warnings = boundary.take_warnings();
            assert_eq!(warnings.len(), 1, "{path}");
            let named = warnings.into_iter().next().unwrap();
            assert_eq!(named.place.file, root.join(path));
        }
        assert_eq!(kind(&root.join("inside")).unwrap(), Some(PathKind::File));
        assert_eq!(kind(&root.join("folder")).unwrap(), None);
        boundary.allow(&top.join("out"));
        for path in ["outside", "folder/file", "chain"] {
            assert!(file(&root.join(path)).unwrap().is_some(), "{path}");
        }
    }
}
