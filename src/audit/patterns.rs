//! Checks whether the recorded patterns of finished phases are still valid.

use crate::audit::row::AuditRow;
use crate::audit::row::Detail;
use crate::audit::row::Level;
use crate::error::Result;
use crate::patterns;
use crate::project::Project;
use crate::storage::read;
use crate::warning::SourceLocation;
use crate::warning::Warning;

const STORE: &str = "patterns";

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
        Detail::at(
            place,
            &format!("{}: {}", entry.id, entry.reasons.join("; ")),
        )
    });
    let details = details.collect();
    if let Some(skipped) = found.skipped {
        warnings.push(Warning::file(&path, skipped));
    }
    let fix = "annals patterns check";
    Ok(vec![AuditRow::new(
        STORE,
        "stale",
        Level::Attention,
        details,
        fix,
    )])
}
