//! Lists the stores of a project, with one module per store.
//!
//! `recall`, `audit`, the command line and the MCP tools all use this list. A session digest has
//! its own list, ordered by importance and not by store.

mod entries;
mod journal;
mod ledger;
mod patterns;
mod plan;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Result;
use crate::project::Project;
use crate::search::index::Passage;
use crate::storage::read;
use crate::text::word_enum;
use crate::warning::Parsed;

word_enum! {
    /// The name of a store in queries and output, in display order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum SourceName {
        /// The planning folder and the context files.
        Plan = "plan",
        /// Lessons from finished phases.
        Patterns = "patterns",
        /// The knowledge entries and the notepad.
        Entries = "entries",
        /// The repository's ledger.
        Ledger = "ledger",
        /// The journal.
        Journal = "journal",
        /// The user's facts.
        Facts = "facts",
        /// Sessions with coding agents, from the transcripts that the clients keep.
        Sessions = "sessions",
    }
}

/// A store whose texts are searchable.
pub(crate) trait Source: Sync {
    /// Returns the store's name.
    fn name(&self) -> SourceName;

    /// Returns the files that may contain its texts; files that do not exist are ignored.
    fn files(&self, project: &Project) -> Vec<PathBuf>;

    /// Returns whether the user, not the project, chose the location of its files, so that links in the path
    /// may be followed.
    fn is_users_own(&self) -> bool {
        false
    }

    /// Returns a file's text, or `None` if it is gone.
    fn read(&self, path: &Path) -> Result<Option<Parsed<String>>> {
        if self.is_users_own() {
            return read::users_text(path);
        }
        read::text(path)
    }

    /// Returns the passages of a file.
    fn passages(&self, text: &str, path: &Path) -> Vec<Passage>;

    /// Returns the files checked for secrets; these may be more than are searched.
    fn files_to_check_for_secrets(&self, project: &Project) -> Vec<PathBuf> {
        self.files(project)
    }
}

/// Returns the name of the store with a number in an index; transcripts follow the project's files.
pub(crate) fn name_of(source: usize) -> SourceName {
    SOURCES.get(source).map_or(SourceName::Sessions, |source| source.name())
}

/// All stores that consist of files.
pub(crate) const SOURCES: &[&dyn Source] =
    &[&plan::Plan, &patterns::Patterns, &entries::Entries, &ledger::Ledger, &journal::Journal];
