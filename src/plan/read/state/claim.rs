//! What STATE.md states about the position.

use serde::Serialize;

use crate::plan::read::{Located, PhaseNumber};

/// The position according to STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatedPhase {
    /// The current phase.
    pub number: Option<PhaseNumber>,
    /// Number of phases.
    pub total: Option<u32>,
    /// The current phase's name.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
}

/// A single statement of STATE.md about the position; it may be repeated in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The current phase's number.
    Phase(PhaseNumber),
    /// The current phase's name.
    Name(String),
    /// The current phase's index in the list of phases, if it differs from its number (`6 of 15 (06.1
    /// Name)`).
    Index(u32),
    /// The status after the phase's name (`2 of 4 (Name) — EXECUTING`).
    PhaseStatus(String),
    /// Number of phases.
    Total(u32),
    /// Number of complete phases.
    PhasesComplete(u32),
    /// The status.
    Status(String),
    /// The progress in percent; the byte range covers the digits.
    Percent(u32),
    /// A done and a total count next to the percentage that restates them.
    Share(u32, u32),
    /// A drawn progress bar, brackets included, which accompanies the percentage.
    Bar(String),
    /// The number of the current plan.
    CurrentPlan(u32),
    /// Number of complete plans of the current phase.
    PlansComplete(u32),
    /// Number of plans of the current phase.
    PlansTotal(u32),
    /// Number of complete plans of the milestone.
    AllPlansComplete(u32),
    /// Number of plans of the milestone.
    AllPlansTotal(u32),
}

/// The status of a phase in STATE.md's list or table of phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseStatus {
    /// The phase.
    pub number: PhaseNumber,
    /// The name, if stated there.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Located<String>,
}
