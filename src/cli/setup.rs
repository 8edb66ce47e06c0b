//! `annals setup`, and `annals hook`, which the clients that it sets up call

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::error::{Error, Result};
use crate::hooks::setup::{SetupReport, SetupRequest};
use crate::hooks::{
    Event, Harness, HookRequest, MAX_INPUT, Reply, SetupOptions, SetupScope, setup,
};
use crate::project::{Layout, LayoutName, Project};
use crate::sessions::Client;
use crate::{context, hooks, process, sessions};

/// Connect Claude Code, Codex or another client to annals, or disconnect it
///
/// Adds its own entries to the client's settings and leaves every other byte as it is: hooks, so that each new
/// session reads where the work stands and what is remembered, and the MCP server. Invalid settings are refused.
/// --remove takes its entries out again; in a project, `annals undo` restores the exact bytes.
///
/// Example: annals setup claude --user
#[derive(Args, Debug)]
pub(crate) struct SetupArgs {
    /// What to set up
    target: Target,
    /// Use your own settings, for all projects [default: this project's settings]
    #[arg(long)]
    user: bool,
    /// Change nothing; exit with 1 if setup would change anything; flags given earlier are kept
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the entries again
    #[arg(long)]
    remove: bool,
    /// Leave the notepad out of the text for a new session
    #[arg(long, overrides_with = "notepad")]
    no_notepad: bool,
    /// Put the notepad into the text for a new session again
    #[arg(long, overrides_with = "no_notepad")]
    notepad: bool,
    /// Leave the knowledge entries out of the text for a new session
    #[arg(long, overrides_with = "entries")]
    no_entries: bool,
    /// Put the entries into the text for a new session again
    #[arg(long, overrides_with = "no_entries")]
    entries: bool,
    /// Add a line to the notepad before a session is compacted
    #[arg(long, overrides_with = "no_breadcrumb")]
    breadcrumb: bool,
    /// Stop adding that line
    #[arg(long, overrides_with = "breadcrumb")]
    no_breadcrumb: bool,
    /// Also read the client's transcripts of your sessions, for `annals recall --in sessions`, in all your projects; a client
    /// that is set up for all projects stays so, without --user
    #[arg(long, conflicts_with_all = ["check", "remove"])]
    sessions: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    /// Claude Code: hooks in settings.json, the MCP server in .mcp.json
    Claude,
    /// Codex: hooks in hooks.json, the MCP server in config.toml
    Codex,
    /// Gemini CLI: hooks and the MCP server in settings.json
    Gemini,
    /// opencode: the MCP server in opencode.json, and a plugin file
    Opencode,
    /// Qwen Code: hooks and the MCP server in settings.json
    Qwen,
    /// GitHub Copilot CLI: Claude Code's hooks and MCP server in the project, which it uses
    Copilot,
    /// VBW: the hooks of Claude Code, and what to run beside VBW's commands
    Vbw,
    /// GSD: the hooks of Claude Code, and what to run beside GSD's commands
    Gsd,
    /// Let git merge annals files entry by entry: writes .gitattributes, prints the command for this clone's git
    Git,
}

pub(crate) fn run(args: &SetupArgs, project: &Project, out: &mut Output) -> Result<()> {
    let name = args.target.to_possible_value();
    let name = name.as_ref().map_or("", |value| value.get_name());
    let transcripts = Client::from_word(name).filter(|_| args.sessions);
    if args.sessions && transcripts.is_none() {
        return Err(Error::usage("--sessions is for claude, codex, gemini and opencode"));
    }
    let workflow = LayoutName::from_word(name);
    let Some(harness) = workflow.map(|_| Harness::Claude).or_else(|| Harness::from_word(name))
    else {
        if args.user || args.options() != SetupOptions::default() {
            return Err(Error::usage(
                "--user, --notepad, --entries and --breadcrumb are for clients",
            )
            .hint("annals setup claude --user"));
        }
        return git(args, project, out);
    };
    // Where the client is set up for the user, the transcripts are all that is missing.
    let is_users = args.user || (args.sessions && setup::is_in(project, harness, SetupScope::User));
    let request = SetupRequest {
        harness,
        workflow,
        scope: if is_users { SetupScope::User } else { SetupScope::Project },
        check: args.check,
        remove: args.remove,
        options: args.options(),
    };
    let mut client = setup::setup(project, request)?;
    out.warnings(&client.warnings);
    let is_read =
        Client::from_word(name).is_some_and(|one| project.settings.sessions.contains(&one));
    if args.remove && is_read {
        client.notes.push("its transcripts are still read: annals sessions --off ends that, and deletes their indexes".to_owned());
    }
    let workflow = workflow.filter(|_| !args.remove);
    let calls = workflow.map(|workflow| calls(workflow, project)).transpose()?;
    let end = match transcripts {
        _ if args.check => client.verdict(),
        Some(client) => read_transcripts(client, project),
        None => Ok(()),
    };
    let is_start = !args.check && !args.remove && harness.profile().calls_in(request.scope);
    let report = ClientReport {
        client,
        calls,
        tokens: is_start.then_some(context::START_BUDGET),
        transcripts: transcripts.filter(|_| end.is_ok()).map(Client::title),
    };
    let more = json!({ "removes": args.remove, "is_dry": project.dry_run });
    out.show_until(&report, &more, text!("setup/client"), end)
}

/// Reads the transcripts of a client from now on, beside those that are read already.
fn read_transcripts(client: Client, project: &Project) -> Result<()> {
    let mut clients = project.settings.sessions.clone();
    clients.push(client);
    clients.sort_unstable();
    clients.dedup();
    sessions::switch(project, &clients)?;
    Ok(())
}

impl SetupArgs {
    fn options(&self) -> SetupOptions {
        let either = |yes: bool, no: bool| (yes || no).then_some(yes);
        SetupOptions {
            notepad: either(self.notepad, self.no_notepad),
            entries: either(self.entries, self.no_entries),
            breadcrumb: either(self.breadcrumb, self.no_breadcrumb),
        }
    }
}

/// The outcome of a client's setup, and for a workflow, what to run beside its commands.
#[derive(Serialize)]
struct ClientReport {
    #[serde(flatten)]
    client: SetupReport,
    /// The workflow's commands, and the line that each may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<Value>>,
    /// The most that the text for a new session takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
    /// The client whose transcripts are read from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    transcripts: Option<&'static str>,
}

/// Returns what to run beside the workflow's commands, in the words of the generation in use: after each command or
/// moment, the line.
fn calls(workflow: LayoutName, project: &Project) -> Result<Vec<Value>> {
    let here = &project.planning_place().layout;
    let loaded = Layout::load(workflow)?;
    let commands =
        if here.name == workflow && here.is_in_use { &here.commands } else { &loaded.commands };
    let of = |command: &str| command.replace("{phase}", "N");
    let ship =
        if workflow.keeps_milestones() { "annals ship --cleanup-only" } else { "annals ship" };
    let calls = [
        (commands.new_project.clone(), "annals init"),
        (of(&commands.plan), "annals plan N"),
        ("a SUMMARY was written".to_owned(), "annals sync --fix-state"),
        (of(&commands.execute), "annals execute N --digest"),
        ("its lessons are known".to_owned(), "annals execute N --lessons -"),
        (of(&commands.ship), ship),
    ];
    Ok(calls.into_iter().map(|(after, run)| json!({ "after": after, "run": run })).collect())
}

fn git(args: &SetupArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = setup::git::git(project, args.check, args.remove)?;
    out.warnings(&report.warnings);
    let verdict = if args.check { report.verdict() } else { Ok(()) };
    out.show_until(&report, &(), text!("setup/git"), verdict)
}

/// Time limit of a hook. The shortest timeout that a harness sets for one of our hooks is 5 s.
const TIME: Duration = Duration::from_secs(4);
/// Time limit of the session-end hook. All hooks at the end of a session share 1.5 s.
const TIME_AT_END: Duration = Duration::from_millis(1_200);

/// Answer a coding agent's hook; `annals setup` installs it
///
/// Reads the client's JSON from standard input and prints JSON or nothing. The entries that `annals setup`
/// writes call it. It never fails a session: the exit code is always 0, and problems are noted in
/// .annals/hook.log.
///
/// Example: annals hook session-start < input.json
#[derive(Args, Debug)]
pub(crate) struct HookArgs {
    #[command(flatten)]
    request: HookRequest,
}

/// Runs the hook within its time limit, and always succeeds.
pub(crate) fn hook(args: &HookArgs, global: &Global, out: &mut Output) -> ExitCode {
    let reply = in_time(args, global)
        .unwrap_or_else(|error| Reply { log_error: Some(error), ..Reply::default() });
    if let Some(answer) = reply.answer {
        out.sanitized_line(&answer);
    }
    if let Some(error) = reply.log_error {
        out.note(&format!("annals hook: {error}"));
    }
    ExitCode::SUCCESS
}

/// Replaces the exit code of a usage error with success: harnesses interpret 2 as a request to stop the
/// session.
pub(crate) fn ignore_usage_error(code: ExitCode, arguments: &[OsString]) -> ExitCode {
    let first = arguments.get(1);
    if first.is_some_and(|first| first == "hook") {
        return ExitCode::SUCCESS;
    }
    code
}

/// Runs the hook in a thread with a timeout, which also isolates hangs and panics.
fn in_time(args: &HookArgs, global: &Global) -> Result<Reply> {
    let place = global.request()?;
    let request = args.request.clone();
    let is_end = request.event.as_deref() == Some(Event::SessionEnd.as_str());
    process::use_groups();
    let (sender, receiver) = mpsc::channel();
    // A panic is reported as an error, without a backtrace.
    std::panic::set_hook(Box::new(|_| {}));
    let worker = thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let answer = hooks::answer(&request, &place, &input());
        // The receiver is dropped after the timeout.
        let _is_heard = sender.send(answer).is_ok();
    });
    worker.map_err(Error::cannot("start a thread"))?;
    match receiver.recv_timeout(if is_end { TIME_AT_END } else { TIME }) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            process::kill_all();
            Err(Error::failed("did not finish in time"))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(Error::failed("crashed")),
    }
}

/// Reads the input to its end, so that the harness can finish writing it, and keeps one byte more than the
/// maximum.
fn input() -> Vec<u8> {
    let mut input = Vec::new();
    let mut stdin = io::stdin().lock();
    if io::stdin().is_terminal() {
        return input;
    }
    let most = u64::try_from(MAX_INPUT).unwrap_or(u64::MAX).saturating_add(1);
    let read = stdin.by_ref().take(most).read_to_end(&mut input);
    let drained = io::copy(&mut stdin, &mut io::sink());
    if read.and(drained).is_err() {
        // A truncated input is discarded.
        input.clear();
    }
    input
}
