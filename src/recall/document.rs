//! The unit that a store provides for searching: a piece of text and its metadata.

use chrono::NaiveDate;
use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// Reason to treat a hit with caution.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Flag {
        /// It refers to something that no longer exists, or the structure has changed since.
        Stale = "stale",
        /// Something newer has replaced it.
        Superseded = "superseded",
        /// Its author was not sure.
        LowConfidence = "low-confidence",
    }
}

impl Flag {
    /// Returns the factor by which this flag multiplies the score of a hit.
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
    /// Returns the set with the flag added if `is_set`.
    pub(crate) fn with(self, flag: Flag, is_set: bool) -> Self {
        Self(self.0 | if is_set { flag.bit() } else { 0 })
    }

    /// Returns the flags of the set.
    pub(crate) fn list(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.0 & flag.bit() != 0)
    }

    /// Returns the set as the number that is stored.
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set for a stored number.
    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// A text's authority in the project, which ranks texts that match equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authority {
    /// Describes what is valid now: the project, its state, decisions, context, lessons.
    Canonical,
    /// Reports finished work.
    Report,
    /// Produced while working: plans, research, checks.
    Working,
}

impl Authority {
    /// Returns the factor by which this authority multiplies the score of a text.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Canonical => 1.0,
            Self::Report => 0.78,
            Self::Working => 0.65,
        }
    }

    /// Returns the authority as the number that is stored.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Canonical => 0,
            Self::Report => 1,
            Self::Working => 2,
        }
    }

    /// Returns the authority for a stored number.
    pub(crate) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Canonical,
            1 => Self::Report,
            _ => Self::Working,
        }
    }
}

/// A searchable piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchDocument {
    /// Titles of the headings above it, outermost first.
    pub(crate) headings: Vec<String>,
    /// Number of its first line in the file, counted from 1; 0 if it has none.
    pub(crate) line: usize,
    /// Its identifier in its store, if that is not its line number.
    pub(crate) id: Option<String>,
    /// Its text, verbatim.
    pub(crate) text: String,
    /// The date that it refers to, or on which it was written.
    pub(crate) date: Option<NaiveDate>,
    /// Reasons to treat it with caution.
    pub(crate) flags: Flags,
    /// Its authority in the project.
    pub(crate) authority: Authority,
}
