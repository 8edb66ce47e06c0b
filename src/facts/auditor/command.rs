//! Runs a user-defined command that reads the prompt on standard input and prints the answer.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::error::{Error, Result};
use crate::text::strip_controls;

/// Maximum length of an answer, in bytes; the rest is not read.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Polling interval for the exit of a command that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns what the command prints, or an error.
pub(crate) fn run(line: &str, prompt: &str, wait: Duration) -> Result<String> {
    let failed = |reason: &str| {
        Error::failed(format!("the auditor's command {reason}"))
            .hint("the setting llm.command names it; the turn stays in the queue")
    };
    // The lease of the turn is only slightly longer than `wait`, so one deadline covers all steps.
    let deadline = Instant::now() + wait;
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut child = start(line).map_err(|error| failed(&format!("does not start: {error}")))?;
    if let Err(error) = feed(&mut child, prompt) {
        end(&mut child);
        return Err(failed(&format!("cannot be given the prompt: {error}")));
    }
    let answer = collect(child.stdout.take());
    let complaint = collect(child.stderr.take());
    let bytes = match answer.recv_timeout(left()) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => {
            end(&mut child);
            return Err(failed(&format!("gave no readable answer: {error}")));
        }
        Err(_) => {
            end(&mut child);
            let seconds = wait.as_secs_f32();
            return Err(failed(&format!("gave no answer in {seconds} s")));
        }
    };
    let status = wait_for(&mut child, deadline).map_err(|error| failed(&error.to_string()))?;
    let Some(status) = status else {
        end(&mut child);
        return Err(failed("does not end"));
    };
    if !status.success() {
        let said = complaint.recv_timeout(left());
        let said = said.ok().and_then(io::Result::ok).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        let last = strip_controls(last.unwrap_or_default()).into_owned();
        let detail = if last.is_empty() { last } else { format!(": {last}") };
        return Err(failed(&format!("failed ({status}){detail}")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "facts may start the auditor, which only the user's own settings can name"
)]
fn start(line: &str) -> io::Result<Child> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;

        command.process_group(0);
    }
    command.spawn()
}

/// Writes the prompt in its own thread: a command that answers before reading all of it must not deadlock.
fn feed(child: &mut Child, prompt: &str) -> io::Result<()> {
    if let Some(mut stdin) = child.stdin.take() {
        let prompt = prompt.to_owned();
        // A command may ignore its input and close the pipe.
        let write = move || stdin.write_all(prompt.as_bytes()).ok();
        thread::Builder::new().spawn(write)?;
    }
    Ok(())
}

fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stream) = stream {
        let refused = sender.clone();
        let read = move || {
            let mut bytes = Vec::new();
            let read = stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
            // After a timeout, nobody receives the result.
            sender.send(read.map(|_| bytes)).ok()
        };
        if let Err(error) = thread::Builder::new().spawn(read) {
            refused.send(Err(error)).ok();
        }
    }
    receiver
}

fn wait_for(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the pipe broke"))
        }
    }

    #[test]
    fn an_unreadable_answer_is_reported_with_its_reason() {
        let answer = collect(Some(Broken)).recv_timeout(Duration::from_mins(1));
        assert_eq!(answer.unwrap().unwrap_err().to_string(), "the pipe broke");
    }
}
