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
mod index;
mod key;
mod likeness;
pub mod notepad;
mod query;
mod remember;
mod store;
mod summary;
mod supersede;
mod vocabulary;
mod write;
pub(crate) mod yaml;

pub use audit::{BrokenLink, Duplicate, EntryAudit, Invalid, audit};
pub use classify::{Classification, Proposal, Surface, classify};
pub use entry::Entry;
pub use index::{EntryListing, ListedEntry, list, refresh_index};
pub use key::EntryKey;
pub use query::{EntryFilter, EntryHit, EntryQuery, Hits, query};
pub use remember::{Remember, Remembered, remember};
pub(crate) use store::ENTRIES;
pub use store::{EntryText, KnowledgeDir, read};
pub use summary::{EntrySummary, LinkedEntry, linked, summaries};
pub use supersede::{Deleted, Superseded, delete, supersede};
pub use vocabulary::{Confidence, EntryStatus, EntryType};
pub use write::{EntryWrite, EntryWriteReport, WriteOutcome, write};
