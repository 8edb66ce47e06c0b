//! Runs the binary, and captures the outcome.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;

use crate::support::case::Case;
use crate::support::environment;

/// Longer than any command may take, but short enough for a test that hangs.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// A run that is prepared but not started yet.
#[must_use = "nothing runs before its end is asserted: .success(), .code(n) or .output()"]
pub(crate) struct Invocation<'a> {
    case: &'a Case,
    program: String,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    removed: Vec<&'static str>,
    stdin: Vec<u8>,
    folder: PathBuf,
    time_limit: Duration,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(case: &'a Case, program: &str, line: &str) -> Self {
        Self {
            case,
            program: program.to_owned(),
            arguments: line.split_whitespace().map(OsString::from).collect(),
            variables: Vec::new(),
            removed: Vec::new(),
            stdin: Vec::new(),
            folder: case.root().to_owned(),
            time_limit: TIME_LIMIT,
        }
    }

    /// Adds arguments without splitting, for those that contain spaces or arbitrary bytes.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let more = arguments.into_iter().map(|one| one.as_ref().to_owned());
        self.arguments.extend(more);
        self
    }

    /// Sets a variable for this run.
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let pair = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.variables.push(pair);
        self
    }

    /// Takes one of the variables that every run has from this one.
    pub(crate) fn without(mut self, name: &'static str) -> Self {
        self.removed.push(name);
        self
    }

    /// Sets the standard input of the run; it is empty by default.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Runs in a folder of the project instead of its root.
    pub(crate) fn inside(mut self, folder: &str) -> Self {
        self.folder = self.case.root().join(folder);
        self
    }

    /// Sets the time limit, after which the run is killed and the test fails.
    pub(crate) fn within(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Runs, and fails the test unless the exit code is 0.
    pub(crate) fn success(self) -> Outcome {
        self.code(0)
    }

    /// Runs, and fails the test unless the exit code is as expected.
    pub(crate) fn code(self, expected: i32) -> Outcome {
        let outcome = self.output();
        assert!(
            outcome.exit_code() == Some(expected),
            "expected exit code {expected}\n{}",
            outcome.report()
        );
        outcome
    }

    /// Runs, and leaves all assertions to the test.
    #[must_use = "a run that nobody judges proves nothing"]
    pub(crate) fn output(self) -> Outcome {
        let mut common = environment::variables(self.case.home());
        common.retain(|(name, _)| !self.removed.contains(&name.as_str()));
        let output = Command::new(&self.program)
            .env_clear()
            .envs(common)
            .envs(self.variables)
            .current_dir(self.folder)
            .args(&self.arguments)
            .write_stdin(self.stdin)
            .timeout(self.time_limit)
            .output()
            .unwrap();
        let shown: Vec<_> = self.arguments.iter().map(|a| a.to_string_lossy()).collect();
        let program = self.program.rsplit('/').next().unwrap();
        let hidden = [(self.case.root(), "[ROOT]"), (self.case.home(), "[HOME]")];
        Outcome {
            command: format!("{program} {}", shown.join(" ")),
            output,
            hidden: hidden.map(|(path, name)| (path.to_str().unwrap().to_owned(), name)),
        }
    }
}

/// The exit status and output of a run, with the temporary paths replaced by `[ROOT]` and `[HOME]`.
#[derive(Debug)]
pub(crate) struct Outcome {
    command: String,
    output: Output,
    hidden: [(String, &'static str); 2],
}

impl Outcome {
    /// Returns the exit code, or `None` if the run was ended by a signal or the time limit.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// Returns the standard output.
    pub(crate) fn stdout(&self) -> String {
        self.shown(&self.output.stdout)
    }

    /// Returns the standard error.
    pub(crate) fn stderr(&self) -> String {
        self.shown(&self.output.stderr)
    }

    /// Parses standard output as a single JSON document, or fails the test.
    pub(crate) fn json(&self) -> Value {
        self.try_json().unwrap_or_else(|fault| panic!("{fault}\n{}", self.report()))
    }

    /// Parses standard output as a single JSON document.
    pub(crate) fn try_json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.stdout())
            .map_err(|error| format!("stdout is not one JSON document: {error}"))
    }

    /// Parses each line of standard output as a JSON document.
    pub(crate) fn try_json_lines(&self) -> Result<Vec<Value>, String> {
        self.stdout()
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .map_err(|error| format!("no JSON on a line of stdout: {error}: {line}"))
            })
            .collect()
    }

    /// Fails the test unless standard output is equal to this JSON document.
    pub(crate) fn stdout_json(&self, expected: &Value) -> &Self {
        assert_eq!(&self.json(), expected, "{}", self.report());
        self
    }

    /// Returns how the run crashed, if it did.
    pub(crate) fn crash(&self) -> Option<String> {
        // 101 is a panic; a shell reports a signal as 128 or more.
        let ended_badly = self.exit_code().is_none_or(|code| code >= 101);
        let panicked = self.stderr().contains("panicked");
        (ended_badly || panicked).then(|| format!("crashed: {}", self.report()))
    }

    /// Returns everything known about the run, for the message of a failed assertion.
    pub(crate) fn report(&self) -> String {
        format!(
            "$ {}\n{}\n--- stdout\n{}\n--- stderr\n{}",
            clipped(&self.command),
            self.output.status,
            clipped(&self.stdout()),
            clipped(&self.stderr()),
        )
    }

    fn shown(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.hidden.iter().fold(text, |text, (path, name)| text.replace(path, name))
    }
}

/// Truncates a text, since a command line may name hundreds of files, and an output may be as long.
fn clipped(text: &str) -> String {
    const MAX_CHARS: usize = 1500;
    match text.char_indices().nth(MAX_CHARS) {
        None => text.trim_end().to_owned(),
        Some((end, _)) => format!("{} […]", &text[..end]),
    }
}
