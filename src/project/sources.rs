//! Reads the settings from all sources, in ascending order of precedence.
//!
//! ```toml
//! # annals.toml
//! max_lines = 150
//! targets = ["claude", "agents"]
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};
use crate::project::open::Environment;
use crate::project::settings::{Checked, KEYS, KeyScope, Origin, SettingKey, Settings, slot};
use crate::storage::read;
use crate::text::line_number;

/// File of the project's own settings, at its root.
pub(super) const PROJECT_FILE: &str = "annals.toml";

/// File of the user's settings, in the user's configuration directory.
const USER_FILE: &str = "config.toml";

/// Maximum size of a settings file, in bytes; parsed, it can take fifty times as much memory.
const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Prefix of the environment variables for settings.
const PREFIX: &str = "ANNALS_";

/// The settings as a document, while they are read.
struct Draft {
    values: Value,
    origins: BTreeMap<&'static str, Origin>,
}

/// Returns the settings of a project: defaults, the user's file, `annals.toml`, the environment.
pub(crate) fn settings(root: &Path, environment: &Environment) -> Result<Settings> {
    let mut draft = Draft::new()?;
    if let Some(dir) = environment.config_dir() {
        let path = dir.join(USER_FILE);
        if let Some(bytes) = read::users_bytes(&path)? {
            draft.read_file(&bytes, &path, |file, line| Origin::User { file, line })?;
        }
    }
    if let Some(bytes) = read::bytes(&root.join(PROJECT_FILE))? {
        let path = Path::new(PROJECT_FILE);
        draft.read_file(&bytes, path, |file, line| Origin::Project { file, line })?;
    }
    draft.read_environment(environment)?;
    draft.finish()
}

impl Draft {
    fn new() -> Result<Self> {
        let values = serde_json::to_value(Settings::default())
            .map_err(Error::cannot("read the settings"))?;
        Ok(Self { values, origins: BTreeMap::new() })
    }

    fn finish(self) -> Result<Settings> {
        let settings: Settings =
            serde_json::from_value(self.values).map_err(Error::cannot("read the settings"))?;
        Ok(Settings { origins: self.origins, ..settings })
    }

    fn set(&mut self, key: &'static SettingKey, value: Value, origin: Origin) -> Checked<()> {
        let value = key.checked(value)?;
        if let Some(slot) = slot(&mut self.values, &key.name) {
            *slot = value;
        }
        self.origins.insert(&key.name, origin);
        Ok(())
    }

    /// Reads a settings file.
    fn read_file(
        &mut self,
        bytes: &[u8],
        path: &Path,
        origin: fn(PathBuf, usize) -> Origin,
    ) -> Result<()> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(Error::usage("is larger than 1 MiB, so it is not read")
                .about(path)
                .hint("a settings file needs only a few lines"));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Error::usage("is not valid UTF-8").at(path, line_number(bytes, error.valid_up_to()))
        })?;
        let invalid = |error: &toml::de::Error| {
            let line = error.span().map(|span| line_number(bytes, span.start));
            Error::usage(error.message().to_owned())
                .at(path, line)
                .hint("settings are written as TOML, for example: max_lines = 150")
        };
        let table = DeTable::parse(text).map_err(|error| invalid(&error))?;
        let values: Value = toml::from_str(text).map_err(|error| invalid(&error))?;
        let mut found = Vec::new();
        flatten("", table.get_ref(), &values, &mut found);
        // By position, so that the first error in the file is the one reported.
        found.sort_by_key(|(_, at, _)| *at);
        for (name, at, value) in found {
            let line = line_number(bytes, at);
            self.read_key(&name, value, origin(path.to_owned(), line))
                .map_err(|error| error.at(path, line))?;
        }
        Ok(())
    }

    fn read_key(&mut self, name: &str, value: &Value, origin: Origin) -> Result<()> {
        let key = KEYS.iter().find(|key| key.name == name).ok_or_else(|| unknown(name))?;
        if matches!(origin, Origin::Project { .. }) {
            check_scope(key, value)?;
        }
        self.set(key, value.clone(), origin)
            .map_err(|problem| Error::usage(format!("{name} {problem}")))
    }

    fn read_environment(&mut self, environment: &Environment) -> Result<()> {
        for key in KEYS.iter() {
            let variable = variable(&key.name);
            if let Some(text) = environment.get(&variable) {
                let origin = Origin::Environment { variable: variable.clone() };
                self.set(key, key.typed(text), origin)
                    .map_err(|problem| Error::usage(format!("{variable} {problem}")))?;
            }
        }
        Ok(())
    }
}

/// Lists the keys in a table, each with its position and its value.
fn flatten<'v>(
    prefix: &str,
    table: &DeTable,
    values: &'v Value,
    found: &mut Vec<(String, usize, &'v Value)>,
) {
    for (name, value) in table {
        let values = &values[name.get_ref().as_ref()];
        let key = format!("{prefix}{}", name.get_ref());
        let group = format!("{key}.");
        match value.get_ref() {
            DeValue::Table(table) if KEYS.iter().any(|key| key.name.starts_with(&group)) => {
                flatten(&group, table, values, found);
            }
            _ => found.push((key, name.span().start, values)),
        }
    }
}

/// Returns an error for a setting that a cloned repository must not be able to make.
fn check_scope(key: &SettingKey, value: &Value) -> Result<()> {
    let reason = match key.scope {
        KeyScope::Anyone => return Ok(()),
        KeyScope::UserOnly => "can only be set by the user",
        KeyScope::Inside => match value.as_str().map(Path::new) {
            Some(path) if !stays_inside(path) => "leads outside the project, which is refused",
            Some(path) if is_in_git_folder(path) => "leads into .git, which is refused",
            _ => return Ok(()),
        },
    };
    let (name, variable) = (&key.name, variable(&key.name));
    Err(Error::refused(format!("{name} {reason}, because a project may come from anywhere"))
        .hint(format!("set it in your own {USER_FILE} or as {variable}")))
}

/// Returns whether a path is relative and contains no `..`; links are not followed.
fn stays_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns whether a path leads into git's own folder, which may contain passwords; some file systems ignore
/// case.
fn is_in_git_folder(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// Returns the error for an unknown key, with the known one of the most similar spelling.
fn unknown(name: &str) -> Error {
    // A file can contain a name of megabytes.
    let name: String = name.chars().take(60).collect();
    let error = Error::usage(format!("unknown setting {name:?}"));
    let known = KEYS.iter().map(|key| &key.name);
    match known.min_by_key(|known| strsim::osa_distance(&name, known)) {
        Some(nearest) => error.hint(format!("did you mean {nearest}? `annals config` lists all")),
        None => error,
    }
}

#[cfg(test)]
mod tests;
