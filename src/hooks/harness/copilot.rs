//! GitHub Copilot CLI: it runs the project's hooks of Claude Code and reads its `.mcp.json`.

use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, Obstacle, ServerEntry, SettingsContent,
    SettingsFile, SetupOptions, SetupScope, UserFolder, claude,
};
use crate::project::CLAUDE_FOLDER;

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Copilot,
    title: "GitHub Copilot CLI",
    folder: CLAUDE_FOLDER,
    project_variable: None,
    own_variable: Some("COPILOT_CLI"),
    user_folder: UserFolder {
        variable: Some("COPILOT_HOME"),
        below_variable: "",
        below_home: ".copilot",
    },
    files: &[
        SettingsFile {
            names: &["settings.json"],
            is_in_project: false,
            is_in: |scope| scope == SetupScope::Project,
            content: SettingsContent::Json { hooks: true, server: None, dialect: claude::STRICT },
        },
        SettingsFile {
            names: &[".mcp.json"],
            is_in_project: true,
            is_in: |scope| scope == SetupScope::Project,
            content: SettingsContent::Json {
                hooks: false,
                server: Some(ServerEntry::Program),
                dialect: claude::STRICT,
            },
        },
        SettingsFile {
            names: &["mcp-config.json"],
            is_in_project: false,
            is_in: |scope| scope == SetupScope::User,
            content: SettingsContent::Json {
                hooks: false,
                server: Some(ServerEntry::Program),
                dialect: claude::STRICT,
            },
        },
    ],
    events: claude::EVENTS,
    owns_event_name: |_| false,
    hooks: claude::HOOKS,
    retired: &[],
    is_named_in_commands: false,
    has_plain_answers: true,
    context: ContextFiles {
        folder_files: &[
            &["AGENTS.md"],
            &["CLAUDE.md"],
            &["GEMINI.md"],
            &[".github/copilot-instructions.md"],
        ],
        stops_at_repository: true,
        ..ContextFiles::NONE
    },
    runs_both_scopes: false,
    next_steps,
    after_removal: |_| None,
    obstacles: |_: &HarnessFiles| Vec::<Obstacle>::new(),
};

fn next_steps(scope: SetupScope, _: SetupOptions) -> Vec<String> {
    match scope {
        SetupScope::Project => vec![
            "Copilot CLI and Claude Code share these settings: each of them runs the hooks"
                .to_owned(),
        ],
        SetupScope::User => vec![
            "this is the MCP server alone: Copilot CLI runs the hooks of a project, which \
             `annals setup copilot` writes there"
                .to_owned(),
        ],
    }
}
