//! The programs that run agents, and what is true of each: one table a harness, one file a table.

mod claude;
mod codex;
mod files;
mod gemini;
mod names;
mod opencode;
mod qwen;

use serde::Serialize;

use crate::hooks::Event;
use crate::project::Project;

pub(crate) use files::HarnessFiles;
pub use files::Obstacle;
pub(crate) use names::echoed;
pub(crate) use names::event;

/// A program that runs agents and can call `annals`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// Claude Code.
    #[default]
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
}

/// Whose settings are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupScope {
    /// The project's, which its repository may carry.
    #[default]
    Project,
    /// The user's own, for all projects.
    User,
}

/// What is true of one harness.
pub(crate) struct HarnessProfile {
    /// The word that asks for it.
    pub(crate) name: &'static str,
    /// Its name as its users write it.
    pub(crate) title: &'static str,
    /// Its folder in a project.
    pub(crate) folder: &'static str,
    /// Where the user's own settings are.
    pub(crate) user_folder: UserFolder,
    /// The settings files that hold something of ours.
    pub(crate) files: &'static [SettingsFile],
    /// Its own names for events; `annals` takes and answers them.
    pub(crate) events: &'static [(Event, &'static str)],
    /// Returns whether no other harness has this name of an event.
    pub(crate) owns_event_name: fn(&str) -> bool,
    /// The hooks that `setup` writes.
    pub(crate) hooks: &'static [Hook],
    /// Hooks that an earlier version wrote: event and call.
    pub(crate) retired: &'static [(&'static str, &'static str)],
    /// Whether its commands say `--harness`; Claude Code is who calls where they don't.
    pub(crate) is_named_in_commands: bool,
    /// The context files that it reads.
    pub(crate) context: ContextFiles,
    /// Whether it runs two hooks that are set up in both scopes, and each of them speaks.
    pub(crate) runs_both_scopes: bool,
    /// What is left to do by hand after `setup`.
    pub(crate) next_steps: fn(SetupScope, Choice) -> Vec<String>,
    /// What is left to do by hand after `setup --remove`.
    pub(crate) after_removal: fn(SetupScope) -> Option<&'static str>,
    /// What keeps the settings from working, and what its users should know.
    pub(crate) obstacles: fn(&HarnessFiles) -> Vec<Obstacle>,
}

/// Where the user's own settings are.
pub(crate) struct UserFolder {
    /// The variable that names the folder, or the one it lies in.
    pub(crate) variable: Option<&'static str>,
    /// The folder, below what the variable names.
    pub(crate) below_variable: &'static str,
    /// The folder, below the home.
    pub(crate) below_home: &'static str,
}

/// A settings file that holds something of ours.
pub(crate) struct SettingsFile {
    /// Its names: the first that is there, or else the first.
    pub(crate) names: &'static [&'static str],
    /// Whether it lies in the project itself, not in the harness's folder; the user's own always lie there.
    pub(crate) is_in_project: bool,
    /// Whether there is one in this scope.
    pub(crate) is_in: fn(SetupScope) -> bool,
    /// What is ours in it.
    pub(crate) content: SettingsContent,
}

/// What is ours in a settings file.
#[derive(Clone, Copy)]
pub(crate) enum SettingsContent {
    /// Hooks, a server, or both, in JSON.
    Json {
        /// Whether the hooks stand in it.
        hooks: bool,
        /// The server, and how it is listed.
        server: Option<ServerEntry>,
        /// What the harness takes beside strict JSON.
        dialect: JsonDialect,
    },
    /// The server's table in TOML.
    Toml,
    /// A plugin of our own, which is the whole file.
    Plugin(&'static str),
}

/// What a harness takes beside strict JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonDialect {
    /// Comments.
    pub(crate) comments: bool,
    /// A comma after the last member.
    pub(crate) trailing_commas: bool,
}

/// Where and how a harness lists our server in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEntry {
    /// `mcpServers`, a program and its arguments.
    Program,
    /// `mcp`, a list that starts with the program.
    List,
}

/// A hook that `setup` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    /// The harness's name for the event.
    pub(crate) event: &'static str,
    /// Which of its occurrences are meant; all where nothing is said.
    pub(crate) matcher: Option<&'static str>,
    /// What is called: `annals hook CALL`.
    pub(crate) call: &'static str,
    /// How long it may take, in the unit of the harness.
    pub(crate) timeout: u32,
    /// Whether it is written only where the user asks for breadcrumbs.
    pub(crate) is_breadcrumb: bool,
}

impl Hook {
    const fn new(
        event: &'static str,
        matcher: Option<&'static str>,
        call: &'static str,
        timeout: u32,
    ) -> Self {
        Self {
            event,
            matcher,
            call,
            timeout,
            is_breadcrumb: false,
        }
    }
}

/// The context files that a harness reads at a session's start.
pub(crate) struct ContextFiles {
    /// Those in the user's own folder, of which the first that is there is read.
    pub(crate) of_user: &'static [&'static str],
    /// Those in a project's folder: of each group, the first that is there is read.
    pub(crate) of_folder: &'static [&'static [&'static str]],
    /// Whether only folders of the repository count, not all above it.
    pub(crate) stops_at_repository: bool,
    /// Whether `@path` in them imports a file.
    pub(crate) has_imports: bool,
    /// Whether HTML comments in them are left out.
    pub(crate) strips_comments: bool,
    /// The most bytes of all of them together.
    pub(crate) most_bytes: Option<usize>,
}

impl ContextFiles {
    /// No files, taken as they are written.
    const NONE: Self = Self {
        of_user: &[],
        of_folder: &[],
        stops_at_repository: false,
        has_imports: false,
        strips_comments: false,
        most_bytes: None,
    };
}

/// What the user chose at `setup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Whether a session's start carries the notepad.
    pub notepad: bool,
    /// Whether the notepad gets a line before a session is compacted.
    pub breadcrumb: bool,
}

/// What the command line says of each choice; nothing leaves it as the settings have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedChoice {
    /// Whether a session's start carries the notepad.
    pub notepad: Option<bool>,
    /// Whether the notepad gets a line before a session is compacted.
    pub breadcrumb: Option<bool>,
}

impl RequestedChoice {
    /// Returns the choice in force: what was asked, else what was found.
    pub(crate) fn over(self, found: Choice) -> Choice {
        Choice {
            notepad: self.notepad.unwrap_or(found.notepad),
            breadcrumb: self.breadcrumb.unwrap_or(found.breadcrumb),
        }
    }
}

impl Choice {
    /// Every choice, the default one first.
    pub const ALL: [Self; 4] = [
        Self::new(true, false),
        Self::new(true, true),
        Self::new(false, false),
        Self::new(false, true),
    ];

    const fn new(notepad: bool, breadcrumb: bool) -> Self {
        Self {
            notepad,
            breadcrumb,
        }
    }
}

impl Harness {
    /// Every harness.
    pub const ALL: [Self; 5] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
    ];

    /// Returns the word that asks for this harness.
    pub fn as_str(self) -> &'static str {
        self.profile().name
    }

    /// Returns what is true of this harness.
    pub(crate) fn profile(self) -> &'static HarnessProfile {
        match self {
            Self::Claude => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Opencode => &opencode::PROFILE,
            Self::Qwen => &qwen::PROFILE,
        }
    }
}

impl HarnessProfile {
    /// Returns the command of a hook.
    ///
    /// These strings never change: a harness may ask its user to trust each of them once, and forgets that
    /// trust with the string.
    pub(crate) fn command(&self, hook: &Hook, choice: Choice) -> String {
        let mut command = format!("annals hook {}", hook.call);
        if self.is_named_in_commands {
            command.push_str(" --harness ");
            command.push_str(self.name);
        }
        if hook.call == "session-start" && !choice.notepad {
            command.push_str(" --no-notepad");
        }
        command
    }

    /// Returns the hooks that are wanted.
    pub(crate) fn wanted_hooks(&self, choice: Choice) -> Vec<&'static Hook> {
        let is_wanted = |hook: &&Hook| choice.breadcrumb || !hook.is_breadcrumb;
        self.hooks.iter().filter(is_wanted).collect()
    }

    /// Returns whether `setup` writes, or once wrote, this call on this event.
    pub(crate) fn writes(&self, event: &str, call: &str) -> bool {
        let now = self.hooks.iter().map(|hook| (hook.event, hook.call));
        let mut all = now.chain(self.retired.iter().copied());
        all.any(|known| known == (event, call))
    }

    /// Returns the harness's own name for an event, where it has one.
    pub(crate) fn event_name(&self, event: Event) -> Option<&'static str> {
        let known = self.events.iter().find(|(known, _)| *known == event);
        known.map(|(_, name)| *name)
    }
}

/// Returns the harness that an event's name tells of, where only one has that name.
pub(crate) fn of_event_name(name: &str) -> Option<Harness> {
    let mut all = Harness::ALL.into_iter();
    all.find(|harness| (harness.profile().owns_event_name)(name))
}

/// Returns the harness that a variable of the environment tells of; Claude Code where none does.
pub(crate) fn of_environment(project: &Project) -> Harness {
    if project.environment.get("GEMINI_PROJECT_DIR").is_some() {
        return Harness::Gemini;
    }
    Harness::Claude
}
