//! What the page says, as plain text in the order in which it is read.

use chrono::NaiveDate;
use serde::Serialize;

use crate::secrets;
use crate::text::clip;
use crate::text::strip_controls;

/// The longest text of a cell, in characters: the page points at things, the stores hold them.
const WIDTH: usize = 240;

/// All that the page says.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Page {
    /// The project's name.
    pub(crate) project: String,
    /// What the project is for.
    pub(crate) core_value: Option<String>,
    /// When the page was made.
    pub(crate) made: String,
    /// Where the work stands; none without a planning folder.
    pub(crate) standing: Option<Standing>,
    /// The phases of all milestones, in the order in which they were done; the open ones last.
    pub(crate) phases: Vec<PhaseRow>,
    /// What the history shows.
    pub(crate) insights: Insights,
    /// The decisions, the newest first, those without a day last.
    pub(crate) decisions: Vec<DecisionRow>,
    /// The knowledge entries, by key.
    pub(crate) entries: Vec<EntryRow>,
    /// The facts that wait for the user's word; none where no user is set.
    pub(crate) facts: Option<Vec<FactRow>>,
    /// What the start of a session costs.
    pub(crate) costs: Vec<SessionCost>,
}

/// Where the work stands.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Standing {
    pub(crate) milestone: String,
    pub(crate) phase: Option<String>,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    pub(crate) next: String,
    pub(crate) because: Vec<String>,
    pub(crate) blockers: Vec<String>,
    pub(crate) todos: Vec<String>,
    pub(crate) drift: Vec<String>,
    pub(crate) archived: Vec<String>,
}

/// A phase, finished or not.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PhaseRow {
    pub(crate) milestone: String,
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    /// The days on which its first and its last plan were done.
    pub(crate) first: Option<NaiveDate>,
    pub(crate) last: Option<NaiveDate>,
    /// Nothing where no summary speaks of deviations.
    pub(crate) deviations: Option<u32>,
    pub(crate) minutes: Option<f64>,
    /// The minutes as people write them.
    pub(crate) duration: String,
    /// How many plans have a known duration.
    pub(crate) timed: usize,
}

/// What the history shows, with figures.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Insights {
    pub(crate) plans: usize,
    /// How many of their summaries speak of deviations, and how many do not.
    pub(crate) speaking: usize,
    pub(crate) silent: usize,
    pub(crate) deviated: usize,
    pub(crate) deviations: u32,
    pub(crate) lessons: Vec<String>,
    pub(crate) sizes: Vec<SizeRow>,
    pub(crate) files: Vec<FileRow>,
}

/// Plans of one size.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct SizeRow {
    pub(crate) size: String,
    pub(crate) deviated: usize,
    /// How many of the plans say whether they deviated.
    pub(crate) speaking: usize,
    pub(crate) plans: usize,
    pub(crate) median: String,
}

/// A file that deviations name.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FileRow {
    pub(crate) file: String,
    pub(crate) plans: String,
    pub(crate) deviated: usize,
    pub(crate) touched: usize,
}

/// A decision.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DecisionRow {
    pub(crate) date: Option<NaiveDate>,
    pub(crate) text: String,
    pub(crate) why: Option<String>,
    /// The file that records it.
    pub(crate) file: String,
}

/// A knowledge entry and what it names.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EntryRow {
    pub(crate) key: String,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) updated: Option<NaiveDate>,
    /// The keys of other entries, each once.
    pub(crate) links: Vec<String>,
}

/// A fact that waits for the user's word.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FactRow {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) confidence: String,
    pub(crate) question: Option<String>,
}

/// What a session reads at its start.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionCost {
    /// What is read.
    pub what: String,
    /// How long it is, as `text::tokens` estimates it.
    pub tokens: usize,
}

/// Returns a foreign text as one line that tells no secret and holds no control character.
///
/// It is no markdown: what could be markup is escaped where the page is filled in, and nowhere else.
pub(crate) fn clean(text: &str) -> String {
    // First the controls: a key with one inside of it would be no key to the detector.
    let plain = strip_controls(text);
    let redacted = secrets::redact(&plain).text;
    let words: Vec<&str> = redacted.split_whitespace().collect();
    clip(&words.join(" "), WIDTH).into_owned()
}

/// Returns several texts the same way.
pub(crate) fn cleaned<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    texts.into_iter().map(|text| clean(text.as_ref())).collect()
}
