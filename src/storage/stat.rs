//! The kinds of files.

use std::{fs, io};

/// The kind of file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl From<fs::FileType> for PathKind {
    fn from(kind: fs::FileType) -> Self {
        match () {
            () if kind.is_file() => Self::File,
            () if kind.is_dir() => Self::Folder,
            () if kind.is_symlink() => Self::Link,
            () => Self::Other,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<rustix::fs::FileType> for PathKind {
    fn from(kind: rustix::fs::FileType) -> Self {
        use rustix::fs::FileType;

        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

/// Returns whether an error means that the path does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
