//! Collects the findings of a check.

use std::path::Path;

use serde::Serialize;

use crate::warning::SourceLocation;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The location.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The rule, in a word or two: `state-lines`, `evidence`, ….
    pub rule: &'static str,
    /// The problem, in one sentence.
    pub message: String,
    /// Whether `--fix` repairs it.
    pub fixable: bool,
}

/// The findings of one file's check.
pub(crate) struct Findings<'a> {
    path: &'a Path,
    pub(crate) violations: Vec<Finding>,
    /// Entries of an older form, which are not faults.
    pub(crate) kept: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(path: &'a Path) -> Self {
        Self { path, violations: Vec::new(), kept: Vec::new() }
    }

    pub(crate) fn add(
        &mut self,
        rule: &'static str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        self.violations.push(Finding {
            place: SourceLocation::new(self.path, line),
            rule,
            message: message.into(),
            fixable: false,
        });
    }

    /// Reports an entry of an older form, without counting it as a fault.
    pub(crate) fn add_tolerated(&mut self, line: usize, message: &str) {
        self.add("entry", line, message);
        self.kept.extend(self.violations.pop());
    }

    /// Adds a problem that `--fix` repairs without losing anything.
    pub(crate) fn add_fixable(
        &mut self,
        rule: &'static str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        self.add(rule, line, message);
        if let Some(last) = self.violations.last_mut() {
            last.fixable = true;
        }
    }
}
