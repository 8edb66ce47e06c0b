//! Undoes an operation, and rebuilds what was generated.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::knowledge;
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::storage::Operation;
use crate::storage::OperationId;
use crate::warning::Warning;

/// What `annals undo` did. It is the document of `annals undo --json`.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    /// The operation that was taken back.
    pub undone: Operation,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What became of operations that had been interrupted.
    pub warnings: Vec<Warning>,
}

/// Takes back an operation, or the last one: the exact bytes from before it.
///
/// The context files come back as they were, too: what is generated in them follows from the files
/// that the same operation changed, and the user's text around it must not be lost. The index of the
/// knowledge entries is rebuilt: later writes have changed other rows of it.
pub fn undo(project: &Project, id: Option<OperationId>) -> Result<UndoReport> {
    let storage = project.storage();
    let history = storage.history();
    let operation = history.find(id)?;
    let name = format!("undo {}", operation.id);
    let index = KnowledgeDir::of(project).index();
    let is_generated = |path: &Path| path == index;
    let ((), applied) = storage.transact(&name, &operation.stores, || {
        let mut changes = history.undo(operation.id, is_generated)?;
        knowledge::refresh_index(project, &mut changes)?;
        Ok(((), changes))
    })?;
    Ok(UndoReport {
        undone: operation,
        changed: applied
            .changed
            .iter()
            .map(|path| project.relative(path).to_owned())
            .collect(),
        diff: applied.dry_run.then_some(applied.diff),
        warnings: project.named(applied.warnings),
    })
}
