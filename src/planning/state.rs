//! STATE.md: where the work stands, as its agents last wrote it.

use serde::Serialize;

use crate::planning::PhaseNumber;

/// A skill named in the Skills section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// `global` or `project`, where it says.
    pub scope: Option<String>,
}

/// The position as STATE.md states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatedPhase {
    /// The current phase.
    pub number: Option<PhaseNumber>,
    /// How many phases there are.
    pub total: Option<u32>,
    /// The current phase's name.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
}
