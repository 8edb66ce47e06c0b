//! The closed sets of words in an entry's front matter.

use serde::Deserialize;
use serde::Serialize;

/// What kind of knowledge an entry holds; the set is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryType {
    /// A rule in force for code, names or work.
    Convention,
    /// A choice and why it was made.
    Decision,
    /// How the user or the team likes it.
    Preference,
    /// A pitfall that is not obvious.
    Gotcha,
    /// A person, a team or a service.
    Contact,
    /// Something that holds until a day.
    Deadline,
    /// How a part of the system fits together.
    Architecture,
    /// A way of doing it that is used in several places.
    Pattern,
    /// How a class of problems is found.
    Debugging,
    /// How to run, build, test or deploy.
    Environment,
    /// What happened in a notable run or incident.
    SessionLog,
    /// Links and glossaries.
    Reference,
}

impl EntryType {
    /// Every type, in the order of the format.
    pub const ALL: [Self; 12] = [
        Self::Convention,
        Self::Decision,
        Self::Preference,
        Self::Gotcha,
        Self::Contact,
        Self::Deadline,
        Self::Architecture,
        Self::Pattern,
        Self::Debugging,
        Self::Environment,
        Self::SessionLog,
        Self::Reference,
    ];

    /// Returns the word for it, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Convention => "convention",
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Gotcha => "gotcha",
            Self::Contact => "contact",
            Self::Deadline => "deadline",
            Self::Architecture => "architecture",
            Self::Pattern => "pattern",
            Self::Debugging => "debugging",
            Self::Environment => "environment",
            Self::SessionLog => "session-log",
            Self::Reference => "reference",
        }
    }

    /// Returns the type that a word means, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}

/// Whether an entry still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryStatus {
    /// It holds; what says nothing does.
    #[default]
    Active,
    /// Somebody doubts that it holds.
    Stale,
    /// Another entry took its place.
    Superseded,
}

impl EntryStatus {
    /// Every status, in the order of the format.
    pub const ALL: [Self; 3] = [Self::Active, Self::Stale, Self::Superseded];

    /// Returns the word for it, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Superseded => "superseded",
        }
    }

    /// Returns the status that a word means, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}

/// How sure the writer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The user said so, or the code shows it.
    High,
    /// Likely.
    Medium,
    /// A best guess.
    Low,
}

impl Confidence {
    /// Every grade, in the order of the format.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// Returns the word for it, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Returns the grade that a word means, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}
