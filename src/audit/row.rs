//! Defines the result of a check.

use serde::Serialize;

use crate::error::Error;
use crate::text::{Line, sanitized, word_enum};
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
        Self { place: None, message: Line::new(&sanitized(message)).clipped(WIDTH).to_string() }
    }

    /// Creates a finding in a file.
    pub(crate) fn at(place: SourceLocation, message: &str) -> Self {
        Self { place: Some(place), ..Self::new(message) }
    }

    /// Creates a finding that reports why a check failed to run.
    pub(crate) fn from_error(error: &Error) -> Self {
        Self { place: error.place.clone(), ..Self::new(&error.reason()) }
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
    /// Creates the row of a check with these findings, which need attention; without any, its level is ok.
    pub(crate) fn new(
        store: &'static str,
        check: &'static str,
        found: Vec<Detail>,
        fix: impl Into<String>,
    ) -> Self {
        Self::counted(store, check, found.len(), found, fix)
    }

    /// Creates the row of a check that found nothing to fix, with an observation.
    pub(crate) fn ok(store: &'static str, check: &'static str, seen: &str) -> Self {
        Self::counted(store, check, 0, vec![Detail::new(seen)], "")
    }

    /// Creates the row of a check with one finding that needs attention.
    pub(crate) fn attention(
        store: &'static str,
        check: &'static str,
        message: &str,
        fix: impl Into<String>,
    ) -> Self {
        Self::new(store, check, vec![Detail::new(message)], fix)
    }

    /// Creates the row of a check that counted more findings than it can list.
    pub(crate) fn counted(
        store: &'static str,
        check: &'static str,
        count: usize,
        mut details: Vec<Detail>,
        fix: impl Into<String>,
    ) -> Self {
        details.truncate(NAMED);
        Self {
            store,
            check,
            level: if count == 0 { Level::Ok } else { Level::Attention },
            count,
            details,
            fix: (count > 0).then(|| fix.into()),
        }
    }

    /// Returns the row of a check whose findings mean that something is broken or leaks.
    pub(crate) fn into_fault(mut self) -> Self {
        if self.count > 0 {
            self.level = Level::Fault;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_findings_is_ok_and_needs_no_fix() {
        let row = AuditRow::new("plan", "drift", Vec::new(), "annals status").into_fault();
        assert_eq!((row.level, row.count, row.fix), (Level::Ok, 0, None));
    }

    #[test]
    fn many_findings_are_counted_and_the_first_named() {
        let found = (0..50).map(|n| Detail::new(&format!("number {n}")));
        let row = AuditRow::new("plan", "drift", found.collect(), "annals status");
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
