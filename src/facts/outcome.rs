//! Defines the outcome of an action.

use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// The result of an action.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ActionOutcome {
        /// A new fact.
        Inserted = "inserted",
        /// The fact was made more precise.
        Refined = "refined",
        /// The new fact replaced the old one.
        Superseded = "superseded",
        /// The fact is no longer valid.
        Expired = "expired",
        /// A repetition raised the fact's confidence.
        Confirmed = "confirmed",
        /// A repetition within one turn, or an uncertain one: only the time of the last mention changed.
        Mentioned = "mentioned",
        /// It awaits the user's confirmation.
        Pending = "pending",
        /// A guardrail prevented the change.
        Kept = "kept",
        /// There was nothing to do.
        Nothing = "nothing",
    }
}
