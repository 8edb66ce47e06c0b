//! Defines the queries for facts.

use std::fmt;

use serde::Serialize;

use crate::facts::ProjectScope;
use crate::project::Fusion;
use crate::text::word_enum;

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
        /// Words and vectors with equal weights, plus a share of the neighbours in the session.
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
    /// The projects to search.
    pub scope: ProjectScope,
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
        let project = project.map(str::to_owned);
        Self {
            text: text.to_owned(),
            limit,
            scope: project.map_or(ProjectScope::General, ProjectScope::Project),
            method,
            selection: Selection::Candidates,
            uses_encoder: false,
        }
    }
}
