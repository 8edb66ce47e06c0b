//! Codex: hooks in `hooks.json`, the server in `config.toml`. Strict JSON, timeouts in seconds.

use toml::{Table, Value};

use crate::hooks::Event;
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, Hook, Obstacle, SettingsContent,
    SettingsFile, SetupOptions, SetupScope, UserFolder, claude,
};

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Codex,
    title: "Codex",
    folder: ".codex",
    project_variable: None,
    own_variable: None,
    user_folder: UserFolder {
        variable: Some("CODEX_HOME"),
        below_variable: "",
        below_home: ".codex",
    },
    files: &[
        SettingsFile {
            names: &["hooks.json"],
            is_in_project: false,
            is_in: |_| true,
            content: SettingsContent::Json { hooks: true, server: None, dialect: claude::STRICT },
        },
        SettingsFile {
            names: &["config.toml"],
            is_in_project: false,
            is_in: |_| true,
            content: SettingsContent::Toml,
        },
    ],
    events: claude::EVENTS,
    owns_event_name: |_| false,
    hooks: &[
        Hook::new("SessionStart", None, Event::SessionStart, 10),
        Hook::new("PostToolUse", Some("apply_patch|Write|Edit"), Event::PostToolUse, 5),
        Hook::new("SessionEnd", None, Event::SessionEnd, 10),
        Hook { is_breadcrumb: true, ..Hook::new("PreCompact", None, Event::PreCompact, 10) },
    ],
    retired: &[],
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        user_files: &["AGENTS.override.md", "AGENTS.md"],
        folder_files: &[&["AGENTS.override.md", "AGENTS.md"]],
        stops_at_repository: true,
        most_bytes: Some(32 * 1024),
        ..ContextFiles::NONE
    },
    runs_both_scopes: true,
    next_steps,
    after_removal: |_| None,
    obstacles,
};

fn next_steps(scope: SetupScope, _: SetupOptions) -> Vec<String> {
    let mut steps =
        vec!["Codex runs a hook once you have trusted it: open /hooks there".to_owned()];
    if scope == SetupScope::Project {
        steps.push(
            "Codex reads a project's own settings only if the project is trusted: start codex here and say yes"
                .to_owned(),
        );
    }
    steps
}

fn obstacles(files: &HarnessFiles) -> Vec<Obstacle> {
    let user = HarnessFiles::toml(&files.user_folder.join("config.toml")).unwrap_or_default();
    let own = HarnessFiles::toml(&files.folder.join("config.toml")).unwrap_or_default();
    let is_off = |table: Option<&Value>, key: &str| {
        let switch = table.and_then(|table| table.get(key)?.as_bool());
        switch == Some(false)
    };
    let mut obstacles = Vec::new();
    let server = own.get("mcp_servers").and_then(|all| all.get("annals"));
    if is_off(server, "enabled") {
        obstacles.push(Obstacle::decided(
            "config.toml has the MCP server annals disabled".to_owned(),
            "remove `enabled = false` from [mcp_servers.annals]",
        ));
    }
    if is_off(user.get("features"), "hooks") || is_off(own.get("features"), "hooks") {
        obstacles.push(Obstacle::decided(
            "config.toml turns hooks off".to_owned(),
            "remove `hooks = false` from [features]",
        ));
    }
    obstacles.extend(trust_in_hooks(files, &user));
    let trust = user.get("projects");
    let trust = trust.and_then(|all| all.get(files.project_name())?.get("trust_level")?.as_str());
    if files.scope == SetupScope::Project && trust != Some("trusted") {
        obstacles.push(Obstacle::pending(
            "Codex does not trust this project yet, so it reads none of its settings".to_owned(),
            "start codex here and say yes",
        ));
    }
    obstacles
}

/// Checks the user's decisions in `/hooks`, which Codex stores by file, event and position.
fn trust_in_hooks(files: &HarnessFiles, user: &Table) -> Option<Obstacle> {
    let states = user.get("hooks").and_then(|hooks| hooks.get("state")?.as_table());
    let file = files.folder.join("hooks.json").display().to_string();
    let of_file = states.into_iter().flatten();
    let of_file = of_file.filter(|(key, _)| key.starts_with(&file));
    let states: Vec<&Value> = of_file.map(|(_, state)| state).collect();
    let is_off = |state: &&Value| state.get("enabled").and_then(Value::as_bool) == Some(false);
    if states.iter().any(is_off) {
        let what = "Codex has a hook of this file disabled".to_owned();
        return Some(Obstacle::decided(what, "enable it in Codex: /hooks"));
    }
    let is_trusted = states.iter().any(|state| state.get("trusted_hash").is_some());
    let what = || "its hooks are not trusted yet".to_owned();
    (!is_trusted).then(|| Obstacle::pending(what(), "open /hooks in Codex"))
}
