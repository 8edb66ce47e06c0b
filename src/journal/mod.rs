//! An append-only JSONL file, searched from its end.
//!
//! One record per line, its keys always in this order, absent values as `null`:
//!
//! ```text
//! {"ts":"2026-03-01T12:00:00+00:00","type":"note","content":"User prefers Python.","tags":["preference"],"meta":null}
//! ```
//!
//! Lines are appended under an exclusive lock on the file and never rewritten. Other programs may also append
//! to the file: every line that is a JSON object counts as a record, and any other is skipped.

mod adopt;
mod backwards;
mod dated;
mod draft;
mod escape;
mod filter;
mod foreign;
mod forwards;
mod import;
mod matcher;
mod parallel_scan;
mod path;
mod query;
mod record;
mod requests;
mod search;
mod shared;
mod statistics;
mod tail;
mod write;

pub use adopt::{Adopted, adopt};
pub use dated::DatedRecord;
pub use draft::RecordDraft;
pub use import::{Imported, import};
pub use path::default_path;
pub use query::{JournalQuery, MAX_WINDOW, Mode};
pub use search::{SearchResults, search};
pub(crate) use shared::{SharedLine, line_at, lines_from, marked};
pub use statistics::{Frequency, Statistics, statistics};
pub use tail::{JournalEntry, OpenLine, TailState, last, read_from};
pub use write::{JournalWriteReport, WriteOptions, write};

/// Maximum length of a line that is written or searched, in bytes; longer lines are skipped.
pub const MAX_LINE: usize = 8 * 1024 * 1024;
