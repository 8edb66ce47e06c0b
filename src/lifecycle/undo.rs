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
    /// On a dry run, the changes that would be made.
    pub diff: Option<String>,
    /// Warnings about the recovery of interrupted operations.
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
    Ok(UndoReport {
        undone: operation,
        changed: applied.changed,
        diff: applied.diff,
        warnings: project.named(applied.warnings),
    })
}
