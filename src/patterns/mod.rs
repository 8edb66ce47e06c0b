//! Records the lessons of finished phases, checks whether they still hold, and finds those relevant to the
//! current phase.

mod entry;
mod history;
mod insights;
mod judged;
mod lesson;
mod paths;
mod phase;
mod reader;
mod relevance;
mod retrospective;
mod sentences;
mod staleness;
mod trace;
mod writer;

use std::path::{Path, PathBuf};

pub use entry::{Bullet, BulletSection, BulletSource, LoosePattern, PatternEntry, Patterns};
pub(crate) use history::{History, history, requested_efforts};
pub use history::{effort, insights, traced};
pub use insights::{
    Comparison, ComparisonQuestion, Group, Insights, PlanRef, Rate, fisher_exact, mann_whitney,
};
pub use judged::{SubmittedLesson, SubmittedLessons};
pub(crate) use lesson::{problem, tells_only_what_was_done};
pub(crate) use paths::is_planning;
pub use paths::{Mention, mentions};
pub use phase::{FinishedPhase, PlanRecord, RecordIndex, Recorded};
pub(crate) use phase::{derive_durations, plans_without_deviation_count, stated_deviations};
pub use relevance::{
    PatternOutcome, RelevantPattern, known_patterns, relevant, relevant_patterns, stored, topic,
};
pub(crate) use relevance::{with_changes, worth_knowing};
pub use retrospective::{DeviationKinds, EntryContext, PhaseTitle, PlanTimes, Retrospective};
pub(crate) use sentences::{sentences, statement};
pub use staleness::{
    CommitRef, DatedText, Freshness, PathReport, PathStatus, Staleness, Structure, check,
};
pub(crate) use staleness::{StaleReasons, ends_in};
pub use trace::{LessonSource, Trace};
pub(crate) use trace::{known_milestone, plan_id};
pub(crate) use writer::replace_lessons;
pub use writer::{NoteReport, NoteRequest, append, note};

/// Returns the path of PATTERNS.md in a planning folder; it is shared by all milestones.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
