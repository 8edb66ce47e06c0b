//! The cache that is searched: words, parts of words and vectors of every text, in `.annals/index.db`.
//!
//! ```text
//! files   one row a file: its store, path, stamp (size, times, number), digest, language, vectors of its passages
//! units   one row a place: its file, text, line, day, flags, rank, section, and which of the vectors are its own
//! texts   the texts, each once however often it stands: headings, key, text
//! words   FTS5: the stems of each text, as `ranking` makes them
//! ```
//!
//! It holds nothing that is not in the files. Before each search the files whose stamp has changed are
//! read, and of those whose digest has changed the texts that are new. What is not ours, of another
//! version, damaged or gone is rebuilt beside it and put in its place; where that cannot be written,
//! the same is built in memory. What a killed process leaves is the old one or the new.

mod access;
mod files;
mod lookup;
mod prepared;
mod schema;
mod update;

pub use access::CacheState;
pub use access::cache_state;
pub(crate) use access::searched;
pub(crate) use lookup::StoredText;
pub(crate) use lookup::StoredUnit;
pub(crate) use prepared::vectors;
pub(crate) use schema::Index;
