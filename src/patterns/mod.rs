//! Records the lessons of finished phases, checks whether they still hold, and finds those relevant to the
//! current phase.

mod appending;
mod bullet;
mod bullet_list;
mod effort;
mod entry;
mod finished_phase;
mod heading;
mod history;
mod insights;
mod judged;
mod kinds;
mod lesson;
mod named_files;
mod notes;
mod part;
mod paths;
mod plan_record;
mod reader;
mod record;
mod relevance;
mod retrospective;
mod rewriting;
mod stale_reasons;
mod staleness;
mod statistics;
mod stored;
mod trace;

use std::path::{Path, PathBuf};

pub use appending::append;
pub use effort::effort;
pub use entry::{
    Bullet, BulletSection, BulletSource, DeviationCount, LoosePattern, PatternEntry, Patterns,
    Timing,
};
pub use finished_phase::FinishedPhase;
pub(crate) use finished_phase::derive_durations;
pub use history::insights;
pub(crate) use history::{history, history_without_effort};
pub use insights::{
    Bucket, Comparison, ComparisonQuestion, DeviatingFile, EffortHistory, Group, Insights,
    KindCount, MilestoneHistory, PlanRef, Sizes,
};
pub(crate) use insights::{KnownPaths, OwnPaths};
pub use judged::{SubmittedLesson, SubmittedLessons};
pub use lesson::PastProblems;
pub(crate) use lesson::{leading_sentences, lessons_of, sentence_of, sentences, statement};
pub use notes::{NoteReport, NoteRequest, note};
pub use paths::{Certainty, Mention, PathForm, mentions};
pub use plan_record::PlanRecord;
pub(crate) use plan_record::{plans_without_deviation_count, stated_deviations};
pub use record::Recorded;
pub use relevance::{PatternOutcome, RelevantPattern, relevant, topic};
pub use retrospective::{DeviationKinds, EntryContext, PhaseTitle, PlanTimes, Retrospective};
pub(crate) use rewriting::replace_lessons;
pub(crate) use stale_reasons::StaleReasons;
pub use stale_reasons::check;
pub use staleness::{
    CommitRef, DatedText, Freshness, PathReport, PathStatus, Staleness, Structure,
};
pub use statistics::{Rate, fisher_exact, mann_whitney};
pub use stored::{known_patterns, relevant_patterns, stored, traced};
pub(crate) use stored::{recent, relevant_to, with_changes};
pub(crate) use trace::plan_id;
pub use trace::{LessonSource, Trace};

/// Returns the path of PATTERNS.md in a planning folder; it is shared by all milestones.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
