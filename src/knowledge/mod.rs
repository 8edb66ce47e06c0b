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
mod checked;
mod classify;
mod delete;
mod dir;
mod draft;
mod duplicates;
mod entry;
mod filter;
mod front;
mod front_edit;
mod guard;
mod index;
mod key;
mod latin;
mod likeness;
mod linked;
mod links;
mod list;
mod log;
pub mod notepad;
mod query;
mod read;
mod remember;
mod scan;
mod summary;
mod supersede;
mod vocabulary;
mod words;
mod write;
pub(crate) mod yaml;

pub use audit::{BrokenLink, EntryAudit, Invalid, audit};
pub use classify::{Classification, Proposal, Surface, classify};
pub use delete::{Deleted, delete};
pub(crate) use dir::ENTRIES;
pub use dir::KnowledgeDir;
pub use duplicates::Duplicate;
pub use entry::Entry;
pub use filter::EntryFilter;
pub use index::refresh_index;
pub use key::EntryKey;
pub use linked::{LinkedEntry, linked};
pub use list::{EntryListing, ListedEntry, list};
pub use query::{EntryHit, EntryQuery, Hits, query};
pub use read::{EntryText, read};
pub use remember::{Remember, Remembered, remember};
pub use summary::{EntrySummary, summaries};
pub use supersede::{Superseded, supersede};
pub use vocabulary::{Confidence, EntryStatus, EntryType};
pub use write::{EntryWrite, EntryWriteReport, WriteOutcome, write};
