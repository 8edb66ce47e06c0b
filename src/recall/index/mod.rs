//! The cache that is searched: words, parts of words and vectors of every text, in `.annals/index.db`.
//!
//! ```text
//! files   one row a file: its store, path, stamp (size, times, number), digest, and the vectors of its texts
//! units   one row a text: its file and place there, line, day, flags, rank, and the digest that twins share
//! texts   the texts themselves, with their headings
//! words   FTS5, porter over unicode61: what identifiers and scripts without spaces are made of, too
//! parts   FTS5, trigram: where a word of the query stands inside another
//! ```
//!
//! It holds nothing that is not in the files. Before each search the files whose stamp has changed are
//! read, and of those whose digest has changed the texts that are new. What is not ours, of another
//! version, damaged or gone is built anew beside it and put in its place; where that cannot be written,
//! the same is built in memory. What a killed process leaves is the old one or the new.

mod access;
mod files;
mod lookup;
mod schema;
mod spelling;
mod update;

pub use access::CacheState;
pub use access::cache_state;
pub(crate) use access::searched;
pub(crate) use lookup::Text;
pub(crate) use lookup::Unit;
pub(crate) use schema::Index;
pub(crate) use spelling::terms;
