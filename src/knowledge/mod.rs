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
mod debt;
mod delete;
mod dir;
mod draft;
mod duplicates;
mod entry;
mod filter;
mod front;
mod front_edit;
mod guard;
mod import;
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
mod scan;
mod supersede;
mod vocabulary;
mod words;
mod write;
pub(crate) mod yaml;

pub use audit::BrokenLink;
pub use audit::EntryAudit;
pub use audit::Invalid;
pub use audit::audit;
pub use classify::Classification;
pub use classify::Proposal;
pub use classify::Surface;
pub use classify::classify;
pub use debt::Debt;
pub use debt::DebtMarker;
pub use debt::IndebtedFile;
pub use debt::debt;
pub use delete::Deleted;
pub use delete::delete;
pub(crate) use dir::ENTRIES;
pub use dir::KnowledgeDir;
pub use duplicates::Duplicate;
pub use entry::Entry;
pub use filter::EntryFilter;
pub use import::ImportItem;
pub use import::ImportOutcome;
pub use import::Imported;
pub use import::import;
pub use import::key_of;
pub use index::refresh_index;
pub use key::EntryKey;
pub use linked::LinkedEntry;
pub use linked::linked;
pub use list::EntryListing;
pub use list::ListedEntry;
pub use list::list;
pub use query::EntryHit;
pub use query::EntryQuery;
pub use query::Hits;
pub use query::query;
pub use read::EntryText;
pub use read::read;
pub use supersede::Superseded;
pub use supersede::supersede;
pub use vocabulary::Confidence;
pub use vocabulary::EntryStatus;
pub use vocabulary::EntryType;
pub use write::EntryWrite;
pub use write::EntryWriteReport;
pub use write::WriteOutcome;
pub use write::write;
