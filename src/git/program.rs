//! Runs git so that it starts no program named by the repository and fetches nothing.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::{io, thread};

use crate::clock::Clock;
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
#[derive(Clone)]
pub(crate) struct Program<'a> {
    /// The folder that contains `.git`, where the files are checked out; git searches nowhere else.
    top: &'a Path,
    /// Further configuration, as options before the command.
    options: Vec<String>,
    /// The index to use instead of the repository's own.
    index: Option<PathBuf>,
}

/// The output of a finished process.
struct Output {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

const SAFE_OPTIONS: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.quotepath=off",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",
    "-c",
    "diff.ignoreSubmodules=all",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.excludesFile=/dev/null",
    "-c",
    "log.mailmap=false",
    "-c",
    "mailmap.file=/dev/null",
    "-c",
    "diff.orderFile=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
];

/// Environment variables with an empty value and with `false`: `--config-env` disables settings through them,
/// even if their names contain an equals sign.
const EMPTY_VARIABLE: &str = "ANNALS_GIT_EMPTY";
const FALSE_VARIABLE: &str = "ANNALS_GIT_NO";

/// Variables that select the repository, index or objects; git sets these for its hooks.
const REPOSITORY_VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// The author and committer if none is configured.
const DEFAULT_IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "annals"),
    ("GIT_AUTHOR_EMAIL", "annals@localhost"),
    ("GIT_COMMITTER_NAME", "annals"),
    ("GIT_COMMITTER_EMAIL", "annals@localhost"),
];

const MAX_OUTPUT_BYTES: u64 = 64 << 20;
const MAX_STDERR_BYTES: u64 = 64 << 10;

impl<'a> Program<'a> {
    pub(crate) fn new(top: &'a Path) -> Self {
        Self { top, options: Vec::new(), index: None }
    }

    /// Returns a program for commands that write, which runs none of the configured filters and hooks.
    ///
    /// Since git 2.54, settings can define hooks. When git writes an index, it compares files with it and
    /// runs filters for that.
    pub(crate) fn without_filters_and_hooks(&self) -> Result<Self> {
        let filters = self.subsections("filter")?;
        let filters = filters.iter().flat_map(|name| {
            let keys = [
                ("clean", EMPTY_VARIABLE),
                ("smudge", EMPTY_VARIABLE),
                ("process", EMPTY_VARIABLE),
                ("required", FALSE_VARIABLE),
            ];
            keys.map(|(key, value)| format!("--config-env=filter.{name}.{key}={value}"))
        });
        let hooks = self.subsections("hook")?;
        let hooks =
            hooks.iter().map(|name| format!("--config-env=hook.{name}.enabled={FALSE_VARIABLE}"));
        // Not `-c`, for which the key ends at the first equals sign.
        let options = filters.chain(hooks).collect();
        Ok(Self { options, ..self.clone() })
    }

    /// Returns the names of the subsections of a section: `a` of `filter.a.clean`.
    fn subsections(&self, section: &str) -> Result<BTreeSet<String>> {
        let pattern = format!("^{section}\\.");
        let listing = ["config", "--null", "--name-only", "--get-regexp", &pattern];
        let listed = self.execute(self.command(&listing), &listing, Vec::new())?;
        let listed = listed.filter(|output| output.status.success());
        let keys = listed.map(|output| output.stdout).unwrap_or_default();
        let keys = String::from_utf8(keys).map_err(|_| {
            let message =
                format!("git is configured with a {section} whose name is not valid UTF-8");
            Error::refused(message).at(self.top, None)
        })?;
        let name = |key: &str| {
            let (_, rest) = key.split_once('.')?;
            Some(rest.rsplit_once('.')?.0.to_owned())
        };
        Ok(keys.split('\0').filter_map(name).collect())
    }

    /// Returns a program that uses a separate index.
    pub(crate) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// Returns a program that takes paths literally, not as patterns.
    pub(crate) fn with_literal_paths(&self) -> Self {
        let mut program = self.clone();
        program.options.push("--literal-pathspecs".to_owned());
        program
    }

    /// Refuses files with a filter, since the repository's own settings define its program.
    pub(crate) fn refuse_filtered(&self, paths: &[&str]) -> Result<()> {
        let mut arguments = vec!["check-attr", "-z", "filter", "--"];
        arguments.extend(paths);
        let listed = self.run(&arguments)?.unwrap_or_default();
        let fields: Vec<&str> = listed.split('\0').collect();
        let filtered = fields.chunks_exact(3).find_map(|row| match row {
            [path, _, filter] => {
                let is_filtered = !matches!(*filter, "unspecified" | "unset");
                is_filtered.then_some((path, filter))
            }
            _ => None,
        });
        let Some((path, filter)) = filtered else {
            return Ok(());
        };
        let message =
            format!("git would run the filter {filter:?} on it, which can be any program");
        Err(Error::refused(message)
            .at(Path::new(path), None)
            .hint("commit it yourself, or remove the filter attribute from these files"))
    }

    /// Returns the output of a command; `None` without a git program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = self.execute(self.command(arguments), arguments, Vec::new())?;
        output.map(|output| stdout_text(output, arguments)).transpose()
    }

    /// Returns the output of a command whose exit code 1 means "none".
    pub(crate) fn query(&self, arguments: &[&str]) -> Result<Option<String>> {
        match self.execute(self.command(arguments), arguments, Vec::new())? {
            Some(output) if output.status.code() == Some(1) => Ok(None),
            Some(output) => stdout_text(output, arguments).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the output of a command that reads this input, as bytes.
    pub(crate) fn run_with_input(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Option<Vec<u8>>> {
        let output = self.execute(self.command(arguments), arguments, input)?;
        output.map(|output| successful_output(output, arguments)).transpose()
    }

    /// Starts a command that answers queries one by one; `None` without a git program.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Result<Option<(Child, Running)>> {
        let action = format!("run git {}", arguments.first().unwrap_or(&""));
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        match Running::start(&mut command) {
            Ok(started) => Ok(Some(started)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at(&action, self.top),
        }
    }

    /// Returns the top of the repository.
    pub(crate) fn top(&self) -> &Path {
        self.top
    }

    /// Returns whether git accepts the full name of a reference.
    pub(crate) fn is_valid_ref(&self, reference: &str) -> Result<Option<bool>> {
        let arguments = ["check-ref-format", reference];
        let output = self.execute(self.command(&arguments), &arguments, Vec::new())?;
        match output {
            // It does not report a reason.
            Some(output) if output.status.code() == Some(1) => Ok(Some(false)),
            Some(output) => successful_output(output, &arguments).map(|_| Some(true)),
            None => Ok(None),
        }
    }

    /// Creates an annotated tag with the time of this run.
    pub(crate) fn tag(
        &self,
        name: &str,
        message: &str,
        commit: &str,
        clock: &Clock,
    ) -> Result<Option<String>> {
        let arguments = ["tag", "--annotate", "--no-sign", "--message", message, name, commit];
        self.without_filters_and_hooks()?.run_as_committer(&arguments, clock)
    }

    /// Runs a command that records a committer and a time.
    pub(crate) fn run_as_committer(
        &self,
        arguments: &[&str],
        clock: &Clock,
    ) -> Result<Option<String>> {
        // Without a configured user, git would fail, so a default is used.
        let identity = ["var", "GIT_COMMITTER_IDENT"];
        let known = self.execute(self.command(&identity), &identity, Vec::new())?;
        let is_anonymous = known.is_some_and(|output| !output.status.success());
        let mut command = self.command(arguments);
        command.env("GIT_AUTHOR_DATE", clock.timestamp());
        command.env("GIT_COMMITTER_DATE", clock.timestamp());
        if is_anonymous {
            for (name, value) in DEFAULT_IDENTITY {
                command.env(name, value);
            }
        }
        let output = self.execute(command, arguments, Vec::new())?;
        output.map(|output| stdout_text(output, arguments)).transpose()
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that starts git")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(self.top)
            .arg("--work-tree")
            .arg(self.top)
            .args(SAFE_OPTIONS)
            .args(&self.options)
            .args(arguments);
        for variable in REPOSITORY_VARIABLES {
            command.env_remove(variable);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some(above) = self.top.canonicalize().ok().as_deref().and_then(Path::parent) {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        command
            .env("LC_ALL", "C")
            .env(EMPTY_VARIABLE, "")
            .env(FALSE_VARIABLE, "false")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "");
        command
    }

    /// Runs a command to its end; `None` without a git program.
    fn execute(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Option<Output>> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
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
fn collect((mut child, running): (Child, Running), input: Vec<u8>) -> io::Result<Output> {
    let deadline = running.deadline(MAX_WAIT)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (written, stdout, stderr) = thread::scope(|scope| {
        let errors = move || read_up_to(stderr, MAX_STDERR_BYTES);
        let errors = thread::Builder::new().spawn_scoped(scope, errors)?;
        let writer = move || stdin.map_or(Ok(()), |mut pipe| pipe.write_all(&input));
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

fn stdout_text(output: Output, arguments: &[&str]) -> Result<String> {
    let bytes = successful_output(output, arguments)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
