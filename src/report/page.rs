//! What the page says, in the order in which it is read.

use chrono::NaiveDate;
use serde::Serialize;

use crate::report::inline::Inline;
use crate::report::phase_row::PhaseRow;
use crate::report::timeline::Timeline;

/// All that the page says.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Page {
    /// The project's name.
    pub(crate) project: String,
    /// What the project is for.
    pub(crate) core_value: Option<Inline>,
    /// When the page was made.
    pub(crate) made: String,
    /// Where the work stands; none without a planning folder.
    pub(crate) standing: Option<WorkStatus>,
    /// The milestones, the active one first, then the latest.
    pub(crate) milestones: Vec<MilestoneRow>,
    /// The phases in the course of time.
    pub(crate) timeline: Option<Timeline>,
    /// What finished phases taught, the latest first.
    pub(crate) lessons: Vec<PhaseLessons>,
    /// What all plans together show.
    pub(crate) insights: Insights,
    /// The decisions, the newest first.
    pub(crate) decisions: Vec<DecisionRow>,
    /// The knowledge entries, by key.
    pub(crate) entries: Vec<EntryRow>,
    /// The facts that wait for the user's word; none where no user is set.
    pub(crate) facts: Option<Vec<FactRow>>,
    /// What the start of a session costs.
    pub(crate) costs: Vec<SessionCost>,
}

/// Where the work stands.
#[derive(Debug, Default, Serialize)]
pub(crate) struct WorkStatus {
    pub(crate) milestone: String,
    pub(crate) phase: Option<CurrentPhase>,
    /// Complete plans of the active milestone, and all of them.
    pub(crate) complete: usize,
    pub(crate) total: usize,
    /// The command to run next.
    pub(crate) next: String,
    /// Why the position is contested; none where the files agree.
    pub(crate) contested: Option<String>,
    pub(crate) because: Vec<Inline>,
    pub(crate) blockers: Vec<Inline>,
    pub(crate) todos: Vec<Inline>,
    pub(crate) drift: Vec<Inline>,
}

/// The phase at which the work stands.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CurrentPhase {
    pub(crate) number: String,
    pub(crate) total: Option<u32>,
    pub(crate) name: String,
    pub(crate) status: String,
}

/// A milestone and its phases.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MilestoneRow {
    pub(crate) name: String,
    pub(crate) is_active: bool,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    pub(crate) phases: Vec<PhaseRow>,
}

/// What one phase taught.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PhaseLessons {
    pub(crate) phase: String,
    pub(crate) date: Option<NaiveDate>,
    pub(crate) worked: Vec<Inline>,
    pub(crate) failed: Vec<Inline>,
}

/// What all plans together show, with figures.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Insights {
    /// The plans that say whether they deviated, and those that did.
    pub(crate) plans: usize,
    pub(crate) deviated: usize,
    /// Differences that a test found significant.
    pub(crate) differences: Vec<Inline>,
    pub(crate) files: Vec<FileRow>,
}

/// A file that deviations name.
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
    /// The file that records it.
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
    /// The keys of the entries that it names.
    pub(crate) links: Vec<String>,
}

/// A fact that waits for the user's word.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FactRow {
    pub(crate) id: String,
    pub(crate) text: Inline,
    pub(crate) confidence: String,
    pub(crate) question: Option<Inline>,
}

/// What a session reads at its start.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionCost {
    /// What is read.
    pub what: String,
    /// How long it is, as `text::tokens` estimates it.
    pub tokens: usize,
}
