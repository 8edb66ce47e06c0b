//! Where a project remembers: one file a store, and the list of them all.
//!
//! `recall`, `audit`, `export`, the command line and the MCP tools read this list, and no other. A digest has a
//! list of its own, by importance and not by store.

mod adr;
mod entries;
mod journal;
mod ledger;
mod patterns;
mod plan;

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::project::Project;
use crate::recall::document::SearchDocument;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// A store, by the word that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceName {
    /// The planning folder and the context files.
    Plan,
    /// What finished phases taught.
    Patterns,
    /// The knowledge entries and the notepad.
    Entries,
    /// The repository's ledger.
    Ledger,
    /// The project's decision records.
    Adr,
    /// The journal.
    Journal,
    /// The user's facts.
    Facts,
}

impl SourceName {
    /// All stores, in the order in which they are named.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::Patterns,
        Self::Entries,
        Self::Ledger,
        Self::Adr,
        Self::Journal,
        Self::Facts,
    ];

    /// Returns the word that asks for this store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Patterns => "patterns",
            Self::Entries => "entries",
            Self::Ledger => "ledger",
            Self::Adr => "adr",
            Self::Journal => "journal",
            Self::Facts => "facts",
        }
    }
}

/// What an export copies whole of one memory.
pub(crate) struct Copies {
    /// The memory, as the list of an export names it.
    pub(crate) memory: &'static str,
    /// Each file's name in the export, and where it is.
    pub(crate) files: Vec<(String, PathBuf)>,
}

/// A store whose texts can be found.
pub(crate) trait Source: Sync {
    /// Returns the store's name.
    fn name(&self) -> SourceName;

    /// Returns the files that may hold its texts; those that are not there are passed over.
    fn files(&self, project: &Project) -> Vec<PathBuf>;

    /// Returns whether the user, and not the project, says where its files are, so that links in it are theirs.
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

    /// Returns the texts of a file.
    fn documents(&self, text: &str, path: &Path) -> Vec<SearchDocument>;

    /// Returns the files in which no secret may stand; more than are searched where more is the store's.
    fn guarded(&self, project: &Project) -> Vec<PathBuf> {
        self.files(project)
    }

    /// Returns what an export copies: the files that are searched, in a folder of the store's name.
    fn copies(&self, project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<Copies>> {
        let memory = self.name().as_str();
        let named = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (format!("{memory}/{name}"), path)
        };
        let files = self.files(project).into_iter().map(named).collect();
        Ok(vec![Copies { memory, files }])
    }
}

/// Every store with files of its own.
pub(crate) const SOURCES: &[&dyn Source] = &[
    &plan::Plan,
    &patterns::Patterns,
    &entries::Entries,
    &ledger::Ledger,
    &adr::Adr,
    &journal::Journal,
];
