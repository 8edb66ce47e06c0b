//! The enumerations used in the front matter of entries.

use serde::{Deserialize, Serialize};

use crate::text::word_enum;

word_enum! {
    /// The type of knowledge in an entry; the set is closed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum EntryType {
        /// A rule for code, names or processes.
        Convention = "convention",
        /// A choice and its rationale.
        Decision = "decision",
        /// A preference of the user or the team.
        Preference = "preference",
        /// A pitfall that is not obvious.
        Gotcha = "gotcha",
        /// A person, a team or a service.
        Contact = "contact",
        /// Something that is valid until a date.
        Deadline = "deadline",
        /// How a part of the system is structured.
        Architecture = "architecture",
        /// An approach that is used in several places.
        Pattern = "pattern",
        /// How to diagnose a class of problems.
        Debugging = "debugging",
        /// How to run, build, test or deploy.
        Environment = "environment",
        /// The events of a notable session or incident.
        SessionLog = "session-log",
        /// Links and glossaries; also what no rule gives another type.
        #[default]
        Reference = "reference",
    }
}

word_enum! {
    /// Whether an entry is up to date.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum EntryStatus {
        /// It is valid; the default if no status is stated.
        #[default]
        Active = "active",
        /// Its validity is in doubt.
        Stale = "stale",
        /// Another entry replaces it.
        Superseded = "superseded",
    }
}

word_enum! {
    /// How certain the author is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Confidence {
        /// The user said so, or the code shows it.
        High = "high",
        /// Likely.
        Medium = "medium",
        /// A best guess.
        Low = "low",
    }
}
