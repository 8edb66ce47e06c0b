//! Creates the journal's tools: links to this program under the names that agents call.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::setup::FileOutcome;
use crate::hooks::setup::settings::not_replaced;
use crate::project::Project;
use crate::storage;
use crate::storage::LinkState;

/// The names of the tools.
const TOOLS: [&str; 2] = ["memory_write", "memory_search"];

/// The options of `annals setup journal`.
#[derive(Clone, Debug)]
pub struct JournalSetup {
    /// The folder for the tools.
    pub folder: PathBuf,
    /// The program that they link to.
    pub program: PathBuf,
    /// Only check whether they exist.
    pub check: bool,
    /// Remove them.
    pub remove: bool,
}

/// The outcome of `annals setup journal`. It is the document of `annals setup journal --json`.
#[derive(Clone, Debug, Serialize)]
pub struct JournalReport {
    /// The tools.
    pub files: Vec<Tool>,
}

/// One of the tools.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// The file.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
}

/// Creates or removes the links to this program; a file that is not ours is never replaced or removed.
pub fn journal(project: &Project, request: &JournalSetup) -> Result<JournalReport> {
    let mut planned = Vec::new();
    for name in TOOLS {
        let path = request.folder.join(with_ending(name, &request.program));
        let there = storage::linked(&path, &request.program)?;
        let is_ours = match there {
            LinkState::Elsewhere => is_annals(&path),
            there => there != LinkState::Other,
        };
        let outcome = match (there, request.remove) {
            (LinkState::Missing, true) | (LinkState::Same, false) => FileOutcome::Unchanged,
            (_, true) if !is_ours => FileOutcome::Unchanged,
            (_, true) => FileOutcome::Deleted,
            (LinkState::Missing, false) => FileOutcome::Created,
            (_, false) if is_ours => FileOutcome::Extended,
            _ => return Err(not_replaced(&path, "a link to annals")),
        };
        planned.push(Tool { file: path, outcome });
    }
    if !request.check && !project.dry_run {
        for tool in &planned {
            match tool.outcome {
                FileOutcome::Created | FileOutcome::Extended => {
                    storage::link(&tool.file, &request.program)?;
                }
                FileOutcome::Deleted => storage::unlink(&tool.file)?,
                FileOutcome::Unchanged | FileOutcome::Reduced => {}
            }
        }
        // A folder in the project was probably created for the tools; one elsewhere, such as ~/bin, is the
        // user's.
        let is_deleted = |tool: &Tool| tool.outcome == FileOutcome::Deleted;
        if planned.iter().any(is_deleted) {
            storage::remove_empty_folders(&request.folder, &project.root)?;
        }
    }
    Ok(JournalReport { files: planned })
}

impl JournalReport {
    /// Returns the error of `--check` if a tool differs from the desired state.
    pub fn verdict(&self) -> Result<()> {
        let off = self.files.iter().find(|tool| tool.outcome != FileOutcome::Unchanged);
        match off {
            None => Ok(()),
            Some(tool) => Err(Error::failed("is not a link to this program")
                .at(&tool.file, None)
                .hint("run it again without --check")),
        }
    }
}

/// Returns whether a path is a link to an annals binary at another path, which may no longer exist.
fn is_annals(path: &Path) -> bool {
    std::fs::read_link(path)
        .is_ok_and(|target| target.file_stem().is_some_and(|stem| stem == "annals"))
}

/// Returns a tool's file name with the program's `.exe` extension, which Windows needs to find it.
fn with_ending(name: &str, program: &Path) -> PathBuf {
    let mut name = PathBuf::from(name);
    if let Some(ending) = program.extension().filter(|ending| *ending == "exe") {
        name.set_extension(ending);
    }
    name
}
