//! What is asked of the facts, and what is found.

use std::fmt;

use serde::Serialize;

use crate::facts::Fact;
use crate::project::Fusion;
use crate::search::Relevance;
use crate::text::{is_zero, word_enum};

word_enum! {
    /// A search method.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
    pub enum Method {
        /// Words only.
        Lexical = "lexical",
        /// Vectors only.
        Vector = "vector",
        /// The first 20 of each: lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
        /// The one score of `search`.
        #[default]
        Fused = "fused",
    }
}

impl From<Fusion> for Method {
    fn from(fusion: Fusion) -> Self {
        match fusion {
            Fusion::Own => Self::Fused,
            Fusion::Seed => Self::Seed,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Selects which of the facts found are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The best three, and further ones that are relevant to the query.
    #[default]
    Relevant,
    /// The nearest, each with its relevance.
    All,
    /// The nearest, without relevance: conflict resolution needs every possible contradiction.
    Candidates,
}

/// A search query.
#[derive(Clone, Debug)]
pub struct FactQuery {
    /// The text as a person wrote it; it has no operators.
    pub text: String,
    /// Maximum number of facts.
    pub limit: usize,
    /// The project whose facts are included; those without a project always are.
    pub project: Option<String>,
    /// The search method.
    pub method: Method,
    /// Which of the facts found are returned.
    pub selection: Selection,
    /// Whether the encoder reads the best facts again; it never reads candidates.
    pub uses_encoder: bool,
}

impl FactQuery {
    /// Returns a query for the facts nearest to a text, in a project or in none, without regard to relevance.
    pub(crate) fn candidates(
        text: &str,
        project: Option<&str>,
        limit: usize,
        method: Method,
    ) -> Self {
        Self {
            text: text.to_owned(),
            limit,
            project: project.map(str::to_owned),
            method,
            selection: Selection::Candidates,
            uses_encoder: false,
        }
    }
}

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
    /// The evidence that one of them is an answer, if they were judged; 1 is just enough.
    #[serde(skip)]
    pub evidence: f64,
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
}
