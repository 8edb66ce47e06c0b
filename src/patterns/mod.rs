//! Records the lessons of finished phases, checks whether they still hold, and finds those relevant to the
//! current phase.

mod appending;
mod bullet_list;
mod citation;
mod entry;
mod heading;
mod history;
mod insights;
mod judged;
mod kinds;
mod lesson;
mod notes;
mod part;
mod paths;
mod phase;
mod reader;
mod recorded;
mod relevance;
mod retrospective;
mod rewriting;
mod sentences;
mod stale_reasons;
mod staleness;
mod statistics;
mod trace;
mod wording;

use std::path::{Path, PathBuf};

pub use appending::append;
pub(crate) use citation::known_milestone;
pub use entry::{
    Bullet, BulletSection, BulletSource, DeviationCount, LoosePattern, PatternEntry, Patterns,
    Timing,
};
pub(crate) use history::{History, history};
pub use history::{effort, insights, traced};
pub(crate) use insights::KnownPaths;
pub use insights::{
    Bucket, Comparison, ComparisonQuestion, DeviatingFile, EffortHistory, Group, Insights,
    KindCount, MilestoneHistory, PlanRef, Sizes,
};
pub use judged::{SubmittedLesson, SubmittedLessons};
pub(crate) use lesson::problem;
pub use notes::{NoteReport, NoteRequest, note};
pub use paths::{Mention, mentions};
pub use phase::{FinishedPhase, PlanRecord};
pub(crate) use phase::{derive_durations, plans_without_deviation_count, stated_deviations};
pub use recorded::{RecordIndex, Recorded};
pub use relevance::{
    PatternOutcome, RelevantPattern, known_patterns, relevant, relevant_patterns, stored, topic,
};
pub(crate) use relevance::{with_changes, worth_knowing};
pub use retrospective::{DeviationKinds, EntryContext, PhaseTitle, PlanTimes, Retrospective};
pub(crate) use rewriting::replace_lessons;
pub(crate) use sentences::{sentences, statement};
pub(crate) use stale_reasons::StaleReasons;
pub use stale_reasons::check;
pub use staleness::{
    CommitRef, DatedText, Freshness, PathReport, PathStatus, Staleness, Structure,
};
pub use statistics::{Rate, fisher_exact, mann_whitney};
pub(crate) use trace::plan_id;
pub use trace::{LessonSource, Trace};

/// Returns the path of PATTERNS.md in a planning folder; it is shared by all milestones.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
