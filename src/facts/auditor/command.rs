//! A command of the user's that answers the prompt: it reads standard input and writes standard output.

use std::io;
use std::io::Read;
use std::io::Write;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::error::Result;
use crate::text::strip_controls;

/// The longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// How often it is looked whether a command has ended that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns what the command prints, or why there is nothing.
pub(crate) fn run(line: &str, prompt: &str, wait: Duration) -> Result<String> {
    let failed = |reason: &str| {
        Error::failed(format!("the auditor's command {reason}"))
            .hint("the setting llm.command names it; the turn stays in the queue")
    };
    let mut child = start(line).map_err(|error| failed(&format!("does not start: {error}")))?;
    feed(&mut child, prompt);
    let answer = collect(child.stdout.take());
    let complaint = collect(child.stderr.take());
    let Ok(bytes) = answer.recv_timeout(wait) else {
        end(&mut child);
        return Err(failed(&format!(
            "gave no answer in {} s",
            wait.as_secs_f32()
        )));
    };
    let status = wait_for(&mut child, wait).map_err(|error| failed(&error.to_string()))?;
    let Some(status) = status else {
        end(&mut child);
        return Err(failed("does not end"));
    };
    if !status.success() {
        let said = complaint.recv_timeout(wait).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        let last = strip_controls(last.unwrap_or_default()).into_owned();
        return Err(failed(&format!("failed ({status}): {last}")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "facts may start the auditor, which only the user's own settings can name"
)]
fn start(line: &str) -> io::Result<Child> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut command = Command::new(shell);
    command
        .args([flag, line])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;

        command.process_group(0);
    }
    command.spawn()
}

/// Writes beside the reading: a command that answers before it has read all must not block both.
fn feed(child: &mut Child, prompt: &str) {
    if let Some(mut stdin) = child.stdin.take() {
        let prompt = prompt.to_owned();
        // A command that reads nothing has closed its end, which is its own affair.
        thread::spawn(move || stdin.write_all(prompt.as_bytes()).ok());
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
            // Nobody is left to hear it where the wait is over.
            read.is_ok() && sender.send(bytes).is_ok()
        });
    }
    receiver
}

fn wait_for(child: &mut Child, wait: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= wait {
            return Ok(None);
        }
        thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

/// Ends a command with all that it has started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        #[expect(
            clippy::disallowed_methods,
            reason = "only the system's own program can end a group of processes without unsafe code"
        )]
        let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
        // Where it is gone already there is nothing to end.
        killed.ok();
    }
    child.kill().ok();
    child.wait().ok();
}
