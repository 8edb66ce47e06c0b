//! The text search engine: words and stems, BM25, fusion with vectors, and the relevance of a text to a
//! query.
//!
//! Texts are matched by their [`words`], with stems in eight languages, or by SQLite's own index, for which
//! [`any_form_of`] builds the query; and by meaning, with the vectors of their [`passages`]. The fusion
//! combines both scores, and [`Relevance`] says whether even the best text is an answer.

mod corpus;
mod correction;
mod fusion;
mod language;
mod match_query;
mod passages;
mod question;
mod relevance;
mod silence;
mod word_set;
mod words;

pub(crate) use corpus::to_f64;
pub use corpus::{Corpus, bm25, idf};
pub use correction::corrects;
pub use fusion::{normalise_min_max, recency};
pub use language::Language;
pub use match_query::{any_form_of, any_of, content_words, quoted};
pub use passages::passages;
pub use question::question_share;
pub use relevance::{AnswerEvidence, Relevance, TextEvidence, WeightedQuestion};
pub use silence::{Silence, SilencePoint, SilenceTest};
pub(crate) use word_set::WordSet;
pub use words::{Term, Tokenizer, terms, words};
