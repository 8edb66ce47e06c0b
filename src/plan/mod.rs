//! Reads a planning folder once and determines where the work stands and what comes next.
//!
//! `read` parses the files, whichever supported tool wrote them. [`Survey`] reads a folder once, `rules` decide where
//! the work stands and what comes next, `drift` finds statements that contradict the files, `repair` corrects STATE.md
//! and ROADMAP.md, and [`StatusReport`] is the output of `annals status`.

mod drift;
mod model;
mod phase;
pub(crate) mod read;
mod repair;
mod report;
mod rules;

pub use drift::{Drift, DriftKind, drift};
use drift::{is_template_status, metrics};
pub use model::Survey;
pub use phase::{Action, Alternative, Next, Phase, PhaseState, Position};
pub(crate) use phase::{letters, name_of_past_phase};
pub use read::*;
pub use repair::{Correction, Repair, repair};
pub use report::{MilestoneStatus, PhaseReport, PhaseSource, PlanCounts, Shipped, StatusReport};
pub(crate) use report::{shipped_date, status_words, total_to_show};
