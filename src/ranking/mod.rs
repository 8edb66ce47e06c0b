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

pub use corpus::Corpus;
pub use corpus::bm25;
pub use corpus::idf;
pub(crate) use corpus::to_f64;
pub use correction::corrects;
pub use fusion::ANSWER_SHARE;
pub use fusion::NEIGHBOUR_SHARES;
pub use fusion::QUESTION_PENALTY;
pub use fusion::SIBLING_SHARE;
pub use fusion::adaptive_weight;
pub use fusion::normalise_min_max;
pub use fusion::recency;
pub use language::Language;
pub use match_query::any_form_of;
pub use match_query::any_of;
pub use match_query::content_words;
pub use match_query::quoted;
pub use passages::passages;
pub use question::question_share;
pub use relevance::AnswerEvidence;
pub use relevance::Relevance;
pub use relevance::TextEvidence;
pub use relevance::WeightedQuestion;

pub use silence::Silence;
pub use silence::SilencePoint;
pub use silence::SilenceTest;
pub(crate) use word_set::WordSet;
pub use words::Term;
pub use words::Tokenizer;
pub use words::terms;
pub use words::words;
