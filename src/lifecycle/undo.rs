//! Undoes an operation, and rebuilds generated files.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Result;
use crate::knowledge;
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::storage::{Operation, OperationId};
use crate::warning::Warning;

/// The outcome of `annals undo`. It is the document of `annals undo --json`.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    /// The undone operation.
    pub undone: Operation,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// Effects of the operation outside of files that remain, one sentence each.
    pub stays: Vec<String>,
    /// On a dry run, the changes that would be made.
    pub diff: Option<String>,
    /// Warnings about the recovery of interrupted operations, and if git could not be queried for remaining
    /// effects.
    pub warnings: Vec<Warning>,
}

/// Undoes an operation, by default the last one, by restoring the exact bytes from before it.
///
/// Context files are restored as well, because their generated content depends on files that the same
/// operation changed, and the user's text around it must not be lost. The index of the knowledge entries is
/// rebuilt, because later writes have changed other rows of it.
pub fn undo(project: &Project, id: Option<OperationId>) -> Result<UndoReport> {
    let history = project.storage().history();
    let operation = history.find(id)?;
    let name = format!("undo {}", operation.id);
    let index = KnowledgeDir::in_project(project).index();
    let is_generated = |path: &Path| path == index;
    let ((), applied) = project.transact(&name, &operation.stores, || {
        let mut changes = history.undo(operation.id, is_generated)?;
        knowledge::refresh_index(project, &mut changes)?;
        Ok(((), changes))
    })?;
    let mut warnings = applied.warnings;
    // The operation is already undone: an error of git must not change that.
    let stays = left_in_git(project, &operation).unwrap_or_else(|error| {
        let message = format!("cannot determine what remains in git: {}", error.reason());
        warnings.push(Warning::file(&project.root, message));
        Vec::new()
    });
    Ok(UndoReport {
        stays,
        undone: operation,
        changed: applied.changed,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// Returns the effects in git that an operation of this kind may have had, and that undo does not revert.
fn left_in_git(project: &Project, operation: &Operation) -> Result<Vec<String>> {
    if project.git.head()?.is_none() && operation.operation != SETUP_GIT {
        return Ok(Vec::new());
    }
    let stays = match operation.operation.as_str() {
        SETUP_GIT => Some(
            "The merge drivers in git's configuration stay as they are: `annals setup git` sets \
             them, `annals setup git --remove` removes them."
                .to_owned(),
        ),
        _ => None,
    };
    Ok(stays.into_iter().collect())
}

const SETUP_GIT: &str = "setup git";
