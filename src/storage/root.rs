//! Restricts writes to one folder, even if links lead out of it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::stat::is_absent;

/// Maximum number of links followed, the same as in Linux.
const MAX_LINKS: usize = 40;

/// A folder to which writes are restricted, except for linked folders that the user allows.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    named: PathBuf,
    real: PathBuf,
    linked: Vec<PathBuf>,
}

impl Root {
    /// Returns the folder, with the links in its path followed; `linked` are the other folders that the user allows.
    pub(crate) fn open(named: &Path, linked: &[PathBuf]) -> Result<Self> {
        let existing = linked.iter().filter_map(|path| fs::canonicalize(path).ok());
        Ok(Self {
            named: named.to_owned(),
            real: fs::canonicalize(named).at("open", named)?,
            linked: existing.collect(),
        })
    }

    /// Returns a recorded path below the folder's path as the caller named it.
    pub(crate) fn named(&self, relative: &Path) -> PathBuf {
        self.named.join(relative)
    }

    /// Returns the form of a real path in a record: relative to the folder, or absolute below a linked one.
    ///
    /// Any other path is refused, and one inside `.git`.
    pub(crate) fn relative(&self, real: &Path) -> Result<PathBuf> {
        let (below, recorded) = match real.strip_prefix(&self.real) {
            Ok(below) => (below, below),
            Err(_) => match self.below_linked(real) {
                Some(below) => (below, real),
                None => {
                    return Err(Error::refused("lies outside the project, so it is not written")
                        .at(real, None)
                        .hint(format!("the project is {}", self.named.display())));
                }
            },
        };
        if below.as_os_str().is_empty() {
            let message = "is the folder of the project, not a file or folder in it";
            return Err(Error::refused(message).at(real, None));
        }
        if !is_plain(below) {
            return Err(Error::refused("is not written by annals").at(real, None));
        }
        Ok(recorded.to_owned())
    }

    fn below_linked<'a>(&self, real: &'a Path) -> Option<&'a Path> {
        let mut roots = self.linked.iter();
        roots.find_map(|root| real.strip_prefix(root).ok())
    }

    /// Returns the path of a recorded path.
    ///
    /// It contains no link, unless one was created since it was recorded, which opening the path's folder refuses.
    pub(crate) fn locate(&self, recorded: &Path) -> Result<PathBuf> {
        let below =
            if recorded.is_absolute() { self.below_linked(recorded) } else { Some(recorded) };
        if below.is_some_and(|below| is_plain(below) && !below.as_os_str().is_empty()) {
            return Ok(self.real.join(recorded));
        }
        Err(Error::refused("is not written by annals").at(recorded, None))
    }
}

/// Returns whether a path has only normal components, and none of them is `.git`.
fn is_plain(relative: &Path) -> bool {
    relative.components().all(|component| match component {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    })
}

/// Returns the real path to which a write to this path would go, even if it does not exist yet.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error).at("open", &path),
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return real_entry(&path),
        }
    }
    Err(std::io::Error::from(ErrorKind::InvalidInput)).at("follow the links of", &path)
}

/// Returns the real path of a directory entry; if the entry itself is a link, that is not followed.
pub(crate) fn real_entry(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(Error::failed("does not name a file").at(path, None));
    };
    Ok(real_path(folder_of(path))?.join(name))
}

/// Returns the folder of a path, `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_path_outside_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), &[]).unwrap();
        let inside = real_path(&folder.path().join("a/b.md")).unwrap();
        assert_eq!(root.relative(&inside).unwrap(), Path::new("a/b.md"));
        for outside in ["../x.md", ".git/hooks/pre-commit", "a/.GIT/config", "."] {
            let path = real_path(&folder.path().join(outside)).unwrap();
            assert_eq!(root.relative(&path).unwrap_err().kind, ErrorKind::Refused);
        }
    }

    #[test]
    fn a_recorded_path_cannot_leave() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), &[]).unwrap();
        for hostile in ["../x", "/etc/passwd", ".git/config", "a/../../x", ""] {
            assert!(root.locate(Path::new(hostile)).is_err(), "{hostile}");
        }
        assert_eq!(root.locate(Path::new("x")).unwrap(), root.real.join("x"));
    }

    #[test]
    fn a_path_in_a_linked_folder_is_recorded_as_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let linked = fs::canonicalize(folder.path()).unwrap().join("linked");
        fs::create_dir_all(&linked).unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let open = |linked: &[PathBuf]| Root::open(&folder.path().join("root"), linked).unwrap();
        let file = linked.join("STATE.md");
        assert_eq!(open(&[]).relative(&file).unwrap_err().kind, ErrorKind::Refused);
        assert!(open(&[]).locate(&file).is_err());
        let root = open(std::slice::from_ref(&linked));
        assert_eq!(root.relative(&file).unwrap(), file);
        assert_eq!(root.locate(&file).unwrap(), file);
        assert!(root.relative(&linked).is_err());
        assert!(root.relative(&linked.join(".git/config")).is_err());
        assert!(root.locate(&linked.join("../x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_even_to_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let real = fs::canonicalize(folder.path()).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", at("CLAUDE.md")).unwrap();
        assert_eq!(real_path(&at("CLAUDE.md")).unwrap(), real.join("AGENTS.md"));
        assert_eq!(
            real_path(&real.join("a/./b//")).unwrap().as_os_str(),
            real.join("a/b").as_os_str()
        );
        assert_eq!(real_entry(&at("CLAUDE.md")).unwrap(), real.join("CLAUDE.md"));
        std::os::unix::fs::symlink("loop-b", at("loop-a")).unwrap();
        std::os::unix::fs::symlink("loop-a", at("loop-b")).unwrap();
        assert!(real_path(&at("loop-a")).is_err());
    }
}
