//! What a store hands over to be searched: a piece of text and what is known about it.

use chrono::NaiveDate;
use serde::Serialize;

/// Why a hit is to be read with care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// It names what is no longer there, or the structure has changed since.
    Stale,
    /// Something newer has taken its place.
    Superseded,
    /// Whoever wrote it was not sure.
    LowConfidence,
}

impl Flag {
    /// All flags.
    pub const ALL: [Self; 3] = [Self::Stale, Self::Superseded, Self::LowConfidence];

    /// Returns the flag as it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Superseded => "superseded",
            Self::LowConfidence => "low-confidence",
        }
    }

    /// Returns what is left of the score of a hit with this flag.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Stale => 0.7,
            Self::Superseded => 0.6,
            Self::LowConfidence => 0.85,
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::Stale => 1,
            Self::Superseded => 2,
            Self::LowConfidence => 4,
        }
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Returns the set with one flag more, where `is_set`.
    pub(crate) fn with(self, flag: Flag, is_set: bool) -> Self {
        Self(self.0 | if is_set { flag.bit() } else { 0 })
    }

    /// Returns the flags of the set.
    pub(crate) fn list(self) -> impl Iterator<Item = Flag> {
        Flag::ALL
            .into_iter()
            .filter(move |flag| self.0 & flag.bit() != 0)
    }

    /// Returns the set as it is stored.
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// Returns a set that was stored.
    pub(crate) fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// What a text is to the project, which decides between texts that fit alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authority {
    /// It says what holds: the project, its state, decisions, context, lessons.
    Canonical,
    /// It says what was done.
    Report,
    /// It was written on the way: plans, research, checks.
    Working,
}

impl Authority {
    /// Returns what is left of the score of a text of this standing.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Canonical => 1.0,
            Self::Report => 0.78,
            Self::Working => 0.65,
        }
    }

    /// Returns the authority as it is stored.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Canonical => 0,
            Self::Report => 1,
            Self::Working => 2,
        }
    }

    /// Returns the authority that was stored.
    pub(crate) fn of_number(number: u8) -> Self {
        match number {
            0 => Self::Canonical,
            1 => Self::Report,
            _ => Self::Working,
        }
    }
}

/// A piece of text that can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchDocument {
    /// The titles of the headings that it stands under, the outermost first.
    pub(crate) headings: Vec<String>,
    /// Its first line in its file, counted from 1; 0 where it has none.
    pub(crate) line: usize,
    /// What it is known by in its store, where that is not its line.
    pub(crate) id: Option<String>,
    /// Its text, verbatim.
    pub(crate) text: String,
    /// The day that it speaks of, or on which it was written.
    pub(crate) date: Option<NaiveDate>,
    /// Why it is to be read with care.
    pub(crate) flags: Flags,
    /// What it is to the project.
    pub(crate) authority: Authority,
}
