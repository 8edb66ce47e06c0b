//! What is set about the facts and about the services that a user may let them reach.

use std::path::PathBuf;

use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// How words and meaning are joined when facts are looked for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub enum Fusion {
        /// The weights that measured best (`docs/facts.md`).
        #[default]
        Own = "own",
        /// Lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
    }
}

word_enum! {
    /// What a model's endpoint speaks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub enum Api {
        /// `OpenAI`'s chat completions, which most servers offer.
        #[default]
        OpenAi = "openai",
        /// Anthropic's messages.
        Anthropic = "anthropic",
    }
}

/// How facts are searched, projected and guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSettings {
    /// How words and meaning are joined.
    pub fusion: Fusion,
    /// After how many turns a profile is rebuilt.
    pub profile_turns: u64,
    /// Further keys, or beginnings of keys that end in a dot, of high risk.
    pub high_risk: Vec<String>,
}

impl Default for FactSettings {
    fn default() -> Self {
        Self {
            fusion: Fusion::default(),
            profile_turns: 5,
            high_risk: Vec::new(),
        }
    }
}

/// Who answers the memory auditor's prompt; with nothing set, nobody but the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Llm {
    /// A command that reads the prompt on its standard input.
    pub command: Option<String>,
    /// The base address of an endpoint.
    pub url: Option<String>,
    /// What the endpoint speaks.
    pub api: Api,
    /// The model that it is asked for.
    pub model: Option<String>,
}

/// The server that devices share facts and journal through, and who sees what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The address of a PostgreSQL database, as a `postgres://` URL.
    pub url: Option<String>,
    /// A file with the certificates of authorities that the server's may come from.
    pub ca: Option<PathBuf>,
    /// Keys, or beginnings of keys that end in a dot, and the scope of each.
    pub scopes: Vec<(String, String)>,
    /// The scope of the journal.
    pub journal: String,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            url: None,
            ca: None,
            scopes: Vec::new(),
            journal: "private".to_owned(),
        }
    }
}

/// An endpoint for vectors; with no address set, the built-in table makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingEndpoint {
    /// The base address.
    pub url: Option<String>,
    /// The model that it is asked for.
    pub model: Option<String>,
}
