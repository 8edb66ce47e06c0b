//! Qwen Code: hooks and the server in `settings.json`, which may contain comments. A fork of Gemini CLI with
//! Claude Code's event names.

use crate::hooks::Event;
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessFiles, HarnessProfile, Hook, Obstacle, SetupOptions, SetupScope,
    UserFolder, claude, gemini,
};

pub(crate) static PROFILE: HarnessProfile = HarnessProfile {
    harness: Harness::Qwen,
    title: "Qwen Code",
    folder: ".qwen",
    project_variable: None,
    own_variable: None,
    user_folder: UserFolder {
        variable: Some("QWEN_HOME"),
        below_variable: "",
        below_home: ".qwen",
    },
    files: gemini::FILES,
    events: claude::EVENTS,
    owns_event_name: |_| false,
    // Every version reads numbers from 1,000 as milliseconds; smaller numbers used to be milliseconds and are
    // seconds now.
    hooks: &[
        Hook::new("SessionStart", None, Event::SessionStart, 10_000),
        Hook::new("PostToolUse", Some("write_file|edit"), Event::PostToolUse, 5_000),
        Hook::new("SessionEnd", None, Event::SessionEnd, 10_000),
        Hook { is_breadcrumb: true, ..Hook::new("PreCompact", None, Event::PreCompact, 10_000) },
    ],
    retired: &[],
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        user_files: &["QWEN.md"],
        folder_files: &[&["QWEN.md"], &["AGENTS.md"], &[".qwen/QWEN.local.md"]],
        stops_at_repository: true,
        has_imports: true,
        ..ContextFiles::NONE
    },
    runs_both_scopes: true,
    next_steps,
    after_removal: |_| None,
    obstacles,
};

fn next_steps(scope: SetupScope, _: SetupOptions) -> Vec<String> {
    match scope {
        SetupScope::Project => vec![
            "if folder trust is on, Qwen Code reads a project's own settings only in a trusted folder: \
             /permissions there"
                .to_owned(),
        ],
        SetupScope::User => vec![
            "if folder trust is on, Qwen Code is restricted in each folder that is not trusted: \
             /permissions there"
                .to_owned(),
        ],
    }
}

fn obstacles(files: &HarnessFiles) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    for (json, shown) in files.settings() {
        if json["disableAllHooks"] == true {
            let what = format!("{shown} turns all hooks off");
            obstacles.push(Obstacle::decided(what, "remove disableAllHooks there"));
        }
        obstacles.extend(HarnessFiles::server_exclusion(&json, &shown));
    }
    let user = HarnessFiles::json(&files.user_folder.join("settings.json")).unwrap_or_default();
    let is_asked = user["security"]["folderTrust"]["enabled"] == true;
    if files.scope == SetupScope::Project && is_asked && !files.is_trusted() {
        obstacles.push(Obstacle::pending(
            "Qwen Code does not trust this folder yet, so it reads none of its settings".to_owned(),
            "trust it in Qwen Code: /permissions",
        ));
    }
    obstacles
}
