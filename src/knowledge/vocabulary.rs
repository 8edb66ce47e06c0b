//! The closed sets of words in an entry's front matter.

use serde::Deserialize;
use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// What kind of knowledge an entry holds; the set is closed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum EntryType {
        /// A rule in force for code, names or work.
        Convention = "convention",
        /// A choice and why it was made.
        Decision = "decision",
        /// How the user or the team likes it.
        Preference = "preference",
        /// A pitfall that is not obvious.
        Gotcha = "gotcha",
        /// A person, a team or a service.
        Contact = "contact",
        /// Something that holds until a day.
        Deadline = "deadline",
        /// How a part of the system fits together.
        Architecture = "architecture",
        /// A way of doing it that is used in several places.
        Pattern = "pattern",
        /// How a class of problems is found.
        Debugging = "debugging",
        /// How to run, build, test or deploy.
        Environment = "environment",
        /// What happened in a notable run or incident.
        SessionLog = "session-log",
        /// Links and glossaries.
        Reference = "reference",
    }
}

word_enum! {
    /// Whether an entry still holds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum EntryStatus {
        /// It holds; what says nothing does.
        #[default]
        Active = "active",
        /// Somebody doubts that it holds.
        Stale = "stale",
        /// Another entry took its place.
        Superseded = "superseded",
    }
}

word_enum! {
    /// How sure the writer was.
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
