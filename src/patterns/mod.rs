//! Records the lessons of finished phases, checks whether they still hold, and finds those relevant to the
//! current phase.

mod entry;
mod insights;
mod lesson;
mod paths;
mod phase;
mod relevance;
mod sentences;
mod staleness;
mod trace;
mod tree;
mod writer;

use std::path::{Path, PathBuf};

pub use entry::{Bullet, BulletSource, LoosePattern, PatternEntry, PatternOutcome, Patterns};
pub use insights::{
    Comparison, ComparisonQuestion, Group, Insights, PlanRef, Rate, fisher_exact, mann_whitney,
};
pub use lesson::{CheckedLessons, SubmittedLesson, SubmittedLessons};
pub(crate) use lesson::{numbered_task, problem, tells_only_what_was_done};
pub(crate) use paths::is_planning;
pub use paths::{Mention, mentions};
pub use phase::{FinishedPhase, PlanRecord, Recorded, insights, traced};
pub(crate) use phase::{
    History, derive_durations, distinct, history, plans_without_deviation_count, stated_deviations,
};
pub use relevance::{RelevantPattern, known_patterns, relevant, relevant_patterns, stored, topic};
pub(crate) use relevance::{is_statistic, with_changes, worth_knowing};
pub(crate) use sentences::{ContentWords, statement};
pub(crate) use staleness::StaleReasons;
pub use staleness::{Freshness, PathCheck, PathReport, PathStatus, Staleness, check};
pub use trace::{LessonSource, Trace};
pub(crate) use trace::{known_milestone, plan_id};
pub(crate) use tree::ends_in;
pub(crate) use writer::replace_lessons;
pub use writer::{EntryContext, NoteReport, NoteRequest, Retrospective, append, note};

/// Returns the path of PATTERNS.md in a planning folder; it is shared by all milestones.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
