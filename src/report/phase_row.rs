//! A phase as shown in the page and the timeline.

use chrono::NaiveDate;
use serde::Serialize;

/// A phase, finished or not.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PhaseRow {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) complete: usize,
    pub(crate) total: usize,
    /// Share of its plans that are complete, in percent.
    pub(crate) percent: usize,
    /// Dates on which its first and its last plan were completed.
    pub(crate) first: Option<NaiveDate>,
    pub(crate) last: Option<NaiveDate>,
    /// Number of deviations stated in its summaries; none if no summary mentions any.
    pub(crate) deviations: Option<u32>,
    /// Number of its summaries that do not mention deviations.
    pub(crate) silent: usize,
    /// Time that its plans took, formatted; none if no plan states it.
    pub(crate) duration: Option<String>,
    /// Number of its summaries without a duration.
    pub(crate) untimed: usize,
}
