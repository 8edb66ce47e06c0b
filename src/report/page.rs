//! The content of the page, in reading order.

use chrono::NaiveDate;
use serde::Serialize;

use crate::report::inline::Inline;
use crate::report::phase_row::PhaseRow;
use crate::report::timeline::Timeline;

/// The content of the page.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Page {
    /// The project's name.
    pub(crate) project: String,
    /// The project's purpose.
    pub(crate) core_value: Option<Inline>,
    /// When the page was generated.
    pub(crate) made: String,
    /// State of the work; none without a planning folder.
    pub(crate) standing: Option<WorkStatus>,
    /// The milestones, the active one first, then the most recent.
    pub(crate) milestones: Vec<MilestoneRow>,
    /// The phases on a time axis.
    pub(crate) timeline: Option<Timeline>,
    /// Lessons from finished phases, newest first.
    pub(crate) lessons: Vec<PhaseLessons>,
    /// Statistics over all plans.
    pub(crate) insights: Insights,
    /// The decisions, newest first.
    pub(crate) decisions: Vec<DecisionRow>,
    /// The knowledge entries, sorted by key.
    pub(crate) entries: Vec<EntryRow>,
    /// The facts that are awaiting the user's confirmation; none if no user is set.
    pub(crate) facts: Option<Vec<FactRow>>,
    /// Costs of the start of a session.
    pub(crate) costs: Vec<SessionCost>,
}

/// State of the work.
#[derive(Debug, Default, Serialize)]
pub(crate) struct WorkStatus {
    pub(crate) milestone: String,
    pub(crate) phase: Option<CurrentPhase>,
    /// Number of complete plans of the active milestone, and of all its plans.
    pub(crate) complete: usize,
    pub(crate) total: usize,
    /// The command to run next.
    pub(crate) next: String,
    /// Why the position is contested; none if the files agree.
    pub(crate) contested: Option<String>,
    pub(crate) because: Vec<Inline>,
    pub(crate) blockers: Vec<Inline>,
    pub(crate) todos: Vec<Inline>,
    pub(crate) drift: Vec<Inline>,
}

/// The current phase.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CurrentPhase {
    pub(crate) number: String,
    pub(crate) total: Option<u32>,
    pub(crate) name: String,
    pub(crate) status: String,
}

/// A milestone with its phases.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MilestoneRow {
    pub(crate) name: String,
    pub(crate) is_active: bool,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    pub(crate) phases: Vec<PhaseRow>,
}

/// Lessons from one phase.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PhaseLessons {
    pub(crate) phase: String,
    pub(crate) date: Option<NaiveDate>,
    pub(crate) worked: Vec<Inline>,
    pub(crate) failed: Vec<Inline>,
}

/// Statistics over all plans.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Insights {
    /// Number of plans that report on deviations, and of those that deviated.
    pub(crate) plans: usize,
    pub(crate) deviated: usize,
    /// Statistically significant differences.
    pub(crate) differences: Vec<Inline>,
    pub(crate) files: Vec<FileRow>,
}

/// A file named in deviations.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FileRow {
    pub(crate) file: String,
    pub(crate) plans: String,
    pub(crate) deviated: usize,
    pub(crate) touched: usize,
}

/// A decision.
#[derive(Debug, Default, Serialize)]
pub(crate) struct DecisionRow {
    pub(crate) date: Option<NaiveDate>,
    pub(crate) text: Inline,
    pub(crate) why: Option<Inline>,
    /// The file that contains it.
    pub(crate) file: String,
}

/// A knowledge entry.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EntryRow {
    pub(crate) key: String,
    pub(crate) title: Inline,
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) updated: Option<NaiveDate>,
    /// Keys of the entries that it refers to.
    pub(crate) links: Vec<String>,
}

/// A fact that is awaiting the user's confirmation.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FactRow {
    pub(crate) id: String,
    pub(crate) text: Inline,
    pub(crate) confidence: String,
    pub(crate) question: Option<Inline>,
}

/// A text read at the start of a session.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionCost {
    /// The text.
    pub what: String,
    /// Its length in tokens, as estimated by `text::estimate_tokens`.
    pub tokens: usize,
}
