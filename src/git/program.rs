//! Runs git so that it starts no program named by the repository and fetches nothing.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::{io, thread};

use crate::error::{At, Error, Result};
use crate::git::running::{MAX_WAIT, Running};
use crate::text::strip_controls;

/// A git program for one project.
///
/// A repository's own settings may name programs, and an unpacked archive contains such settings. Each
/// command therefore runs without the file system monitor, hooks, signatures, pager, submodules, background
/// maintenance and fetching of missing objects, and none reads the checked-out files, for which filters may
/// be configured. Nor does a setting direct git to files elsewhere: the worktree is the folder of `.git`, and
/// rules for attributes and ignored files come from the repository. The user's environment is kept, except
/// for the variables with which git selects a repository for its hooks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// The folder that contains `.git`, where the files are checked out; git searches nowhere else.
    top: &'a Path,
}

/// The output of a finished process.
struct Output {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

/// Settings that keep git from starting programs and from reading files elsewhere.
const SAFE_SETTINGS: &str = "core.quotepath=off core.fsmonitor=false core.hooksPath=/dev/null log.showSignature=false \
    diff.ignoreSubmodules=all gc.auto=0 maintenance.auto=false core.attributesFile=/dev/null core.excludesFile=/dev/null \
    log.mailmap=false mailmap.file=/dev/null diff.orderFile=/dev/null safe.bareRepository=explicit";

/// Variables that select the repository, index or objects; git sets these for its hooks.
const REPOSITORY_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX";

const MAX_OUTPUT_BYTES: u64 = 64 << 20;
const MAX_STDERR_BYTES: u64 = 64 << 10;

impl<'a> Program<'a> {
    pub(crate) fn new(top: &'a Path) -> Self {
        Self { top }
    }

    /// Returns the output of a command whose exit code 1 means "none".
    pub(crate) fn query(&self, arguments: &[&str]) -> Result<Option<String>> {
        let found = self.execute(arguments, &[])?;
        let output = found.filter(|output| output.status.code() != Some(1));
        let output = output.map(|output| successful_output(output, arguments)).transpose()?;
        Ok(output.map(|output| String::from_utf8_lossy(&output).into_owned()))
    }

    /// Returns the output of a command that reads this input, as bytes.
    pub(crate) fn run_with_input(
        &self,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let output = self.execute(arguments, input)?;
        output.map(|output| successful_output(output, arguments)).transpose()
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that starts git")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.top).arg("--work-tree").arg(self.top);
        command.args(["--no-pager", "--no-optional-locks"]);
        for setting in SAFE_SETTINGS.split(' ') {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        for variable in REPOSITORY_VARIABLES.split(' ') {
            command.env_remove(variable);
        }
        if let Some(above) = self.top.canonicalize().ok().as_deref().and_then(Path::parent) {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "");
        command
    }

    /// Runs a command to its end; `None` without a git program.
    fn execute(&self, arguments: &[&str], input: &[u8]) -> Result<Option<Output>> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut command = self.command(arguments);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let action = format!("run git {}", arguments.first().unwrap_or(&""));
        match Running::start(&mut command) {
            Ok(started) => collect(started, input).at(&action, self.top).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at(&action, self.top),
        }
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

/// Returns the output of a successful process, or an error with the first line of its error output.
fn successful_output(output: Output, arguments: &[&str]) -> Result<Vec<u8>> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let reason = strip_controls(output.stderr.trim()).into_owned();
    let reason = reason.lines().next().unwrap_or("no reason given");
    let command = arguments.first().unwrap_or(&"");
    Err(Error::failed(format!("git {command} failed: {reason}")))
}
