//! The settings in force for a run, with their origins.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::project::keys::{KEYS, SettingKey};
use crate::project::server_address::ServerAddress;
use crate::text::word_enum;

/// Maximum number of lines of a context file; settings can only lower it.
pub const MAX_LINES: usize = 200;

word_enum! {
    /// A context file that annals updates.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    pub enum ContextTarget {
        /// `CLAUDE.md`.
        Claude = "claude",
        /// `AGENTS.md`.
        Agents = "agents",
        /// `GEMINI.md`.
        Gemini = "gemini",
    }
}

impl ContextTarget {
    /// Returns the name of the file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Agents => "AGENTS.md",
            Self::Gemini => "GEMINI.md",
        }
    }
}

word_enum! {
    /// A client that keeps transcripts of its sessions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    pub enum SessionClient {
        /// Claude Code.
        #[default]
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
    }
}

/// The source of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// Not set: the default.
    Default,
    /// The user's own settings file.
    User {
        /// The file.
        file: PathBuf,
        /// Line number, counted from 1.
        line: usize,
    },
    /// The project's `annals.toml`.
    Project {
        /// The file.
        file: PathBuf,
        /// Line number, counted from 1.
        line: usize,
    },
    /// The environment.
    Environment {
        /// Name of the variable.
        variable: String,
    },
    /// The command line.
    Flag {
        /// Name of the flag.
        flag: String,
    },
}

impl Origin {
    /// Returns whether the user set the value, rather than a project, which may come from anywhere.
    pub(crate) fn is_users(&self) -> bool {
        !matches!(self, Self::Default | Self::Project { .. })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { file, line } | Self::Project { file, line } => {
                write!(f, "{}:{line}", file.display())
            }
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { flag } => f.write_str(flag),
        }
    }
}

/// A setting as listed by `annals config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// The value in force; null if it is not set and has no default.
    pub value: Value,
    /// The source of the value.
    pub origin: Origin,
    /// What the key does.
    pub about: &'static str,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match &self.value {
            Value::Null => "(not set)".to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                words.join(", ")
            }
            other => other.to_string(),
        };
        write!(f, "{} = {value}", self.key)
    }
}

word_enum! {
    /// How the scores by words and by meaning are combined in a search for facts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Fusion {
        /// The weights that performed best (`docs/facts.md`).
        #[default]
        Own = "own",
        /// Lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
    }
}

/// Settings for the search, the profile and the protection of facts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FactSettings {
    /// How scores by words and by meaning are combined.
    pub fusion: Fusion,
    /// Number of turns after which a profile is rebuilt.
    pub profile_turns: u64,
    /// Additional high-risk keys, or key prefixes that end with a dot.
    pub high_risk: Vec<String>,
}

/// What answers the memory auditor's prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Llm {
    /// A command that reads the prompt from standard input; without one, the caller answers.
    pub command: Option<String>,
}

/// The server through which devices share facts and the journal, and the scopes of sharing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
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

/// An endpoint for vectors; without a URL, the built-in table is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct EmbeddingEndpoint {
    /// Base URL.
    pub url: Option<String>,
    /// Name of the requested model.
    pub model: Option<String>,
}

/// The settings in force for this run, merged from all sources.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate setting")]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Settings {
    /// The planning folder, relative to the project, or `None` to search for it.
    pub planning_dir: Option<PathBuf>,
    /// Maximum number of lines of a context file.
    pub max_lines: usize,
    /// The context files to keep up to date.
    pub targets: Vec<ContextTarget>,
    /// Whether the encoder reads the best texts of a search again.
    pub encoder: bool,
    /// Whether a finished plan also corrects the position lines of STATE.md.
    pub fix_state: bool,
    /// Whether writes are recorded, so that they can be undone.
    pub history: bool,
    /// Timeout for a lock held by another process.
    #[serde(with = "seconds")]
    pub lock_wait: Duration,
    /// The folder of the knowledge entries and the notepad, relative to the project.
    pub store: PathBuf,
    /// The folder of the repo ledger, relative to the project.
    pub ledger_dir: PathBuf,
    /// Folders outside the project that its links may lead to, absolute.
    pub linked_roots: Vec<PathBuf>,
    /// Whether the text at the start of a session includes the notepad.
    pub notepad: bool,
    /// Whether the text at the start of a session includes the knowledge entries.
    pub entries: bool,
    /// The user whose facts are used, unless the command line names one.
    pub user: Option<String>,
    /// The database of facts, if it is not in the user's data folder.
    pub db: Option<PathBuf>,
    /// Settings for the search, the profile and the protection of facts.
    pub facts: FactSettings,
    /// What answers the memory auditor's prompt.
    pub llm: Llm,
    /// The endpoint that computes vectors.
    pub embedding: EmbeddingEndpoint,
    /// URL of a Chroma server for the vectors of facts.
    #[serde(rename = "chroma.url")]
    pub chroma: Option<String>,
    /// The server through which devices share data.
    pub share: Share,
    /// The clients whose transcripts of sessions are read.
    pub sessions: Vec<SessionClient>,
    #[serde(skip)]
    pub(crate) origins: BTreeMap<&'static str, Origin>,
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(wait: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(wait.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            planning_dir: None,
            max_lines: MAX_LINES,
            targets: vec![ContextTarget::Claude],
            fix_state: false,
            encoder: true,
            history: true,
            lock_wait: Duration::from_secs(10),
            store: PathBuf::from(".vibekit"),
            ledger_dir: PathBuf::from("docs/memory"),
            linked_roots: Vec::new(),
            notepad: true,
            entries: true,
            user: None,
            db: None,
            facts: FactSettings { fusion: Fusion::Own, profile_turns: 5, high_risk: Vec::new() },
            llm: Llm::default(),
            embedding: EmbeddingEndpoint::default(),
            chroma: None,
            share: Share { url: None, ca: None, scopes: Vec::new(), journal: "private".to_owned() },
            sessions: Vec::new(),
            origins: BTreeMap::new(),
        }
    }
}

/// Returns the place of a key in the settings as a document.
pub(crate) fn slot<'a>(settings: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    let (group, name) = key.split_once('.').unwrap_or((key, key));
    let group = if settings.get(key).is_some() { key } else { group };
    let found = settings.get_mut(group)?;
    if group == key { Some(found) } else { found.get_mut(name) }
}

impl Settings {
    /// Returns all settings, with the current values and their origins.
    pub fn list(&self) -> Vec<Setting> {
        let mut all = serde_json::to_value(self).unwrap_or_default();
        let setting = |key: &'static SettingKey| {
            let value = slot(&mut all, &key.name).map(Value::take).unwrap_or_default();
            Setting {
                key: &key.name,
                value: shown(&key.name, value),
                origin: self.origin(&key.name),
                about: &key.about,
            }
        };
        KEYS.iter().map(setting).collect()
    }

    /// Returns whether the user set limits for the context files.
    pub fn has_own_limits(&self) -> bool {
        self.max_lines != Self::default().max_lines
    }

    /// Returns the source of a key's value.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// Returns the folders that links in the project may lead to.
    pub(crate) fn folders<'a>(&'a self, root: &'a Path) -> Vec<&'a Path> {
        let linked = self.linked_roots.iter().map(PathBuf::as_path);
        std::iter::once(root).chain(linked).collect()
    }

    /// Returns the folders named by the user rather than by the project, as written.
    pub(crate) fn user_set_folders(&self) -> Vec<PathBuf> {
        let folders = [
            ("planning_dir", self.planning_dir.as_ref()),
            ("store", Some(&self.store)),
            ("ledger_dir", Some(&self.ledger_dir)),
        ];
        let folders = folders.into_iter().filter(|(key, _)| self.origin(key).is_users());
        folders.filter_map(|(_, folder)| folder.cloned()).collect()
    }

    /// Records that a key was set on the command line.
    pub(crate) fn set_flag_origin(&mut self, key: &'static str, flag: &str) {
        let flag = flag.to_owned();
        self.origins.insert(key, Origin::Flag { flag });
    }
}

/// Returns a value for display.
fn shown(key: &str, value: Value) -> Value {
    match (key, value) {
        // An address that does not show for certain where its password ends is not shown.
        ("share.url", Value::String(url)) => ServerAddress::parse(&url)
            .map_or_else(|_| "***".into(), |address| address.to_string().into()),
        ("sessions", Value::Array(clients)) if clients.is_empty() => Value::Bool(false),
        (_, Value::String(text)) if text.is_empty() => Value::Null,
        (_, Value::Array(words)) => {
            let rule = |pair: Value| match &pair {
                Value::Array(pair) => {
                    let words: Vec<&str> = pair.iter().filter_map(Value::as_str).collect();
                    words.join("=").into()
                }
                _ => pair,
            };
            words.into_iter().map(rule).collect()
        }
        (_, value) => value,
    }
}
