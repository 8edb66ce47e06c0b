//! Runs git so that it starts no program named by the repository and fetches nothing, and keeps track of the running
//! processes, so that none outlives a caller that gives up waiting.
//!
//! A repository's own settings may name programs, and an unpacked archive contains such settings. Each
//! command therefore runs without the file system monitor, hooks, signatures, pager, submodules, background
//! maintenance and fetching of missing objects, and none reads the checked-out files, for which filters may
//! be configured. Nor does a setting direct git to files elsewhere: the worktree is the folder of `.git`, and
//! rules for attributes and ignored files come from the repository. The user's environment is kept, except
//! for the variables with which git selects a repository for its hooks.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
#[cfg(unix)]
use std::sync::Once;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

use crate::error::{At, Error, Result};
use crate::text::strip_controls;

/// The output of a finished process.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

/// Settings that keep git from starting programs and from reading files elsewhere.
const SAFE_SETTINGS: &str = "core.quotepath=off core.fsmonitor=false core.hooksPath=/dev/null log.showSignature=false \
    diff.ignoreSubmodules=all gc.auto=0 maintenance.auto=false core.attributesFile=/dev/null core.excludesFile=/dev/null \
    log.follow=false log.mailmap=false mailmap.file=/dev/null diff.orderFile=/dev/null safe.bareRepository=explicit";

/// Variables that select the repository, index or objects; git sets these for its hooks.
const REPOSITORY_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX";

const MAX_OUTPUT_BYTES: u64 = 64 << 20;
const MAX_STDERR_BYTES: u64 = 64 << 10;

/// Returns a command for the repository whose `.git` is in this folder; git searches nowhere else.
#[expect(clippy::disallowed_methods, reason = "the only place that starts git")]
pub(crate) fn command(top: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(top).arg("--work-tree").arg(top);
    command.args(["--no-pager", "--no-optional-locks"]);
    for setting in SAFE_SETTINGS.split(' ') {
        command.args(["-c", setting]);
    }
    command.args(arguments);
    for variable in REPOSITORY_VARIABLES.split(' ') {
        command.env_remove(variable);
    }
    if let Some(above) = top.canonicalize().ok().as_deref().and_then(Path::parent) {
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "");
    command
}

/// Runs a command that reads this input to its end; `None` without a git program.
pub(crate) fn run(top: &Path, arguments: &[&str], input: &[u8]) -> Result<Option<Output>> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut command = command(top, arguments);
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let action = format!("run git {}", arguments.first().unwrap_or(&""));
    match Running::start(&mut command) {
        Ok(started) => collect(started, input).at(&action, top).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at(&action, top),
    }
}

impl Output {
    /// Returns what a successful process wrote, or an error with the first line of its error output.
    pub(crate) fn successful(self, arguments: &[&str]) -> Result<Vec<u8>> {
        if self.status.success() {
            return Ok(self.stdout);
        }
        let reason = strip_controls(self.stderr.trim()).into_owned();
        let reason = reason.lines().next().unwrap_or("no reason given");
        let command = arguments.first().unwrap_or(&"");
        Err(Error::failed(format!("git {command} failed: {reason}")))
    }
}

/// Writes the input and reads the output of a process concurrently, since a full pipe would block both.
fn collect((mut child, running): (Child, Running), input: &[u8]) -> io::Result<Output> {
    let deadline = running.deadline(MAX_WAIT)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (written, stdout, stderr) = thread::scope(|scope| {
        let errors = move || read_up_to(stderr, MAX_STDERR_BYTES);
        let errors = thread::Builder::new().spawn_scoped(scope, errors)?;
        let writer = move || stdin.map_or(Ok(()), |mut pipe| pipe.write_all(input));
        let writer = thread::Builder::new().spawn_scoped(scope, writer)?;
        let stdout = read_up_to(stdout, MAX_OUTPUT_BYTES);
        Ok::<_, io::Error>((join_thread(writer), stdout, join_thread(errors)))
    })
    .or_else(|refused| {
        child.kill()?;
        child.wait()?;
        Err(refused)
    })?;
    // Before `wait`, after which its id may be reused by another process.
    let in_time = deadline.close();
    drop(running);
    let status = child.wait()?;
    in_time?;
    let ((stdout, length), (stderr, _)) = (stdout?, stderr?);
    match written {
        // If git ends early, its error output states why.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
        _ if length > MAX_OUTPUT_BYTES => {
            return Err(io::Error::other("its output exceeds 64 MiB"));
        }
        _ => {}
    }
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Output { status, stdout, stderr })
}
/// Returns the first `most` bytes of a pipe, and its total number of bytes.
fn read_up_to(pipe: Option<impl Read>, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else {
        return Ok((kept, 0));
    };
    let length = (&mut pipe).take(most).read_to_end(&mut kept)? as u64;
    Ok((kept, length + io::copy(&mut pipe, &mut io::sink())?))
}

fn join_thread<T>(thread: thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread that reads a pipe panicked")))
}

/// Time limit of a git process. Reading a history of a million commits takes less; a pipe in place of an
/// object would block forever.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Time that git has to remove its lock files after a request to end.
const GRACE: Duration = Duration::from_secs(1);

static PROCESSES: Mutex<Processes> =
    Mutex::new(Processes { ids: Vec::new(), has_groups: false, is_shut_down: false });

struct Processes {
    ids: Vec<u32>,
    /// Whether each process leads its own process group.
    has_groups: bool,
    /// Whether further processes are refused.
    is_shut_down: bool,
}

/// A running process, registered until this is dropped.
#[derive(Debug)]
pub(crate) struct Running(u32);

impl Running {
    /// Starts a process in our process group, so that Ctrl-C ends both, unless separate groups are enabled.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        #[cfg(unix)]
        forward_termination();
        let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(unix)]
        if processes.has_groups {
            use std::os::unix::process::CommandExt;

            command.process_group(0);
        }
        if processes.is_shut_down {
            return Err(io::Error::new(ErrorKind::NotFound, "the run is over"));
        }
        let child = command.spawn()?;
        processes.ids.push(child.id());
        let running = Self(child.id());
        Ok((child, running))
    }

    /// Ends the process unless the deadline is closed in time.
    pub(crate) fn deadline(&self, wait: Duration) -> io::Result<Deadline> {
        let id = self.0;
        let (sender, receiver) = mpsc::channel::<()>();
        let watchdog = thread::Builder::new().spawn(move || {
            let is_open = |wait| receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
            let is_late = is_open(wait);
            if is_late {
                // A killed git leaves its `index.lock`, which blocks every other git from writing.
                send("TERM", &[id]);
                if is_open(GRACE) {
                    send("KILL", &[id]);
                }
            }
            is_late
        })?;
        Ok(Deadline { wait, sender, watchdog })
    }
}

/// The deadline for an answer. Close it before the process is reaped, since its id may be reused after that.
#[derive(Debug)]
pub(crate) struct Deadline {
    wait: Duration,
    sender: mpsc::Sender<()>,
    watchdog: JoinHandle<bool>,
}

impl Deadline {
    /// Fails if the answer came too late.
    pub(crate) fn close(self) -> io::Result<()> {
        drop(self.sender);
        if !self.watchdog.join().unwrap_or_default() {
            return Ok(());
        }
        let message = format!("it did not respond within {} seconds", self.wait.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, message))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        processes.ids.retain(|id| *id != self.0);
    }
}

/// Kills every git process of this run; no further one starts.
pub fn kill_all() {
    let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    processes.is_shut_down = true;
    processes.send("KILL", &processes.ids);
}

/// Starts each git process in its own group from now on, for callers that may give up waiting; [`kill_all`]
/// ends the groups.
pub fn use_process_groups() {
    let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    processes.has_groups = true;
}

/// Forwards termination signals to the git processes, which would otherwise continue to wait.
///
/// Installed with the first git process, so that a run without git has no handler. A closed terminal signals
/// them itself.
#[cfg(unix)]
fn forward_termination() {
    use signal_hook::consts::SIGTERM;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Without a handler, the system ends this process at once.
        let Ok(mut signals) = Signals::new([SIGTERM]) else {
            return;
        };
        let watchdog = move || {
            for signal in signals.forever() {
                let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
                processes.is_shut_down = true;
                processes.send("TERM", &processes.ids);
                // The lock is still held: a thread whose git has just ended waits for it in `Running::drop`, so
                // it cannot exit with its own code before the signal ends this process.
                emulate_default_handler(signal).ok();
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(watchdog).ok();
    });
}

fn send(signal: &str, ids: &[u32]) {
    let processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    processes.send(signal, ids);
}

impl Processes {
    /// Sends a signal to processes; a group leader's whole group gets it.
    fn send(&self, signal: &str, ids: &[u32]) {
        if !cfg!(unix) || ids.is_empty() {
            return;
        }
        let sign = if self.has_groups { "-" } else { "" };
        let groups = ids.iter().map(|id| format!("{sign}{id}"));
        #[expect(
            clippy::disallowed_methods,
            reason = "only the system's own program can end a group of processes without unsafe code"
        )]
        let sent = Command::new("kill").args(["-s", signal, "--"]).args(groups).status();
        // A process that has already ended needs no signal.
        sent.ok();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process that never answers")]
    fn a_process_that_does_not_respond_is_terminated() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 1000"]).stdin(Stdio::null());
        let (mut child, running) = Running::start(&mut command).unwrap();
        let deadline = running.deadline(Duration::from_millis(1)).unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(deadline.close().unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process that will not be asked")]
    fn a_process_that_ignores_termination_is_killed() {
        let mut command = Command::new("sh");
        let script = "trap '' TERM; echo; exec sleep 1000";
        command.args(["-c", script]).stdout(Stdio::piped());
        let (mut child, running) = Running::start(&mut command).unwrap();
        // It has reported that it ignores the signal.
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let deadline = running.deadline(Duration::from_millis(1)).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        deadline.close().unwrap_err();
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process that answers")]
    fn a_process_that_exits_in_time_is_not_killed() {
        let (mut child, running) = Running::start(&mut Command::new("true")).unwrap();
        let deadline = running.deadline(MAX_WAIT).unwrap();
        deadline.close().unwrap();
        assert!(child.wait().unwrap().success());
    }
}
