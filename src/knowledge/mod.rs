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

mod log;
pub mod notepad;
mod place;

pub use place::Place;
