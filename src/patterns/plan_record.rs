//! What one finished plan has to tell.

use std::path::Path;

use chrono::NaiveDate;

use crate::clock::Minutes;
use crate::patterns::own_words::Detail;
use crate::patterns::own_words::OwnWords;
use crate::planning::AcceptanceResult;
use crate::planning::Deviation;
use crate::planning::PlanNumber;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::planning::TaskCount;

/// A finished plan: its summary's facts and its own words on what was hard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRecord {
    /// The plan's number inside its phase.
    pub plan: PlanNumber,
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
    /// How many deviations there were; more than are listed where only a number is given.
    pub deviation_count: u32,
    /// The deviations that are told.
    pub deviations: Vec<Deviation>,
    /// What the summary says of single deviations besides.
    pub details: Vec<Detail>,
    /// What the checks of the must-haves came to.
    pub acceptance: Vec<AcceptanceResult>,
    /// The patterns it set up or used.
    pub patterns: Vec<String>,
    /// Trouble that is told apart from the deviations.
    pub issues: Vec<String>,
    /// What was built, in one line.
    pub one_line: Option<String>,
    /// The effort profile it was carried out with, where the plan or the phase's entry says; no summary does.
    pub effort: Option<String>,
}

impl PlanRecord {
    /// Returns a plan's record from its summary as read, and the text that it was read from.
    pub fn new(plan: PlanNumber, summary: Summary, text: &str, path: &Path) -> Self {
        let own = OwnWords::of(text, path);
        Self {
            plan,
            title: summary.title,
            status: summary.status,
            duration: summary.duration_minutes,
            duration_derived: summary.duration_derived,
            completed: summary.completed,
            tasks: summary.tasks,
            files: summary.files,
            deviation_count: summary.deviation_count,
            deviations: summary.deviations.unwrap_or_default(),
            details: own.details,
            acceptance: summary.acceptance.unwrap_or_default(),
            patterns: summary.patterns.unwrap_or_default(),
            issues: own.issues,
            one_line: summary.one_line,
            effort: None,
        }
    }

    /// Returns its title without the words that every summary's title has: `Phase 3 Plan 2: X Summary`.
    pub fn short_title(&self) -> Option<&str> {
        let title = self.title.as_deref()?.trim();
        let title = title.strip_suffix("Summary").map_or(title, str::trim_end);
        Some(title.trim_end_matches([':', '-', '\u{2014}', ' '])).filter(|title| !title.is_empty())
    }

    /// Returns the number of its tasks: all of them, else those that are done.
    pub fn task_count(&self) -> Option<u32> {
        self.tasks.total.or(self.tasks.completed)
    }

    /// Returns the number of files it touched.
    pub fn file_count(&self) -> Option<u32> {
        let files = self.files.as_ref().filter(|files| !files.is_empty())?;
        u32::try_from(files.len()).ok()
    }

    /// Returns how many of its tasks are left undone.
    pub fn open_tasks(&self) -> u32 {
        match (self.tasks.completed, self.tasks.total) {
            (Some(completed), Some(total)) => total.saturating_sub(completed),
            _ => 0,
        }
    }

    /// Tells whether it came to an end, as far as its summary says.
    pub fn is_complete(&self) -> bool {
        !matches!(
            self.status,
            Some(SummaryStatus::Partial | SummaryStatus::Failed)
        )
    }
}
