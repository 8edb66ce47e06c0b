//! What `status` says comes next.

use annals::plan::PhaseNumber;
use serde_json::Value;

use crate::support::Case;

/// The next action, and what contests it.
pub(super) struct Answer {
    action: String,
    phase: Option<String>,
    /// What else `status` calls almost as likely.
    rival: Option<String>,
}

impl Answer {
    /// Asks `annals status` in a folder.
    pub(super) fn ask(case: &Case) -> Self {
        let outcome = case.run("status --json -q").success();
        let next = &outcome.json()["next"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let rival = &next["alternative"];
        let rival = text(&rival["action"]).map(|action| {
            let phase = text(&rival["phase"]).map(|phase| format!(" {phase}"));
            format!("{action}{}", phase.unwrap_or_default())
        });
        Self {
            action: text(&next["action"]).unwrap(),
            phase: text(&next["phase"]).map(|phase| plain(&phase)),
            rival: rival.filter(|_| next["conflict"] == true),
        }
    }

    /// Returns `execute 5.1`, `ship` or `none`.
    pub(super) fn said(&self) -> String {
        match &self.phase {
            Some(phase) => format!("{} {phase}", self.action),
            None => self.action.clone(),
        }
    }

    /// Returns the answer with what contests it: `execute 5, or plan 6`.
    pub(super) fn whole(&self) -> String {
        let rival = self.rival.as_ref().map(|rival| format!(", or {rival}"));
        format!("{}{}", self.said(), rival.unwrap_or_default())
    }
}

/// Returns a phase's number without the zeros before it.
fn plain(phase: &str) -> String {
    let number = PhaseNumber::parse_id(phase);
    let number = number.or_else(|| PhaseNumber::split(phase).map(|(number, _)| number));
    number.unwrap().to_string()
}
