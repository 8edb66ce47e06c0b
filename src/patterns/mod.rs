//! What finished phases taught, whether it still holds, and what fits the current phase.

mod appending;
mod bullet;
mod doubts;
mod effort;
mod entry;
mod finished_phase;
mod heading;
mod history;
mod insights;
mod issue_notes;
mod kinds;
mod lesson;
mod named_files;
mod part;
mod paths;
mod plan_record;
mod reader;
mod record;
mod relevance;
mod retrospective;
mod staleness;
mod statistics;
mod stored;
mod trace;

pub use appending::append;
pub use bullet::Bullet;
pub use bullet::BulletSection;
pub use bullet::BulletSource;
pub(crate) use doubts::Doubts;
pub use doubts::check;
pub use effort::effort;
pub use entry::DeviationCount;
pub use entry::Entry;
pub use entry::LoosePattern;
pub use entry::Patterns;
pub use entry::Timing;
pub use finished_phase::FinishedPhase;
pub(crate) use history::history;
pub use history::insights;
pub(crate) use history::others;
pub use insights::Bucket;
pub use insights::Comparison;
pub use insights::DeviatingFile;
pub use insights::EffortHistory;
pub use insights::Group;
pub use insights::Insights;
pub use insights::KindCount;
pub(crate) use insights::KnownPaths;
pub use insights::MilestoneHistory;
pub use insights::PlanRef;
pub use insights::Question;
pub use insights::Sizes;
pub use issue_notes::IssueNote;
pub use lesson::LessonSource;
pub(crate) use lesson::sentence_of;
pub use paths::Certainty;
pub use paths::Form;
pub use paths::Mention;
pub use paths::mentions;
pub use plan_record::PlanRecord;
pub use record::Recorded;
pub use relevance::Outcome;
pub use relevance::RelevantPattern;
pub use relevance::relevant;
pub use relevance::topic;
pub use retrospective::Circumstances;
pub use retrospective::DeviationKinds;
pub use retrospective::PhaseTitle;
pub use retrospective::PlanTimes;
pub use retrospective::Retrospective;
pub use staleness::Freshness;
pub use staleness::PathReport;
pub use staleness::PathStatus;
pub use staleness::Since;
pub use staleness::Staleness;
pub use staleness::Structure;
pub use staleness::Tree;
pub use staleness::Written;
pub use statistics::Rate;
pub use statistics::fisher_exact;
pub use statistics::mann_whitney;
pub use stored::known_patterns;
pub use stored::relevant_patterns;
pub(crate) use stored::relevant_to;
pub use stored::stored;
pub use stored::traced;
pub(crate) use stored::with_changes;
pub use trace::Trace;

use std::path::Path;
use std::path::PathBuf;

/// Returns where a planning folder keeps its patterns; they outlive every milestone.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
