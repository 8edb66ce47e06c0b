//! What is in force for a run, and where each value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::project::layout::Commands;
use crate::project::services::EmbeddingEndpoint;
use crate::project::services::FactSettings;
use crate::project::services::Llm;
use crate::project::services::Share;
use crate::text::word_enum;
use crate::warning::Warning;

/// The most lines a context file may have; settings can only lower it.
pub const MAX_LINES: usize = 200;

word_enum! {
    /// A context file that is kept up to date.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// Returns the file's name.
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Agents => "AGENTS.md",
            Self::Gemini => "GEMINI.md",
        }
    }
}

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// Nowhere: it is the default.
    Default,
    /// In the user's own file.
    User {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// In the project's `annals.toml`.
    Project {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// In the environment.
    Environment {
        /// The variable.
        variable: String,
    },
    /// On the command line.
    Flag {
        /// The flag.
        flag: String,
    },
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

/// A value as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Not set, and without a default.
    Unset,
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Yes or no.
    Bool(bool),
    /// Several words.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("(not set)"),
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::List(words) => f.write_str(&words.join(", ")),
        }
    }
}

/// One key as `annals config` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// The value in force.
    pub value: Value,
    /// Where it was set.
    pub origin: Origin,
    /// What the key does.
    pub about: &'static str,
}

/// What is in force for this run, from all sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The planning folder, relative to the project, or `None` if annals looks for it.
    pub planning_dir: Option<PathBuf>,
    /// The most lines a context file may have.
    pub max_lines: usize,
    /// The most tokens the generated block may have.
    pub max_tokens: Option<usize>,
    /// The context files to keep up to date.
    pub targets: Vec<ContextTarget>,
    /// Whether a finished plan also corrects the position lines of STATE.md.
    pub fix_state: bool,
    /// Whether writes are recorded, so that they can be undone.
    pub history: bool,
    /// The project's own template of the context file.
    pub template: Option<PathBuf>,
    /// The commands of the workflow; empty ones are the layout's.
    pub commands: Commands,
    /// How long a lock that another process holds is waited for.
    pub lock_wait: Duration,
    /// The folder of the knowledge entries and the notepad, relative to the project.
    pub store: PathBuf,
    /// The folder of the repo ledger, relative to the project.
    pub ledger_dir: PathBuf,
    /// Folders outside the project that its links may lead to, absolute.
    pub linked_roots: Vec<PathBuf>,
    /// Whether a session's start carries the notepad.
    pub notepad: bool,
    /// Whose facts are meant where the command line does not say.
    pub user: Option<String>,
    /// The database of facts, where it is not in the user's data folder.
    pub db: Option<PathBuf>,
    /// How facts are searched, projected and guarded.
    pub facts: FactSettings,
    /// Who answers the memory auditor's prompt.
    pub llm: Llm,
    /// Who makes vectors.
    pub embedding: EmbeddingEndpoint,
    /// The address of a Chroma server for the vectors of facts.
    pub chroma: Option<String>,
    /// The server that devices share through.
    pub share: Share,
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    /// What a project may not set, and so does not.
    pub(crate) warnings: Vec<Warning>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            planning_dir: None,
            max_lines: MAX_LINES,
            max_tokens: None,
            targets: vec![ContextTarget::Claude],
            fix_state: false,
            history: true,
            template: None,
            commands: Commands::default(),
            lock_wait: Duration::from_secs(10),
            store: PathBuf::from(".vibekit"),
            ledger_dir: PathBuf::from("docs/memory"),
            linked_roots: Vec::new(),
            notepad: true,
            user: None,
            db: None,
            facts: FactSettings::default(),
            llm: Llm::default(),
            embedding: EmbeddingEndpoint::default(),
            chroma: None,
            share: Share::default(),
            origins: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns whether the user set how long a context file may be.
    pub fn has_own_limits(&self) -> bool {
        self.max_lines != Self::default().max_lines || self.max_tokens.is_some()
    }

    /// Returns where a key's value was set.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// Returns the folders that a link in the project may lead to.
    pub(crate) fn folders<'a>(&'a self, root: &'a Path) -> Vec<&'a Path> {
        let linked = self.linked_roots.iter().map(PathBuf::as_path);
        std::iter::once(root).chain(linked).collect()
    }

    /// Returns the folders that the user, and not the project, names, as they are written.
    pub(crate) fn users_folders(&self) -> Vec<PathBuf> {
        let named = [
            ("planning_dir", self.planning_dir.as_ref()),
            ("template", self.template.as_ref()),
            ("store", Some(&self.store)),
            ("ledger_dir", Some(&self.ledger_dir)),
        ];
        let is_users =
            |key: &str| !matches!(self.origin(key), Origin::Default | Origin::Project { .. });
        let named = named.into_iter().filter(|(key, _)| is_users(key));
        named.filter_map(|(_, folder)| folder.cloned()).collect()
    }

    /// Remembers that a key was set on the command line.
    pub(crate) fn set_by(&mut self, key: &'static str, flag: &str) {
        let flag = flag.to_owned();
        self.origins.insert(key, Origin::Flag { flag });
    }

    /// Puts a layout's own commands where none are set.
    pub(crate) fn complete(&mut self, layout: &Commands) {
        let own = &mut self.commands;
        own.verify.clone_from(&layout.verify);
        own.remediate.clone_from(&layout.remediate);
        own.discuss.clone_from(&layout.discuss);
        for (key, own, layout) in [
            ("commands.plan", &mut own.plan, &layout.plan),
            ("commands.execute", &mut own.execute, &layout.execute),
            ("commands.ship", &mut own.ship, &layout.ship),
            (
                "commands.new_milestone",
                &mut own.new_milestone,
                &layout.new_milestone,
            ),
        ] {
            if !self.origins.contains_key(key) {
                own.clone_from(layout);
            }
        }
    }
}
