//! Every check over every store in one table.
//!
//! Each check of a store is one function; a store that is not in use has no rows. One that cannot be run
//! becomes a row of its own, so that it hides none of the others. Nothing is ever changed here.

mod context;
mod entries;
mod facts;
mod files;
mod journal;
mod ledger;
mod patterns;
mod plan;
mod row;

pub use row::AuditRow;
pub use row::Detail;
pub use row::Level;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::project::Project;
use crate::recall::SOURCES;
use crate::text::quantity;
use crate::warning::Warning;

/// What an audit found. It is the document of `annals audit --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The worst of all rows.
    pub level: Level,
    /// A row for each check, by store.
    pub rows: Vec<AuditRow>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

/// A check, and what to call where it cannot be run.
struct Check {
    store: &'static str,
    name: &'static str,
    /// The store's own command, which shows what is wrong.
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
        Self {
            store,
            name,
            command,
            run,
        }
    }

    fn rows(&self, project: &Project, warnings: &mut Vec<Warning>) -> Vec<AuditRow> {
        (self.run)(project, warnings).unwrap_or_else(|error| {
            let detail = Detail::from_error(&error.relative_to(&project.root));
            vec![AuditRow::new(
                self.store,
                self.name,
                Level::Fault,
                vec![detail],
                self.command,
            )]
        })
    }
}

/// Every check, in the order of the table.
const CHECKS: &[Check] = &[
    Check::new("context", "block", "annals sync --check", context::block),
    Check::new("plan", "drift", "annals status", plan::drift),
    Check::new(
        "patterns",
        "stale",
        "annals patterns check",
        patterns::stale,
    ),
    Check::new(
        "entries",
        "audit",
        "annals entry audit --dry-run",
        entries::audit,
    ),
    Check::new("ledger", "rules", "annals ledger check", ledger::rules),
    Check::new("journal", "lines", "annals journal stats", journal::lines),
    Check::new("journal", "secrets", "annals audit", journal::secrets),
    Check::new("facts", "database", "annals facts check", facts::database),
];

/// Runs every check of every store in use; nothing is changed.
pub fn audit(project: &Project) -> Audit {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut rows = Vec::new();
    for check in CHECKS {
        rows.extend(check.rows(project, &mut warnings));
    }
    rows.extend(context::secrets(project, &mut warnings));
    // Files that the user's settings name have checks of their own.
    for store in SOURCES.iter().filter(|store| !store.is_users_own()) {
        let (name, files) = (
            store.name().as_str(),
            store.files_to_check_for_secrets(project),
        );
        rows.extend(files::secrets(project, name, &files, &mut warnings));
    }
    Audit {
        level: rows.iter().map(|row| row.level).max().unwrap_or(Level::Ok),
        rows,
        warnings: project.named(warnings),
    }
}

/// Returns where a context file has no room for the whole block, or `None` if there is room.
pub fn lack_of_room(project: &Project) -> Option<AuditRow> {
    // Whatever else is wrong with a context file is the audit's to tell.
    let rows = context::block(&project.dry_run(true), &mut Vec::new()).unwrap_or_default();
    rows.into_iter()
        .find(|row| row.check == context::BUDGET && row.level != Level::Ok)
}

impl Audit {
    /// Fails where something needs fixing.
    pub fn verdict(&self) -> Result<()> {
        let open = self.rows.iter().filter(|row| row.level > Level::Ok).count();
        match open {
            0 => Ok(()),
            open => {
                let message = format!("{} found something", quantity(open, "check"));
                Err(Error::failed(message))
            }
        }
    }
}
