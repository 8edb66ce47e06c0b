//! The search index: words, substrings and vectors of every text, in `.annals/index.db`.
//!
//! ```text
//! files   one row per file: store, path, stamp (size, times, inode), digest, language, passage vectors
//! units   one row per occurrence of a text: file, text, line, day, flags, rank, section, vector range
//! texts   the distinct texts: headings, key, text
//! words   FTS5: the stems of each text, as computed by `ranking`
//! ```
//!
//! It contains nothing that is not in the files. Before each search, the files with a changed stamp are read,
//! and those with a changed digest are indexed again. An index that is foreign, of another version, damaged
//! or missing is rebuilt in a temporary file and moved into place; if that cannot be written, it is built in
//! memory. A killed process leaves either the old or the new index.

mod access;
mod files;
mod lookup;
mod prepared;
mod schema;
mod update;

pub(crate) use access::search_index;
pub use access::{CacheState, cache_state};
pub(crate) use lookup::{StoredText, StoredUnit};
pub(crate) use prepared::vectors;
pub(crate) use schema::Index;
