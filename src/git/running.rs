//! The git processes that run at this moment, so that a door which gives up waiting leaves none behind.

use std::io;
use std::io::ErrorKind;
use std::process::Child;
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;

static PROCESSES: Mutex<Processes> = Mutex::new(Processes {
    ids: Vec::new(),
    is_over: false,
});

struct Processes {
    ids: Vec<u32>,
    /// Whether no further process may start.
    is_over: bool,
}

/// A process that runs, until this is dropped.
#[derive(Debug)]
pub(crate) struct Running(u32);

impl Running {
    /// Starts a process in a group of its own.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;

            command.process_group(0);
        }
        let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        if processes.is_over {
            return Err(io::Error::new(ErrorKind::NotFound, "the run is over"));
        }
        let child = command.spawn()?;
        processes.ids.push(child.id());
        let running = Self(child.id());
        Ok((child, running))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        processes.ids.retain(|id| *id != self.0);
    }
}

/// Ends every git process of this run with all that it started; no further one starts.
pub fn end_all() {
    let mut processes = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    processes.is_over = true;
    if !cfg!(unix) || processes.ids.is_empty() {
        return;
    }
    let groups = processes.ids.iter().map(|id| format!("-{id}"));
    #[expect(
        clippy::disallowed_methods,
        reason = "only the system's own program can end a group of processes without unsafe code"
    )]
    let killed = Command::new("kill")
        .args(["-KILL", "--"])
        .args(groups)
        .status();
    // What is gone already need not be ended.
    killed.ok();
}
