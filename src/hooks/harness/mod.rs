//! Describes the supported harnesses, the programs that run agents: one profile per harness, one file per
//! profile.

mod claude;
mod codex;
mod copilot;
mod files;
mod gemini;
mod names;
mod opencode;
mod qwen;

use std::borrow::Cow;

pub(crate) use files::HarnessFiles;
pub use files::Obstacle;
pub(crate) use names::{parse_event, safe_event_name};
use serde::Serialize;

use crate::hooks::Event;
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
    /// Returns whether only this harness uses an event name.
    pub(crate) owns_event_name: fn(&str) -> bool,
    /// The hooks that `setup` writes.
    pub(crate) hooks: &'static [Hook],
    /// Hooks that an earlier version wrote, as event and call.
    pub(crate) retired: &'static [(&'static str, Event)],
    /// Whether its commands contain `--harness`; without it, the caller is Claude Code.
    pub(crate) is_named_in_commands: bool,
    /// Whether it reads `additionalContext` at the top of an answer, not below `hookSpecificOutput`.
    pub(crate) has_plain_answers: bool,
    /// The context files that it reads.
    pub(crate) context: ContextFiles,
    /// Whether it runs a hook twice if it is set up in both scopes, so that both would answer.
    pub(crate) runs_both_scopes: bool,
    /// Manual steps after `setup`.
    pub(crate) next_steps: fn(SetupScope, SetupOptions) -> Vec<String>,
    /// Manual steps after `setup --remove`.
    pub(crate) after_removal: fn(SetupScope) -> Option<&'static str>,
    /// Finds what prevents the settings from working, and what users should know.
    pub(crate) obstacles: fn(&HarnessFiles) -> Vec<Obstacle>,
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
    /// Whether the file is used in this scope.
    pub(crate) is_in: fn(SetupScope) -> bool,
    /// Our entries in the file.
    pub(crate) content: SettingsContent,
}

/// Our entries in a settings file.
#[derive(Clone, Copy)]
pub(crate) enum SettingsContent {
    /// Hooks, a server, or both, as JSON.
    Json {
        /// Whether the file contains the hooks.
        hooks: bool,
        /// The format of the server entry, if the file contains one.
        server: Option<ServerEntry>,
        /// The JSON extensions that the harness accepts.
        dialect: JsonDialect,
    },
    /// The server's table, as TOML.
    Toml,
    /// A plugin of ours, which is the whole file.
    Plugin(&'static str),
}

/// The JSON extensions that a harness accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonDialect {
    /// Comments.
    pub(crate) comments: bool,
    /// Trailing commas.
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
    /// Whether it is written only if the user enables breadcrumbs.
    pub(crate) is_breadcrumb: bool,
}

impl Hook {
    const fn new(
        event: &'static str,
        matcher: Option<&'static str>,
        call: Event,
        timeout: u32,
    ) -> Self {
        Self { event, matcher, call, timeout, is_breadcrumb: false }
    }
}

/// The context files that a harness reads at session start.
pub(crate) struct ContextFiles {
    /// Names in the user's own folder, of which the first that exists is read.
    pub(crate) user_files: &'static [&'static str],
    /// Names in a project's folder: the first of each group that exists is read.
    pub(crate) folder_files: &'static [&'static [&'static str]],
    /// Whether only folders of the repository are searched, not all parent folders.
    pub(crate) stops_at_repository: bool,
    /// Whether `@path` in these files imports a file.
    pub(crate) has_imports: bool,
    /// Whether HTML comments in these files are stripped.
    pub(crate) strips_comments: bool,
    /// Maximum total size, in bytes.
    pub(crate) most_bytes: Option<usize>,
}

impl ContextFiles {
    /// No files, and no processing.
    const NONE: Self = Self {
        user_files: &[],
        folder_files: &[],
        stops_at_repository: false,
        has_imports: false,
        strips_comments: false,
        most_bytes: None,
    };

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
    /// Whether a line is added to the notepad before a session is compacted.
    pub breadcrumb: bool,
}

/// The options on the command line; `None` keeps the current setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetupOverrides {
    /// Whether the notepad is included at session start.
    pub notepad: Option<bool>,
    /// Whether a line is added to the notepad before a session is compacted.
    pub breadcrumb: Option<bool>,
}

impl SetupOverrides {
    /// Returns the effective options: those on the command line, else those found in the settings.
    pub(crate) fn over(self, found: SetupOptions) -> SetupOptions {
        SetupOptions {
            notepad: self.notepad.unwrap_or(found.notepad),
            breadcrumb: self.breadcrumb.unwrap_or(found.breadcrumb),
        }
    }
}

impl SetupOptions {
    /// The options of a first setup.
    pub const DEFAULT: Self = Self { notepad: true, breadcrumb: false };

    /// All combinations, the default first.
    pub const ALL: [Self; 4] = [
        Self::DEFAULT,
        Self { breadcrumb: true, ..Self::DEFAULT },
        Self { notepad: false, ..Self::DEFAULT },
        Self { notepad: false, breadcrumb: true },
    ];
}

impl Harness {
    /// Returns the profile of the harness.
    pub(crate) fn profile(self) -> &'static HarnessProfile {
        match self {
            Self::Claude => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Opencode => &opencode::PROFILE,
            Self::Qwen => &qwen::PROFILE,
            Self::Copilot => &copilot::PROFILE,
        }
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
        if hook.call == Event::SessionStart && !options.notepad {
            command.push_str(" --no-notepad");
        }
        command
    }

    /// Returns the hooks to be set up.
    pub(crate) fn wanted_hooks(&self, options: SetupOptions) -> Vec<&'static Hook> {
        let is_wanted = |hook: &&Hook| options.breadcrumb || !hook.is_breadcrumb;
        self.hooks.iter().filter(is_wanted).collect()
    }

    /// Returns whether `setup` writes, or an earlier version wrote, this call for this event.
    pub(crate) fn writes(&self, event: &str, call: &str) -> bool {
        let now = self.hooks.iter().map(|hook| (hook.event, hook.call));
        let mut all = now.chain(self.retired.iter().copied());
        all.any(|(known, of)| known == event && of.as_str() == call)
    }

    /// Returns the harness's own name for an event, if it has one.
    pub(crate) fn event_name(&self, event: Event) -> Option<&'static str> {
        let known = self.events.iter().find(|(known, _)| *known == event);
        known.map(|(_, name)| *name)
    }
}

/// Returns the harness that an event name identifies, if only one harness uses that name.
pub(crate) fn from_event_name(name: &str) -> Option<Harness> {
    let mut all = Harness::ALL.into_iter();
    all.find(|harness| (harness.profile().owns_event_name)(name))
}

/// Returns the harness that the environment variables identify, or Claude Code: others set its variable, too.
pub(crate) fn from_environment(environment: &Environment) -> Harness {
    let is_set = |harness: &Harness| {
        let HarnessProfile { project_variable, own_variable, .. } = harness.profile();
        let mut variables = project_variable.iter().chain(own_variable);
        *harness != Harness::Claude && variables.any(|name| environment.get(name).is_some())
    };
    let mut all = Harness::ALL.into_iter();
    all.find(is_set).unwrap_or_default()
}
