//! The memory auditor: a command of the user that reads the prompt on standard input and prints the answer.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::project::Project;
use crate::text::strip_controls;

/// Default timeout of an answer.
pub(crate) const WAIT: Duration = Duration::from_mins(2);

/// Maximum length of an answer, in bytes; the rest is not read.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Polling interval for the exit of a command that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// A shell command that answers the prompt.
#[derive(Clone, Debug)]
pub struct Auditor(pub String);

impl Auditor {
    /// Returns the command in the user's settings.
    pub fn from_settings(project: &Project) -> Option<Self> {
        project.settings.llm.command.clone().map(Self)
    }

    /// Returns what the command prints, or an error.
    pub fn ask(&self, prompt: &str, wait: Duration) -> Result<String> {
        let failed = |reason: &str| {
            Error::failed(format!("the auditor's command {reason}"))
                .hint("the setting llm.command names it; the turn stays in the queue")
        };
        // The lease of the turn is only slightly longer than `wait`, so one deadline covers all steps.
        let deadline = Instant::now() + wait;
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut child =
            self.start().map_err(|error| failed(&format!("does not start: {error}")))?;
        if let Some(mut stdin) = child.stdin.take() {
            let prompt = prompt.to_owned();
            // In a thread, since a command may answer before it has read everything, or read nothing.
            thread::spawn(move || stdin.write_all(prompt.as_bytes()).ok());
        }
        let (answer, complaint) = (collect(child.stdout.take()), collect(child.stderr.take()));
        let Ok(answer) = answer.recv_timeout(left()) else {
            end(&mut child);
            return Err(failed(&format!("gave no answer in {} s", wait.as_secs_f32())));
        };
        let status = loop {
            match child.try_wait().map_err(|error| failed(&error.to_string()))? {
                Some(status) => break status,
                None if left().is_zero() => {
                    end(&mut child);
                    return Err(failed("does not end"));
                }
                None => thread::sleep(PAUSE),
            }
        };
        if status.success() {
            return Ok(answer);
        }
        let said = complaint.recv_timeout(left()).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        let last = last.map(|last| format!(": {}", strip_controls(last))).unwrap_or_default();
        Err(failed(&format!("failed ({status}){last}")))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "facts may start the auditor, which only the user's own settings can name"
    )]
    fn start(&self) -> io::Result<Child> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.args([flag, self.0.as_str()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// Reads a stream to its end in a thread.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is judged like any other answer.
            stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes).ok();
            // After a timeout, nobody receives the result.
            sender.send(String::from_utf8_lossy(&bytes).into_owned()).ok()
        });
    }
    receiver
}

/// Kills a command with all processes that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        #[expect(
            clippy::disallowed_methods,
            reason = "killing a process group without unsafe code needs the system's `kill`"
        )]
        let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
        // If it has already exited, there is nothing to kill.
        killed.ok();
    }
    child.kill().ok();
    child.wait().ok();
}
