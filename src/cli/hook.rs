//! `annals hook`

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

use clap::Args;

use crate::cli::Global;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::hooks::{Event, Harness, HookRequest, MAX_INPUT, Reply};
use crate::project::OpenRequest;
use crate::{git, hooks};

/// Time limit of a hook. The shortest timeout that a harness sets for one of our hooks is 5 s.
const TIME: Duration = Duration::from_secs(4);
/// Time limit of the session-end hook. All hooks at the end of a session share 1.5 s.
const TIME_AT_END: Duration = Duration::from_millis(1_200);

/// Answer a coding agent's hook; `annals setup` installs it
///
/// Reads the harness's JSON from standard input and prints JSON or nothing. The entries that `annals setup`
/// writes call it. It never fails a session: the exit code is always 0, and problems are noted in
/// .annals/hook.log.
///
/// Example: annals hook session-start < input.json
#[derive(Args, Clone, Debug)]
pub(crate) struct HookArgs {
    /// session-start, post-tool-use, pre-compact, subagent-stop or session-end, or the harness's name for it
    event: Option<String>,
    /// Harness that calls the hook: claude, codex, gemini, opencode, qwen or copilot
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// Leave out the notepad
    #[arg(long)]
    no_notepad: bool,
    /// Leave out the knowledge entries
    #[arg(long)]
    no_entries: bool,
}

/// Runs the hook within its time limit, and always succeeds.
pub(crate) fn run(args: &HookArgs, global: &Global, out: &mut Output) -> ExitCode {
    match in_time(args, global) {
        Ok(reply) => {
            if let Some(answer) = reply.answer {
                out.sanitized_line(&answer);
            }
            if let Some(error) = reply.log_error {
                out.note(&format!("annals hook: {error}"));
            }
        }
        Err(error) => out.note(&format!("annals hook: {error}")),
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
    let request = HookRequest {
        event: args.event.clone(),
        harness: args.harness.as_deref().and_then(Harness::from_word),
        no_notepad: args.no_notepad,
        no_entries: args.no_entries,
    };
    let is_end = request.event.as_deref() == Some(Event::SessionEnd.as_str());
    git::use_process_groups();
    let (sender, receiver) = mpsc::channel();
    // A panic is reported as an error, without a backtrace.
    std::panic::set_hook(Box::new(|_| {}));
    let worker = thread::Builder::new().name("hook".to_owned());
    let worker = worker.spawn(move || {
        let answer = answer(&request, &place);
        // The receiver is dropped after the timeout.
        let _is_heard = sender.send(answer).is_ok();
    });
    if let Err(error) = worker {
        return Err(Error::failed(format!("cannot start a thread: {error}")));
    }
    match receiver.recv_timeout(if is_end { TIME_AT_END } else { TIME }) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            git::kill_all();
            Err(Error::failed("did not finish in time"))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(Error::failed("crashed")),
    }
}

fn answer(request: &HookRequest, place: &OpenRequest) -> Result<Reply> {
    hooks::answer(request, place, &input())
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
