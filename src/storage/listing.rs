//! Goes through a folder of very many files, and asks what the system tells of each without opening it.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::SystemTime;

#[cfg(not(target_os = "linux"))]
use crate::storage::boundary::Boundary;
#[cfg(target_os = "linux")]
use crate::storage::open;
#[cfg(target_os = "linux")]
use crate::storage::open::Wanted;

/// What the system tells of a file without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    /// When its content changed last, in nanoseconds since 1970; 0 before that.
    pub(crate) modified: u64,
    /// In bytes.
    pub(crate) size: u64,
}

/// What is in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl From<fs::FileType> for Kind {
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
impl From<rustix::fs::FileType> for Kind {
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
    /// Follows links.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&fs::Metadata> for Stat {
    fn from(metadata: &fs::Metadata) -> Self {
        Self {
            kind: Kind::from(metadata.file_type()),
            modified: nanoseconds(metadata.modified().ok()),
            size: metadata.len(),
        }
    }
}

/// Returns a time in nanoseconds since 1970; 0 before that, and where there is none.
pub(crate) fn nanoseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// The names in a project's folder, in the order in which the system has them; those that are no text are left out.
///
/// Threads may share it: each takes some of the names in turn.
#[derive(Debug)]
pub(crate) struct Listing {
    path: PathBuf,
    /// Names are looked up from here, which is quicker than from the root, ten thousand times.
    #[cfg(target_os = "linux")]
    folder: fs::File,
    rest: Mutex<Rest>,
}

#[cfg(target_os = "linux")]
type Rest = rustix::fs::Dir;

#[cfg(not(target_os = "linux"))]
type Rest = fs::ReadDir;

impl Listing {
    /// Lists a folder; returns `None` if a link leads outside of its project.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        let Some(folder) = open::of_project(path, Wanted::Folder)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            rest: Mutex::new(rustix::fs::Dir::read_from(&folder)?),
            folder,
            path: path.to_owned(),
        }))
    }

    /// Lists a folder; returns `None` if a link leads outside of its project.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        let real = match Boundary::around(path) {
            None => path.to_owned(),
            Some(boundary) => match boundary.resolve(path)? {
                None => return Ok(None),
                Some(real) => real,
            },
        };
        Ok(Some(Self {
            rest: Mutex::new(fs::read_dir(real)?),
            path: path.to_owned(),
        }))
    }

    /// Returns the next names of those that are wanted, so many at most; none at the end.
    pub(crate) fn next(
        &self,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> io::Result<Vec<String>> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let names = rest.by_ref().filter_map(|entry| {
            let name = entry.map_err(io::Error::from).map(name_of);
            let name = name.map(|name| name.filter(|name| is_wanted(name)));
            name.transpose()
        });
        names.take(most).collect()
    }

    /// Returns the path of a name.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Looks at what has a name; does not follow links.
    #[cfg(target_os = "linux")]
    pub(crate) fn stat(&self, name: &str) -> io::Result<Stat> {
        use rustix::fs::AtFlags;
        use rustix::fs::FileType;

        // The standard library can only do this to an entry of a listing, which threads cannot share cheaply.
        let stat = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let seconds = i128::from(stat.st_mtime);
        let modified = seconds * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
        Ok(Stat {
            kind: Kind::from(FileType::from_raw_mode(stat.st_mode)),
            modified: u64::try_from(modified.max(0)).unwrap_or(u64::MAX),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
        })
    }

    /// Looks at what has a name; does not follow links.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn stat(&self, name: &str) -> io::Result<Stat> {
        fs::symlink_metadata(self.path_of(name)).map(|metadata| Stat::from(&metadata))
    }
}

#[cfg(target_os = "linux")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an entry of the other systems is taken apart"
)]
fn name_of(entry: rustix::fs::DirEntry) -> Option<String> {
    let name = entry.file_name().to_str().ok()?;
    (name != "." && name != "..").then(|| name.to_owned())
}

#[cfg(not(target_os = "linux"))]
fn name_of(entry: fs::DirEntry) -> Option<String> {
    entry.file_name().into_string().ok()
}

/// Returns what is in a project's folder, by name, links as such; empty if there is no folder or a link leads outside.
///
/// Names that are not text are shown with U+FFFD.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(String, Kind)>> {
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
fn all_entries(path: &Path) -> io::Result<Vec<(String, Kind)>> {
    use rustix::fs::AtFlags;
    use rustix::fs::Dir;
    use rustix::fs::FileType;

    let Some(folder) = open::of_project(path, Wanted::Folder)? else {
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
            // Some file systems do not say.
            FileType::Unknown => {
                let stat = rustix::fs::statat(listing.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_string_lossy().into_owned(), Kind::from(kind)));
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn all_entries(path: &Path) -> io::Result<Vec<(String, Kind)>> {
    let Some(listing) = Listing::of(path)? else {
        return Ok(Vec::new());
    };
    let rest = listing
        .rest
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let kinds = rest.1.map(|entry| {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok((name, Kind::from(entry.file_type()?)))
    });
    kinds.collect()
}

/// Folders deeper than this are nobody's work.
const DEEPEST: usize = 12;

/// Returns the files below a folder, sorted; of those and the folders on the way, the wanted ones by name.
///
/// Links are not followed. A folder that cannot be listed has nothing to be found; who reads it says so.
pub(crate) fn below(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for (name, kind) in entries(&folder).unwrap_or_default() {
            let path = folder.join(&name);
            if !is_wanted(&name) {
                continue;
            }
            if kind == Kind::Folder && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if kind == Kind::File {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_name_is_seen_as_its_path_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(folder.path().join("a.md")).unwrap();
        file.write_all(b"one").unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::create_dir(folder.path().join("c.md")).unwrap();
        let listing = Listing::of(folder.path()).unwrap().unwrap();
        let mut met = Vec::new();
        for _ in 0..3 {
            let names = listing.next(1, |name| name != "c.md").unwrap();
            for name in names {
                let path = listing.path_of(&name);
                assert_eq!(listing.stat(&name).unwrap(), Stat::of(&path).unwrap());
                met.push(name);
            }
        }
        met.sort();
        assert_eq!(met, ["a.md", "b"]);
        assert_eq!(listing.stat("a.md").unwrap().size, 3);
        let gone = listing.stat("d").unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_seen_as_one_and_a_pipe_is_no_file() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;

        let folder = tempfile::tempdir().unwrap();
        symlink("/", folder.path().join("link")).unwrap();
        let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
        let listing = Listing::of(folder.path()).unwrap().unwrap();
        assert_eq!(listing.stat("link").unwrap().kind, Kind::Link);
        assert_eq!(listing.stat("socket").unwrap().kind, Kind::Other);
        let led = Stat::of(&listing.path_of("link")).unwrap();
        assert_eq!(led.kind, Kind::Folder);
    }

    #[cfg(unix)]
    #[test]
    fn a_time_before_1970_is_none() {
        use std::time::Duration;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(9);
        fs::File::create(&path)
            .unwrap()
            .set_modified(before)
            .unwrap();
        let listing = Listing::of(folder.path()).unwrap().unwrap();
        assert_eq!(listing.stat("a").unwrap().modified, 0);
        assert_eq!(Stat::of(&path).unwrap().modified, 0);
    }
}
