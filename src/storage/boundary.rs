//! Restricts reads for a project to its folder, regardless of the links in a clone.
//!
//! A path below a project is opened without following links. One that leads through a link is resolved
//! first, and counts as missing, with a warning, unless it ends inside the project or in a folder that
//! the user's own `linked_roots` names.
//!
//! Readers are handed paths, and a path does not say which project it belongs to. So the process knows
//! the boundaries of the projects that are open, and no reader can forget to ask.

mod credentials;
mod limit;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::Weak;

use crate::error::Result;
use crate::storage::boundary::limit::ReadLimit;
use crate::storage::root;
use crate::warning::Warning;

pub(crate) use limit::MAX_BYTES;
pub use limit::MAX_FILE;
pub(crate) use limit::MAX_FILES;

/// The projects that are open in this process.
static OPEN: RwLock<Vec<Weak<Boundary>>> = RwLock::new(Vec::new());

/// The folders that reading for one project may not leave, and how much was read of its planning folder.
#[derive(Debug)]
pub(crate) struct Boundary {
    root: PathBuf,
    /// Folders outside of the root that the user's own settings allow, without links.
    allowed: RwLock<Vec<PathBuf>>,
    planning: RwLock<Option<ReadLimit>>,
    left_out: Mutex<BTreeSet<Warning>>,
}

impl Boundary {
    /// Opens the boundary of a project; `root` must be without links.
    pub(crate) fn open(root: &Path) -> Arc<Self> {
        let boundary = Arc::new(Self {
            root: root.to_owned(),
            allowed: RwLock::default(),
            planning: RwLock::default(),
            left_out: Mutex::default(),
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

    /// Counts what is read below this folder as planning text.
    pub(crate) fn limit(&self, planning: &Path) {
        let mut limited = self
            .planning
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *limited = Some(ReadLimit::new(planning));
    }

    /// Returns the boundary of the innermost open project that a path lies in, if any.
    pub(crate) fn around(path: &Path) -> Option<Arc<Self>> {
        let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        let boundaries = open.iter().filter_map(Weak::upgrade);
        // Of several for one project the last is the one in use.
        boundaries
            .filter(|boundary| boundary.holds(path))
            .max_by_key(|boundary| boundary.root.as_os_str().len())
    }

    /// Returns whether a path begins with one of the folders.
    fn holds(&self, path: &Path) -> bool {
        let allowed = || self.allowed.read().unwrap_or_else(PoisonError::into_inner);
        is_below(path, &self.root) || allowed().iter().any(|folder| is_below(path, folder))
    }

    /// Returns where a path with links ends, or nothing, and keeps a warning, where that is outside.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let real = root::real_path(path).map_err(|error| io::Error::other(error.reason()))?;
        let is_of_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        let message = if !self.holds(&real) {
            format!(
                "leads outside the project, to {}, so it is not read; linked_roots in your own settings \
                 can allow it",
                real.display()
            )
        } else if is_of_git(&real) && real != path {
            // It contains URLs with passwords.
            "leads into .git, so it is not read".to_owned()
        } else if credentials::is_credentials(self.below(&real))
            && !credentials::is_credentials(self.below(path))
        {
            "leads to a file of credentials, so it is not read".to_owned()
        } else {
            return Ok(Some(real));
        };
        self.leave_out(Warning::file(path, message));
        Ok(None)
    }

    /// Returns the part of a path below the root; of any other path, all of it.
    fn below<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    fn leave_out(&self, warning: Warning) {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.insert(warning);
    }

    /// Counts a file that was read; an error once the planning folder has given all that one command reads.
    pub(crate) fn count(&self, path: &Path, bytes: u64) -> Result<()> {
        let planning = self.planning.read().unwrap_or_else(PoisonError::into_inner);
        match planning.as_ref() {
            Some(limit) if is_below(path, limit.folder()) => limit.count(path, bytes),
            _ => Ok(()),
        }
    }

    /// Returns the files that are within the limits of one command, in order; a warning counts the rest.
    pub(crate) fn within_limit(folder: &Path, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        if let Some(warning) = limit::truncate(folder, &mut files)
            && let Some(boundary) = Self::around(folder)
        {
            boundary.leave_out(warning);
        }
        files
    }

    /// Returns the warnings about files left out since the last call.
    pub(crate) fn take_left_out(&self) -> BTreeSet<Warning> {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *left_out)
    }
}

/// Returns what [`Path::starts_with`] returns, but compares bytes first: each file that is read asks this
/// twice, and comparing components is much slower.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (bytes, prefix) = (
        path.as_os_str().as_encoded_bytes(),
        folder.as_os_str().as_encoded_bytes(),
    );
    let rest = bytes.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.first() == Some(&b'/')) || path.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_project_bounds_a_path_and_a_closed_one_bounds_nothing() {
        let outer = Boundary::open(Path::new("/annals-test/outer"));
        let inner = Boundary::open(Path::new("/annals-test/outer/inner"));
        let root_of =
            |path: &str| Boundary::around(Path::new(path)).map(|found| found.root.clone());
        assert_eq!(
            root_of("/annals-test/outer/inner/a.md"),
            Some(inner.root.clone())
        );
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
        let large: Vec<PathBuf> = (0..count + 3)
            .map(|n| root.join(format!("{n:02}.md")))
            .collect();
        for file in &large {
            let made = fs::File::create(file).unwrap();
            made.set_len(MAX_FILE).unwrap();
        }
        let kept = Boundary::within_limit(&root, large.clone());
        assert_eq!(kept, large[..count]);
        let told = boundary.take_left_out().pop_first().unwrap();
        assert!(told.message.ends_with("3 files left out"), "{told:?}");
        let many = vec![root.join("none.md"); MAX_FILES + 1];
        assert_eq!(
            Boundary::within_limit(&root, many.clone()).len(),
            many.len() - 1
        );
        assert_eq!(boundary.take_left_out().len(), 1);
        assert_eq!(Boundary::within_limit(&root, kept.clone()), kept);
        assert_eq!(boundary.take_left_out().len(), 0);
    }
}
