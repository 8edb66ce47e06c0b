//! What came of an action.

use serde::Serialize;

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    /// A new fact.
    Inserted,
    /// The fact now says it more exactly.
    Refined,
    /// The new fact took the place of the old one.
    Superseded,
    /// The fact holds no longer.
    Expired,
    /// A repetition made the fact surer.
    Confirmed,
    /// A repetition within one turn, or an unsure one: only the time of the last mention changed.
    Mentioned,
    /// The user is to be asked first.
    Pending,
    /// A guardrail kept the fact as it is.
    Kept,
    /// There was nothing to do.
    Nothing,
}

impl ActionOutcome {
    /// Returns the word for it in the database and in JSON.
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
