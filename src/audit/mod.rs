//! Runs all checks of all stores, and reports them in one table.
//!
//! Each check of a store is a function; a store that is not in use has no rows. A check that fails to run
//! becomes a separate row, so that the others are still reported. Nothing is changed.

mod checks;
mod row;
mod secrets;

pub use row::{AuditRow, Detail, Level};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::text::quantity;
use crate::warning::Warning;

/// The result of an audit. It is the document of `annals audit --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The highest level of all rows.
    pub level: Level,
    /// One row per check, by store.
    pub rows: Vec<AuditRow>,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

/// The rows of a store in use, each with the name of its check.
type Rows = Result<Vec<(&'static str, AuditRow)>>;

/// A check of a store.
type Check = fn(&Project, &mut Vec<Warning>) -> Rows;

/// All checks in the order of the table: the store, the name, and the command to suggest if the check fails to run.
const CHECKS: [(&str, &str, &str, Check); 8] = [
    ("context", "block", "annals sync --check", checks::context_files),
    ("plan", "drift", "annals status", checks::drift),
    ("patterns", "stale", "annals patterns check", checks::stale_patterns),
    ("entries", "audit", "annals entry audit --dry-run", checks::entries),
    ("ledger", "rules", "annals ledger check", checks::ledger_rules),
    ("journal", "lines", "annals journal tail", checks::journal_lines),
    ("journal", "secrets", "annals audit", secrets::in_journal),
    ("facts", "database", "annals facts check", checks::fact_database),
];

/// Runs all checks of all stores in use, without changing anything.
pub fn audit(project: &Project) -> Audit {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    for (store, name, command, check) in CHECKS {
        let found = check(project, &mut warnings).unwrap_or_else(|error| {
            let error = error.relative_to(&project.root);
            let detail = Detail { place: error.place.clone(), ..Detail::new(&error.reason()) };
            vec![(name, AuditRow::found(vec![detail], command).fault())]
        });
        rows.extend(found.into_iter().map(|(check, row)| row.named(store, check)));
    }
    rows.extend(secrets::in_stores(project, &mut warnings));
    Audit { level: Level::of(&rows), rows, warnings: project.named(warnings) }
}

/// Returns the row for context files without room for the whole block, or `None` if there is room.
pub fn lack_of_room(project: &Project) -> Option<AuditRow> {
    // Other problems of the context files are left to the audit.
    let rows = checks::context_files(&project.dry_run(true), &mut Vec::new()).unwrap_or_default();
    let row = rows.into_iter().find(|(check, row)| *check == checks::BUDGET && row.count > 0);
    row.map(|(check, row)| row.named("context", check))
}

impl Audit {
    /// Fails if something needs fixing.
    pub fn verdict(&self) -> Result<()> {
        match self.rows.iter().filter(|row| row.level > Level::Ok).count() {
            0 => Ok(()),
            open => Err(Error::failed(format!("{} found problems", quantity(open, "check")))),
        }
    }
}
