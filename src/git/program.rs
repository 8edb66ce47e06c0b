//! The one place that starts git, and how: nothing of the repository runs, nothing is fetched.

use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::thread;

use crate::clock::Clock;
use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::text::strip_controls;

/// A git program that asks about one project.
///
/// A repository's own settings may name programs, and an unpacked archive brings such settings along.
/// Each command therefore runs without the file system monitor, hooks, signatures, pager and fetching of
/// missing objects. The environment of the user holds, except for the variables by which a hook of git
/// says where its repository is: the project's is asked, whoever asks.
pub(crate) struct Program<'a> {
    root: &'a Path,
}

/// What a process left behind.
struct Output {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

const HARMLESS: &[&str] = &[
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
];

/// Which repository, index or objects: git sets these for its hooks.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Who signs where nobody is known.
const ANONYMOUS: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "annals"),
    ("GIT_AUTHOR_EMAIL", "annals@localhost"),
    ("GIT_COMMITTER_NAME", "annals"),
    ("GIT_COMMITTER_EMAIL", "annals@localhost"),
];

const LARGEST_OUTPUT: u64 = 64 << 20;
const LARGEST_COMPLAINT: u64 = 64 << 10;

impl<'a> Program<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    /// Returns what a command prints, or none without a git program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = self.start(self.command(arguments), arguments, Vec::new())?;
        output.map(|output| text_of(output, arguments)).transpose()
    }

    /// Returns what a command prints whose exit code 1 says "there is none".
    pub(crate) fn query(&self, arguments: &[&str]) -> Result<Option<String>> {
        match self.start(self.command(arguments), arguments, Vec::new())? {
            Some(output) if output.status.code() == Some(1) => Ok(None),
            Some(output) => text_of(output, arguments).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the bytes that a command prints for an input.
    pub(crate) fn feed(&self, arguments: &[&str], input: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let output = self.start(self.command(arguments), arguments, input)?;
        output.map(|output| checked(output, arguments)).transpose()
    }

    /// Starts a command that answers one question after the other; none without a git program.
    pub(crate) fn talk(&self, arguments: &[&str]) -> Result<Option<Child>> {
        let tried = format!("run git {}", arguments.first().unwrap_or(&""));
        let child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => Ok(Some(child)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at(&tried, self.root),
        }
    }

    /// Returns the folder that the program asks about.
    pub(crate) fn root(&self) -> &Path {
        self.root
    }

    /// Makes an annotated tag with the time of this run.
    pub(crate) fn tag(
        &self,
        name: &str,
        message: &str,
        commit: &str,
        clock: &Clock,
    ) -> Result<Option<String>> {
        let arguments = [
            "tag",
            "--annotate",
            "--no-sign",
            "--message",
            message,
            name,
            commit,
        ];
        self.sign_as(&arguments, clock)
    }

    /// Commits these files and nothing else, with the time of this run; tells whether there was something to commit.
    pub(crate) fn commit(&self, paths: &[&str], message: &str, clock: &Clock) -> Result<bool> {
        let literal: Vec<String> = paths
            .iter()
            .map(|path| format!(":(literal,top){path}"))
            .collect();
        let with_paths = |words: &[&'static str]| {
            let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            arguments.push("--".to_owned());
            arguments.extend(literal.iter().cloned());
            arguments
        };
        let status = with_paths(&["status", "--porcelain", "-z", "--untracked-files=all"]);
        let changed = self.run(&texts(&status))?;
        if changed.is_none_or(|changed| changed.is_empty()) {
            return Ok(false);
        }
        // A new file has to be known before it can be committed by its name.
        self.run(&texts(&with_paths(&["add"])))?;
        let mut commit = vec![
            "commit",
            "--quiet",
            "--no-gpg-sign",
            "--no-verify",
            "--message",
            message,
        ];
        let paths = with_paths(&["--only"]);
        commit.extend(texts(&paths));
        Ok(self.sign_as(&commit, clock)?.is_some())
    }

    /// Runs a command that leaves its maker's name and time.
    fn sign_as(&self, arguments: &[&str], clock: &Clock) -> Result<Option<String>> {
        // Where nobody has told git who they are, it would fail; what we make is not worth that.
        let identity = ["var", "GIT_COMMITTER_IDENT"];
        let known = self.start(self.command(&identity), &identity, Vec::new())?;
        let anonymous = known.is_some_and(|output| !output.status.success());
        let mut command = self.command(arguments);
        command.env("GIT_AUTHOR_DATE", clock.timestamp());
        command.env("GIT_COMMITTER_DATE", clock.timestamp());
        if anonymous {
            for (name, value) in ANONYMOUS {
                command.env(name, value);
            }
        }
        let output = self.start(command, arguments, Vec::new())?;
        output.map(|output| text_of(output, arguments)).transpose()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(self.root)
            .args(HARMLESS)
            .args(arguments);
        for variable in ELSEWHERE {
            command.env_remove(variable);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "");
        command
    }

    /// Runs a command to its end; none without a git program.
    fn start(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Option<Output>> {
        let stdin = if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let tried = format!("run git {}", arguments.first().unwrap_or(&""));
        match command.spawn() {
            Ok(child) => collect(child, input).at(&tried, self.root).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at(&tried, self.root),
        }
    }
}

/// Feeds a process and reads all it says at once, since a full pipe would stop it and us.
fn collect(mut child: Child, input: Vec<u8>) -> io::Result<Output> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (fed, stdout, stderr) = thread::scope(|scope| {
        let feeder = scope.spawn(move || stdin.map_or(Ok(()), |mut pipe| pipe.write_all(&input)));
        let complaints = scope.spawn(move || drained(stderr, LARGEST_COMPLAINT));
        let stdout = drained(stdout, LARGEST_OUTPUT);
        (joined(feeder), stdout, joined(complaints))
    });
    let status = child.wait()?;
    let ((stdout, length), (stderr, _)) = (stdout?, stderr?);
    match fed {
        // A git that ends early says why.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
        _ if length > LARGEST_OUTPUT => return Err(io::Error::other("it says more than 64 MiB")),
        _ => {}
    }
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// Returns the first `most` bytes of a pipe, and how many came in all.
fn drained(pipe: Option<impl Read>, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else {
        return Ok((kept, 0));
    };
    let length = (&mut pipe).take(most).read_to_end(&mut kept)? as u64;
    Ok((kept, length + io::copy(&mut pipe, &mut io::sink())?))
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    thread
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a thread that reads a pipe panicked")))
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn text_of(output: Output, arguments: &[&str]) -> Result<String> {
    let bytes = checked(output, arguments)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns what a successful process printed; of a failed one, an error with its first complaint.
fn checked(output: Output, arguments: &[&str]) -> Result<Vec<u8>> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let complaint = strip_controls(output.stderr.trim()).into_owned();
    let complaint = complaint.lines().next().unwrap_or("it gives no reason");
    let command = arguments.first().unwrap_or(&"");
    Err(Error::failed(format!("git {command} failed: {complaint}")))
}
