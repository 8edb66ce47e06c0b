//! Reads the steps that config.json requires for a phase in addition to plans and summaries.

use serde_json::Value;

/// The settings of config.json that affect the next action; absent ones require nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkflowSettings {
    /// Whether a phase must be discussed before it is planned.
    pub requires_discussion: bool,
    /// Whether the user must test a finished phase before work continues.
    pub requires_uat: bool,
}

impl WorkflowSettings {
    /// Parses a config.json; invalid JSON requires nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let Ok(config) = serde_json::from_str::<Value>(text) else {
            return Self::default();
        };
        let is_on = |path: &str| config.pointer(path) == Some(&Value::Bool(true));
        Self {
            requires_discussion: is_on("/require_phase_discussion")
                || is_on("/workflow/require_phase_discussion"),
            requires_uat: is_on("/auto_uat"),
        }
    }
}
