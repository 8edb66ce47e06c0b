//! An append-only JSONL file, searched from its end.
//!
//! One record per line, its keys always in this order, absent values as `null`:
//!
//! ```text
//! {"ts":"2026-03-01T12:00:00+00:00","type":"note","content":"User prefers Python.","tags":["preference"],"meta":null}
//! ```
//!
//! Lines are appended under an exclusive lock on the file and never rewritten. Other programs may also append
//! to the file: every JSON object counts as a record, several on one line too, and anything else is skipped.

mod file;
mod search;
mod write;

pub use file::{MAX_LINE, Statistics, default_path, read_last, statistics};
pub(crate) use file::{SharedLine, line_at, lines_from, marked};
pub use search::{JournalQuery, MAX_WINDOW, Mode, SearchResults, search};
pub use write::{Imported, JournalWriteReport, RecordDraft, WriteOptions, import, write};
