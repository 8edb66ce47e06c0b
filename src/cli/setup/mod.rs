//! `annals setup`

mod git;
mod harness;
mod journal;
mod workflow;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::error::Result;
use crate::hooks::Harness;
use crate::project::{LayoutName, Project};

/// Connect a harness such as Claude Code or Codex to annals, or disconnect it
///
/// Adds its own entries to the harness's settings and leaves every other byte as it is. Invalid settings
/// are refused. --remove restores what was there before.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals setup claude --dry-run")]
pub(crate) struct SetupArgs {
    #[command(subcommand)]
    target: SetupTarget,
}

#[derive(Debug, Subcommand)]
enum SetupTarget {
    /// Set up Claude Code: hooks in settings.json, the MCP server in .mcp.json
    #[command(after_help = "Example: annals setup claude --check")]
    Claude(harness::HarnessArgs),
    /// Set up Codex: hooks in hooks.json, the MCP server in config.toml
    #[command(after_help = "Example: annals setup codex --user")]
    Codex(harness::HarnessArgs),
    /// Set up Gemini CLI: hooks and the MCP server in settings.json
    #[command(after_help = "Example: annals setup gemini --user")]
    Gemini(harness::HarnessArgs),
    /// Set up opencode: the MCP server in opencode.json, and a plugin file
    #[command(after_help = "Example: annals setup opencode --remove")]
    Opencode(harness::HarnessArgs),
    /// Set up Qwen Code: hooks and the MCP server in settings.json
    #[command(after_help = "Example: annals setup qwen --user")]
    Qwen(harness::HarnessArgs),
    /// Set up GitHub Copilot CLI: Claude Code's hooks and MCP server in the project, which it uses
    #[command(after_help = "Example: annals setup copilot")]
    Copilot(harness::HarnessArgs),
    /// Set up VBW: the hooks of Claude Code, and what VBW's commands may call
    #[command(after_help = "Example: annals setup vbw --dry-run")]
    Vbw(workflow::WorkflowArgs),
    /// Set up GSD: the hooks of Claude Code, and what GSD's commands may call
    #[command(after_help = "Example: annals setup gsd --check")]
    Gsd(workflow::WorkflowArgs),
    Git(git::GitArgs),
    Journal(journal::JournalArgs),
}

pub(crate) fn run(args: &SetupArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.target {
        SetupTarget::Claude(args) => harness::run(Harness::Claude, args, project, out),
        SetupTarget::Codex(args) => harness::run(Harness::Codex, args, project, out),
        SetupTarget::Gemini(args) => harness::run(Harness::Gemini, args, project, out),
        SetupTarget::Opencode(args) => harness::run(Harness::Opencode, args, project, out),
        SetupTarget::Qwen(args) => harness::run(Harness::Qwen, args, project, out),
        SetupTarget::Copilot(args) => harness::run(Harness::Copilot, args, project, out),
        SetupTarget::Vbw(args) => workflow::run(LayoutName::Vbw, args, project, out),
        SetupTarget::Gsd(args) => workflow::run(LayoutName::Gsd, args, project, out),
        SetupTarget::Git(args) => git::run(args, project, out),
        SetupTarget::Journal(args) => journal::run(args, project, out),
    }
}

/// Removes `--project` without a folder: for `setup`, it selects the project's settings, which is the
/// default.
///
/// Together with `--user`, it is an error, as for any other pair of conflicting options.
pub(crate) fn without_scope(arguments: &mut Vec<OsString>) -> std::result::Result<(), clap::Error> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_scope =
        |at: &usize| arguments[*at] == "--project" && arguments.get(at + 1).is_none_or(is_option);
    if arguments.iter().any(|word| word == "setup")
        && let Some(scope) = (0..arguments.len()).find(is_scope)
    {
        if arguments.iter().any(|word| word == "--user") {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "the argument '--user' cannot be used with '--project'\n",
            ));
        }
        arguments.remove(scope);
    }
    Ok(())
}
