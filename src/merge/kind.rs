//! The kinds of files that are merged, each by its own pieces.

use serde::Serialize;

use crate::storage::Store;
use crate::text::word_enum;

word_enum! {
    /// What is merged, and so what its pieces are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum MergeKind {
        /// PATTERNS.md, by entry: appended on either side.
        Patterns = "patterns",
        /// DECISIONS.md of the repo ledger, by entry.
        Decisions = "decisions",
        /// CONSTRAINTS.md of the repo ledger, by bullet.
        Constraints = "constraints",
        /// A log or a journal, by line.
        Lines = "lines",
        /// INDEX.md of the knowledge entries, by key; the later row wins, for it is generated.
        Index = "index",
        /// A context file: its generated block is one piece, which `annals sync` makes anew.
        Context = "context",
    }
}

impl MergeKind {
    /// Returns the store whose lock is held while such a file is merged.
    pub fn store(self) -> Store {
        match self {
            Self::Patterns => Store::Patterns,
            Self::Decisions | Self::Constraints => Store::Ledger,
            Self::Lines | Self::Index => Store::Entries,
            Self::Context => Store::Context,
        }
    }
}

/// What becomes of pieces that both sides add at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserts {
    /// All are kept, ours first: the pieces are independent of each other.
    Join,
    /// A conflict: the text reads on from one to the next.
    Compete,
}
