//! The kinds of files that can be merged, each split into its own units.

use serde::Serialize;

use crate::markdown::Outline;
use crate::storage::Store;
use crate::text::word_enum;

word_enum! {
    /// The kind of a file, which determines the units of the merge.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum MergeKind {
        /// PATTERNS.md, by entry; both sides may append.
        Patterns = "patterns",
        /// DECISIONS.md of the repo ledger, by entry.
        Decisions = "decisions",
        /// CONSTRAINTS.md of the repo ledger, by bullet.
        Constraints = "constraints",
        /// A log or a journal, by line.
        Lines = "lines",
        /// INDEX.md of the knowledge entries, by key; it is generated, so the newer row wins.
        Index = "index",
        /// A context file: its generated block is a single unit, which `annals sync` regenerates.
        Context = "context",
    }
}

/// Maximum number of lines of a file that is split into units.
const MAX_LINES: usize = 100_000;

impl MergeKind {
    /// Returns whether a file is short enough to be split into its units, rather than merged line by line.
    pub(crate) fn can_split(self, text: &str) -> bool {
        match self {
            Self::Patterns | Self::Decisions | Self::Constraints => Outline::is_whole(text),
            Self::Lines | Self::Context => text.lines().count() <= MAX_LINES,
            Self::Index => true,
        }
    }

    /// Returns the store whose lock is held while a file of this kind is merged.
    pub fn store(self) -> Store {
        match self {
            Self::Patterns => Store::Patterns,
            Self::Decisions | Self::Constraints => Store::Ledger,
            Self::Lines | Self::Index => Store::Entries,
            Self::Context => Store::Context,
        }
    }
}

/// How units that both sides insert at the same position are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertPolicy {
    /// Both are kept, ours first: the units are independent of each other.
    KeepBoth,
    /// They conflict: each unit continues the text of the one before.
    Conflict,
}
