//! Defines the result of a check.

use std::path::PathBuf;

use serde::Serialize;

use crate::text::{clip, one_line, sanitized, word_enum};
use crate::warning::SourceLocation;

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
