//! The settings in force for a run, with their keys, their values' forms and their origins.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{Error, Result};
use crate::text::{join, word_enum};

/// Maximum number of lines of a context file; settings can only lower it.
pub const MAX_LINES: usize = 200;

word_enum! {
    /// A context file that annals updates.
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

    /// Returns the clients that read the file and have another name.
    pub(crate) fn other_clients(self) -> &'static [&'static str] {
        if self == Self::Agents { &["codex", "opencode"] } else { &[] }
    }
}

word_enum! {
    /// A client that keeps transcripts of its sessions.
    #[derive(Default)]
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
#[derive(Debug, Serialize)]
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

word_enum! {
    /// How the scores by words and by meaning are combined in a search for facts.
    #[derive(Default)]
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
    /// A command that answers the memory auditor's prompt, which it reads from standard input; without one, the caller
    /// answers.
    #[serde(rename = "llm.command")]
    pub llm: Option<String>,
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
            llm: None,
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
        KEYS.iter()
            .map(|key| {
                let value = slot(&mut all, &key.name).map(Value::take).unwrap_or_default();
                Setting {
                    key: &key.name,
                    value: shown(&key.name, value),
                    origin: self.origin(&key.name),
                    about: &key.about,
                }
            })
            .collect()
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
        [
            ("planning_dir", self.planning_dir.as_ref()),
            ("store", Some(&self.store)),
            ("ledger_dir", Some(&self.ledger_dir)),
        ]
        .into_iter()
        .filter(|(key, _)| self.origin(key).is_users())
        .filter_map(|(_, folder)| folder.cloned())
        .collect()
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
        (_, Value::Array(words)) => words
            .into_iter()
            .map(|pair| match &pair {
                Value::Array(pair) => join(pair.iter().filter_map(Value::as_str), "=").into(),
                _ => pair,
            })
            .collect(),
        (_, value) => value,
    }
}

/// The sources that may set a key. A cloned repository must not be able to run, send or access anything.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// Any source.
    Anyone,
    /// Any source; in `annals.toml`, only a path inside the project.
    Inside,
    /// Any source except `annals.toml`.
    UserOnly,
}

/// How the value of a key is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// One line of text.
    Line,
    Bool,
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// One of these words.
    Choice(Vec<String>),
    /// Words, of these if there are any: an array in a file, comma-separated elsewhere.
    List(Vec<String>),
    /// Absolute paths.
    Paths,
    /// A switch, or a list of clients with transcripts.
    Clients,
    /// The name of a scope of sharing.
    Scope,
    /// Rules that give the scope of a key: `work.=core`.
    Scopes,
}

/// A key of the settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingKey {
    pub(crate) name: String,
    pub(crate) scope: KeyScope,
    kind: Kind,
    pub(crate) about: String,
}

/// A checked value, or what is wrong with it, to be read after the name of its key.
pub(crate) type Checked<T> = Result<T, String>;

/// All keys.
pub(crate) static KEYS: LazyLock<Vec<SettingKey>> = LazyLock::new(|| {
    let table = include_str!("../../templates/settings.json");
    serde_json::from_str(table).expect("the built-in table")
});

impl SettingKey {
    /// Returns what a text of the environment means as a value of this key.
    pub(crate) fn typed(&self, text: &str) -> Value {
        let words = || {
            Value::from(
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>(),
            )
        };
        let switch = || match text.trim() {
            "true" | "1" | "yes" | "on" => Some(json!(true)),
            "false" | "0" | "no" | "off" => Some(json!(false)),
            _ => None,
        };
        match self.kind {
            Kind::Bool => switch().unwrap_or_else(|| json!(text)),
            Kind::Number(..) => {
                text.trim().parse().map_or(json!(text), |number: u64| json!(number))
            }
            Kind::Clients => switch().unwrap_or_else(words),
            Kind::List(_) | Kind::Paths | Kind::Scopes => words(),
            Kind::Line | Kind::Choice(_) | Kind::Scope => json!(text),
        }
    }

    /// Returns a value as the settings hold it, or what is wrong with it.
    pub(crate) fn checked(&self, value: Value) -> Checked<Value> {
        match &self.kind {
            Kind::Line => line(&value).map(Value::from),
            Kind::Bool if value.is_boolean() => Ok(value),
            Kind::Bool => Err("must be true or false".to_owned()),
            Kind::Number(least, most) => match value.as_u64() {
                Some(number) if (*least..=*most).contains(&number) => Ok(value),
                _ => Err(format!("must be a whole number from {least} to {most}")),
            },
            Kind::Choice(known) => chosen(line(&value)?, known).map(Value::from),
            Kind::List(known) => {
                let mut words = words(&value)?;
                if !known.is_empty() {
                    words = words
                        .into_iter()
                        .map(|word| chosen(word, known))
                        .collect::<Checked<_>>()?;
                    if words.is_empty() {
                        return Err(format!("must name one of {}", known.join(", ")));
                    }
                    words.sort_unstable_by_key(|word| known.iter().position(|one| one == word));
                    words.dedup();
                }
                Ok(json!(words))
            }
            Kind::Paths => {
                let paths = words(&value)?;
                match paths.iter().find(|path| !Path::new(path).is_absolute()) {
                    Some(path) => Err(format!("must be absolute paths, which {path} is not")),
                    None => Ok(json!(paths)),
                }
            }
            Kind::Clients => {
                let known = SessionClient::ALL.map(|client| client.as_str().to_owned()).to_vec();
                match value.as_bool() {
                    Some(true) => Ok(json!(known)),
                    Some(false) => Ok(json!([])),
                    None if value == json!([]) => Ok(value),
                    None if value.is_array() => {
                        Self { kind: Kind::List(known), ..self.clone() }.checked(value)
                    }
                    None => Err("must be true, false or a list of clients".to_owned()),
                }
            }
            Kind::Scope => scope_name(&line(&value)?).map(Value::from),
            Kind::Scopes => words(&value)?
                .into_iter()
                .map(|word| {
                    let (key, scope) = word.split_once('=').ok_or_else(|| {
                        format!("{word:?} is not a scope rule: write KEY=SCOPE, like work.=core")
                    })?;
                    Ok(json!([key.trim(), scope_name(scope.trim())?]))
                })
                .collect::<Checked<Vec<Value>>>()
                .map(Value::from),
        }
    }
}

fn line(value: &Value) -> Checked<String> {
    match value.as_str() {
        None => Err("must be a string".to_owned()),
        Some(text) if text.trim().is_empty() => Err("must not be empty".to_owned()),
        Some(text) if text.chars().any(char::is_control) => {
            Err("must be one line without control characters".to_owned())
        }
        Some(text) => Ok(text.to_owned()),
    }
}

fn words(value: &Value) -> Checked<Vec<String>> {
    value
        .as_array()
        .and_then(|items| {
            items
                .iter()
                .map(|item| Some(item.as_str()?.trim().to_owned()))
                .collect::<Option<Vec<_>>>()
        })
        .ok_or_else(|| "must be an array of strings".to_owned())
}

fn chosen(word: String, known: &[String]) -> Checked<String> {
    if known.contains(&word) {
        return Ok(word);
    }
    Err(format!("{word:?} is not one of {}", known.join(", ")))
}

/// Returns a word if it is a valid name of a scope: it becomes part of addresses on the server.
fn scope_name(word: &str) -> Checked<String> {
    if word.is_empty()
        || word.len() > 48
        || !word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
    {
        return Err(format!(
            "{word:?} is not a scope: use device, private, or a name of lower-case letters, digits, - and _"
        ));
    }
    Ok(word.to_owned())
}

/// An example of an address, for hints.
pub(crate) const EXAMPLE: &str = "write it like postgres://ada@db.example.com/annals";

/// The address of a database on one host. It is displayed without its password.
#[derive(Debug)]
pub(crate) struct ServerAddress {
    pub(crate) config: Config,
    host: Host,
}

impl ServerAddress {
    /// Parses a URL; fails if it does not show for certain where the password ends.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if has_several_at_signs(url) {
            // Host and database would be shown, and one of them contains a part of the password.
            return Err(Error::usage("share.url has more than one @")
                .hint("write an @ of the password as %40"));
        }
        let config = Config::from_str(url).map_err(|error| {
            let why = std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), ToString::to_string);
            Error::usage(format!("share.url is not the address of a PostgreSQL database: {why}"))
                .hint(EXAMPLE)
        })?;
        let [host] = config.get_hosts() else {
            return Err(Error::usage("share.url must name exactly one host").hint(EXAMPLE));
        };
        let host = host.clone();
        Ok(Self { config, host })
    }

    /// Returns the host, or the folder of its socket.
    pub(crate) fn host(&self) -> String {
        match &self.host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    }

    /// Returns whether the host is this machine.
    pub(crate) fn is_local(&self) -> bool {
        match &self.host {
            Host::Tcp(name) => {
                let address = name.parse::<IpAddr>();
                name == "localhost" || address.is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.config.get_ports().first().copied().unwrap_or(5432)
    }

    /// Returns the role, which identifies a person or a service to the server.
    pub(crate) fn role(&self) -> Option<&str> {
        self.config.get_user()
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(role) = self.role() {
            write!(to, "{role}@")?;
        }
        write!(to, "{}:{}", self.host(), self.port())?;
        match self.config.get_dbname() {
            Some(database) => write!(to, "/{database}"),
            None => Ok(()),
        }
    }
}

/// Returns whether a URL has several `@`: then one in the password was taken for the end of the password, and the
/// rest of it for the host or the database.
fn has_several_at_signs(url: &str) -> bool {
    url.split_once("://")
        .map(|(_, rest)| rest)
        .is_some_and(|rest| rest.split('?').next().unwrap_or(rest).matches('@').count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_name_is_short_and_plain() {
        assert!(scope_name("core-team_2").is_ok());
        for word in ["", "Core", "a/b", "a b", "x'y", &"a".repeat(49)] {
            assert!(scope_name(word).is_err(), "{word:?}");
        }
    }

    #[test]
    fn the_password_of_a_database_is_never_displayed() {
        for (url, displayed) in [
            ("postgres://role@host/db", "role@host:5432/db"),
            ("postgres://role:ss99word@host:5433/db", "role@host:5433/db"),
            ("postgres://role:pa/ss99word@host/db", "role@host:5432/db"),
            ("postgres://host/db?user=role&password=ss99word", "role@host:5432/db"),
            ("host=h user=r password=ss99word", "r@h:5432"),
            ("postgres://role:p@ss99word@host/db", "-"),
            ("postgres://role:p@x/y99word@host/db", "-"),
            ("postgres://role:p@%2fxy99word@host/db", "-"),
            ("postgres://role:ss99word@host/a%40b", "role@host:5432/a@b"),
            ("postgres://role:ss99word@one,two/db", "-"),
            ("role:ss99word@host/db", "-"),
        ] {
            let address = ServerAddress::parse(url);
            let address = address.map_or("-".to_owned(), |address| address.to_string());
            assert_eq!(address, displayed, "{url}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let is_local = |host: &str| {
            let address = ServerAddress::parse(&format!("host={host} user=ada"));
            address.unwrap().is_local()
        };
        for host in ["localhost", "127.0.0.1", "127.3.2.1", "::1"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["db.example.com", "10.0.0.1", "localhost.example.com"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
