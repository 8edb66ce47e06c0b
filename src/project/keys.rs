//! The settings that there are: a table in `templates/settings.json` says how each is written and who may set it.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::project::settings::SessionClient;

/// The sources that may set a key. A cloned repository must not be able to run, send or access anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

/// All keys.
pub(crate) static KEYS: LazyLock<Vec<SettingKey>> = LazyLock::new(|| {
    let table = include_str!("../../templates/settings.json");
    serde_json::from_str(table).expect("the built-in table")
});

impl SettingKey {
    /// Returns what a text of the environment means as a value of this key.
    pub(crate) fn typed(&self, text: &str) -> Value {
        let words = || {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            Value::from(words.collect::<Vec<_>>())
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
    pub(crate) fn checked(&self, value: Value) -> Result<Value, String> {
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
                        .collect::<Result<_, _>>()?;
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
            Kind::Scopes => {
                let rules = words(&value)?.into_iter().map(|word| {
                    let (key, scope) = word.split_once('=').ok_or_else(|| {
                        format!("{word:?} is not a scope rule: write KEY=SCOPE, like work.=core")
                    })?;
                    Ok(json!([key.trim(), scope_name(scope.trim())?]))
                });
                rules.collect::<Result<Vec<Value>, String>>().map(Value::from)
            }
        }
    }
}

fn line(value: &Value) -> Result<String, String> {
    match value.as_str() {
        None => Err("must be a string".to_owned()),
        Some(text) if text.trim().is_empty() => Err("must not be empty".to_owned()),
        Some(text) if text.chars().any(char::is_control) => {
            Err("must be one line without control characters".to_owned())
        }
        Some(text) => Ok(text.to_owned()),
    }
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    let words = value.as_array().and_then(|items| {
        items.iter().map(|item| Some(item.as_str()?.trim().to_owned())).collect::<Option<Vec<_>>>()
    });
    words.ok_or_else(|| "must be an array of strings".to_owned())
}

fn chosen(word: String, known: &[String]) -> Result<String, String> {
    if known.contains(&word) {
        return Ok(word);
    }
    Err(format!("{word:?} is not one of {}", known.join(", ")))
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
