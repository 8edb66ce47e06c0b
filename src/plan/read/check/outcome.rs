//! Defines a check, its kind and its outcome.

use std::path::{Path, PathBuf};

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// The user tests what was built.
    Uat,
    /// The workflow verifies that the phase meets its goal.
    Verification,
    /// The code is reviewed.
    Review,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It found no issues, or all of them are resolved.
    Passed,
    /// It is unfinished, or waiting for a person.
    Pending,
    /// It found issues that are still open.
    Issues,
    /// It found issues that are to be addressed by further plans of the phase.
    Diagnosed,
    /// Its issues have been worked on, and the check is to be repeated.
    Repeat,
    /// It found gaps, and all gap-closure plans are complete; the phase was not checked again.
    Outdated,
    /// Its status is a word that is not known.
    Unknown,
}

/// A check with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The kind of check.
    pub kind: CheckKind,
    /// The file that states the result.
    pub file: PathBuf,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The status or stage that the outcome is derived from, in lower case if taken from a report.
    pub status_word: String,
}

/// Returns the text of a file, or `None` if it does not exist.
pub type TextOf<'a> = &'a dyn Fn(&Path) -> Option<String>;

impl CheckKind {
    /// The kinds with the suffixes of their file names, the most specific suffix first.
    pub(super) const FILE_SUFFIXES: [(Self, &'static str); 3] = [
        (Self::Uat, "UAT.md"),
        (Self::Verification, "VERIFICATION.md"),
        (Self::Review, "REVIEW.md"),
    ];

    /// Returns the kind of check for a file name; `01-UI-REVIEW.md` reviews a design and is not one.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (kind, end) = Self::FILE_SUFFIXES.into_iter().find(|(_, end)| name.ends_with(end))?;
        let head = name[..name.len() - end.len()].trim_end_matches('-');
        let is_number = |word: &str| {
            let round = word.strip_prefix('R').unwrap_or(word);
            round.starts_with(|c: char| c.is_ascii_digit())
        };
        head.split('-')
            .all(|word| word.is_empty() || is_number(word) || word == "HUMAN")
            .then_some(kind)
    }

    /// Returns the folder of the kind's rounds below `remediation/`, and the name of its stage file.
    pub(super) fn remediation(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Uat => Some(("uat", ".uat-remediation-stage")),
            Self::Verification => Some(("qa", ".qa-remediation-stage")),
            Self::Review => None,
        }
    }
}

impl Check {
    /// Returns whether the check still requires work. A verification that is waiting for a person does not:
    /// the workflows continue without it.
    pub fn is_open(&self) -> bool {
        match (self.kind, self.outcome) {
            (CheckKind::Review, _)
            | (_, CheckOutcome::Passed | CheckOutcome::Unknown)
            | (CheckKind::Verification, CheckOutcome::Pending) => false,
            (CheckKind::Uat | CheckKind::Verification, _) => true,
        }
    }
}
