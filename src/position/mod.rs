//! Determines the position of the work and the next action.
//!
//! [`Survey`] reads a planning folder once, `weighing` determines the position, `drift` and `inconsistency`
//! find errors in the documents, `repair` corrects STATE.md and ROADMAP.md, and [`StatusReport`] is the
//! output of `annals status`. The file formats are parsed by `planning`.

mod blockers;
mod conflict;
mod drift;
mod folder_name;
mod inconsistency;
mod metrics;
mod milestone;
mod phase;
mod repair;
mod status_report;
mod survey;
mod weighing;

pub(crate) use blockers::open_blockers;
pub use drift::Drift;
pub use drift::DriftKind;
pub use drift::drift;
pub(crate) use folder_name::letters;
pub(crate) use folder_name::name_of_past_phase;
pub use inconsistency::inconsistencies;
pub use metrics::Metric;
pub use metrics::metrics;
pub use milestone::MilestoneStatus;
pub use phase::Phase;
pub use phase::PhaseState;
pub use phase::PlanState;
pub use phase::phases;
pub(crate) use phase::roadmap_phase;
pub use repair::Correction;
pub use repair::Repair;
pub use repair::repair;
pub use status_report::AlternativeStatus;
pub use status_report::NextStatus;
pub use status_report::PausedWork;
pub use status_report::PhaseReport;
pub use status_report::PhaseSource;
pub use status_report::PlanCounts;
pub use status_report::StatusReport;
pub(crate) use status_report::status_words;
pub use survey::ReadText;
pub use survey::Survey;
pub use weighing::Action;
pub use weighing::Alternative;
pub use weighing::Evidence;
pub use weighing::Next;
pub use weighing::Position;
