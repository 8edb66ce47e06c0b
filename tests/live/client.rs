//! How each client is set up to talk to the model, and started.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;

use crate::script::{MARK, Reply};

/// A client, in one of the forms that differ in what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// opencode gives a GPT model other tools.
    OpencodeWithPatches,
    Qwen,
    Copilot,
}

/// A program, its arguments and its variables.
pub(crate) struct Start {
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Client {
    pub(crate) fn setup_name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode | Self::OpencodeWithPatches => "opencode",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the target of `annals sync` that it reads.
    pub(crate) fn context_target(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            _ => "agents",
        }
    }

    pub(crate) fn context_file(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.md",
            Self::Gemini => "GEMINI.md",
            _ => "AGENTS.md",
        }
    }

    /// Returns the call that writes a file of the project.
    pub(crate) fn write(self, path: &str, text: &str) -> Reply {
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
        match self {
            Self::Claude => Reply::Call(
                "Write",
                json!({"file_path": format!("[PROJECT]/{path}"), "content": text}),
            ),
            Self::Copilot => Reply::Call(
                "create",
                json!({"path": format!("[PROJECT]/{path}"), "file_text": text}),
            ),
            Self::Gemini | Self::Qwen => Reply::Call(
                "write_file",
                json!({"file_path": format!("[PROJECT]/{path}"), "content": text}),
            ),
            Self::Opencode => Reply::Call(
                "write",
                json!({"filePath": format!("[PROJECT]/{path}"), "content": text}),
            ),
            Self::Codex => Reply::Call("apply_patch", json!({"input": patch})),
            Self::OpencodeWithPatches => Reply::Call("apply_patch", json!({"patchText": patch})),
        }
    }

    /// Returns the files of a home that has met the client before, and what they say.
    pub(crate) fn home(self, project: &Path, model: SocketAddr) -> Vec<(&'static str, String)> {
        let project = project.display();
        match self {
            Self::Claude => vec![(
                ".claude.json",
                json!({"hasCompletedOnboarding": true, "theme": "dark", "autoUpdates": false,
                       "customApiKeyResponses": {"approved": [KEY_END], "rejected": []}})
                .to_string(),
            )],
            Self::Codex => vec![(
                ".codex/config.toml",
                format!(
                    "model = \"gpt-5.5-codex\"\nmodel_provider = \"played\"\napproval_policy = \"never\"\n\
                     sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\n\
                     [model_providers.played]\nname = \"played\"\nbase_url = \"http://{model}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"PLAYED_KEY\"\n\n[analytics]\nenabled = false\n\n\
                     [projects.\"{project}\"]\ntrust_level = \"trusted\"\n"
                ),
            )],
            Self::Gemini => vec![(
                ".gemini/settings.json",
                json!({"security": {"auth": {"selectedType": "gemini-api-key"}},
                       "general": {"enableAutoUpdate": false},
                       "privacy": {"usageStatisticsEnabled": false}})
                .to_string(),
            )],
            Self::Qwen => vec![(
                ".qwen/settings.json",
                json!({"security": {"auth": {"selectedType": "openai"}},
                       "general": {"disableAutoUpdate": true},
                       "privacy": {"usageStatisticsEnabled": false}})
                .to_string(),
            )],
            Self::Copilot => Vec::new(),
            Self::Opencode | Self::OpencodeWithPatches => {
                let name = self.model();
                let models = json!({(name): {"name": name, "tool_call": true,
                                             "limit": {"context": 200_000, "output": 8_000}}});
                let config = json!({
                    "autoupdate": false,
                    "share": "disabled",
                    "model": format!("played/{name}"),
                    "small_model": format!("played/{name}"),
                    "provider": {"played": {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": "played",
                        "options": {"baseURL": format!("http://{model}/v1"), "apiKey": "none"},
                        "models": models,
                    }},
                });
                vec![(".config/opencode/opencode.json", config.to_string())]
            }
        }
    }

    /// Returns how it goes on with the last conversation.
    pub(crate) fn resume(self, model: SocketAddr) -> Start {
        let mut start = self.start(model);
        match self {
            Self::Claude => start.arguments.push("--continue".to_owned()),
            Self::Codex => {
                start.arguments.splice(1..1, ["resume", "--last"].map(str::to_owned));
            }
            _ => unimplemented!("{self:?} is not resumed here"),
        }
        start
    }

    fn model(self) -> &'static str {
        if self == Self::OpencodeWithPatches { "gpt-5.5" } else { "played" }
    }

    /// Returns how it is started on one prompt.
    pub(crate) fn start(self, model: SocketAddr) -> Start {
        let url = format!("http://{model}");
        let prompt = format!("{MARK}, please");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let on = || "1".to_owned();
        let (program, arguments, variables) = match self {
            Self::Claude => (
                "claude",
                words(&[
                    "-p", &prompt, "--permission-mode", "acceptEdits", "--allowedTools",
                    "mcp__annals",
                ]),
                vec![
                    ("ANTHROPIC_BASE_URL", url),
                    ("ANTHROPIC_API_KEY", format!("sk-ant-none-{KEY_END}")),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
                    ("DISABLE_AUTOUPDATER", on()),
                    ("IS_SANDBOX", on()),
                ],
            ),
            Self::Codex => (
                "codex",
                words(&["exec", &prompt, "--json", "--dangerously-bypass-hook-trust"]),
                vec![("PLAYED_KEY", "none".to_owned())],
            ),
            Self::Gemini => (
                "gemini",
                words(&["-m", "gemini-2.5-pro", "-p", &prompt, "--yolo"]),
                vec![
                    ("GEMINI_API_KEY", "none".to_owned()),
                    ("GOOGLE_GEMINI_BASE_URL", url),
                    ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
                ],
            ),
            Self::Qwen => (
                "qwen",
                words(&[&prompt, "--yolo", "--auth-type", "openai"]),
                vec![
                    ("OPENAI_API_KEY", "none".to_owned()),
                    ("OPENAI_BASE_URL", format!("{url}/v1")),
                    ("OPENAI_MODEL", "played".to_owned()),
                ],
            ),
            Self::Copilot => (
                "copilot",
                words(&["-p", &prompt, "--allow-all-tools", "--allow-all-paths", "--trust-folder"]),
                vec![
                    ("COPILOT_OFFLINE", "true".to_owned()),
                    ("COPILOT_AUTO_UPDATE", "false".to_owned()),
                    ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
                    ("COPILOT_PROVIDER_API_KEY", "none".to_owned()),
                    ("COPILOT_MODEL", "gpt-4.1".to_owned()),
                ],
            ),
            Self::Opencode | Self::OpencodeWithPatches => (
                "opencode",
                words(&["run", &prompt]),
                vec![
                    ("OPENCODE_DISABLE_AUTOUPDATE", on()),
                    ("OPENCODE_DISABLE_MODELS_FETCH", on()),
                    ("OPENCODE_DISABLE_LSP_DOWNLOAD", on()),
                    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", on()),
                    ("npm_config_fetch_retries", "0".to_owned()),
                ],
            ),
        };
        Start { program, arguments, variables }
    }
}

/// The end of the key by which Claude Code remembers that its user has approved it.
const KEY_END: &str = "00000000000000000000";
