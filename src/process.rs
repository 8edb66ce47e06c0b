//! Runs programs, each until a deadline, and keeps track of them, so that none outlives a caller that gives up waiting.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
#[cfg(unix)]
use std::sync::Once;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

/// Maximum length of what is kept of a program's error output, in bytes.
const MAX_STDERR_BYTES: u64 = 64 << 10;

/// Time that a program has to clean up after a request to end: a killed git leaves its `index.lock`, which blocks every
/// other git from writing.
const GRACE: Duration = Duration::from_secs(1);

/// Interval at which a program that has closed its output is asked whether it has ended.
const PAUSE: Duration = Duration::from_micros(50);

/// The output of a program that has ended.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// Whether it wrote more than that.
    pub(crate) is_cut: bool,
    pub(crate) stderr: String,
}

/// Runs a program with this input, and returns at most the first `most` bytes that it writes; ends it after `wait`.
pub(crate) fn run(
    command: &mut Command,
    input: &[u8],
    most: u64,
    wait: Duration,
) -> io::Result<Output> {
    let deadline = Instant::now() + wait;
    let left = || deadline.saturating_duration_since(Instant::now());
    let late = || {
        let message = format!("no answer in {} s", wait.as_secs_f32());
        io::Error::new(ErrorKind::TimedOut, message)
    };
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start(command)?;
    let child = &mut running.0;
    // All pipes at the same time, since a full one would block both sides.
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_owned();
        // What the program does not read, it does not need.
        thread::Builder::new().spawn(move || pipe.write_all(&input).ok())?;
    }
    let stdout = collect(child.stdout.take(), most)?;
    let stderr = collect(child.stderr.take(), MAX_STDERR_BYTES)?;
    let (stdout, is_cut) = stdout.recv_timeout(left()).map_err(|_| late())??;
    let status = loop {
        match running.status()? {
            Some(status) => break status,
            None if left().is_zero() => return Err(late()),
            None => thread::sleep(PAUSE),
        }
    };
    // A program that it has started may keep this pipe open.
    let stderr = stderr.recv_timeout(left().min(GRACE));
    let (stderr, _) = stderr.unwrap_or_else(|_| Ok(Default::default()))?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Output { status, stdout, is_cut, stderr })
}

/// The first bytes of a pipe, and whether there are more.
type Beginning = io::Result<(Vec<u8>, bool)>;

/// Reads a pipe to its end in a thread, and keeps at most its first `most` bytes.
fn collect(pipe: Option<impl Read + Send + 'static>, most: u64) -> io::Result<Receiver<Beginning>> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut kept = Vec::new();
        let Some(mut pipe) = pipe else { return Ok((kept, false)) };
        (&mut pipe).take(most).read_to_end(&mut kept)?;
        Ok((kept, io::copy(&mut pipe, &mut io::sink())? > 0))
    };
    // After the deadline, nobody receives it.
    thread::Builder::new().spawn(move || sender.send(read()).ok())?;
    Ok(receiver)
}

static PROCESSES: Mutex<Processes> =
    Mutex::new(Processes { ids: Vec::new(), has_groups: false, is_shut_down: false });

struct Processes {
    ids: Vec<u32>,
    /// Whether each process leads its own process group.
    has_groups: bool,
    /// Whether further processes are refused.
    is_shut_down: bool,
}

fn processes() -> MutexGuard<'static, Processes> {
    PROCESSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running process, which is ended if this is dropped before.
struct Running(Child);

impl Running {
    /// Starts a process in our process group, so that Ctrl-C ends both, unless separate groups are enabled.
    fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        forward_termination();
        let mut processes = processes();
        #[cfg(unix)]
        if processes.has_groups {
            std::os::unix::process::CommandExt::process_group(command, 0);
        }
        if processes.is_shut_down {
            return Err(io::Error::new(ErrorKind::NotFound, "the run is over"));
        }
        let child = command.spawn()?;
        processes.ids.push(child.id());
        Ok(Self(child))
    }

    /// Returns how it has ended, or `None` while it runs.
    fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut processes = processes();
        let status = self.0.try_wait()?;
        if status.is_some() {
            // Its id may be reused by another process from now on.
            processes.ids.retain(|id| *id != self.0.id());
        }
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.0.id();
        let mut is_running = || matches!(self.status(), Ok(None));
        if !is_running() {
            return;
        }
        processes().send("TERM", &[id]);
        let late = Instant::now() + GRACE;
        while is_running() && Instant::now() < late {
            thread::sleep(PAUSE);
        }
        let is_left = is_running();
        let processes = processes();
        if is_left || processes.has_groups {
            // Others of its group may ignore the request.
            processes.send("KILL", &[id]);
        }
        drop(processes);
        if is_left {
            // `kill` may not be installed.
            self.0.kill().ok();
            self.0.wait().ok();
            self.status().ok();
        }
    }
}

/// Kills every process of this run; no further one starts.
pub(crate) fn kill_all() {
    let mut processes = processes();
    processes.is_shut_down = true;
    processes.send("KILL", &processes.ids);
}

/// Starts each process in its own group from now on, for a program that starts others and for callers that may give up
/// waiting; the group ends with it.
pub(crate) fn use_groups() {
    processes().has_groups = true;
}

/// Forwards termination signals to the processes, which would otherwise continue to wait.
///
/// Installed with the first process, so that a run without one has no handler. A closed terminal signals them itself.
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
                let mut processes = processes();
                processes.is_shut_down = true;
                processes.send("TERM", &processes.ids);
                // The lock is still held: a thread whose process has just ended waits for it in `Running::status`, so it
                // cannot exit with its own code before the signal ends this process.
                emulate_default_handler(signal).ok();
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(watchdog).ok();
    });
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
#[expect(clippy::disallowed_methods, reason = "the tests start programs of their own")]
mod tests {
    use super::*;

    fn shell(script: &str, wait: Duration) -> io::Result<Output> {
        run(Command::new("sh").args(["-c", script]), b"", 5, wait)
    }

    #[test]
    fn a_program_that_does_not_respond_is_ended() {
        for script in ["exec sleep 1000", "exec sleep 1000 >&-", "trap '' TERM; exec sleep 1000"] {
            let error = shell(script, Duration::from_millis(20)).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{script}");
            assert_eq!(error.to_string(), "no answer in 0.02 s");
        }
    }

    #[test]
    fn a_program_that_is_ended_can_clean_up() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lock");
        let script = "touch $0; trap 'rm $0; exit' TERM; while true; do sleep 0.01; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&lock);
        // It has made the lock before the deadline, or there is nothing to clean up.
        run(&mut command, b"", 5, Duration::from_millis(200)).err().unwrap();
        assert!(!lock.exists());
    }

    #[test]
    fn the_beginning_of_what_a_program_writes_is_kept() {
        let output = shell("echo 123456; echo no >&2; exit 3", Duration::from_mins(1)).unwrap();
        let expected = (Some(3), &b"12345"[..], true, "no\n");
        let Output { status, stdout, is_cut, stderr } = output;
        assert_eq!((status.code(), &stdout[..], is_cut, &stderr[..]), expected);
    }
}
