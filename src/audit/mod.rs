//! Runs all checks of all stores, and reports them in one table.
//!
//! Each check of a store is a function; a store that is not in use has no rows. A check that fails to run
//! becomes a separate row, so that the others are still reported. Nothing is changed.

mod context;
mod entries;
mod facts;
mod files;
mod journal;
mod ledger;
mod patterns;
mod plan;
mod row;

pub use row::{AuditRow, Detail, Level};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::recall::SOURCES;
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

/// A check of a store in use.
type Check = fn(&Project, &mut Vec<Warning>) -> Result<Vec<AuditRow>>;

/// All checks in the order of the table: the store, the name, and the command to suggest if the check fails to run.
const CHECKS: [(&str, &str, &str, Check); 9] = [
    ("context", "block", "annals sync --check", context::block),
    ("plan", "drift", "annals status", plan::drift),
    ("patterns", "stale", "annals patterns check", patterns::stale),
    ("patterns", "unrecorded", "annals execute --all --dry-run", patterns::unrecorded),
    ("entries", "audit", "annals entry audit --dry-run", entries::audit),
    ("ledger", "rules", "annals ledger check", ledger::rules),
    ("journal", "lines", "annals journal tail --stats", journal::lines),
    ("journal", "secrets", "annals audit", journal::secrets),
    ("facts", "database", "annals facts check", facts::database),
];

/// Runs all checks of all stores in use, without changing anything.
pub fn audit(project: &Project) -> Audit {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    for (store, name, command, check) in CHECKS {
        match check(project, &mut warnings) {
            Ok(found) => rows.extend(found),
            Err(error) => {
                let detail = Detail::from_error(&error.relative_to(&project.root));
                rows.push(AuditRow::new(store, name, vec![detail], command).into_fault());
            }
        }
    }
    rows.extend(context::secrets(project, &mut warnings));
    // Files at paths from the user's settings have separate checks.
    for store in SOURCES.iter().filter(|store| !store.is_users_own()) {
        let (name, files) = (store.name().as_str(), store.files_to_check_for_secrets(project));
        rows.extend(files::secrets(project, name, files, files::own_bytes, &mut warnings));
    }
    Audit {
        level: rows.iter().map(|row| row.level).max().unwrap_or(Level::Ok),
        rows,
        warnings: project.named(warnings),
    }
}

/// Returns the row for context files without room for the whole block, or `None` if there is room.
pub fn lack_of_room(project: &Project) -> Option<AuditRow> {
    // Other problems of the context files are left to the audit.
    let rows = context::block(&project.dry_run(true), &mut Vec::new()).unwrap_or_default();
    rows.into_iter().find(|row| row.check == context::BUDGET && row.level != Level::Ok)
}

impl Audit {
    /// Fails if something needs fixing.
    pub fn verdict(&self) -> Result<()> {
        let open = self.rows.iter().filter(|row| row.level > Level::Ok).count();
        match open {
            0 => Ok(()),
            open => {
                let message = format!("{} found problems", quantity(open, "check"));
                Err(Error::failed(message))
            }
        }
    }
}
