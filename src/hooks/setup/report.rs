//! Defines the report of a setup, file by file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::Harness;
use crate::hooks::harness::SetupScope;
use crate::text::word_enum;
use crate::warning::Warning;

word_enum! {
    /// The outcome for a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum FileOutcome {
        /// It was created.
        Created = "created",
        /// Our entries were added or updated.
        Extended = "extended",
        /// Our entries were removed.
        Reduced = "reduced",
        /// It contained only our entries, and was deleted.
        Deleted = "deleted",
        /// It was already in the desired state.
        Unchanged = "unchanged",
    }
}

/// One settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetupFile {
    /// The file, relative to the project if inside it.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
    /// Our entries for this file: the hook commands, the MCP server.
    pub entries: Vec<String>,
    /// Our entries that the file no longer contains, with their old text.
    pub gone: Vec<String>,
}

/// The outcome of `annals setup`. It is the document of `annals setup --json`.
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    /// The harness.
    pub harness: Harness,
    /// `project` or `user`.
    pub scope: SetupScope,
    /// The files.
    pub files: Vec<SetupFile>,
    /// The backups of the files as they were before the first setup.
    pub backups: Vec<PathBuf>,
    /// Manual steps that remain.
    pub notes: Vec<String>,
    /// With `--check` and on a dry run, the changes to the files.
    pub diff: Option<String>,
    /// Warnings about the recovery of interrupted operations.
    pub warnings: Vec<Warning>,
}

impl SetupReport {
    /// Returns the error of `--check` if a file differs from the desired state.
    pub fn verdict(&self) -> Result<()> {
        let is_off = |file: &&SetupFile| file.outcome != FileOutcome::Unchanged;
        let off: Vec<String> =
            self.files.iter().filter(is_off).map(|file| file.file.display().to_string()).collect();
        if off.is_empty() {
            return Ok(());
        }
        let message = format!("differs from what setup would write: {}", off.join(", "));
        let command = format!("annals setup {}", self.harness.as_str());
        Err(Error::failed(message).hint(match self.scope {
            SetupScope::Project => command,
            SetupScope::User => format!("{command} --user"),
        }))
    }
}

/// Returns the error for a file that setup would replace if it were `what`.
pub(crate) fn not_replaced(path: &Path, what: &str) -> Error {
    Error::refused(format!("is not {what}, so it is not replaced"))
        .at(path, None)
        .hint("rename it, and run it again")
}
