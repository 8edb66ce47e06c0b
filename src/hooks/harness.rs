//! The supported harnesses (programs that run agents), and what prevents one from calling annals.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde::Deserialize;
use serde_json::Value;

use crate::hooks::Event;
use crate::hooks::setup::HarnessDir;
use crate::markdown::without_comments;
use crate::project::{Environment, Project};
use crate::storage::read;
use crate::text::word_enum;

word_enum! {
    /// A program that runs agents and can call `annals`.
    #[derive(Default)]
    pub enum Harness {
        /// Claude Code.
        #[default]
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
        /// Qwen Code.
        Qwen = "qwen",
        /// GitHub Copilot CLI.
        Copilot = "copilot",
    }
}

word_enum! {
    /// The scope of settings.
    #[derive(Default)]
    pub enum SetupScope {
        /// The project's settings, which may be committed to its repository.
        #[default]
        Project = "project",
        /// The user's settings, for all projects.
        User = "user",
    }
}

impl SetupScope {
    /// Returns whose sessions the settings are for.
    pub(crate) fn whose(self) -> &'static str {
        match self {
            Self::Project => "this project",
            Self::User => "all of your projects",
        }
    }

    /// Returns whether the scope is meant by what is for one scope, or else for both.
    pub(crate) fn is_meant(self, only: Option<Self>) -> bool {
        only.is_none_or(|only| only == self)
    }
}

/// The properties of one harness.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HarnessProfile {
    /// The harness; its word is the name on the command line.
    pub(crate) harness: Harness,
    /// Its name as users write it.
    pub(crate) title: String,
    /// Its folder in a project.
    pub(crate) folder: String,
    /// The environment variable in which it passes the project's folder to hooks.
    pub(crate) project_variable: Option<String>,
    /// An environment variable that it alone sets for its hooks.
    own_variable: Option<String>,
    /// The location of the user's own settings.
    pub(crate) user_folder: UserFolder,
    /// The settings files that contain entries of ours.
    pub(crate) files: Vec<SettingsFile>,
    /// Its own names for events; `annals` accepts them and uses them in answers.
    events: Vec<(Event, String)>,
    /// The hooks that `setup` writes.
    pub(crate) hooks: Vec<Hook>,
    /// Why it has no hook for a breadcrumb, if it could have one.
    pub(crate) no_breadcrumb: Option<String>,
    /// Whether its commands contain `--harness`; without it, the caller is Claude Code.
    is_named_in_commands: bool,
    /// Whether it reads `additionalContext` at the top of an answer, not below `hookSpecificOutput`.
    pub(crate) has_plain_answers: bool,
    /// The context files that it reads.
    pub(crate) context: ContextFiles,
    /// Whether it runs a hook twice if it is set up in both scopes, so that both would answer.
    pub(crate) runs_both_scopes: bool,
    /// Manual steps after `setup`.
    pub(crate) steps: Vec<Step>,
    /// The manual step after `setup --remove` of the user's settings.
    pub(crate) after_removal: Option<String>,
    /// What its own files say about our entries.
    pub(crate) checks: Vec<Check>,
}

/// The location of the user's own settings.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UserFolder {
    /// The environment variable that contains the path of the folder or of a parent.
    pub(crate) variable: Option<String>,
    /// The folder, relative to the path in the variable.
    pub(crate) below_variable: String,
    /// The folder, relative to the home directory.
    pub(crate) below_home: String,
}

/// A settings file that contains entries of ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsFile {
    /// Its possible names: the first that exists is used, or else the first.
    pub(crate) names: Vec<String>,
    /// Whether it is in the project itself, not in the harness's folder; does not apply to the user's own
    /// settings.
    #[serde(default)]
    pub(crate) is_in_project: bool,
    /// The only scope in which the file is used, if it is one.
    pub(crate) only_in: Option<SetupScope>,
    /// Our entries in the file.
    pub(crate) content: SettingsContent,
}

/// Our entries in a settings file.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SettingsContent {
    /// Hooks, a server, or both, as JSON.
    Json(JsonContent),
    /// The server's table, as TOML.
    Toml,
    /// A plugin of ours, which is the whole file.
    Plugin,
}

/// Our entries in JSON.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JsonContent {
    /// Whether the file contains the hooks.
    pub(crate) hooks: bool,
    /// The format of the server's entry, if the file contains one.
    pub(crate) server: Option<ServerEntry>,
}

/// The key and the format of our server entry in JSON.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServerEntry {
    /// Under `mcpServers`, as a program and its arguments.
    Program,
    /// Under `mcp`, as a list that starts with the program.
    List,
}

/// A hook that `setup` writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hook {
    /// The harness's name for the event.
    pub(crate) event: String,
    /// The matcher that selects occurrences of the event; all if `None`.
    pub(crate) matcher: Option<String>,
    /// The argument of `annals hook`.
    pub(crate) call: Event,
    /// The timeout, in the unit of the harness.
    pub(crate) timeout: u32,
}

/// A manual step after `setup`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The only scope that it is for, if it is one.
    pub(crate) only_in: Option<SetupScope>,
    pub(crate) text: String,
}

/// The context files that a harness reads at session start.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextFiles {
    /// Names in the project's folder: the first of each group that exists is read.
    pub(crate) names: Vec<Vec<String>>,
    /// Whether `@path` in these files imports a file.
    pub(crate) has_imports: bool,
    /// Whether HTML comments in these files are stripped.
    strips_comments: bool,
}

/// The table of all harnesses, by their words.
static CLIENTS: LazyLock<BTreeMap<String, HarnessProfile>> = LazyLock::new(|| {
    let table = include_str!("../../templates/clients.toml");
    toml::from_str(table).expect("the built-in table")
});

impl ContextFiles {
    /// Returns the part of a file's text that the harness gives to its model.
    pub(crate) fn visible<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.strips_comments { without_comments(text).into() } else { text.into() }
    }
}

/// What a session is given; `None` keeps what was set up before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetupOptions {
    /// Whether the notepad is included at session start.
    pub notepad: Option<bool>,
    /// Whether the knowledge entries are included at session start.
    pub entries: Option<bool>,
    /// Whether a line is added to the notepad before a session is compacted.
    pub breadcrumb: Option<bool>,
}

impl SetupOptions {
    /// Returns the options that the lines of our entries in the settings show; those of a first setup if there are
    /// none.
    pub(crate) fn of(lines: &[String]) -> Self {
        let has = |word: &str| lines.iter().any(|line| line.contains(word));
        Self {
            notepad: Some(!has("--no-notepad")),
            entries: Some(!has("--no-entries")),
            breadcrumb: Some(has("hook pre-compact") || has("--breadcrumb")),
        }
    }

    /// Returns the flags that give these options, each with a space in front.
    pub(crate) fn flags(self) -> String {
        [(self.notepad, "notepad"), (self.entries, "entries"), (self.breadcrumb, "breadcrumb")]
            .into_iter()
            .filter_map(|(is_wanted, name)| {
                is_wanted
                    .map(|is_wanted| format!(" --{}{name}", if is_wanted { "" } else { "no-" }))
            })
            .collect()
    }

    /// Returns the options in effect: these, else those found in the settings.
    pub(crate) fn or(self, found: Self) -> Self {
        Self {
            notepad: self.notepad.or(found.notepad),
            entries: self.entries.or(found.entries),
            breadcrumb: self.breadcrumb.or(found.breadcrumb),
        }
    }
}

impl Harness {
    /// Returns the profile of the harness.
    pub(crate) fn profile(self) -> &'static HarnessProfile {
        &CLIENTS[self.as_str()]
    }

    /// Returns the harness that the environment variables identify, or Claude Code: others set its variable, too.
    pub(crate) fn from_environment(environment: &Environment) -> Self {
        // The more particular signs come last in the table.
        Self::ALL
            .into_iter()
            .rev()
            .find(|harness| {
                let HarnessProfile { project_variable, own_variable, .. } = harness.profile();
                *harness != Self::Claude
                    && project_variable
                        .iter()
                        .chain(own_variable)
                        .any(|name| environment.get(name).is_some())
            })
            .unwrap_or_default()
    }
}

impl HarnessProfile {
    /// Returns whether the settings of a scope make it call annals, rather than only list the server.
    pub(crate) fn calls_in(&self, scope: SetupScope) -> bool {
        self.files.iter().filter(|file| scope.is_meant(file.only_in)).any(|file| {
            match file.content {
                SettingsContent::Json(content) => content.hooks,
                SettingsContent::Toml => false,
                SettingsContent::Plugin => true,
            }
        })
    }

    /// Returns whether the settings of one scope are enough: a second one does nothing that the first does not.
    pub(crate) fn one_scope_is_enough(&self) -> bool {
        SetupScope::ALL.into_iter().all(|scope| self.calls_in(scope))
    }

    /// Returns the command of a hook.
    ///
    /// These strings never change: a harness may ask its user once to trust each of them, and loses that
    /// trust if the string changes.
    pub(crate) fn command(&self, hook: &Hook, options: SetupOptions) -> String {
        let mut command = format!("annals hook {}", hook.call.as_str());
        if self.is_named_in_commands {
            command.push_str(" --harness ");
            command.push_str(self.harness.as_str());
        }
        if hook.call == Event::SessionStart {
            for (is_wanted, flag) in
                [(options.notepad, " --no-notepad"), (options.entries, " --no-entries")]
            {
                command.push_str(if is_wanted == Some(false) { flag } else { "" });
            }
        }
        command
    }

    /// Returns the hooks to be set up.
    pub(crate) fn wanted_hooks(&self, options: SetupOptions) -> impl Iterator<Item = &Hook> {
        let has_breadcrumb = options.breadcrumb == Some(true);
        self.hooks.iter().filter(move |hook| has_breadcrumb || hook.call != Event::PreCompact)
    }

    /// Returns the harness's own name for an event, if it has one.
    pub(crate) fn event_name(&self, event: Event) -> Option<&str> {
        self.events.iter().find(|(known, _)| *known == event).map(|(_, name)| name.as_str())
    }
}

/// Returns the event with a name such as `session-start`, `SessionStart` or `session.created`.
pub(crate) fn parse_event(name: &str) -> Option<Event> {
    let mut theirs = CLIENTS.values().flat_map(|profile| &profile.events);
    Event::from_word(name)
        .or_else(|| theirs.find(|(_, known)| known == name).map(|(event, _)| *event))
}

/// Returns an event name that is safe to return to the harness: a single word, not arbitrary text.
pub(crate) fn safe_event_name(name: &Value) -> Option<&str> {
    let name = name.as_str()?;
    let is_word = !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    is_word.then_some(name)
}

/// Something that prevents our settings from working, or will at the next start.
#[derive(Debug)]
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
#[derive(Clone, Copy, Default, Deserialize)]
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
    pub(crate) fn obstacle(&'static self, project: &Project, dir: &HarnessDir) -> Option<Obstacle> {
        if !dir.scope.is_meant(self.only_in) {
            return None;
        }
        let passing = self.files.iter().find_map(|at| {
            let path = at.path(project, dir);
            let value = value_of(&path)?;
            let found = self.at.iter().any(|keys| {
                places(vec![&value], keys, &project.root, &dir.folder)
                    .into_iter()
                    .any(|value| passes(value, self.test))
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
                project
                    .environment
                    .home()
                    .filter(|_| !inside.exists())
                    .map_or(inside, |home| home.join(name))
            }
        }
    }
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
        values = values
            .into_iter()
            .filter_map(Value::as_object)
            .flatten()
            .filter(|(name, _)| is_meant(name))
            .map(|(_, value)| value)
            .collect();
    }
    values
}

fn passes(value: &Value, test: Test) -> bool {
    let lists_us = |list: &Vec<Value>| {
        list.iter()
            .filter_map(Value::as_str)
            .any(|name| name == "annals" || name.contains("annals hook"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_harness_has_its_name_for_an_event() {
        for harness in Harness::ALL {
            let profile = harness.profile();
            assert_eq!(profile.harness, harness);
            assert!(profile.events.len() > 3, "{}", profile.title);
            for (event, name) in &profile.events {
                assert_eq!(parse_event(name), Some(*event), "{name}");
            }
        }
        assert_eq!(parse_event("session-start"), Some(Event::SessionStart));
        for other in ["", "stop", "Stop", "session", "стоп"] {
            assert_eq!(parse_event(other), None, "{other}");
        }
    }

    #[test]
    fn only_a_word_goes_back() {
        assert_eq!(safe_event_name(&Value::from("SessionStart")), Some("SessionStart"));
        for other in [Value::Null, Value::from(""), Value::from("a\nb"), Value::from("a b")] {
            assert_eq!(safe_event_name(&other), None);
        }
    }
}
