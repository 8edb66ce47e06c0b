//! The kinds of files that are merged, each by its own pieces.

use crate::storage::Store;

/// What is merged, and so what its pieces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// PATTERNS.md, by entry: appended on either side.
    Patterns,
    /// DECISIONS.md of the repo ledger, by entry.
    Decisions,
    /// CONSTRAINTS.md of the repo ledger, by bullet.
    Constraints,
    /// A log or a journal, by line.
    Lines,
    /// INDEX.md of the knowledge entries, by key; the later row wins, for it is generated.
    Index,
    /// A context file: its generated block is one piece, which `annals sync` makes anew.
    Context,
}

impl MergeKind {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Patterns,
        Self::Decisions,
        Self::Constraints,
        Self::Lines,
        Self::Index,
        Self::Context,
    ];

    /// Returns the word for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Patterns => "patterns",
            Self::Decisions => "decisions",
            Self::Constraints => "constraints",
            Self::Lines => "lines",
            Self::Index => "index",
            Self::Context => "context",
        }
    }

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
