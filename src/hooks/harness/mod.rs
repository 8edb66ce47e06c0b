//! The supported harnesses, the programs that run agents: a row each in `clients`.

mod clients;
mod names;
mod obstacles;

use std::borrow::Cow;

pub(crate) use names::{from_event_name, parse_event, safe_event_name};
pub use obstacles::Obstacle;
pub(crate) use obstacles::{HarnessFiles, obstacles};
use serde::Serialize;

use crate::hooks::Event;
use crate::hooks::harness::obstacles::Check;
use crate::markdown::comments::without_comments;
use crate::project::Environment;
use crate::text::word_enum;

word_enum! {
    /// A program that runs agents and can call `annals`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// The scope of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupScope {
    /// The project's settings, which may be committed to its repository.
    #[default]
    Project,
    /// The user's settings, for all projects.
    User,
}

/// The properties of one harness.
pub(crate) struct HarnessProfile {
    /// The harness; its word is the name on the command line.
    pub(crate) harness: Harness,
    /// Its name as users write it.
    pub(crate) title: &'static str,
    /// Its folder in a project.
    pub(crate) folder: &'static str,
    /// The environment variable in which it passes the project's folder to hooks, if it has one.
    pub(crate) project_variable: Option<&'static str>,
    /// An environment variable that it alone sets for its hooks, if it has one.
    pub(crate) own_variable: Option<&'static str>,
    /// The location of the user's own settings.
    pub(crate) user_folder: UserFolder,
    /// The settings files that contain entries of ours.
    pub(crate) files: &'static [SettingsFile],
    /// Its own names for events; `annals` accepts them and uses them in answers.
    pub(crate) events: &'static [(Event, &'static str)],
    /// The hooks that `setup` writes.
    pub(crate) hooks: &'static [Hook],
    /// Why it has no hook for a breadcrumb, if it could have one.
    pub(crate) no_breadcrumb: Option<&'static str>,
    /// Whether its commands contain `--harness`; without it, the caller is Claude Code.
    pub(crate) is_named_in_commands: bool,
    /// Whether it reads `additionalContext` at the top of an answer, not below `hookSpecificOutput`.
    pub(crate) has_plain_answers: bool,
    /// The context files that it reads.
    pub(crate) context: ContextFiles,
    /// Whether it runs a hook twice if it is set up in both scopes, so that both would answer.
    pub(crate) runs_both_scopes: bool,
    /// Manual steps after `setup`, with the scope that they are for; `None` for both.
    pub(crate) steps: &'static [(Option<SetupScope>, &'static str)],
    /// The manual step after `setup --remove` of the user's settings.
    pub(crate) after_removal: Option<&'static str>,
    /// What its own files say about our entries.
    pub(crate) checks: &'static [Check],
}

/// The location of the user's own settings.
pub(crate) struct UserFolder {
    /// The environment variable that contains the path of the folder or of a parent.
    pub(crate) variable: Option<&'static str>,
    /// The folder, relative to the path in the variable.
    pub(crate) below_variable: &'static str,
    /// The folder, relative to the home directory.
    pub(crate) below_home: &'static str,
}

/// A settings file that contains entries of ours.
pub(crate) struct SettingsFile {
    /// Its possible names: the first that exists is used, or else the first.
    pub(crate) names: &'static [&'static str],
    /// Whether it is in the project itself, not in the harness's folder; does not apply to the user's own
    /// settings.
    pub(crate) is_in_project: bool,
    /// The only scope in which the file is used, if it is one.
    pub(crate) only_in: Option<SetupScope>,
    /// Our entries in the file.
    pub(crate) content: SettingsContent,
}

/// Our entries in a settings file.
#[derive(Clone, Copy)]
pub(crate) enum SettingsContent {
    /// Hooks, a server, or both, as JSON.
    Json(JsonContent),
    /// The server's table, as TOML.
    Toml,
    /// A plugin of ours, which is the whole file.
    Plugin(&'static str),
}

/// Our entries in JSON, and the extensions of JSON that the harness accepts.
#[derive(Clone, Copy)]
pub(crate) struct JsonContent {
    /// Whether the file contains the hooks.
    pub(crate) hooks: bool,
    /// The format of the server entry, if the file contains one.
    pub(crate) server: Option<ServerEntry>,
    /// Whether comments are accepted.
    pub(crate) comments: bool,
    /// Whether trailing commas are accepted.
    pub(crate) trailing_commas: bool,
}

/// The key and the format of our server entry in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEntry {
    /// Under `mcpServers`, as a program and its arguments.
    Program,
    /// Under `mcp`, as a list that starts with the program.
    List,
}

/// A hook that `setup` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    /// The harness's name for the event.
    pub(crate) event: &'static str,
    /// The matcher that selects occurrences of the event; all if `None`.
    pub(crate) matcher: Option<&'static str>,
    /// The argument of `annals hook`.
    pub(crate) call: Event,
    /// The timeout, in the unit of the harness.
    pub(crate) timeout: u32,
}

/// The context files that a harness reads at session start.
pub(crate) struct ContextFiles {
    /// Names in the project's folder: the first of each group that exists is read.
    pub(crate) names: &'static [&'static [&'static str]],
    /// Whether `@path` in these files imports a file.
    pub(crate) has_imports: bool,
    /// Whether HTML comments in these files are stripped.
    pub(crate) strips_comments: bool,
}

impl ContextFiles {
    /// Returns the part of a file's text that the harness gives to its model.
    pub(crate) fn visible<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.strips_comments { without_comments(text).into() } else { text.into() }
    }
}

/// The user's options for `setup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupOptions {
    /// Whether the notepad is included at session start.
    pub notepad: bool,
    /// Whether the knowledge entries are included at session start.
    pub entries: bool,
    /// Whether a line is added to the notepad before a session is compacted.
    pub breadcrumb: bool,
}

impl SetupOptions {
    /// Returns the options that the lines of our entries in the settings show; those of a first setup if there are
    /// none.
    pub(crate) fn of(lines: &[String]) -> Self {
        let has = |word: &str| lines.iter().any(|line| line.contains(word));
        Self {
            notepad: !has("--no-notepad"),
            entries: !has("--no-entries"),
            breadcrumb: has("hook pre-compact") || has("--breadcrumb"),
        }
    }
}

/// The options on the command line; `None` keeps the current setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetupOverrides {
    /// Whether the notepad is included at session start.
    pub notepad: Option<bool>,
    /// Whether the knowledge entries are included at session start.
    pub entries: Option<bool>,
    /// Whether a line is added to the notepad before a session is compacted.
    pub breadcrumb: Option<bool>,
}

impl SetupOverrides {
    /// Returns the effective options: those on the command line, else those found in the settings.
    pub(crate) fn over(self, found: SetupOptions) -> SetupOptions {
        SetupOptions {
            notepad: self.notepad.unwrap_or(found.notepad),
            entries: self.entries.unwrap_or(found.entries),
            breadcrumb: self.breadcrumb.unwrap_or(found.breadcrumb),
        }
    }
}

impl Harness {
    /// Returns the profile of the harness.
    pub(crate) fn profile(self) -> &'static HarnessProfile {
        match self {
            Self::Claude => &clients::CLAUDE,
            Self::Codex => &clients::CODEX,
            Self::Gemini => &clients::GEMINI,
            Self::Opencode => &clients::OPENCODE,
            Self::Qwen => &clients::QWEN,
            Self::Copilot => &clients::COPILOT,
        }
    }

    /// Returns the harness that the environment variables identify, or Claude Code: others set its variable, too.
    pub(crate) fn from_environment(environment: &Environment) -> Self {
        let is_set = |harness: &Self| {
            let HarnessProfile { project_variable, own_variable, .. } = harness.profile();
            let mut variables = project_variable.iter().chain(own_variable);
            *harness != Self::Claude && variables.any(|name| environment.get(name).is_some())
        };
        // The more particular signs come last in the table.
        Self::ALL.into_iter().rev().find(is_set).unwrap_or_default()
    }
}

impl HarnessProfile {
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
                command.push_str(if is_wanted { "" } else { flag });
            }
        }
        command
    }

    /// Returns the hooks to be set up.
    pub(crate) fn wanted_hooks(
        &self,
        options: SetupOptions,
    ) -> impl Iterator<Item = &'static Hook> {
        self.hooks.iter().filter(move |hook| options.breadcrumb || hook.call != Event::PreCompact)
    }

    /// Returns the harness's own name for an event, if it has one.
    pub(crate) fn event_name(&self, event: Event) -> Option<&'static str> {
        let known = self.events.iter().find(|(known, _)| *known == event);
        known.map(|(_, name)| *name)
    }
}
