//! Keeps track of the running git processes, so that none outlives a caller that gives up waiting.

use std::io::ErrorKind;
use std::process::{Child, Command};
#[cfg(unix)]
use std::sync::Once;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

/// Time limit of a git process. Reading a history of a million commits takes less; a pipe in place of an
/// object would block forever.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

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
