//! What a setup did, file by file.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::harness::SetupScope;
use crate::text::word_enum;
use crate::warning::Warning;

word_enum! {
    /// What becomes of a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum FileOutcome {
        /// It was not there.
        Created = "created",
        /// Our entries were put in, or brought up to date.
        Extended = "extended",
        /// Our entries were taken out.
        Reduced = "reduced",
        /// It held nothing but our entries, and is gone.
        Deleted = "deleted",
        /// It is as wanted already.
        Unchanged = "unchanged",
    }
}

/// One settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetupFile {
    /// The file, relative to the project where it lies inside.
    pub file: PathBuf,
    /// What became of it; with `--check` and on a dry run, what would.
    pub outcome: FileOutcome,
    /// What of ours is for this file: the hook commands, the MCP server.
    pub entries: Vec<String>,
    /// The entries of ours that were in it and are not any more, as they were.
    pub gone: Vec<String>,
}

/// What `annals setup` did. It is the document of `annals setup --json`.
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    /// Whose settings they are.
    pub harness: Harness,
    /// `project` or `user`.
    pub scope: SetupScope,
    /// The files.
    pub files: Vec<SetupFile>,
    /// The copies of the files from before we came.
    pub backups: Vec<PathBuf>,
    /// What is left to do by hand.
    pub notes: Vec<String>,
    /// With `--check` and on a dry run, what would change.
    pub diff: Option<String>,
    /// What became of operations that had been interrupted.
    pub warnings: Vec<Warning>,
}

impl SetupReport {
    /// Fails where `--check` found a file that is not as wanted.
    pub fn verdict(&self, check: bool) -> Result<()> {
        let is_off = |file: &&SetupFile| file.outcome != FileOutcome::Unchanged;
        let off: Vec<String> = self
            .files
            .iter()
            .filter(is_off)
            .map(|file| file.file.display().to_string())
            .collect();
        if !check || off.is_empty() {
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
