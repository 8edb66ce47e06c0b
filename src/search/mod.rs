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

mod encoder;
pub mod index;
mod rank;
mod table;
mod vector;
mod words;

pub use encoder::Encoder;
pub use rank::{
    FusedParts, Known, Question, Ranked, Ranking, ReadText, Relevance, Standing, bm25, idf,
    passages, rank,
};
pub(crate) use rank::{best, cosines, encoded, to_f64, to_u32, write_now};
pub use table::{MODEL_ID, VectorTable};
pub use vector::{Embedder, Endpoint, Quantized, Vector};
pub use words::{Language, NO_WORDS, Term, corrects, is_wordless, quoted, terms, words};
pub(crate) use words::{WordSet, content_words};
