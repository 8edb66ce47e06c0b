//! config.json: what the workflow asks of a phase besides plans and summaries.

use serde_json::Value;

/// The settings of config.json that decide what comes next; absent ones ask for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkflowSettings {
    /// A phase is discussed before it is planned.
    pub requires_discussion: bool,
    /// A finished phase is tested by its user before the work goes on.
    pub requires_uat: bool,
}

impl WorkflowSettings {
    /// Reads a config.json; one that is not valid JSON asks for nothing.
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
