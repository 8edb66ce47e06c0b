//! Defines the settings: their keys, and which sources may set them.

use std::time::Duration;

use crate::project::input::{Input, SettingValue};
use crate::project::server_address::ServerAddress;
use crate::project::services::Fusion;
use crate::project::settings::{ContextTarget, MAX_LINES, SessionClient, Setting, Settings, Value};

/// Maximum lock timeout that can be set, in seconds.
const MAX_LOCK_WAIT: u64 = 600;

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

/// Defines a key whose setting is read and shown as every setting of its type; the name is the path of the field.
macro_rules! key {
    ($first:ident $(. $rest:ident)*: $scope:ident, $about:literal) => {
        SettingKey {
            name: concat!(stringify!($first) $(, ".", stringify!($rest))*),
            scope: KeyScope::$scope,
            about: $about,
            set: |settings, input| {
                settings.$first$(.$rest)* = SettingValue::read(input)?;
                Ok(())
            },
            show: |settings| settings.$first$(.$rest)*.show(),
        }
    };
}

/// All keys.
pub(crate) const KEYS: &[SettingKey] = &[
    key! { planning_dir: Inside, "Planning folder, if it has a non-standard name" },
    SettingKey {
        name: "max_lines",
        scope: KeyScope::Anyone,
        about: "The maximum number of lines in a context file, up to 200",
        set: |settings, input| {
            let lines = input.number(1, MAX_LINES as u64)?;
            settings.max_lines = usize::try_from(lines).unwrap_or(MAX_LINES);
            Ok(())
        },
        show: |settings| Value::Number(settings.max_lines as u64),
    },
    SettingKey {
        name: "max_tokens",
        scope: KeyScope::Anyone,
        about: "The maximum number of tokens in the generated block",
        set: |settings, input| {
            let tokens = input.number(1, u64::from(u32::MAX))?;
            settings.max_tokens = usize::try_from(tokens).ok();
            Ok(())
        },
        show: |settings| match settings.max_tokens {
            Some(tokens) => Value::Number(tokens as u64),
            None => Value::Unset,
        },
    },
    SettingKey {
        name: "targets",
        scope: KeyScope::Anyone,
        about: "The context files to keep up to date: claude, agents, gemini",
        set: |settings, input| {
            settings.targets = targets(&input.words()?)?;
            Ok(())
        },
        show: |settings| {
            let words = settings.targets.iter().map(|target| target.as_str());
            Value::List(words.map(str::to_owned).collect())
        },
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
    SettingKey {
        name: "lock_wait",
        scope: KeyScope::Anyone,
        about: "Seconds to wait for a lock that another process holds",
        set: |settings, input| {
            settings.lock_wait = Duration::from_secs(input.number(0, MAX_LOCK_WAIT)?);
            Ok(())
        },
        show: |settings| Value::Number(settings.lock_wait.as_secs()),
    },
    key! { store: Inside, "The folder of the knowledge entries and the notepad" },
    key! { ledger_dir: Inside, "The folder of the repo ledger" },
    SettingKey {
        name: "linked_roots",
        scope: KeyScope::UserOnly,
        about: "Folders outside the project that its links may lead to",
        set: |settings, input| {
            settings.linked_roots = input.absolute_paths()?;
            Ok(())
        },
        show: |settings| {
            let roots = settings.linked_roots.iter();
            Value::List(roots.map(|root| root.display().to_string()).collect())
        },
    },
    key! {
        notepad: Anyone,
        "Whether a new session is given the notepad, once `annals setup` has been run"
    },
    SettingKey {
        name: "sessions",
        scope: KeyScope::UserOnly,
        about: "Whose transcripts of sessions are read: true for all clients, or a list of \
                claude, codex, gemini, opencode",
        set: |settings, input| {
            settings.sessions = session_clients(input)?;
            Ok(())
        },
        show: |settings| {
            if settings.sessions.is_empty() {
                return Value::Bool(false);
            }
            let words = settings.sessions.iter().map(|client| client.as_str());
            Value::List(words.map(str::to_owned).collect())
        },
    },
    key! {
        entries: Anyone,
        "Whether a new session is given the knowledge entries, once `annals setup` has been run"
    },
    key! { user: UserOnly, "The user whose facts are used if --user is not given" },
    key! { db: UserOnly, "The database of facts, instead of mem.db in the user's data folder" },
    SettingKey {
        name: "facts.fusion",
        scope: KeyScope::Anyone,
        about: "How the search for facts combines words and meaning: own, seed",
        set: |settings, input| {
            settings.facts.fusion = Fusion::choose(&input.line()?, "a fusion method")?;
            Ok(())
        },
        show: |settings| Value::Text(settings.facts.fusion.as_str().to_owned()),
    },
    SettingKey {
        name: "facts.profile_turns",
        scope: KeyScope::Anyone,
        about: "The number of turns after which a user's profile is rebuilt",
        set: |settings, input| {
            settings.facts.profile_turns = input.number(1, u64::from(u32::MAX))?;
            Ok(())
        },
        show: |settings| Value::Number(settings.facts.profile_turns),
    },
    SettingKey {
        name: "facts.high_risk",
        scope: KeyScope::UserOnly,
        about: "More keys, or prefixes of keys that end in a dot, that are treated as high-risk",
        set: |settings, input| {
            settings.facts.high_risk = input.words()?;
            Ok(())
        },
        show: |settings| Value::List(settings.facts.high_risk.clone()),
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
    SettingKey {
        name: "share.url",
        scope: KeyScope::UserOnly,
        about: "The PostgreSQL database that `annals share` goes through: postgres://role@host/database",
        set: |settings, input| {
            settings.share.url = SettingValue::read(input)?;
            Ok(())
        },
        show: |settings| settings.share.url.as_deref().map(shown_address).show(),
    },
    key! {
        share.ca: UserOnly,
        "A PEM file with the authority that issued the server's certificate, if it is not a public one"
    },
    SettingKey {
        name: "share.scopes",
        scope: KeyScope::UserOnly,
        about: "Who sees new facts, by key or prefix of keys: work.=core, health.=device; else private",
        set: |settings, input| {
            settings.share.scopes = scopes(&input.words()?)?;
            Ok(())
        },
        show: |settings| {
            let rules = settings.share.scopes.iter();
            Value::List(rules.map(|(key, scope)| format!("{key}={scope}")).collect())
        },
    },
    SettingKey {
        name: "share.journal",
        scope: KeyScope::UserOnly,
        about: "Who sees the journal: private (the user's own devices), device (nobody else), or a shared name",
        set: |settings, input| {
            settings.share.journal = scope_name(&input.line()?)?;
            Ok(())
        },
        show: |settings| settings.share.journal.show(),
    },
];

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
