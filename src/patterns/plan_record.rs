//! The record of a finished plan.

use std::path::Path;

use chrono::NaiveDate;
use memchr::{memchr_iter, memmem};

use crate::clock::Minutes;
use crate::plan::{
    AcceptanceResult, Deviation, IssueNote, PlanNumber, Summary, SummaryStatus, TaskCount,
};

/// A finished plan, as described by its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRecord {
    /// The plan's number within its phase.
    pub plan: PlanNumber,
    /// The summary's file name.
    pub file: String,
    /// Its title.
    pub title: Option<String>,
    /// The outcome; `None` if the summary has no known status.
    pub status: Option<SummaryStatus>,
    /// Its duration.
    pub duration: Option<Minutes>,
    /// Whether the duration was derived instead of stated.
    pub duration_derived: bool,
    /// The completion date.
    pub completed: Option<NaiveDate>,
    /// Number of completed tasks, and of all tasks.
    pub tasks: TaskCount,
    /// The files it touched; `None` if they are unknown.
    pub files: Option<Vec<String>>,
    /// Number of deviations, which may exceed the number listed; `None` if the summary does not mention
    /// deviations.
    pub deviation_count: Option<u32>,
    /// The deviations that the summary describes.
    pub deviations: Vec<Deviation>,
    /// The results of checking the must-haves.
    pub acceptance: Vec<AcceptanceResult>,
    /// The patterns it established or used.
    pub patterns: Vec<String>,
    /// Line number of each pattern in the summary, from 1; 0 if its text is not found there.
    pub pattern_lines: Vec<usize>,
    /// Issues reported separately from the deviations.
    pub issues: Vec<IssueNote>,
    /// What was built, in a single line.
    pub one_line: Option<String>,
    /// The effort profile it was executed with, from the plan or the phase's entry; summaries do not state
    /// it.
    pub effort: Option<String>,
}

/// Number of leading characters used to find the line of a pattern: front matter may fold or quote the rest.
const HEAD_LENGTH: usize = 24;

fn line_of(pattern: &str, summary: &str) -> usize {
    let head: String = pattern.chars().take(HEAD_LENGTH).collect();
    let is_of_line = !head.contains('\n');
    let at = memmem::find(summary.as_bytes(), head.as_bytes()).filter(|_| is_of_line);
    at.map_or(0, |at| 1 + memchr_iter(b'\n', &summary.as_bytes()[..at]).count())
}

/// Returns the number of deviations in the plans whose summaries mention them; `None` if none does.
pub(crate) fn stated_deviations(plans: &[PlanRecord]) -> Option<u32> {
    let counts = plans.iter().filter_map(|plan| plan.deviation_count);
    // A summary may state any number.
    counts.reduce(u32::saturating_add)
}

/// Returns the number of plans whose summaries do not mention deviations.
pub(crate) fn plans_without_deviation_count(plans: &[PlanRecord]) -> usize {
    let has_no_count = |plan: &&PlanRecord| plan.deviation_count.is_none();
    plans.iter().filter(has_no_count).count()
}

impl PlanRecord {
    /// Creates a record from a plan's summary, as parsed and as text.
    pub fn new(plan: PlanNumber, summary: Summary, text: &str, path: &Path) -> Self {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
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

    /// Returns whether another record of the same plan is identical except for the summary's file name.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        let named_alike = Self { file: self.file.clone(), ..other.clone() };
        *self == named_alike
    }

    /// Returns the number of files it touched.
    pub fn file_count(&self) -> Option<u32> {
        let files = self.files.as_ref().filter(|files| !files.is_empty())?;
        u32::try_from(files.len()).ok()
    }

    /// Returns whether it was completed; `None` if its summary has no status.
    pub fn completed_as_stated(&self) -> Option<bool> {
        self.status.map(|status| status == SummaryStatus::Complete)
    }

    /// Returns whether its summary states that it is partial or failed.
    pub fn is_unfinished(&self) -> bool {
        self.completed_as_stated() == Some(false)
    }
}
