//! Where a project remembers: one file a store.

mod entries;
mod journal;
mod ledger;
mod patterns;
mod plan;

use std::path::Path;
use std::path::PathBuf;

use crate::error::Result;
use crate::project::Project;
use crate::recall::document::Document;
use crate::recall::document::SourceName;
use crate::storage::read;
use crate::warning::Parsed;

/// A store whose texts can be found.
pub(crate) trait Source: Sync {
    /// Returns the store's name.
    fn name(&self) -> SourceName;

    /// Returns the files that may hold its texts; those that are not there are passed over.
    fn files(&self, project: &Project) -> Vec<PathBuf>;

    /// Tells whether the user, and not the project, says where its files are, so that links in it are theirs.
    fn is_users_own(&self) -> bool {
        false
    }

    /// Returns a file's text, or nothing where it is gone.
    fn read(&self, path: &Path) -> Result<Option<Parsed<String>>> {
        if self.is_users_own() {
            return read::users_text(path);
        }
        read::text(path)
    }

    /// Returns the texts of a file.
    fn documents(&self, text: &str, path: &Path) -> Vec<Document>;
}

/// Every store with files of its own.
pub(crate) const SOURCES: &[&dyn Source] = &[
    &plan::Plan,
    &patterns::Patterns,
    &entries::Entries,
    &ledger::Ledger,
    &journal::Journal,
];
