//! A phase as the page and the timeline draw it.

use chrono::NaiveDate;
use serde::Serialize;

/// A phase, finished or not.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PhaseRow {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    /// How much of it is complete, in percent.
    pub(crate) percent: usize,
    /// The days on which its first and its last plan were done.
    pub(crate) first: Option<NaiveDate>,
    pub(crate) last: Option<NaiveDate>,
    /// How many deviations its summaries state; none where no summary speaks of them.
    pub(crate) deviations: Option<u32>,
    /// How many of its summaries do not say whether they deviated.
    pub(crate) silent: usize,
    /// The time that its plans took, as people write it; none where no plan has one.
    pub(crate) duration: Option<String>,
    /// How many of its summaries do not say how long they took.
    pub(crate) untimed: usize,
}
