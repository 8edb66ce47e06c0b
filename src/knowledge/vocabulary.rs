//! The enumerations used in the front matter of entries.

use serde::Deserialize;
use serde::Serialize;

/// The type of knowledge in an entry; the set is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryType {
    /// A rule for code, names or processes.
    Convention,
    /// A choice and its rationale.
    Decision,
    /// A preference of the user or the team.
    Preference,
    /// A pitfall that is not obvious.
    Gotcha,
    /// A person, a team or a service.
    Contact,
    /// Something that is valid until a date.
    Deadline,
    /// How a part of the system is structured.
    Architecture,
    /// An approach that is used in several places.
    Pattern,
    /// How to diagnose a class of problems.
    Debugging,
    /// How to run, build, test or deploy.
    Environment,
    /// The events of a notable session or incident.
    SessionLog,
    /// Links and glossaries.
    Reference,
}

impl EntryType {
    /// All types, in the order of the format.
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

    /// Returns its name, as written in front matter.
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

    /// Parses the name of a type, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}

/// Whether an entry is up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryStatus {
    /// It is valid; the default if no status is stated.
    #[default]
    Active,
    /// Its validity is in doubt.
    Stale,
    /// Another entry replaces it.
    Superseded,
}

impl EntryStatus {
    /// All statuses, in the order of the format.
    pub const ALL: [Self; 3] = [Self::Active, Self::Stale, Self::Superseded];

    /// Returns its name, as written in front matter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Superseded => "superseded",
        }
    }

    /// Parses the name of a status, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}

/// How certain the author is.
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
    /// All levels, in the order of the format.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// Returns its name, as written in front matter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Parses the name of a level, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        let same = |one: &Self| one.as_str().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same)
    }
}
