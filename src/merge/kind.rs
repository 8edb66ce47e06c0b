//! The kinds of files that can be merged, each split into its own units.

use crate::storage::Store;

/// The kind of a file, which determines the units of the merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// PATTERNS.md, by entry; both sides may append.
    Patterns,
    /// DECISIONS.md of the repo ledger, by entry.
    Decisions,
    /// CONSTRAINTS.md of the repo ledger, by bullet.
    Constraints,
    /// A log or a journal, by line.
    Lines,
    /// INDEX.md of the knowledge entries, by key; it is generated, so the newer row wins.
    Index,
    /// A context file: its generated block is a single unit, which `annals sync` regenerates.
    Context,
}

impl MergeKind {
    /// Every kind, in display order.
    pub const ALL: [Self; 6] = [
        Self::Patterns,
        Self::Decisions,
        Self::Constraints,
        Self::Lines,
        Self::Index,
        Self::Context,
    ];

    /// Returns the name of the kind.
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
    Join,
    /// They conflict: each unit continues the text of the one before.
    Compete,
}
