//! Defines the query of a search and its options.

use crate::error::{Error, Result};
use crate::recall::sources::SourceName;

/// A query against a project's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallQuery {
    /// The search text; it has no operators.
    pub text: String,
    /// The stores to search.
    pub sources: Vec<SourceName>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Whether irrelevant texts are returned too, marked as such.
    pub include_irrelevant: bool,
    /// Whether the answer must not wait for a first index; if so, only the newest files are searched.
    pub is_urgent: bool,
    /// Whether the encoder reads the best texts again.
    pub uses_encoder: bool,
}

impl RecallQuery {
    /// Returns a query of all stores; an empty text is an error.
    pub fn new(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(
                Error::usage("the query is empty").hint("say what you want to know, in words")
            );
        }
        Ok(Self {
            text: text.to_owned(),
            sources: SourceName::ALL.to_vec(),
            limit: 10,
            include_irrelevant: false,
            is_urgent: false,
            uses_encoder: true,
        })
    }
}
