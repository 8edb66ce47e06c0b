//! Creates small trees of files for tests.

use std::fs;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use tempfile::TempDir;

/// A temporary folder whose path contains no links.
pub(crate) struct Tree {
    _kept: TempDir,
    root: PathBuf,
}

impl Tree {
    /// Creates these folders.
    pub(crate) fn new(folders: &[&str]) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(kept.path()).unwrap();
        for folder in folders {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        Self { _kept: kept, root }
    }

    /// Returns a path in the tree.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        match path {
            "" => self.root.clone(),
            path => self.root.join(path),
        }
    }

    /// Writes a file and creates its parent folders.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_ref()).unwrap();
    }
}
