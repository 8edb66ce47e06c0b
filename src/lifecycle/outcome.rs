//! What every writing command shares: how it is carried out, and how its report ends.

use std::path::PathBuf;

use serde::Serialize;

use crate::claude_md::Regenerated;
use crate::error::Error;
use crate::error::Result;
use crate::position::NextStatus;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
use crate::warning::Warning;

/// What became of the context files.
pub type ContextFiles = Regenerated;

/// What a command did. It is the command's `--json` document: what is its own first, then what all have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CommandOutcome<T> {
    /// What is the command's own.
    #[serde(flatten)]
    pub value: T,
    /// The command to run next, from those that say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why the next command is contested, from those that say it; absent where the files agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested: Option<String>,
    /// The context files, from those that bring them up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextFiles>,
    /// The files changed, or on a dry run to be changed; relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

impl<T> CommandOutcome<T> {
    /// Fails with the rule that kept a context file from being written; the rest of the work is done.
    pub fn refusal(&self) -> Result<()> {
        let mut refused = self.context.iter().flat_map(|context| &context.refused);
        let first = refused.next().cloned();
        first.map_or(Ok(()), |refusal| Err(Error::from(refusal)))
    }
}

/// A command at work: what it is about to change, and what it has to tell beside its own report.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) changes: Changes,
    pub(crate) next: Option<String>,
    /// Why the next command is contested; from those whose own report does not say it.
    pub(crate) contested: Option<String>,
    pub(crate) context: Option<ContextFiles>,
    pub(crate) warnings: Vec<Warning>,
}

impl Work {
    /// Notes the command to run next, and what contests it.
    pub(crate) fn point_to(&mut self, next: NextStatus) {
        self.contested = next.contest();
        self.next = Some(next.command);
    }
}

/// Carries a command out: plans it, makes all of its changes or none, and puts its report together.
///
/// `plan` may run again, on what somebody saved in the meantime.
pub(crate) fn carry_out<T>(
    project: &Project,
    operation: &str,
    stores: &[Store],
    plan: impl Fn(&mut Work) -> Result<T>,
) -> Result<CommandOutcome<T>> {
    let ((value, mut work), applied) = project.storage().transact(operation, stores, || {
        let mut work = Work::default();
        let value = plan(&mut work)?;
        let changes = std::mem::take(&mut work.changes);
        Ok(((value, work), changes))
    })?;
    work.warnings.extend(applied.warnings);
    Ok(CommandOutcome {
        value,
        next: work.next,
        contested: work.contested,
        context: work.context,
        changed: project.all_relative(&applied.changed),
        diff: applied.dry_run.then_some(applied.diff),
        warnings: project.named(work.warnings),
    })
}
