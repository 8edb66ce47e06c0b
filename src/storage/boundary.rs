//! Restricts reads for a project to its folder, regardless of the links in a clone.
//!
//! A path in a project is opened without following links. If it contains a link, it is resolved first, and
//! counts as missing, with a warning, unless its target is in the project or in a folder of the user's own
//! `linked_roots`.
//!
//! A path alone does not tell which project it belongs to. So the boundaries of all open projects are global
//! in the process, and no reader can bypass them.

mod credentials;
mod limit;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::{fs, io};

pub use limit::MAX_FILE;
pub(crate) use limit::MAX_FILES;

use crate::error::Result;
use crate::storage::boundary::limit::ReadLimit;
use crate::storage::root;
use crate::warning::Warning;

/// The boundaries of the projects open in this process.
static OPEN: RwLock<Vec<Weak<Boundary>>> = RwLock::new(Vec::new());

/// The folders to which reads for one project are restricted, and the size of the planning text read.
#[derive(Debug)]
pub(crate) struct Boundary {
    root: PathBuf,
    /// Folders outside of the root that the user's own settings allow, without links.
    allowed: RwLock<Vec<PathBuf>>,
    planning: RwLock<Option<ReadLimit>>,
    warnings: Mutex<BTreeSet<Warning>>,
}

impl Boundary {
    /// Opens the boundary of a project; `root` must be without links.
    pub(crate) fn open(root: &Path) -> Arc<Self> {
        let boundary = Arc::new(Self {
            root: root.to_owned(),
            allowed: RwLock::default(),
            planning: RwLock::default(),
            warnings: Mutex::default(),
        });
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| other.strong_count() > 0);
        open.push(Arc::downgrade(&boundary));
        boundary
    }

    /// Allows links to a folder that the user configured; does nothing if it does not exist.
    pub(crate) fn allow(&self, folder: &Path) {
        if let Ok(real) = fs::canonicalize(folder) {
            let mut allowed = self.allowed.write().unwrap_or_else(PoisonError::into_inner);
            allowed.push(real);
        }
    }

    /// Limits the text that is read from the planning folder.
    pub(crate) fn limit(&self, planning: &Path) {
        let mut limited = self.planning.write().unwrap_or_else(PoisonError::into_inner);
        *limited = Some(ReadLimit::new(planning));
    }

    /// Returns the boundary of the innermost open project that a path lies in, if any.
    pub(crate) fn around(path: &Path) -> Option<Arc<Self>> {
        let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        let boundaries = open.iter().filter_map(Weak::upgrade);
        // If a project was opened several times, the last boundary is in use.
        boundaries
            .filter(|boundary| boundary.contains(path))
            .max_by_key(|boundary| boundary.root.as_os_str().len())
    }

    /// Returns whether a path is in one of the folders.
    fn contains(&self, path: &Path) -> bool {
        let allowed = || self.allowed.read().unwrap_or_else(PoisonError::into_inner);
        is_below(path, &self.root) || allowed().iter().any(|folder| is_below(path, folder))
    }

    /// Returns a path with its links followed, or `None` and stores a warning if that is outside.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let real = root::real_path(path).map_err(|error| io::Error::other(error.reason()))?;
        let is_in_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        let message = if !self.contains(&real) {
            format!(
                "leads outside the project, to {}, so it is not read; linked_roots in your own settings \
                 can allow it",
                real.display()
            )
        } else if is_in_git(&real) && real != path {
            // Git's configuration may contain URLs with passwords.
            "leads into .git, so it is not read".to_owned()
        } else if credentials::is_credentials(self.below(&real))
            && !credentials::is_credentials(self.below(path))
        {
            "leads to a file with credentials, so it is not read".to_owned()
        } else {
            return Ok(Some(real));
        };
        self.warn(Warning::file(path, message));
        Ok(None)
    }

    /// Returns a path relative to the root, or the path itself if it is not below it.
    fn below<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    fn warn(&self, warning: Warning) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.insert(warning);
    }

    /// Counts a file that was read; fails if the planning text exceeds the limit of one command.
    pub(crate) fn count(&self, path: &Path, bytes: u64) -> Result<()> {
        let planning = self.planning.read().unwrap_or_else(PoisonError::into_inner);
        match planning.as_ref() {
            Some(limit) if is_below(path, limit.folder()) => limit.count(path, bytes),
            _ => Ok(()),
        }
    }

    /// Returns the files within the limits of one command, in order; a warning counts the rest.
    pub(crate) fn within_limit(folder: &Path, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        if let Some(warning) = limit::truncate(folder, &mut files)
            && let Some(boundary) = Self::around(folder)
        {
            boundary.warn(warning);
        }
        files
    }

    /// Returns the warnings about files left out since the last call.
    pub(crate) fn take_warnings(&self) -> BTreeSet<Warning> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *warnings)
    }
}

/// Does the same as [`Path::starts_with`], but compares bytes first, because comparing components is much slower.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (bytes, prefix) =
        (path.as_os_str().as_encoded_bytes(), folder.as_os_str().as_encoded_bytes());
    let rest = bytes.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.first() == Some(&b'/')) || path.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::limit::MAX_BYTES;
    use super::*;

    #[test]
    fn a_path_belongs_to_the_innermost_open_project() {
        let outer = Boundary::open(Path::new("/annals-test/outer"));
        let inner = Boundary::open(Path::new("/annals-test/outer/inner"));
        let root_of =
            |path: &str| Boundary::around(Path::new(path)).map(|boundary| boundary.root.clone());
        assert_eq!(root_of("/annals-test/outer/inner/a.md"), Some(inner.root.clone()));
        assert_eq!(root_of("/annals-test/outer/a.md"), Some(outer.root.clone()));
        assert_eq!(root_of("/annals-test/outer-other/a.md"), None);
        drop((outer, inner));
        assert_eq!(root_of("/annals-test/outer/a.md"), None);
    }

    #[test]
    fn a_search_beyond_the_limit_counts_the_files_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let boundary = Boundary::open(&root);
        let count = usize::try_from(MAX_BYTES / MAX_FILE).unwrap();
        let large: Vec<PathBuf> = (0..count + 3).map(|n| root.join(format!("{n:02}.md"))).collect();
        for file in &large {
            fs::File::create(file).unwrap().set_len(MAX_FILE).unwrap();
        }
        let within = Boundary::within_limit(&root, large.clone());
        assert_eq!(within, large[..count]);
        let warning = boundary.take_warnings().pop_first().unwrap();
        assert!(warning.message.ends_with("3 files left out"), "{warning:?}");
        let many = vec![root.join("none.md"); MAX_FILES + 1];
        assert_eq!(Boundary::within_limit(&root, many.clone()).len(), many.len() - 1);
        assert_eq!(boundary.take_warnings().len(), 1);
        assert_eq!(Boundary::within_limit(&root, within.clone()), within);
        assert_eq!(boundary.take_warnings().len(), 0);
    }
}
