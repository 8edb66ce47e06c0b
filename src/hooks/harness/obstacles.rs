//! Inspects a harness's own files: has it disabled what `setup` wrote, or not approved it yet?

use std::path::{Path, PathBuf};

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde::Deserialize;
use serde_json::Value;

use crate::hooks::harness::{HarnessProfile, SetupScope};
use crate::hooks::setup::HarnessDir;
use crate::project::Project;
use crate::storage::read;

/// Something that prevents our settings from working, or will at the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// A description of the problem.
    pub message: String,
    /// What to do about it.
    pub next: &'static str,
    /// Whether it was decided; a pending approval is requested by the harness at its next start.
    pub is_decided: bool,
}

/// A question to a harness's own files.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Check {
    /// The files, JSON or TOML.
    files: Vec<At>,
    /// Places in them, as keys separated by spaces; the first word of a key may be one of [`places`].
    at: Vec<String>,
    /// What the value must be.
    test: Test,
    /// Whether it is the absence of such a value that is an obstacle: an approval that is open until one of the places
    /// says so.
    is_pending: bool,
    /// The only scope that it is about, if it is one.
    only_in: Option<SetupScope>,
    /// The obstacle; `{file}` is the file.
    says: String,
    next: String,
}

/// A file of a harness.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum At {
    /// In the folder of the user's settings.
    User(String),
    /// In the folder of the scope's settings.
    Own(String),
    /// Beside the folder of the scope's settings.
    Base(String),
    /// In the folder of the user's settings, else in the home directory.
    State(String),
}

/// What a value must be.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Test {
    /// `true`, a word of trust, a list with `annals`, or any object.
    #[default]
    On,
    /// `false`.
    Off,
    /// A list without `annals`.
    Lacks,
}

impl Check {
    fn obstacle(&'static self, project: &Project, dir: &HarnessDir) -> Option<Obstacle> {
        if self.only_in.is_some_and(|scope| scope != dir.scope) {
            return None;
        }
        let passing = self.files.iter().find_map(|at| {
            let path = at.path(project, dir);
            let value = value_of(&path)?;
            let found = self.at.iter().any(|keys| {
                let found = places(vec![&value], keys, &project.root, &dir.folder);
                found.into_iter().any(|value| passes(value, self.test))
            });
            found.then_some(path)
        });
        if passing.is_some() == self.is_pending {
            return None;
        }
        let file = passing.map(|path| project.relative(&path).display().to_string());
        Some(Obstacle {
            message: self.says.replace("{file}", &file.unwrap_or_default()),
            next: &self.next,
            is_decided: !self.is_pending,
        })
    }
}

impl At {
    fn path(&self, project: &Project, dir: &HarnessDir) -> PathBuf {
        match self {
            Self::User(name) => dir.user_folder.join(name),
            Self::Own(name) => dir.folder.join(name),
            Self::Base(name) => dir.base.join(name),
            Self::State(name) => {
                let inside = dir.user_folder.join(name);
                let home = project.environment.home().filter(|_| !inside.exists());
                home.map_or(inside, |home| home.join(name))
            }
        }
    }
}

/// Returns what prevents the settings of a harness from working.
pub(crate) fn obstacles(
    profile: &'static HarnessProfile,
    project: &Project,
    dir: &HarnessDir,
) -> Vec<Obstacle> {
    profile.checks.iter().filter_map(|check| check.obstacle(project, dir)).collect()
}

/// Returns the content of a JSON or TOML file; a folder is an empty object. `None` if it is missing or unreadable, because
/// this is only an inspection.
fn value_of(path: &Path) -> Option<Value> {
    if path.is_dir() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    let text = read::text(path).ok().flatten()?.value;
    if path.extension().is_some_and(|extension| extension == "toml") {
        return toml::from_str(&text).ok();
    }
    parse_to_serde_value(&text, &ParseOptions::default()).ok()
}

/// Returns the values that keys lead to.
///
/// A key that begins with `*` stands for several: `*project` is the project's folder, `*hooks` each hook in the scope's
/// hooks file, `*annals` each key that begins with `annals`.
fn places<'v>(
    mut values: Vec<&'v Value>,
    keys: &str,
    root: &Path,
    folder: &Path,
) -> Vec<&'v Value> {
    let hooks = folder.join("hooks.json").display().to_string();
    for key in keys.split_whitespace() {
        let is_meant = |name: &str| match key {
            "*project" => Path::new(name) == root,
            "*hooks" => name.starts_with(&hooks),
            "*annals" => name.starts_with("annals"),
            key => name == key,
        };
        let objects = values.into_iter().filter_map(Value::as_object).flatten();
        values = objects.filter(|(name, _)| is_meant(name)).map(|(_, value)| value).collect();
    }
    values
}

fn passes(value: &Value, test: Test) -> bool {
    let lists_us = |list: &Vec<Value>| {
        let mut names = list.iter().filter_map(Value::as_str);
        names.any(|name| name == "annals" || name.contains("annals hook"))
    };
    match (test, value) {
        (Test::On, Value::String(word)) => {
            !word.to_lowercase().contains("not") && word != "untrusted"
        }
        (Test::On, Value::Array(list)) => lists_us(list),
        (Test::On, value) => *value == true || value.is_object(),
        (Test::Off, value) => *value == false,
        (Test::Lacks, Value::Array(list)) => !lists_us(list),
        (Test::Lacks, _) => false,
    }
}
