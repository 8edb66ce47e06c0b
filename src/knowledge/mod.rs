//! Keyed entries and a notepad that outlives compaction.
//!
//! ```text
//! .vibekit/
//! ├── memory/
//! │   ├── INDEX.md      generated: one row an entry
//! │   ├── log.md        append-only: one line a write
//! │   └── <key>.md      front matter and a body
//! └── notepad.md        Priority Context, Working Memory, Manual
//! ```

mod classify;
mod entry;
mod front;
mod key;
mod log;
pub mod notepad;
mod place;
mod read;
mod vocabulary;

pub use classify::Classification;
pub use classify::Proposal;
pub use classify::Surface;
pub use classify::classify;
pub use entry::Entry;
pub use key::Key;
pub use place::Place;
pub use read::EntryText;
pub use read::read;
pub use vocabulary::Confidence;
pub use vocabulary::EntryType;
pub use vocabulary::Status;
