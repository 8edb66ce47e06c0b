//! Checks that the context files are up to date, within their budget and writable.

use std::path::PathBuf;

use crate::audit::files;
use crate::audit::row::{AuditRow, Detail};
use crate::claude_md::{ContextFileOutcome, RegeneratedFile};
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ContextFiles, SyncRequest};
use crate::project::{ContextTarget, Project};
use crate::storage::read;
use crate::warning::{SourceLocation, Warning};

const STORE: &str = "context";

/// The name of the check of the files' length.
pub(crate) const BUDGET: &str = "budget";

/// Compares every file that has a block or is in the settings with what `sync` would write.
pub(crate) fn block(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let request = SyncRequest { check: true, ..SyncRequest::default() };
    let report = lifecycle::sync(project, &request)?;
    warnings.extend(report.warnings);
    let of = |file: &RegeneratedFile, message: &str| {
        let place = SourceLocation::new(&file.file, None);
        Detail::at(place, message)
    };
    let context = report.context.unwrap_or_default();
    let files = &context.files;
    let off = files.iter().filter_map(|file| match file.outcome {
        ContextFileOutcome::Created => Some(of(file, "is missing")),
        ContextFileOutcome::Updated => Some(of(file, "is out of date")),
        ContextFileOutcome::Unchanged => None,
    });
    let has_own_limits = project.settings.has_own_limits();
    let long = files.iter().filter_map(|file| match &file.excess {
        Some(excess) => Some(of(file, &format!("is {excess} over its limit"))),
        // If the user has set limits, a shortened block is intended.
        None if file.shrunk.is_empty() || has_own_limits => None,
        None => Some(of(file, "contains so much of your own text that the block was shortened")),
    });
    let mut rows = vec![
        AuditRow::new(STORE, "block", off.collect(), "annals sync"),
        AuditRow::new(STORE, BUDGET, long.collect(), "shorten the text outside the block"),
    ];
    rows.extend(refused(&context));
    Ok(rows)
}

/// Returns the row for files that a rule protects from being written; `None` if there are none.
fn refused(context: &ContextFiles) -> Option<AuditRow> {
    let refused = context.refused.iter();
    let hint = refused.clone().find_map(|refusal| refusal.hint.clone());
    let found: Vec<Detail> = refused
        .map(|refusal| Detail { place: refusal.place.clone(), ..Detail::new(&refusal.message) })
        .collect();
    let fix = hint.unwrap_or_else(|| "annals sync".to_owned());
    (!found.is_empty()).then(|| AuditRow::new(STORE, "refused", found, fix).into_fault())
}

/// Searches the context files for secrets.
pub(crate) fn secrets(project: &Project, warnings: &mut Vec<Warning>) -> Option<AuditRow> {
    let files: Vec<PathBuf> =
        ContextTarget::ALL.map(|target| project.root.join(target.file())).into();
    // If a context file is a link, agents read its target.
    files::secrets(project, STORE, files, read::bytes, warnings)
}
