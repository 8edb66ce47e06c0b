//! Deletes an entry, and records the reason in log.md.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::knowledge::guard::refuse_secrets;
use crate::knowledge::read::existing;
use crate::knowledge::{KnowledgeDir, index, log};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store};
use crate::warning::Warning;

/// A deleted entry. It is the document of `annals entry delete --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Deleted {
    /// The entry's key.
    pub key: String,
    /// The reason, verbatim except for line breaks.
    pub reason: String,
    /// The changes, on a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from the operation.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Returns a text on one line, for log.md.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Deletes an entry; a reason is required. Links to the entry remain, and are reported by `audit`.
pub fn delete(
    project: &Project,
    key: &str,
    reason: Option<&str>,
    policy: SecretPolicy,
) -> Result<Deleted> {
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        return Err(Error::refused("deleting an entry requires a reason").hint(format!(
            "add --reason, or keep the history: `annals entry supersede --old {key} --new …`"
        )));
    };
    if policy == SecretPolicy::Refuse {
        refuse_secrets("reason", reason)?;
    }
    let reason = &one_line(reason);
    let place = KnowledgeDir::in_project(project);
    let operation = format!("entry delete {key}");
    let ((), applied) = project.transact(&operation, &[Store::Entries], || {
        let (path, _) = existing(&place, key)?;
        let mut changes = Changes::new();
        changes.delete(&path)?;
        index::update(&place, &mut changes, [key.to_owned()])?;
        let what = format!("delete {key} — Reason: {reason}");
        log::add(&mut changes, &place, &project.clock, &what)?;
        Ok(((), changes))
    })?;
    Ok(Deleted {
        key: key.to_owned(),
        reason: reason.to_owned(),
        diff: applied.diff,
        warnings: project.named(applied.warnings),
    })
}
