//! Scores texts against a query by words, meaning, recency and freshness.
//!
//! By words only, so far: BM25 over the words of any script ([`words`]).

mod corpus;
mod stem;
mod stop_words;
mod words;

pub use corpus::Corpus;
pub use corpus::Ranked;
pub use words::words;
