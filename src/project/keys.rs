//! Defines the settings: their keys, and which sources may set them.

use std::path::PathBuf;
use std::time::Duration;

use crate::project::input::{Input, SettingValue};
use crate::project::server_address::ServerAddress;
use crate::project::services::Fusion;
use crate::project::settings::{ContextTarget, MAX_LINES, SessionClient, Setting, Settings, Value};

/// Maximum lock timeout that can be set, in seconds.
const MAX_LOCK_WAIT: u64 = 600;

/// Maximum of a number that has no other limit.
const MAX_SIZE: usize = u32::MAX as usize;

/// The sources that may set a key. A cloned repository must not be able to run, send or access anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// Any source.
    Anyone,
    /// Any source; in `annals.toml`, only a path inside the project.
    Inside,
    /// Any source; in `annals.toml`, only a slash command of a supported planning tool.
    SlashCommand,
    /// Any source except `annals.toml`.
    UserOnly,
}

/// A key: its name, who may set it, and how it is written to and read from [`Settings`].
pub(crate) struct SettingKey {
    pub(crate) name: &'static str,
    pub(crate) scope: KeyScope,
    pub(crate) about: &'static str,
    pub(crate) set: fn(&mut Settings, &Input) -> Result<(), String>,
    pub(crate) show: fn(&Settings) -> Value,
}

impl Settings {
    /// Returns all settings, with the current values and their origins.
    pub fn list(&self) -> Vec<Setting> {
        let setting = |key: &SettingKey| Setting {
            key: key.name,
            value: (key.show)(self),
            origin: self.origin(key.name),
            about: key.about,
        };
        KEYS.iter().map(setting).collect()
    }
}

/// Defines a key by the path of its field; its setting is read and shown as every setting of its type, unless the key
/// has functions of its own.
macro_rules! key {
    ($first:ident $(. $rest:ident)*: $scope:ident, $about:literal) => {
        key! { $first $(. $rest)*: $scope, $about, SettingValue::read, SettingValue::show }
    };
    ($first:ident $(. $rest:ident)*: $scope:ident, $about:literal, $read:expr, $show:expr) => {
        SettingKey {
            name: concat!(stringify!($first) $(, ".", stringify!($rest))*),
            scope: KeyScope::$scope,
            about: $about,
            set: |settings, input| {
                settings.$first$(.$rest)* = ($read)(input)?;
                Ok(())
            },
            show: |settings| ($show)(&settings.$first$(.$rest)*),
        }
    };
}

/// All keys.
pub(crate) const KEYS: &[SettingKey] = &[
    key! { planning_dir: Inside, "Planning folder, if it has a non-standard name" },
    key! {
        max_lines: Anyone,
        "The maximum number of lines in a context file, up to 200",
        |input: &Input| size(input, MAX_LINES),
        |lines: &usize| Value::Number(*lines as u64)
    },
    key! {
        max_tokens: Anyone,
        "The maximum number of tokens in the generated block",
        |input: &Input| size(input, MAX_SIZE).map(Some),
        |tokens: &Option<usize>| tokens.map_or(Value::Unset, |tokens| Value::Number(tokens as u64))
    },
    key! {
        targets: Anyone,
        "The context files to keep up to date: claude, agents, gemini",
        |input: &Input| targets(&input.words()?),
        |targets: &Vec<ContextTarget>| words(targets.iter().map(|target| target.as_str()))
    },
    key! {
        fix_state: Anyone,
        "Whether a finished plan also corrects the position lines of STATE.md"
    },
    key! {
        encoder: Anyone,
        "Whether the encoder reads the best texts of a search again: better ranked, and slower"
    },
    key! { history: Anyone, "Whether writes are recorded, so that `annals undo` can revert them" },
    key! {
        template: Inside,
        "The template of the context file, instead of templates/CLAUDE.md.j2 in the planning folder"
    },
    key! {
        commands.plan: SlashCommand,
        "The command to print for planning a phase; {phase} is its number"
    },
    key! {
        commands.execute: SlashCommand,
        "The command to print for executing a phase; {phase} is its number"
    },
    key! { commands.ship: SlashCommand, "The command to print for shipping the milestone" },
    key! { commands.new_milestone: SlashCommand, "The command to print for starting a milestone" },
    key! {
        lock_wait: Anyone,
        "Seconds to wait for a lock that another process holds",
        |input: &Input| input.number(0, MAX_LOCK_WAIT).map(Duration::from_secs),
        |wait: &Duration| Value::Number(wait.as_secs())
    },
    key! { store: Inside, "The folder of the knowledge entries and the notepad" },
    key! { ledger_dir: Inside, "The folder of the repo ledger" },
    key! {
        linked_roots: UserOnly,
        "Folders outside the project that its links may lead to",
        Input::absolute_paths,
        |roots: &Vec<PathBuf>| words(roots.iter().map(|root| root.display()))
    },
    key! {
        notepad: Anyone,
        "Whether a new session is given the notepad, once `annals setup` has been run"
    },
    key! {
        sessions: UserOnly,
        "Whose transcripts of sessions are read: true for all clients, or a list of claude, codex, gemini, opencode",
        session_clients,
        |clients: &Vec<SessionClient>| match clients.is_empty() {
            true => Value::Bool(false),
            false => words(clients.iter().map(|client| client.as_str())),
        }
    },
    key! {
        entries: Anyone,
        "Whether a new session is given the knowledge entries, once `annals setup` has been run"
    },
    key! { user: UserOnly, "The user whose facts are used if --user is not given" },
    key! { db: UserOnly, "The database of facts, instead of mem.db in the user's data folder" },
    key! {
        facts.fusion: Anyone,
        "How the search for facts combines words and meaning: own, seed",
        |input: &Input| Fusion::choose(&input.line()?, "a fusion method"),
        |fusion: &Fusion| Value::Text(fusion.as_str().to_owned())
    },
    key! {
        facts.profile_turns: Anyone,
        "The number of turns after which a user's profile is rebuilt",
        |input: &Input| input.number(1, MAX_SIZE as u64),
        |turns: &u64| Value::Number(*turns)
    },
    key! {
        facts.high_risk: UserOnly,
        "More keys, or prefixes of keys that end in a dot, that are treated as high-risk",
        Input::words,
        |keys: &Vec<String>| Value::List(keys.clone())
    },
    key! {
        llm.command: UserOnly,
        "A command that answers the memory auditor's prompt on its standard input"
    },
    key! {
        embedding.url: UserOnly,
        "An OpenAI-compatible endpoint for vectors, instead of the built-in table; its key is read only from ANNALS_EMBEDDING_API_KEY"
    },
    key! { embedding.model: UserOnly, "The model to request from the endpoint for vectors" },
    SettingKey {
        name: "chroma.url",
        scope: KeyScope::UserOnly,
        about: "A Chroma server for the vectors of facts, instead of the index in the database",
        set: |settings, input| {
            settings.chroma = SettingValue::read(input)?;
            Ok(())
        },
        show: |settings| settings.chroma.show(),
    },
    key! {
        share.url: UserOnly,
        "The PostgreSQL database that `annals share` goes through: postgres://role@host/database",
        SettingValue::read,
        |url: &Option<String>| url.as_deref().map(shown_address).show()
    },
    key! {
        share.ca: UserOnly,
        "A PEM file with the authority that issued the server's certificate, if it is not a public one"
    },
    key! {
        share.scopes: UserOnly,
        "Who sees new facts, by key or prefix of keys: work.=core, health.=device; else private",
        |input: &Input| scopes(&input.words()?),
        |rules: &Vec<(String, String)>| {
            words(rules.iter().map(|(key, scope)| format!("{key}={scope}")))
        }
    },
    key! {
        share.journal: UserOnly,
        "Who sees the journal: private (the user's own devices), device (nobody else), or a shared name",
        |input: &Input| scope_name(&input.line()?),
        SettingValue::show
    },
];

fn size(input: &Input, most: usize) -> Result<usize, String> {
    let size = input.number(1, most as u64)?;
    Ok(usize::try_from(size).unwrap_or(most))
}

fn words(words: impl Iterator<Item = impl ToString>) -> Value {
    Value::List(words.map(|word| word.to_string()).collect())
}

/// Returns the address of a database for display, or `***` if it does not show for certain where the password ends.
fn shown_address(url: &str) -> String {
    ServerAddress::parse(url).map_or_else(|_| "***".to_owned(), |address| address.to_string())
}

fn scopes(words: &[String]) -> Result<Vec<(String, String)>, String> {
    let rule = |word: &String| {
        let (key, scope) = word.split_once('=').ok_or_else(|| {
            format!("{word:?} is not a scope rule: write KEY=SCOPE, like work.=core")
        })?;
        Ok((key.trim().to_owned(), scope_name(scope.trim())?))
    };
    words.iter().map(rule).collect()
}

/// Returns a word if it is a valid name of a scope: it becomes part of addresses on the server.
pub(crate) fn scope_name(word: &str) -> Result<String, String> {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if word.is_empty() || word.len() > 48 || !word.bytes().all(is_allowed) {
        return Err(format!(
            "{word:?} is not a scope: use device, private, or a name of lower-case letters, digits, - and _"
        ));
    }
    Ok(word.to_owned())
}

fn targets(words: &[String]) -> Result<Vec<ContextTarget>, String> {
    let mut targets = Vec::new();
    for word in words {
        targets.push(ContextTarget::choose(word, "a context file")?);
    }
    if targets.is_empty() {
        return Err("names no context file: choose from claude, agents, gemini".to_owned());
    }
    targets.sort_unstable();
    targets.dedup();
    Ok(targets)
}

/// Returns the clients that a switch or a list names.
fn session_clients(input: &Input) -> Result<Vec<SessionClient>, String> {
    if let Ok(is_on) = input.boolean() {
        return Ok(if is_on { SessionClient::ALL.to_vec() } else { Vec::new() });
    }
    let words = input.words().map_err(|_| "must be true, false or a list of clients".to_owned())?;
    let clients = words.iter().map(|word| SessionClient::choose(word, "a client with transcripts"));
    let mut clients: Vec<SessionClient> = clients.collect::<Result<_, _>>()?;
    clients.sort_unstable();
    clients.dedup();
    Ok(clients)
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
}
