//! Checks whether the recorded patterns of finished phases are still valid, and which phases lack them.

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::project::Project;
use crate::storage::read;
use crate::text::quantity;
use crate::warning::{SourceLocation, Warning};
use crate::{lifecycle, patterns};

const STORE: &str = "patterns";

/// Counts the finished phases that are not recorded, if there are any: an observation, as recording is optional.
pub(crate) fn unrecorded(project: &Project, _: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let count = lifecycle::unrecorded(project)?.len();
    let seen = (count > 0).then(|| {
        let verb = if count == 1 { "is" } else { "are" };
        let phases = quantity(count, "finished phase");
        format!("{phases} {verb} not recorded: annals execute --all")
    });
    let row = seen.map(|seen| AuditRow::ok(STORE, "unrecorded", &seen));
    Ok(row.into_iter().collect())
}

/// Lists the recorded patterns that refer to something that no longer exists.
pub(crate) fn stale(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let path = patterns::path(&project.planning_place().dir);
    if !read::exists(&path) {
        return Ok(Vec::new());
    }
    let found = patterns::check(project)?.into_value(warnings);
    let stale = found.entries.into_iter().filter(|entry| entry.is_stale);
    let details = stale.map(|entry| {
        let place = SourceLocation::new(project.relative(&path), entry.line);
        Detail::at(place, &format!("{}: {}", entry.id, entry.reasons.join("; ")))
    });
    let details = details.collect();
    if let Some(skipped) = found.skipped {
        warnings.push(Warning::file(&path, skipped));
    }
    let fix = "annals patterns check";
    Ok(vec![AuditRow::new(STORE, "stale", details, fix)])
}
