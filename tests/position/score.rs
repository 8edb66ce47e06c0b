//! How often the answers agree with what came next.

use std::fmt;

use annals::plan::PhaseNumber;
use serde_json::Value;

use crate::support::Case;

/// What `status` says comes next.
pub(super) struct Answer {
    action: String,
    phase: Option<String>,
    /// What else `status` calls almost as likely.
    rival: Option<String>,
    is_contested: bool,
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
            is_contested: next["conflict"] == true,
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

    /// Checks and discussions come in no history: they are right in phase where the phase is.
    fn is_gate(&self) -> bool {
        ["verify", "remediate", "discuss"].contains(&self.action.as_str())
    }

    fn is_right_in_phase(&self, next: &[String]) -> bool {
        let phase = |step: &str| step.split_once(' ').map(|(_, phase)| phase.to_owned());
        next.iter().any(|step| match phase(step) {
            Some(phase) => self.phase.as_ref() == Some(&phase),
            None => self.action == *step,
        })
    }
}

/// Returns a phase's number without the zeros before it.
pub(super) fn plain(phase: &str) -> String {
    let number = PhaseNumber::parse_id(phase);
    let number = number.or_else(|| PhaseNumber::split(phase).map(|(number, _)| number));
    number.unwrap().to_string()
}

/// What the answers to a set of moments are worth.
#[derive(Default)]
pub(super) struct Score {
    moments: f64,
    gates: f64,
    right_in_action: f64,
    right_in_phase: f64,
    contested: f64,
    right_and_uncontested: f64,
}

impl Score {
    /// Returns the percentage of answers whose action and phase came next; checks and discussions apart.
    pub(super) fn action(&self) -> f64 {
        100.0 * self.right_in_action / (self.moments - self.gates)
    }

    /// Returns the percentage of answers whose phase came next.
    pub(super) fn phase(&self) -> f64 {
        100.0 * self.right_in_phase / self.moments
    }

    /// Returns the percentage of moments that were called contested.
    pub(super) fn contested(&self) -> f64 {
        100.0 * self.contested / self.moments
    }

    /// Returns the percentage of right answers among those that were not called contested.
    pub(super) fn uncontested(&self) -> f64 {
        100.0 * self.right_and_uncontested / (self.moments - self.contested)
    }
}

impl<'a> FromIterator<(&'a [String], &'a Answer)> for Score {
    fn from_iter<I: IntoIterator<Item = (&'a [String], &'a Answer)>>(moments: I) -> Self {
        let one = |is: bool| f64::from(u8::from(is));
        let mut score = Self::default();
        for (next, answer) in moments {
            let is_right = !answer.is_gate() && next.contains(&answer.said());
            let is_right_in_phase = answer.is_right_in_phase(next);
            score.moments += 1.0;
            score.gates += one(answer.is_gate());
            score.right_in_action += one(is_right);
            score.right_in_phase += one(is_right_in_phase);
            score.contested += one(answer.is_contested);
            let is_sound = is_right || answer.is_gate() && is_right_in_phase;
            score.right_and_uncontested += one(is_sound && !answer.is_contested);
        }
        score
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} moments: action {:.1} %, phase {:.1} %; contested {:.1} %, the others right {:.1} %",
            self.moments,
            self.action(),
            self.phase(),
            self.contested(),
            self.uncontested()
        )
    }
}
