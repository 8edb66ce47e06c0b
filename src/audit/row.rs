//! What one check found.

use serde::Serialize;

use crate::error::Error;
use crate::text::Line;
use crate::text::sanitized;
use crate::warning::SourceLocation;

/// How many findings of one check are named; the rest are counted.
const NAMED: usize = 20;

/// A longer finding is cut: the place tells the rest.
const WIDTH: usize = 240;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing was found.
    Ok,
    /// Something should be mended when there is time.
    Attention,
    /// Something is broken, leaks, or could not be checked.
    Fault,
}

impl Level {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Attention => "attention",
            Self::Fault => "fault",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// Where, relative to the project where it lies inside.
    #[serde(flatten)]
    pub place: Option<SourceLocation>,
    /// What, on one line and without secrets.
    pub message: String,
}

impl Detail {
    /// Returns a finding without a place.
    pub(crate) fn new(message: &str) -> Self {
        Self {
            place: None,
            message: Line::new(&sanitized(message)).clipped(WIDTH).to_string(),
        }
    }

    /// Returns a finding in a file.
    pub(crate) fn at(place: SourceLocation, message: &str) -> Self {
        Self {
            place: Some(place),
            ..Self::new(message)
        }
    }

    /// Returns why a check could not be run.
    pub(crate) fn from_error(error: &Error) -> Self {
        Self {
            place: error.place.clone(),
            ..Self::new(&error.reason())
        }
    }
}

/// One check of one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// The store.
    pub store: &'static str,
    /// What was checked.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// How many things were found.
    pub count: usize,
    /// The first of them.
    pub details: Vec<Detail>,
    /// What fixes it: a command, or in words what none can do.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl AuditRow {
    /// Returns the row of a check that found these; without any it is ok.
    pub(crate) fn new(
        store: &'static str,
        check: &'static str,
        level: Level,
        found: Vec<Detail>,
        fix: impl Into<String>,
    ) -> Self {
        let count = found.len();
        Self::counted(store, check, level, (count, found), fix)
    }

    /// Returns the row of a check that found nothing to fix, with what it saw.
    pub(crate) fn ok(store: &'static str, check: &'static str, seen: &str) -> Self {
        Self::counted(store, check, Level::Ok, (0, vec![Detail::new(seen)]), "")
    }

    /// Returns the row of a check that found one thing.
    pub(crate) fn finding(
        store: &'static str,
        check: &'static str,
        level: Level,
        message: &str,
        fix: impl Into<String>,
    ) -> Self {
        Self::new(store, check, level, vec![Detail::new(message)], fix)
    }

    /// Returns the row of a check that counted more than it can name.
    pub(crate) fn counted(
        store: &'static str,
        check: &'static str,
        level: Level,
        (count, mut details): (usize, Vec<Detail>),
        fix: impl Into<String>,
    ) -> Self {
        details.truncate(NAMED);
        Self {
            store,
            check,
            level: if count == 0 { Level::Ok } else { level },
            count,
            details,
            fix: (count > 0).then(|| fix.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_findings_is_ok_and_needs_no_fix() {
        let row = AuditRow::new("plan", "drift", Level::Fault, Vec::new(), "annals status");
        assert_eq!((row.level, row.count, row.fix), (Level::Ok, 0, None));
    }

    #[test]
    fn many_findings_are_counted_and_the_first_named() {
        let found = (0..50).map(|n| Detail::new(&format!("number {n}")));
        let row = AuditRow::new(
            "plan",
            "drift",
            Level::Attention,
            found.collect(),
            "annals status",
        );
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
