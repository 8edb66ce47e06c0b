//! Reads metadata of files without opening them.

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

/// The metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: PathKind,
    /// The time of its last change, in nanoseconds since 1970; 0 if it is earlier.
    pub(crate) modified: u64,
    /// The size in bytes.
    pub(crate) size: u64,
}

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

impl Stat {
    /// Reads the metadata of a path, following links.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&fs::Metadata> for Stat {
    fn from(metadata: &fs::Metadata) -> Self {
        Self {
            kind: PathKind::from(metadata.file_type()),
            modified: nanoseconds(metadata.modified().ok()),
            size: metadata.len(),
        }
    }
}

/// Returns a time in nanoseconds since 1970; 0 if it is earlier or missing.
fn nanoseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns whether an error means that the path does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("a")).unwrap();
        let stat = Stat::read(&folder.path().join("a")).unwrap();
        assert_eq!(stat.kind, PathKind::Folder);
    }

    #[cfg(unix)]
    #[test]
    fn a_time_before_1970_is_zero() {
        use std::time::Duration;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(9);
        fs::File::create(&path).unwrap().set_modified(before).unwrap();
        assert_eq!(Stat::read(&path).unwrap().modified, 0);
    }
}
