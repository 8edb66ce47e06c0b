//! Undoes an operation, and rebuilds what was generated.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::knowledge;
use crate::knowledge::KnowledgeDir;
use crate::ledger;
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
    /// What the operation did beside changing files, and what of it stays; a sentence each.
    pub stays: Vec<String>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What became of operations that had been interrupted, and whether git could not say what stays.
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
    let index = KnowledgeDir::in_project(project).index();
    let is_generated = |path: &Path| path == index;
    let ((), applied) = storage.transact(&name, &operation.stores, || {
        let mut changes = history.undo(operation.id, is_generated)?;
        knowledge::refresh_index(project, &mut changes)?;
        Ok(((), changes))
    })?;
    let mut warnings = applied.warnings;
    // The operation is undone: what git cannot say any more does not change that.
    let stays = left_in_git(project, &operation).unwrap_or_else(|error| {
        let message = format!("cannot tell what stays in git: {}", error.reason());
        warnings.push(Warning::file(&project.root, message));
        Vec::new()
    });
    Ok(UndoReport {
        stays,
        undone: operation,
        changed: project.all_relative(&applied.changed),
        diff: applied.dry_run.then_some(applied.diff),
        warnings: project.named(warnings),
    })
}

/// Says what an operation of this kind may have left in git, which no record of files takes back.
fn left_in_git(project: &Project, operation: &Operation) -> Result<Vec<String>> {
    if project.git.head()?.is_none() && operation.operation != SETUP_GIT {
        return Ok(Vec::new());
    }
    let stays = match operation.operation.as_str() {
        "ledger update" => ledger::commit_since(project, &operation.time)?.map(|hash| {
            format!(
                "The git commit {} stays; committing these files takes the update out of git, too.",
                &hash[..hash.len().min(12)]
            )
        }),
        SETUP_GIT => Some(
            "The merge drivers in git's configuration stay as they are: `annals setup git` sets \
             them, `annals setup git --remove` takes them out."
                .to_owned(),
        ),
        "ship" => Some(
            "A git tag that `ship --tag` made stays; `git tag --delete` removes it.".to_owned(),
        ),
        _ => None,
    };
    Ok(stays.into_iter().collect())
}

const SETUP_GIT: &str = "setup git";
