//! Settings for facts and for the services that a user may let them access.

use std::path::PathBuf;

use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// How the scores by words and by meaning are combined in a search for facts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub enum Fusion {
        /// The weights that performed best (`docs/facts.md`).
        #[default]
        Own = "own",
        /// Lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
    }
}

/// Settings for the search, the profile and the protection of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSettings {
    /// How scores by words and by meaning are combined.
    pub fusion: Fusion,
    /// Number of turns after which a profile is rebuilt.
    pub profile_turns: u64,
    /// Additional high-risk keys, or key prefixes that end with a dot.
    pub high_risk: Vec<String>,
}

impl Default for FactSettings {
    fn default() -> Self {
        Self { fusion: Fusion::default(), profile_turns: 5, high_risk: Vec::new() }
    }
}

/// What answers the memory auditor's prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Llm {
    /// A command that reads the prompt from standard input; without one, the caller answers.
    pub command: Option<String>,
}

/// The server through which devices share facts and the journal, and the scopes of sharing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// URL of a PostgreSQL database: `postgres://`.
    pub url: Option<String>,
    /// A file with the certificates of the authorities trusted for the server.
    pub ca: Option<PathBuf>,
    /// Keys, or key prefixes that end with a dot, each with its scope.
    pub scopes: Vec<(String, String)>,
    /// The scope of the journal.
    pub journal: String,
}

impl Default for Share {
    fn default() -> Self {
        Self { url: None, ca: None, scopes: Vec::new(), journal: "private".to_owned() }
    }
}

/// An endpoint for vectors; without a URL, the built-in table is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingEndpoint {
    /// Base URL.
    pub url: Option<String>,
    /// Name of the requested model.
    pub model: Option<String>,
}
