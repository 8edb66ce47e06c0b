//! Runs the commands that write, defines the common part of their reports, and undoes what they did.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::claude_md::Regenerated;
use crate::error::{Error, Result};
use crate::knowledge;
use crate::knowledge::KnowledgeDir;
use crate::plan::Next;
use crate::project::Project;
use crate::storage::{Changes, History, Operation, OperationId, Store};
use crate::warning::Warning;

/// The outcome of a command. It is the command's `--json` document: the specific fields first, then the
/// common ones.
#[derive(Debug, Default, Serialize)]
pub struct CommandOutcome<T> {
    /// The fields specific to the command.
    #[serde(flatten)]
    pub value: T,
    /// The next command to run, if the command reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why the next command is contested, if the command reports it; absent if the files agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested: Option<String>,
    /// The outcome for the context files, if the command refreshes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Regenerated>,
    /// The files changed, or on a dry run to be changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, the changes that would be made.
    pub diff: Option<String>,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

impl<T> CommandOutcome<T> {
    /// Fails with the rule that prevented a context file from being written; the rest of the work is done.
    pub fn refusal(&self) -> Result<()> {
        self.context.as_ref().map_or(Ok(()), Regenerated::refusal)
    }
}

/// The state of a running command: its planned changes and the common parts of its report.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) changes: Changes,
    pub(crate) next: Option<String>,
    /// Why the next command is contested, if the command's own report does not contain it.
    pub(crate) contested: Option<String>,
    pub(crate) context: Option<Regenerated>,
    pub(crate) warnings: Vec<Warning>,
}

impl Work {
    /// Sets the next command, and why it is contested.
    pub(crate) fn point_to(&mut self, next: Next) {
        self.contested = next.contest();
        self.next = Some(next.command);
    }
}

/// Runs a command: plans it, applies all of its changes or none, and completes its report.
///
/// `plan` may run again, if files were changed in the meantime. Nothing is written into context files if a file could not be
/// read, since what it says would be missing there.
pub(crate) fn carry_out<T>(
    project: &Project,
    operation: &str,
    stores: &[Store],
    plan: impl Fn(&mut Work) -> Result<T>,
) -> Result<CommandOutcome<T>> {
    let ((value, mut work), applied) = project.transact(operation, stores, || {
        let mut work = Work::default();
        let value = plan(&mut work)?;
        let changes = std::mem::take(&mut work.changes);
        let writes_context = stores.contains(&Store::Context) && !changes.is_empty();
        let unreadable = work.warnings.iter().find(|warning| warning.is_unreadable());
        if let Some(Warning { place, message }) = unreadable.filter(|_| writes_context) {
            return Err(Error::failed(format!("{message}, so nothing is written"))
                .about(&place.file)
                .hint("make it readable, then run the command again"));
        }
        Ok(((value, work), changes))
    })?;
    work.warnings.extend(applied.warnings);
    Ok(CommandOutcome {
        value,
        next: work.next,
        contested: work.contested,
        context: work.context,
        changed: applied.changed,
        diff: applied.diff,
        warnings: project.named(work.warnings),
    })
}

/// The outcome of `annals undo`. It is the document of `annals undo --json`.
#[derive(Debug, Serialize)]
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
/// rebuilt, because later writes have changed other rows of it; their log gets a line.
pub fn undo(project: &Project, id: Option<OperationId>) -> Result<UndoReport> {
    // Otherwise the last operation would be the one before an interrupted one.
    let mut warnings = project.storage().complete_interrupted()?;
    let history = project.storage().history();
    let operation = history.find(id)?;
    let name = format!("undo {}", operation.id);
    let index = KnowledgeDir::in_project(project).index();
    let is_generated = |path: &Path| path == index;
    let ((), applied) = project.transact(&name, &operation.stores, || {
        let undo = history.undo(operation.id, is_generated);
        let mut changes =
            undo.map_err(|error| already_undone(&history, operation.id).unwrap_or(error))?;
        knowledge::refresh_index(project, &mut changes)?;
        knowledge::log_undo(project, &operation, &mut changes)?;
        Ok(((), changes))
    })?;
    warnings.extend(applied.warnings);
    Ok(UndoReport {
        undone: operation,
        changed: applied.changed,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// Returns the error for an operation that another one has undone, `None` if none has.
fn already_undone(history: &History, id: OperationId) -> Option<Error> {
    let undo = history.undoing(id).ok()??;
    Some(
        Error::refused(format!("operation {id} is already undone, by operation {undo}"))
            .hint(format!("`annals undo {undo}` brings it back")),
    )
}
