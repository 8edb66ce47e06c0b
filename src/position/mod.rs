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
pub use drift::{Drift, DriftKind, drift};
pub(crate) use folder_name::{letters, name_of_past_phase};
pub use inconsistency::inconsistencies;
pub use metrics::{Metric, metrics};
pub use milestone::MilestoneStatus;
pub(crate) use phase::roadmap_phase;
pub use phase::{Phase, PhaseState, PlanState, phases};
pub use repair::{Correction, Repair, repair};
pub(crate) use status_report::status_words;
pub use status_report::{
    AlternativeStatus, NextStatus, PausedWork, PhaseReport, PhaseSource, PlanCounts, StatusReport,
};
pub use survey::{ReadText, Survey};
pub use weighing::{Action, Alternative, Evidence, Next, Position};
