//! What is looked for, and where.

use crate::error::Error;
use crate::error::Result;
use crate::recall::sources::SourceName;

/// A question to the memory of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallQuery {
    /// What is looked for; nothing in it is an operator.
    pub text: String,
    /// The stores that are searched.
    pub sources: Vec<SourceName>,
    /// How many hits are wanted.
    pub limit: usize,
    /// Whether the nearest texts are given too, marked, where they have nothing to do with it.
    pub all: bool,
    /// Whether the answer may not wait for a first index: then the newest files have to do.
    pub is_urgent: bool,
}

impl RecallQuery {
    /// Returns a question to every store; one without a single sign is refused.
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
            all: false,
            is_urgent: false,
        })
    }
}
