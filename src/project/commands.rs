//! Defines the commands of a planning tool.

use serde::{Deserialize, Serialize};

/// The commands of a planning tool, as printed; annals never runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// Plans a phase; `{phase}` is replaced with its number.
    pub plan: String,
    /// Executes a phase; `{phase}` is replaced with its number.
    pub execute: String,
    /// Verifies a finished phase, or tests it with the user.
    pub verify: String,
    /// Fixes what the verification of a phase found.
    pub remediate: String,
    /// Discusses a phase before it is planned.
    pub discuss: String,
    /// Ships the active milestone.
    pub ship: String,
    /// Starts a milestone if none is active.
    pub new_milestone: String,
}

impl Commands {
    /// Returns a command with this phase filled in.
    pub fn with_phase(command: &str, phase: &str) -> String {
        command.replace("{phase}", phase)
    }

    /// Returns the command that plans this phase.
    pub fn plan(&self, phase: &str) -> String {
        self.plan.replace("{phase}", phase)
    }

    /// Returns the command that executes this phase.
    pub fn execute(&self, phase: &str) -> String {
        self.execute.replace("{phase}", phase)
    }
}
