//! Locates real planning folders, which are kept outside the repository.

use std::path::{Path, PathBuf};

use crate::support::require;

/// Returns the corpus, or `None` (and prints a warning) if this machine has none.
pub(crate) fn corpus() -> Option<PathBuf> {
    require("corpus").then(|| location().unwrap())
}

/// Returns `ANNALS_CORPUS`, else `../shared/corpus`, or one folder further up for a worktree in a subfolder.
pub(super) fn location() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ANNALS_CORPUS") {
        let named = PathBuf::from(named);
        assert!(named.is_dir(), "ANNALS_CORPUS: no folder at {}", named.display());
        return Some(named);
    }
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join("shared/corpus"))
        .find(|folder| folder.is_dir())
}
