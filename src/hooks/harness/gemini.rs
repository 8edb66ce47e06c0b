//! Gemini CLI: hooks and the server in `settings.json`, which may contain comments; timeouts in milliseconds.

use serde_json::Value;

use crate::hooks::Event;
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, Hook, JsonDialect, Obstacle, ServerEntry,
    SettingsContent, SettingsFile, SetupOptions, SetupScope, UserFolder,
};

/// The single settings file, which forks of Gemini CLI have, too.
pub(crate) const FILES: &[SettingsFile] = &[SettingsFile {
    names: &["settings.json"],
    is_in_project: false,
    is_in: |_| true,
    content: SettingsContent::Json {
        hooks: true,
        server: Some(ServerEntry::Program),
        dialect: JsonDialect { comments: true, trailing_commas: false },
    },
}];

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Gemini,
    title: "Gemini CLI",
    folder: ".gemini",
    project_variable: Some("GEMINI_PROJECT_DIR"),
    own_variable: None,
    user_folder: UserFolder { variable: None, below_variable: "", below_home: ".gemini" },
    files: FILES,
    events: &[
        (Event::SessionStart, "SessionStart"),
        (Event::PromptSubmit, "BeforeAgent"),
        (Event::PostToolUse, "AfterTool"),
        (Event::PreCompact, "PreCompress"),
        (Event::SessionEnd, "SessionEnd"),
    ],
    owns_event_name: |name| matches!(name, "BeforeAgent" | "AfterTool" | "PreCompress"),
    hooks: &[
        Hook::new("SessionStart", None, Event::SessionStart, 10_000),
        Hook::new("AfterTool", Some("write_file|replace"), Event::PostToolUse, 5_000),
        Hook::new("SessionEnd", None, Event::SessionEnd, 10_000),
    ],
    // Gemini CLI fires it on every turn, before it knows whether it compresses.
    retired: &[("PreCompress", Event::PreCompact)],
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        user_files: &["GEMINI.md"],
        folder_files: &[&["GEMINI.md"]],
        has_imports: true,
        ..ContextFiles::NONE
    },
    runs_both_scopes: false,
    next_steps,
    after_removal: |_| None,
    obstacles,
};

fn next_steps(scope: SetupScope, options: SetupOptions) -> Vec<String> {
    let mut steps = Vec::new();
    if options.breadcrumb {
        steps.push(
            "no breadcrumb in Gemini CLI: it fires PreCompress on every turn, whether or not it compresses"
                .to_owned(),
        );
    }
    let step = match scope {
        SetupScope::Project => {
            "Gemini CLI reads a project's own settings only in a trusted folder: start gemini here and \
             trust it; headless runs need GEMINI_CLI_TRUST_WORKSPACE=true"
        }
        SetupScope::User => {
            "Gemini CLI connects to no MCP server in a folder that is not trusted: start gemini in each \
             project and trust it; headless runs need GEMINI_CLI_TRUST_WORKSPACE=true"
        }
    };
    steps.push(step.to_owned());
    steps
}

fn obstacles(files: &HarnessFiles) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    for (json, shown) in files.settings() {
        obstacles.extend(of_hooks(&json["hooksConfig"], &shown));
        obstacles.extend(HarnessFiles::server_exclusion(&json, &shown));
    }
    let enablement = HarnessFiles::json(&files.user_folder.join("mcp-server-enablement.json"));
    if enablement.is_some_and(|json| json["annals"]["enabled"] == false) {
        obstacles.push(Obstacle::decided(
            "Gemini CLI has the MCP server annals disabled".to_owned(),
            "gemini mcp enable annals",
        ));
    }
    let user = HarnessFiles::json(&files.user_folder.join("settings.json"));
    let is_asked = user.is_none_or(|json| json["security"]["folderTrust"]["enabled"] != false);
    if files.scope == SetupScope::Project && is_asked && !files.is_trusted() {
        obstacles.push(Obstacle::pending(
            "Gemini CLI does not trust this folder yet, so it reads none of its settings"
                .to_owned(),
            "start gemini here and trust it; headless: GEMINI_CLI_TRUST_WORKSPACE=true",
        ));
    }
    obstacles
}

/// Returns obstacles for the hooks that a settings file disables.
fn of_hooks(hooks: &Value, shown: &str) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if hooks["enabled"] == false {
        let what = format!("{shown} turns all hooks off");
        obstacles.push(Obstacle::decided(what, "remove hooksConfig.enabled there"));
    }
    let mut disabled = hooks["disabled"].as_array().into_iter().flatten();
    let is_ours = |name: &Value| name.as_str().is_some_and(|name| name.contains("annals hook"));
    if disabled.any(is_ours) {
        let what = format!("{shown} has a hook of annals disabled");
        obstacles.push(Obstacle::decided(what, "enable it in Gemini CLI: /hooks"));
    }
    obstacles
}
