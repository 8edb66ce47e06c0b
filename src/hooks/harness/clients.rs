//! The table of harnesses: where their settings are, which events they fire, what they read and what they ask of their
//! user.

use crate::hooks::Event;
use crate::hooks::harness::obstacles::{At, Check, Test};
use crate::hooks::harness::{
    ContextFiles, Harness, HarnessProfile, Hook, JsonContent, ServerEntry, SettingsContent,
    SettingsFile, SetupScope, UserFolder,
};
use crate::project::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE};

/// The user's settings, and those of the project.
const PROJECT: Option<SetupScope> = Some(SetupScope::Project);
const USER: Option<SetupScope> = Some(SetupScope::User);

/// Claude Code's names for events, which Codex, Qwen Code and Copilot CLI have adopted.
const EVENTS: &[(Event, &str)] = &[
    (Event::SessionStart, "SessionStart"),
    (Event::PromptSubmit, "UserPromptSubmit"),
    (Event::PostToolUse, "PostToolUse"),
    (Event::SubagentStop, "SubagentStop"),
    (Event::PreCompact, "PreCompact"),
    (Event::SessionEnd, "SessionEnd"),
];

/// Claude Code's hooks, which Copilot CLI runs, too; timeouts in seconds.
const CLAUDE_HOOKS: &[Hook] = &[
    hook("SessionStart", None, Event::SessionStart, 10),
    // Not `async`, or its output would be lost.
    hook("PostToolUse", Some("Write|Edit|MultiEdit"), Event::PostToolUse, 5),
    // The answer to `SubagentStop` goes to the subagent; after the `Agent` tool, it goes to the calling
    // agent.
    hook("PostToolUse", Some("Agent|Task"), Event::SubagentStop, 5),
    hook("SessionEnd", None, Event::SessionEnd, 10),
    hook("PreCompact", None, Event::PreCompact, 10),
];

const HOOKS_FILE: SettingsFile = json(&["settings.json"], CLAUDE_JSON);
const CLAUDE_JSON: JsonContent =
    JsonContent { hooks: true, server: None, comments: false, trailing_commas: false };
const SERVER_JSON: JsonContent =
    JsonContent { hooks: false, server: Some(ServerEntry::Program), ..CLAUDE_JSON };

/// The project's servers of Claude Code, whose user-level ones are in a file that it rewrites all the time.
const MCP_JSON: SettingsFile =
    SettingsFile { is_in_project: true, only_in: PROJECT, ..json(&[".mcp.json"], SERVER_JSON) };

/// The one settings file of Gemini CLI and its forks.
const GEMINI_FILES: &[SettingsFile] =
    &[json(&["settings.json"], JsonContent { hooks: true, comments: true, ..SERVER_JSON })];

const fn hook(
    event: &'static str,
    matcher: Option<&'static str>,
    call: Event,
    timeout: u32,
) -> Hook {
    Hook { event, matcher, call, timeout }
}

const fn json(names: &'static [&'static str], content: JsonContent) -> SettingsFile {
    let content = SettingsContent::Json(content);
    SettingsFile { names, is_in_project: false, only_in: None, content }
}

pub(super) static CLAUDE: HarnessProfile = HarnessProfile {
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
    files: &[HOOKS_FILE, MCP_JSON],
    events: EVENTS,
    hooks: CLAUDE_HOOKS,
    no_breadcrumb: None,
    is_named_in_commands: false,
    has_plain_answers: false,
    context: ContextFiles {
        names: &[&["CLAUDE.md", "AGENTS.md"], &[".claude/CLAUDE.md"], &["CLAUDE.local.md"]],
        has_imports: true,
        strips_comments: true,
    },
    // Claude Code runs only one of two identical commands.
    runs_both_scopes: false,
    steps: &[
        (
            PROJECT,
            "teammates get these settings with the repository; without annals on PATH each of their \
             sessions shows a hook error. For you alone: annals setup claude --user, or the plugin",
        ),
        (PROJECT, "start claude here once and approve the MCP server annals"),
        (USER, "for the MCP server: claude mcp add --scope user annals -- annals mcp"),
        (
            None,
            "headless runs (claude -p) deny every tool of annals without --allowedTools mcp__annals",
        ),
    ],
    after_removal: Some("for the MCP server: claude mcp remove --scope user annals"),
    checks: &[
        Check::decided(
            &[At::User("settings.json"), At::Own("settings.json"), At::Own("settings.local.json")],
            &["disableAllHooks"],
            Test::On,
            "{file} turns all hooks off",
            "remove disableAllHooks there",
        ),
        Check::decided(
            CLAUDE_STATE,
            &[
                "disabledMcpjsonServers",
                "disabledMcpServers",
                "projects *project disabledMcpjsonServers",
                "projects *project disabledMcpServers",
            ],
            Test::On,
            "Claude Code has the MCP server annals disabled",
            "enable it in Claude Code: /mcp",
        ),
        Check {
            only_in: PROJECT,
            ..Check::pending(
                CLAUDE_STATE,
                &[
                    "enabledMcpjsonServers",
                    "enableAllProjectMcpServers",
                    "projects *project enabledMcpjsonServers",
                ],
                "the MCP server is not approved yet",
                "start claude here and approve annals",
            )
        },
        Check {
            only_in: USER,
            ..Check::pending(
                &[At::State(".claude.json")],
                &["mcpServers annals"],
                "the MCP server is not listed",
                "claude mcp add --scope user annals -- annals mcp",
            )
        },
    ],
};

const CLAUDE_STATE: &[At] = &[
    At::User("settings.json"),
    At::Own("settings.json"),
    At::Own("settings.local.json"),
    At::State(".claude.json"),
];

pub(super) static CODEX: HarnessProfile = HarnessProfile {
    harness: Harness::Codex,
    title: "Codex",
    folder: ".codex",
    project_variable: None,
    // Claude Code sets only `CLAUDE_PLUGIN_ROOT` for the hooks of a plugin.
    own_variable: Some("PLUGIN_ROOT"),
    user_folder: UserFolder {
        variable: Some("CODEX_HOME"),
        below_variable: "",
        below_home: ".codex",
    },
    files: &[
        json(&["hooks.json"], CLAUDE_JSON),
        SettingsFile {
            names: &["config.toml"],
            content: SettingsContent::Toml,
            ..json(&[], CLAUDE_JSON)
        },
    ],
    events: EVENTS,
    hooks: &[
        hook("SessionStart", None, Event::SessionStart, 10),
        hook("PostToolUse", Some("apply_patch|Write|Edit"), Event::PostToolUse, 5),
        hook("SessionEnd", None, Event::SessionEnd, 10),
        hook("PreCompact", None, Event::PreCompact, 10),
    ],
    no_breadcrumb: None,
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        names: &[&["AGENTS.override.md", "AGENTS.md"]],
        has_imports: false,
        strips_comments: false,
    },
    runs_both_scopes: true,
    steps: &[
        (None, "Codex runs a hook once you have trusted it: open /hooks there"),
        (
            None,
            "its sessions read AGENTS.md, where `annals sync` writes the block if Codex is the only client set up",
        ),
        (
            PROJECT,
            "Codex reads a project's own settings only if the project is trusted: start codex here and say yes",
        ),
    ],
    after_removal: None,
    checks: &[
        Check::decided(
            &[At::Own("config.toml")],
            &["mcp_servers annals enabled"],
            Test::Off,
            "config.toml has the MCP server annals disabled",
            "remove `enabled = false` from [mcp_servers.annals]",
        ),
        Check::decided(
            &[At::User("config.toml"), At::Own("config.toml")],
            &["features hooks"],
            Test::Off,
            "config.toml turns hooks off",
            "remove `hooks = false` from [features]",
        ),
        Check::decided(
            &[At::User("config.toml")],
            &["hooks state *hooks enabled"],
            Test::Off,
            "Codex has a hook of this file disabled",
            "enable it in Codex: /hooks",
        ),
        Check::pending(
            &[At::User("config.toml")],
            &["hooks state *hooks trusted_hash"],
            "its hooks are not trusted yet",
            "open /hooks in Codex",
        ),
        Check {
            only_in: PROJECT,
            ..Check::pending(
                &[At::User("config.toml")],
                &["projects *project trust_level"],
                "Codex does not trust this project yet, so it reads none of its settings",
                "start codex here and say yes",
            )
        },
    ],
};

pub(super) static GEMINI: HarnessProfile = HarnessProfile {
    harness: Harness::Gemini,
    title: "Gemini CLI",
    folder: ".gemini",
    project_variable: Some("GEMINI_PROJECT_DIR"),
    own_variable: None,
    user_folder: UserFolder { variable: None, below_variable: "", below_home: ".gemini" },
    files: GEMINI_FILES,
    events: &[
        (Event::SessionStart, "SessionStart"),
        (Event::PromptSubmit, "BeforeAgent"),
        (Event::PostToolUse, "AfterTool"),
        (Event::PreCompact, "PreCompress"),
        (Event::SessionEnd, "SessionEnd"),
    ],
    // Timeouts in milliseconds.
    hooks: &[
        hook("SessionStart", None, Event::SessionStart, 10_000),
        hook("AfterTool", Some("write_file|replace"), Event::PostToolUse, 5_000),
        hook("SessionEnd", None, Event::SessionEnd, 10_000),
    ],
    no_breadcrumb: Some(
        "no breadcrumb in Gemini CLI: it fires PreCompress on every turn, whether or not it compresses",
    ),
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles { names: &[&["GEMINI.md"]], has_imports: true, strips_comments: false },
    runs_both_scopes: false,
    steps: &[
        (
            PROJECT,
            "Gemini CLI reads a project's own settings only in a trusted folder: start gemini here and \
             trust it; headless runs need GEMINI_CLI_TRUST_WORKSPACE=true",
        ),
        (
            USER,
            "Gemini CLI connects to no MCP server in a folder that is not trusted: start gemini in each \
             project and trust it; headless runs need GEMINI_CLI_TRUST_WORKSPACE=true",
        ),
    ],
    after_removal: None,
    checks: &[
        Check::decided(
            SETTINGS_JSON,
            &["hooksConfig enabled"],
            Test::Off,
            "{file} turns all hooks off",
            "remove hooksConfig.enabled there",
        ),
        Check::decided(
            SETTINGS_JSON,
            &["hooksConfig disabled"],
            Test::On,
            "{file} has a hook of annals disabled",
            "enable it in Gemini CLI: /hooks",
        ),
        MCP_EXCLUDED,
        MCP_NOT_ALLOWED,
        Check::decided(
            &[At::User("mcp-server-enablement.json")],
            &["annals enabled"],
            Test::Off,
            "Gemini CLI has the MCP server annals disabled",
            "gemini mcp enable annals",
        ),
        Check {
            only_in: PROJECT,
            asks_by_default: Some(true),
            ..Check::pending(
                &[At::User("trustedFolders.json")],
                &["*parent"],
                "Gemini CLI does not trust this folder yet, so it reads none of its settings",
                "start gemini here and trust it; headless: GEMINI_CLI_TRUST_WORKSPACE=true",
            )
        },
    ],
};

const SETTINGS_JSON: &[At] = &[At::User("settings.json"), At::Own("settings.json")];
const MCP_EXCLUDED: Check = Check::decided(
    SETTINGS_JSON,
    &["mcp excluded"],
    Test::On,
    "{file} does not allow the MCP server annals",
    "see mcp.allowed and mcp.excluded there",
);
const MCP_NOT_ALLOWED: Check = Check { at: &["mcp allowed"], test: Test::Lacks, ..MCP_EXCLUDED };

pub(super) static OPENCODE: HarnessProfile = HarnessProfile {
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
            is_in_project: true,
            ..json(
                &["opencode.json", "opencode.jsonc"],
                JsonContent {
                    hooks: false,
                    server: Some(ServerEntry::List),
                    comments: true,
                    trailing_commas: true,
                },
            )
        },
        SettingsFile {
            names: &["plugins/annals.js"],
            content: SettingsContent::Plugin(include_str!("../../../templates/opencode/annals.js")),
            ..json(&[], CLAUDE_JSON)
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
    hooks: &[],
    no_breadcrumb: None,
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        names: &[&["AGENTS.md", "CLAUDE.md"]],
        has_imports: false,
        strips_comments: false,
    },
    // The plugin itself checks whether another copy of it has already answered.
    runs_both_scopes: false,
    steps: &[(
        None,
        "opencode installs @opencode-ai/plugin by npm next to the plugin; if npm cannot be reached, the first start waits for \
         over a minute: npm_config_fetch_retries=0 opencode",
    )],
    after_removal: None,
    checks: &[
        Check::decided(
            OPENCODE_JSON,
            &["mcp annals enabled"],
            Test::Off,
            "{file} has the MCP server annals disabled",
            "set mcp.annals.enabled to true there",
        ),
        Check::decided(
            OPENCODE_JSON,
            &["tools *annals"],
            Test::Off,
            "{file} turns tools of annals off",
            "see `tools` there",
        ),
        Check::pending(
            &[At::Own("node_modules")],
            &[""],
            "opencode has not installed @opencode-ai/plugin next to the plugin yet",
            "if npm cannot be reached: npm_config_fetch_retries=0 opencode",
        ),
    ],
};

const OPENCODE_JSON: &[At] = &[At::Base("opencode.json"), At::Base("opencode.jsonc")];

pub(super) static QWEN: HarnessProfile = HarnessProfile {
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
    files: GEMINI_FILES,
    events: EVENTS,
    // Every version reads numbers from 1,000 as milliseconds; smaller numbers used to be milliseconds and are
    // seconds now.
    hooks: &[
        hook("SessionStart", None, Event::SessionStart, 10_000),
        hook("PostToolUse", Some("write_file|edit"), Event::PostToolUse, 5_000),
        hook("SessionEnd", None, Event::SessionEnd, 10_000),
        hook("PreCompact", None, Event::PreCompact, 10_000),
    ],
    no_breadcrumb: None,
    is_named_in_commands: true,
    has_plain_answers: false,
    context: ContextFiles {
        names: &[&["QWEN.md"], &["AGENTS.md"], &[".qwen/QWEN.local.md"]],
        has_imports: true,
        strips_comments: false,
    },
    runs_both_scopes: true,
    steps: &[
        (None, "a headless run of Qwen Code fires no SessionEnd: run `annals sync` after it"),
        (
            PROJECT,
            "if folder trust is on, Qwen Code reads a project's own settings only in a trusted folder: \
             /permissions there",
        ),
        (
            USER,
            "if folder trust is on, Qwen Code is restricted in each folder that is not trusted: \
             /permissions there",
        ),
    ],
    after_removal: None,
    checks: &[
        Check::decided(
            SETTINGS_JSON,
            &["disableAllHooks"],
            Test::On,
            "{file} turns all hooks off",
            "remove disableAllHooks there",
        ),
        MCP_EXCLUDED,
        MCP_NOT_ALLOWED,
        Check {
            only_in: PROJECT,
            asks_by_default: Some(false),
            ..Check::pending(
                &[At::User("trustedFolders.json")],
                &["*parent"],
                "Qwen Code does not trust this folder yet, so it reads none of its settings",
                "trust it in Qwen Code: /permissions",
            )
        },
    ],
};

pub(super) static COPILOT: HarnessProfile = HarnessProfile {
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
        SettingsFile { only_in: PROJECT, ..HOOKS_FILE },
        MCP_JSON,
        SettingsFile { only_in: USER, ..json(&["mcp-config.json"], SERVER_JSON) },
    ],
    events: EVENTS,
    hooks: CLAUDE_HOOKS,
    no_breadcrumb: None,
    is_named_in_commands: false,
    has_plain_answers: true,
    context: ContextFiles {
        names: &[
            &["AGENTS.md"],
            &["CLAUDE.md"],
            &["GEMINI.md"],
            &[".github/copilot-instructions.md"],
        ],
        has_imports: false,
        strips_comments: false,
    },
    runs_both_scopes: false,
    steps: &[
        (PROJECT, "Copilot CLI and Claude Code share these settings: each of them runs the hooks"),
        (
            PROJECT,
            "Copilot CLI runs them only in a trusted folder: start copilot here and trust it; headless runs need --trust-folder",
        ),
        (
            USER,
            "this is the MCP server alone: Copilot CLI runs the hooks of a project, which \
             `annals setup copilot` writes there",
        ),
    ],
    after_removal: None,
    checks: &[],
};
