//! Defines the result of a search.

use serde::Serialize;

use crate::facts::Fact;
use crate::facts::search::query::Method;
use crate::ranking::{AnswerEvidence, Relevance};

/// Length of the lexical and vector rankings in which ranks are reported.
pub(crate) const TOP: usize = 20;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retrieved {
    /// The user.
    pub user: String,
    /// The search method used.
    pub method: Method,
    /// Whether vectors were unavailable, so that the search was lexical only.
    pub degraded: bool,
    /// The reason why they were unavailable.
    pub degraded_because: Option<String>,
    /// The facts, best first.
    pub hits: Vec<FactHit>,
    /// Number of irrelevant facts that were withheld.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// The evidence for the answer as a whole, if it was judged.
    #[serde(skip)]
    pub verdict: AnswerEvidence,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde needs it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A fact found by a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactHit {
    /// The score, comparable within one result.
    pub score: f64,
    /// The relevance to the query, or `None` if it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Relevance>,
    /// The components of the score.
    pub components: Components,
    /// The fact.
    pub fact: Fact,
}

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Components {
    /// BM25 score of the words; 0 if none is shared.
    pub bm25: f64,
    /// Cosine similarity, from -1 to 1, or `None` if no vectors were compared.
    pub cosine: Option<f64>,
    /// Contribution of the words to the score.
    pub lexical: f64,
    /// Contribution of the vectors.
    pub vector: f64,
    /// Contribution of the neighbours in the session.
    pub neighbours: f64,
    /// Contribution of late interaction, each word of the query with the words of a passage.
    pub late: f64,
    /// Contribution of the encoder.
    pub encoder: f64,
    /// Similarity to the query by the encoder, if it read the fact.
    pub encoder_cosine: Option<f64>,
    /// Deduction for a fact that is a question.
    pub question: f64,
    /// Contribution of recency.
    pub recency: f64,
    /// Rank among the first 20 by words, from 1.
    pub lexical_rank: Option<usize>,
    /// Rank among the first 20 by vectors, from 1.
    pub vector_rank: Option<usize>,
}
