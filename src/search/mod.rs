//! The search engine: words and stems, the table of vectors, a sentence encoder, one score from all of them, and an index.
//!
//! ```text
//! text ─┬─ words ── stems in eight languages ───┬─ rank ── the encoder reads the best ── judged
//!       └─ table ── vectors of its passages ────┘
//! ```
//!
//! [`index`] keeps the words and vectors of files in a cache and searches it. Those of facts are in their own database;
//! [`rank()`] ranks what SQLite found there.
//!
//! Vectors find texts about the same subject, but not what they say about it: "tabs over spaces" and "spaces over
//! tabs" have the same vector.

mod bm25;
mod encoder;
mod endpoint;
pub mod index;
mod language;
mod passages;
mod pieces;
mod rank;
mod table;
mod vector;
mod word_set;
mod words;

pub(crate) use bm25::to_f64;
pub use bm25::{bm25, idf};
pub use encoder::Encoder;
pub use endpoint::{Embedder, Endpoint};
pub use language::Language;
pub use passages::passages;
pub(crate) use rank::best;
pub use rank::{
    FusedParts, Known, Question, Ranked, Ranking, ReadText, Relevance, cosines, passage_vectors,
    rank,
};
pub use table::{MODEL_ID, VectorTable};
pub use vector::{Quantized, Vector};
pub(crate) use word_set::WordSet;
pub use word_set::corrects;
pub use words::{Term, quoted, terms, words};
