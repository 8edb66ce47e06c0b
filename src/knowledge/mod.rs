//! Manages keyed entries, and a notepad that survives compaction.
//!
//! ```text
//! .vibekit/
//! ├── memory/
//! │   ├── INDEX.md      generated: one row per entry
//! │   ├── log.md        append-only: one line per write
//! │   └── <key>.md      front matter and a body
//! └── notepad.md        Priority Context, Working Memory, Manual
//! ```

mod audit;
mod classify;
mod edit;
mod entry;
pub mod notepad;
mod query;
mod store;
mod write;
pub(crate) mod yaml;

pub use audit::{Duplicate, EntryAudit, EntryLink, Invalid, MissingPath, audit};
pub use classify::{Classification, Proposal, Surface, classify};
pub use entry::{Confidence, Entry, EntryStatus, EntryType};
pub(crate) use query::successors;
pub use query::{EntryFilter, EntryHit, EntrySummary, Hits, LinkedEntry, linked, query, summaries};
pub(crate) use store::{ENTRIES, scan};
pub use store::{
    EntryListing, EntryText, KnowledgeDir, ListedEntry, entries_of_repository, list, log_undo,
    read, refresh_index,
};
pub use write::{
    Deleted, EntryWrite, EntryWriteReport, Remember, Remembered, Superseded, WriteOutcome, delete,
    remember, supersede, write,
};
