//! Runs all checks of all stores, and reports them in one table.
//!
//! Each check of a store is a function; a store that is not in use has no rows. A check that fails to run
//! becomes a separate row, so that the others are still reported. Nothing is changed.

mod checks;

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::text::{clip, one_line, quantity, sanitized, word_enum};
use crate::warning::{SourceLocation, Warning};

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
    ("journal", "secrets", "annals audit", checks::in_journal),
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
    rows.extend(checks::in_stores(project, &mut warnings));
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

/// Maximum number of findings of a check that are listed; the rest are only counted.
const NAMED: usize = 20;

/// Maximum length of a finding, in characters; the location leads to the details.
const WIDTH: usize = 240;

word_enum! {
    /// The severity of a check's result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Level {
        /// Nothing was found.
        Ok = "ok",
        /// Something should be fixed when there is time.
        Attention = "attention",
        /// Something is broken, leaks, or could not be checked.
        Fault = "fault",
    }
}

impl Level {
    /// Returns the highest level of some rows.
    pub(crate) fn of(rows: &[AuditRow]) -> Self {
        rows.iter().map(|row| row.level).max().unwrap_or(Self::Ok)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The location, relative to the project if inside it.
    #[serde(flatten)]
    pub place: Option<SourceLocation>,
    /// The problem, on one line and without secrets.
    pub message: String,
}

impl Detail {
    /// Creates a finding without a location.
    pub(crate) fn new(message: &str) -> Self {
        let message = clip(&one_line(&sanitized(message)), WIDTH).into_owned();
        Self { place: None, message }
    }

    /// Creates a finding in a file.
    pub(crate) fn at(
        file: impl Into<PathBuf>,
        line: impl Into<Option<usize>>,
        message: &str,
    ) -> Self {
        Self { place: Some(SourceLocation::new(file, line)), ..Self::new(message) }
    }
}

/// The result of a check of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// The store.
    pub store: &'static str,
    /// The name of the check.
    pub check: &'static str,
    /// The severity.
    pub level: Level,
    /// Number of findings.
    pub count: usize,
    /// The first findings.
    pub details: Vec<Detail>,
    /// The fix: a command, or instructions if no command can fix it.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl AuditRow {
    /// Returns the result of a check with these findings, which need attention; without any, its level is ok.
    pub(crate) fn found(details: Vec<Detail>, fix: impl Into<String>) -> Self {
        Self::counted(details.len(), details, fix)
    }

    /// Returns the result of a check that found nothing to fix, with an observation.
    pub(crate) fn ok(seen: impl AsRef<str>) -> Self {
        Self::counted(0, vec![Detail::new(seen.as_ref())], "")
    }

    /// Returns the result of a check with one finding that needs attention.
    pub(crate) fn attention(message: impl AsRef<str>, fix: impl Into<String>) -> Self {
        Self::found(vec![Detail::new(message.as_ref())], fix)
    }

    /// Returns the result of a check that counted more findings than it can list.
    pub(crate) fn counted(count: usize, mut details: Vec<Detail>, fix: impl Into<String>) -> Self {
        details.truncate(NAMED);
        let level = if count == 0 { Level::Ok } else { Level::Attention };
        let fix = (count > 0).then(|| fix.into());
        Self { store: "", check: "", level, count, details, fix }
    }

    /// Returns the result of a check whose findings mean that something is broken or leaks.
    pub(crate) fn fault(mut self) -> Self {
        if self.count > 0 {
            self.level = Level::Fault;
        }
        self
    }

    /// Returns the result as a row of the table.
    pub(crate) fn named(self, store: &'static str, check: &'static str) -> Self {
        Self { store, check, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_findings_is_ok_and_needs_no_fix() {
        let row = AuditRow::found(Vec::new(), "annals status").fault();
        assert_eq!((row.level, row.count, row.fix), (Level::Ok, 0, None));
    }

    #[test]
    fn many_findings_are_counted_and_the_first_named() {
        let found = (0..50).map(|n| Detail::new(&format!("number {n}")));
        let row = AuditRow::found(found.collect(), "annals status");
        assert_eq!((row.count, row.details.len()), (50, NAMED));
        assert_eq!(row.details[0].message, "number 0");
    }

    #[test]
    fn a_finding_tells_no_secret_and_is_one_line() {
        let key = format!("AKIA{}", "Q7ZT2LMX9VKC4RBW");
        let detail = Detail::new(&format!("says\n{key}"));
        assert_eq!(detail.message, "says [redacted]");
    }
}
