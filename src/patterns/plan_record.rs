//! What one finished plan has to tell.

use std::path::Path;

use chrono::NaiveDate;
use memchr::memchr_iter;
use memchr::memmem;

use crate::clock::Minutes;
use crate::planning::AcceptanceResult;
use crate::planning::Deviation;
use crate::planning::IssueNote;
use crate::planning::PlanNumber;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::planning::TaskCount;

/// A finished plan: its summary's facts and its own words on what was hard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRecord {
    /// The plan's number inside its phase.
    pub plan: PlanNumber,
    /// The summary's file name.
    pub file: String,
    /// Its title.
    pub title: Option<String>,
    /// How it ended; nothing where the summary has no status word.
    pub status: Option<SummaryStatus>,
    /// How long it took.
    pub duration: Option<Minutes>,
    /// Whether that was worked out rather than written.
    pub duration_derived: bool,
    /// The day it was done.
    pub completed: Option<NaiveDate>,
    /// The tasks done and in all.
    pub tasks: TaskCount,
    /// The files it touched; nothing where they cannot be known.
    pub files: Option<Vec<String>>,
    /// How many deviations there were, more than are listed where only a number is given; nothing where
    /// the summary never speaks of deviations.
    pub deviation_count: Option<u32>,
    /// The deviations that are told.
    pub deviations: Vec<Deviation>,
    /// What the checks of the must-haves came to.
    pub acceptance: Vec<AcceptanceResult>,
    /// The patterns it set up or used.
    pub patterns: Vec<String>,
    /// The line of its summary that each of them stands on, counted from 1; 0 where it is written otherwise.
    pub pattern_lines: Vec<usize>,
    /// Issues that are told apart from the deviations.
    pub issues: Vec<IssueNote>,
    /// What was built, in one line.
    pub one_line: Option<String>,
    /// The effort profile it was carried out with, where the plan or the phase's entry says; no summary does.
    pub effort: Option<String>,
}

/// So much of a text's beginning tells its line: front matter may fold or quote the rest.
const HEAD: usize = 24;

fn line_of(pattern: &str, summary: &str) -> usize {
    let head: String = pattern.chars().take(HEAD).collect();
    let is_of_line = !head.contains('\n');
    let at = memmem::find(summary.as_bytes(), head.as_bytes()).filter(|_| is_of_line);
    at.map_or(0, |at| {
        1 + memchr_iter(b'\n', &summary.as_bytes()[..at]).count()
    })
}

impl PlanRecord {
    /// Returns a plan's record from its summary as read, and the text that it was read from.
    pub fn new(plan: PlanNumber, summary: Summary, text: &str, path: &Path) -> Self {
        let file = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let patterns = summary.patterns.unwrap_or_default();
        Self {
            plan,
            file: file.unwrap_or_default(),
            title: summary.title,
            status: summary.status,
            duration: summary.duration_minutes,
            duration_derived: summary.duration_derived,
            completed: summary.completed,
            tasks: summary.tasks,
            files: summary.files,
            deviation_count: summary.deviation_count,
            deviations: summary.deviations.unwrap_or_default(),
            acceptance: summary.acceptance.unwrap_or_default(),
            pattern_lines: patterns.iter().map(|one| line_of(one, text)).collect(),
            patterns,
            issues: summary.issues,
            one_line: summary.one_line,
            effort: None,
        }
    }

    /// Returns whether another summary, whatever its file is called, says the same of the same plan.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        let named_alike = Self {
            file: self.file.clone(),
            ..other.clone()
        };
        *self == named_alike
    }

    /// Returns the number of files it touched.
    pub fn file_count(&self) -> Option<u32> {
        let files = self.files.as_ref().filter(|files| !files.is_empty())?;
        u32::try_from(files.len()).ok()
    }

    /// Returns whether it came to an end; nothing where its summary has no status.
    pub fn completed_as_stated(&self) -> Option<bool> {
        self.status.map(|status| status == SummaryStatus::Complete)
    }

    /// Returns whether its summary calls it partial or failed.
    pub fn is_broken_off(&self) -> bool {
        self.completed_as_stated() == Some(false)
    }
}
