//! Defines the outcome of an action.

use serde::Serialize;

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    /// A new fact.
    Inserted,
    /// The fact now has a more detailed value.
    Refined,
    /// The new fact replaced the old one.
    Superseded,
    /// The fact no longer holds.
    Expired,
    /// A repetition raised the confidence.
    Confirmed,
    /// A repetition within one turn, or an uncertain one: only the time of the last mention changed.
    Mentioned,
    /// Awaiting the user's confirmation.
    Pending,
    /// A guardrail left the fact unchanged.
    Kept,
    /// There was nothing to do.
    Nothing,
}

impl ActionOutcome {
    /// Returns the name used in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inserted => "inserted",
            Self::Refined => "refined",
            Self::Superseded => "superseded",
            Self::Expired => "expired",
            Self::Confirmed => "confirmed",
            Self::Mentioned => "mentioned",
            Self::Pending => "pending",
            Self::Kept => "kept",
            Self::Nothing => "nothing",
        }
    }

    pub(crate) fn from_word(word: &str) -> Self {
        let all = [
            Self::Inserted,
            Self::Refined,
            Self::Superseded,
            Self::Expired,
            Self::Confirmed,
            Self::Mentioned,
            Self::Pending,
            Self::Kept,
        ];
        let known = all.into_iter().find(|outcome| outcome.as_str() == word);
        known.unwrap_or(Self::Nothing)
    }
}
