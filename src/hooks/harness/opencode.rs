//! opencode: the server in `opencode.json`, which may contain comments; the hooks as a plugin of ours.

use crate::hooks::Event;
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, JsonDialect, Obstacle, ServerEntry,
    SettingsContent, SettingsFile, SetupOptions, SetupScope, UserFolder,
};

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Opencode,
    title: "opencode",
    folder: ".opencode",
    project_variable: None,
    own_variable: None,
    user_folder: UserFolder {
        variable: Some("XDG_CONFIG_HOME"),
        below_variable: "opencode",
        below_home: ".config/opencode",
    },
    files: &[
        SettingsFile {
            names: &["opencode.json", "opencode.jsonc"],
            is_in_project: true,
            is_in: |_| true,
            content: SettingsContent::Json {
                hooks: false,
                server: Some(ServerEntry::List),
                dialect: JsonDialect { comments: true, trailing_commas: true },
            },
        },
        SettingsFile {
            names: &["plugins/annals.js"],
            is_in_project: false,
            is_in: |_| true,
            content: SettingsContent::Plugin(include_str!("../../../templates/opencode/annals.js")),
        },
    ],
    events: &[
        (Event::SessionStart, "session.created"),
        (Event::PromptSubmit, "chat.message"),
        (Event::PostToolUse, "tool.execute.after"),
        (Event::SubagentStop, "tool.execute.after.task"),
        (Event::PreCompact, "experimental.session.compacting"),
        (Event::SessionEnd, "session.idle"),
    ],
    owns_event_name: |name| name.contains('.'),
    hooks: &[],
    retired: &[],
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        user_files: &["AGENTS.md"],
        folder_files: &[&["AGENTS.md", "CLAUDE.md"]],
        stops_at_repository: true,
        ..ContextFiles::NONE
    },
    // The plugin itself checks whether another copy of it has already answered.
    runs_both_scopes: false,
    next_steps,
    after_removal: |_| None,
    obstacles,
};

/// opencode installs a package next to every plugin, and waits for the installation.
const OFFLINE: &str = "if npm cannot be reached, the first start waits for over a minute: \
                       npm_config_fetch_retries=0 opencode";

fn next_steps(_: SetupScope, _: SetupOptions) -> Vec<String> {
    vec![format!("opencode installs @opencode-ai/plugin by npm next to the plugin; {OFFLINE}")]
}

fn obstacles(files: &HarnessFiles) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    for name in ["opencode.json", "opencode.jsonc"] {
        let file = files.base.join(name);
        let Some(json) = HarnessFiles::json(&file) else {
            continue;
        };
        if json["mcp"]["annals"]["enabled"] == false {
            let what = format!("{} has the MCP server annals disabled", files.relative_name(&file));
            obstacles.push(Obstacle::decided(what, "set mcp.annals.enabled to true there"));
        }
        let tools = json["tools"].as_object().into_iter().flatten();
        if tools.clone().any(|(name, is_on)| name.starts_with("annals") && *is_on == false) {
            let what = format!("{} turns tools of annals off", files.relative_name(&file));
            obstacles.push(Obstacle::decided(what, "see `tools` there"));
        }
    }
    if !files.folder.join("node_modules").is_dir() {
        obstacles.push(Obstacle::pending(
            "opencode has not installed @opencode-ai/plugin next to the plugin yet".to_owned(),
            OFFLINE,
        ));
    }
    obstacles
}
