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

/// A check, with the command to suggest if it fails to run.
struct Check {
    store: &'static str,
    name: &'static str,
    /// The store's own command, which shows the problem.
    command: &'static str,
    run: fn(&Project, &mut Vec<Warning>) -> Result<Vec<AuditRow>>,
}

impl Check {
    const fn new(
        store: &'static str,
        name: &'static str,
        command: &'static str,
        run: fn(&Project, &mut Vec<Warning>) -> Result<Vec<AuditRow>>,
    ) -> Self {
        Self { store, name, command, run }
    }

    fn rows(&self, project: &Project, warnings: &mut Vec<Warning>) -> Vec<AuditRow> {
        (self.run)(project, warnings).unwrap_or_else(|error| {
            let detail = Detail::from_error(&error.relative_to(&project.root));
            let row = AuditRow::new(self.store, self.name, vec![detail], self.command);
            vec![row.into_fault()]
        })
    }
}

/// All checks, in the order of the table.
const CHECKS: &[Check] = &[
    Check::new("context", "block", "annals sync --check", context::block),
    Check::new("plan", "drift", "annals status", plan::drift),
    Check::new("patterns", "stale", "annals patterns check", patterns::stale),
    Check::new("patterns", "unrecorded", "annals execute --all --dry-run", patterns::unrecorded),
    Check::new("entries", "audit", "annals entry audit --dry-run", entries::audit),
    Check::new("ledger", "rules", "annals ledger check", ledger::rules),
    Check::new("journal", "lines", "annals journal tail --stats", journal::lines),
    Check::new("journal", "secrets", "annals audit", journal::secrets),
    Check::new("facts", "database", "annals facts check", facts::database),
];

/// Runs all checks of all stores in use, without changing anything.
pub fn audit(project: &Project) -> Audit {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    for check in CHECKS {
        rows.extend(check.rows(project, &mut warnings));
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
