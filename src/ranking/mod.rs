//! Scores texts against a query by words, meaning, recency and freshness.
//!
//! By words with BM25, over the words of any script ([`words`]) or with SQLite's index, for which
//! [`any_of`] writes the query; by meaning with vectors; [`convex`] joins both.

mod corpus;
mod fusion;
mod match_query;
mod stem;
mod stop_words;
mod words;

pub use corpus::Corpus;
pub use corpus::Ranked;
pub use fusion::NEIGHBOURS;
pub use fusion::adaptive_weight;
pub use fusion::convex;
pub use fusion::min_max;
pub use fusion::recency;
pub use fusion::with_neighbours;
pub use match_query::any_of;
pub use match_query::content_words;
pub use match_query::quoted;
pub use words::words;
