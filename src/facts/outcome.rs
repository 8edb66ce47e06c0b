//! Defines the outcome of an action.

use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// What came of an action.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ActionOutcome {
        /// A new fact.
        Inserted = "inserted",
        /// The fact now says it more exactly.
        Refined = "refined",
        /// The new fact took the place of the old one.
        Superseded = "superseded",
        /// The fact holds no longer.
        Expired = "expired",
        /// A repetition made the fact surer.
        Confirmed = "confirmed",
        /// A repetition within one turn, or an unsure one: only the time of the last mention changed.
        Mentioned = "mentioned",
        /// The user is to be asked first.
        Pending = "pending",
        /// A guardrail kept the fact as it is.
        Kept = "kept",
        /// There was nothing to do.
        Nothing = "nothing",
    }
}
