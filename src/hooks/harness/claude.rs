//! Claude Code: hooks in `settings.json`, the server in the project's `.mcp.json`. Strict JSON, timeouts in
//! seconds.

use std::path::PathBuf;

use serde_json::Value;

use crate::hooks::Event;
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, Hook, JsonDialect, Obstacle, ServerEntry,
    SettingsContent, SettingsFile, SetupOptions, SetupScope, UserFolder,
};
use crate::project::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE};

/// The event names, which Codex has adopted.
pub(super) const EVENTS: &[(Event, &str)] = &[
    (Event::SessionStart, "SessionStart"),
    (Event::PromptSubmit, "UserPromptSubmit"),
    (Event::PostToolUse, "PostToolUse"),
    (Event::SubagentStop, "SubagentStop"),
    (Event::PreCompact, "PreCompact"),
    (Event::SessionEnd, "SessionEnd"),
];

/// The hooks, which Copilot CLI runs, too.
pub(super) const HOOKS: &[Hook] = &[
    Hook::new("SessionStart", None, Event::SessionStart, 10),
    // Not `async`, or its output would be lost.
    Hook::new("PostToolUse", Some("Write|Edit|MultiEdit"), Event::PostToolUse, 5),
    // The answer to `SubagentStop` goes to the subagent; after the `Agent` tool, it goes to the calling
    // agent.
    Hook::new("PostToolUse", Some("Agent|Task"), Event::SubagentStop, 5),
    Hook::new("SessionEnd", None, Event::SessionEnd, 10),
    Hook { is_breadcrumb: true, ..Hook::new("PreCompact", None, Event::PreCompact, 10) },
];

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Claude,
    title: "Claude Code",
    folder: CLAUDE_FOLDER,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    own_variable: None,
    user_folder: UserFolder {
        variable: Some(CLAUDE_FOLDER_VARIABLE),
        below_variable: "",
        below_home: CLAUDE_FOLDER,
    },
    files: &[
        SettingsFile {
            names: &["settings.json"],
            is_in_project: false,
            is_in: |_| true,
            content: SettingsContent::Json { hooks: true, server: None, dialect: STRICT },
        },
        SettingsFile {
            names: &[".mcp.json"],
            is_in_project: true,
            // The user's own servers are in a file that Claude Code rewrites all the time.
            is_in: |scope| scope == SetupScope::Project,
            content: SettingsContent::Json {
                hooks: false,
                server: Some(ServerEntry::Program),
                dialect: STRICT,
            },
        },
    ],
    events: EVENTS,
    owns_event_name: |_| false,
    hooks: HOOKS,
    retired: &[],
    is_named_in_commands: false,
    has_plain_answers: false,
    context: ContextFiles {
        user_files: &["CLAUDE.md"],
        folder_files: &[&["CLAUDE.md"], &[".claude/CLAUDE.md"], &["CLAUDE.local.md"]],
        has_imports: true,
        strips_comments: true,
        ..ContextFiles::NONE
    },
    // Claude Code runs only one of two identical commands.
    runs_both_scopes: false,
    next_steps,
    after_removal,
    obstacles,
};

pub(super) const STRICT: JsonDialect = JsonDialect { comments: false, trailing_commas: false };

fn next_steps(scope: SetupScope, _: SetupOptions) -> Vec<String> {
    let mut steps = match scope {
        SetupScope::Project => vec![
            "teammates get these settings with the repository; without annals on PATH each of their \
             sessions shows a hook error. For you alone: annals setup claude --user, or the plugin"
                .to_owned(),
            "start claude here once and approve the MCP server annals".to_owned(),
        ],
        SetupScope::User => {
            vec!["for the MCP server: claude mcp add --scope user annals -- annals mcp".to_owned()]
        }
    };
    steps.push(
        "headless runs (claude -p) deny every tool of annals without --allowedTools mcp__annals"
            .to_owned(),
    );
    steps
}

fn after_removal(scope: SetupScope) -> Option<&'static str> {
    (scope == SetupScope::User)
        .then_some("for the MCP server: claude mcp remove --scope user annals")
}

fn obstacles(files: &HarnessFiles) -> Vec<Obstacle> {
    let mut paths = vec![files.user_folder.join("settings.json")];
    if files.scope == SetupScope::Project {
        paths.push(files.folder.join("settings.json"));
        paths.push(files.folder.join("settings.local.json"));
    }
    let there = paths.into_iter().filter_map(|file| Some((HarnessFiles::json(&file)?, file)));
    let settings: Vec<(Value, PathBuf)> = there.collect();
    let off = settings.iter();
    let off = off.filter(|(json, _)| json["disableAllHooks"] == true);
    let mut obstacles: Vec<Obstacle> = off
        .map(|(_, file)| {
            let what = format!("{} turns all hooks off", files.relative_name(file));
            Obstacle::decided(what, "remove disableAllHooks there")
        })
        .collect();
    obstacles.extend(server(files, &settings));
    obstacles
}

/// Returns what prevents the MCP server from being used.
fn server(files: &HarnessFiles, settings: &[(Value, PathBuf)]) -> Option<Obstacle> {
    let state = files.user_state(".claude.json").unwrap_or_default();
    let of_project = &state["projects"][files.project_name()];
    let lists = |name: &str| {
        let mut all = settings.iter().map(|(json, _)| json).chain([of_project]);
        all.any(|json| has_annals(&json[name]))
    };
    if lists("disabledMcpjsonServers") || lists("disabledMcpServers") {
        let what = "Claude Code has the MCP server annals disabled".to_owned();
        return Some(Obstacle::decided(what, "enable it in Claude Code: /mcp"));
    }
    let takes_all = |(json, _): &(Value, PathBuf)| json["enableAllProjectMcpServers"] == true;
    let (is_there, what, next) = match files.scope {
        SetupScope::Project => (
            lists("enabledMcpjsonServers") || settings.iter().any(takes_all),
            "the MCP server is not approved yet",
            "start claude here and approve annals",
        ),
        SetupScope::User => (
            state["mcpServers"]["annals"].is_object(),
            "the MCP server is not listed",
            "claude mcp add --scope user annals -- annals mcp",
        ),
    };
    (!is_there).then(|| Obstacle::pending(what.to_owned(), next))
}

fn has_annals(list: &Value) -> bool {
    let mut names = list.as_array().into_iter().flatten();
    names.any(|name| name == "annals")
}
