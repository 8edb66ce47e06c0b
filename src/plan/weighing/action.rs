//! The next action, and an alternative to it.

use serde::Serialize;

use crate::plan::PhaseNumber;

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Discuss a phase before it is planned.
    Discuss,
    /// Plan a phase.
    Plan,
    /// Execute the open plans of a phase.
    Execute,
    /// Verify a finished phase, or test it with the user.
    Verify,
    /// Fix what a check of a phase found.
    Remediate,
    /// Ship the milestone.
    Ship,
    /// Nothing: no milestone is active.
    None,
}

/// The next action with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The action.
    pub action: Action,
    /// The phase; `None` for [`Action::Ship`] and [`Action::None`].
    pub phase: Option<PhaseNumber>,
    /// The evidence for it, one sentence each.
    pub because: Vec<String>,
    /// The interpretation that contests it.
    pub alternative: Option<Alternative>,
}

/// Another interpretation that is almost as likely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its next action.
    pub action: Action,
    /// The phase of that action.
    pub phase: Option<PhaseNumber>,
    /// Its evidence, one sentence each.
    pub because: Vec<String>,
}
