//! Builds the searchable units of a session from what happened in it, one event after the other.
//!
//! Kept are what the user asked, what the agent said last before the user's next turn, plans and summaries, what was
//! decided on the way, and errors with what fixed them. Tool output and code are reduced to paths and first lines.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::secrets::redact;
use crate::sessions::clients::{Client, safe_id};
use crate::text::{clip, join, listed, one_line, word_enum};

/// Maximum length of a unit's text, of a question above other units, and of a line, in characters.
const MAX_TEXT: usize = 6000;
const MAX_QUESTION: usize = 200;
const MAX_LINE: usize = 200;

/// Maximum number of bytes of a message or an output that is looked at.
const MAX_MESSAGE: usize = 256 * 1024;

/// Maximum number of lines kept of a block of code and of an error, of steps after it, and of a turn's steps.
const CODE_LINES: usize = 2;
const ERROR_LINES: usize = 5;
const FIX_STEPS: usize = 4;
const TURN_STEPS: usize = 24;

word_enum! {
    /// What a unit is.
    pub enum UnitKind {
        /// What the user asked.
        Asked = "asked",
        /// What the agent said last before the user's next turn.
        Answered = "answered",
        /// A plan, or the summary of a session.
        Summary = "summary",
        /// What the agent explained or decided on the way.
        Decided = "decided",
        /// An error, and what fixed it or was done next.
        Failed = "failed",
        /// The files and commands of a turn.
        Worked = "worked on",
    }
}

/// A searchable piece of a session.
#[derive(Debug)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// The beginning of what the user had asked.
    pub question: String,
    /// Its text, without keys.
    pub text: String,
    /// Number of the record in the transcript, counted from 1.
    pub line: usize,
    /// Its date.
    pub date: Option<NaiveDate>,
}

/// What was read of a session.
#[derive(Debug, Default, Serialize)]
pub struct Session {
    /// Its last day.
    pub date: Option<NaiveDate>,
    /// The client.
    pub client: Client,
    /// The client's version.
    pub version: Option<String>,
    /// How it is cited: `claude:7f3c…`; `None` if its id could not stand in a command.
    pub session: Option<String>,
    /// The user's first question.
    pub question: Option<String>,
    /// The files that it wrote.
    pub files: BTreeSet<String>,
    /// Number of records that could not be read.
    pub broken: usize,
    /// The command that resumes it.
    pub resume: Option<String>,
    /// Its units, in order.
    #[serde(skip)]
    pub units: Vec<Unit>,
}

/// A session that is being read.
pub(crate) struct Conversation {
    pub(crate) session: Session,
    /// Number of the record, counted from 1.
    pub(crate) line: usize,
    directory: Option<PathBuf>,
    turn: Turn,
}

/// What has happened since the user's last message.
#[derive(Default)]
struct Turn {
    question: String,
    answer: Option<Unit>,
    steps: Vec<String>,
    calls: HashMap<String, Call>,
    failures: Vec<Failure>,
}

/// A failed call, and the steps since.
struct Failure {
    aim: String,
    error: Unit,
    steps: Vec<String>,
}

impl Conversation {
    pub(crate) fn new(client: Client) -> Self {
        let session = Session { client, ..Session::default() };
        Self { session, line: 0, directory: None, turn: Turn::default() }
    }

    /// Sets the time of what follows.
    pub(crate) fn time(&mut self, time: Option<DateTime<Utc>>) {
        self.session.date = time.map(|time| time.date_naive()).or(self.session.date);
    }

    /// Notes what a record says of the session; the first one to say it is believed.
    pub(crate) fn about(
        &mut self,
        id: Option<&str>,
        directory: Option<&str>,
        version: Option<&str>,
    ) {
        let session = &mut self.session;
        if let (None, Some(id)) = (&session.session, id.and_then(safe_id)) {
            session.session = Some(format!("{}:{id}", session.client.as_str()));
            session.resume = Some(session.client.resume(id));
        }
        if self.directory.is_none() {
            self.directory = directory.map(PathBuf::from);
        }
        if session.version.is_none() {
            session.version = version.map(|version| clip(version, 40).into_owned());
        }
    }

    /// Adds a message of the user, which begins a turn.
    pub(crate) fn user(&mut self, said: &str) {
        let text = kept(said);
        let question = clip(&one_line(&text), MAX_QUESTION).into_owned();
        // Some clients record a message twice, as it was typed and as it was sent.
        let is_new = self.turn.answer.is_none() && self.turn.steps.is_empty();
        let is_repeated = is_new && self.turn.question == question;
        if text.is_empty() || text.starts_with("[Request interrupted") || is_repeated {
            return;
        }
        self.end_turn();
        self.session.question.get_or_insert_with(|| question.clone());
        self.turn.question = question;
        self.push(UnitKind::Asked, text);
    }

    /// Adds a message of the agent.
    pub(crate) fn agent(&mut self, said: &str) {
        let text = kept(said);
        if text.is_empty() {
            return;
        }
        self.step(&text);
        let unit = self.unit(UnitKind::Answered, text);
        let earlier = self.turn.answer.replace(unit);
        self.session.units.extend(
            earlier
                .filter(|earlier| explains(&earlier.text))
                .map(|unit| Unit { kind: UnitKind::Decided, ..unit }),
        );
    }

    /// Adds a plan or a summary, unless it is empty.
    pub(crate) fn summary(&mut self, said: &str) {
        let text = kept(said);
        if !text.is_empty() {
            self.push(UnitKind::Summary, text);
        }
    }

    /// Adds a call of a tool.
    pub(crate) fn called(&mut self, id: &str, tool: &str, arguments: &Value) {
        let mut call = Call::new(tool, arguments, self.directory.as_deref());
        call.step = self.step(&call.step);
        let steps = &mut self.turn.steps;
        if steps.len() < TURN_STEPS && !steps.contains(&call.step) {
            steps.push(call.step.clone());
        }
        let written = call.written.iter().map(|file| redact(file).text.into_owned());
        self.session.files.extend(written);
        self.turn.calls.insert(id.to_owned(), call);
    }

    /// Adds the outcome of a call, with what it printed if it failed.
    pub(crate) fn returned(&mut self, id: &str, failure: Option<&str>) {
        let Some(call) = self.turn.calls.remove(id) else {
            return;
        };
        let failed = self.turn.failures.iter().position(|failure| failure.aim == call.aim);
        match (failure, failed) {
            (None, Some(at)) => {
                self.session.units.push(self.turn.failures.remove(at).told("Fixed by"));
            }
            (Some(output), None) if !is_of_the_tool_itself(output) => {
                let lines = first_lines(output);
                if !lines.is_empty() {
                    let text = format!("{} failed:\n{lines}", call.step);
                    let error = self.unit(UnitKind::Failed, text);
                    let failure = Failure { aim: call.aim, error, steps: Vec::new() };
                    self.turn.failures.push(failure);
                }
            }
            _ => {}
        }
    }

    /// Ends the session.
    pub(crate) fn finish(mut self) -> Session {
        self.end_turn();
        self.session
    }

    fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        let failures = turn.failures.into_iter().map(|failure| failure.told("Afterwards"));
        self.session.units.extend(failures);
        if !turn.steps.is_empty() {
            self.turn.question = turn.question;
            self.push(UnitKind::Worked, turn.steps.join("\n"));
        }
        self.session.units.extend(turn.answer);
    }

    /// Adds a step to the open failures, and returns it as one short line.
    fn step(&mut self, step: &str) -> String {
        let step = clip(&one_line(&redact(step).text), MAX_LINE).into_owned();
        for Failure { steps, .. } in &mut self.turn.failures {
            if steps.len() < FIX_STEPS && !steps.contains(&step) {
                steps.push(step.clone());
            }
        }
        step
    }

    fn push(&mut self, kind: UnitKind, text: String) {
        let unit = self.unit(kind, text);
        self.session.units.push(unit);
    }

    fn unit(&self, kind: UnitKind, text: String) -> Unit {
        let question = self.turn.question.clone();
        Unit { kind, question, text, line: self.line, date: self.session.date }
    }
}

impl Failure {
    fn told(mut self, heading: &str) -> Unit {
        if !self.steps.is_empty() {
            self.error.text += &format!("\n{heading}:\n- {}", self.steps.join("\n- "));
        }
        self.error
    }
}

/// Returns what is kept of a message: no keys, nothing that the client added, the first lines of blocks of code.
fn kept(message: &str) -> String {
    let message = &message[..message.floor_char_boundary(MAX_MESSAGE)];
    let said = spoken(&redact(message).text);
    let mut code = None;
    let lines = said.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        code = if is_fence { code.xor(Some(0)) } else { code.map(|lines| lines + 1) };
        !is_fence && code.is_none_or(|lines| lines <= CODE_LINES)
    });
    clip(join(lines, "\n").trim(), MAX_TEXT).into_owned()
}

/// How the lines begin that clients put around what a command printed.
const FRAMES: &str = "exit code|process exited|wall time|chunk id|command: |directory: |error: (none)|\
    signal: |process group";

/// Returns the first lines of an output that say something.
fn first_lines(output: &str) -> String {
    let output = &output[..output.floor_char_boundary(MAX_MESSAGE)];
    let clean = redact(output).text;
    let lines = clean.lines().map(|line| line.trim().trim_start_matches("Output:").trim());
    join(
        lines
            .filter(|line| {
                let lower = line.to_ascii_lowercase();
                line.contains(char::is_alphabetic)
                    && !FRAMES.split('|').any(|begin| lower.starts_with(begin))
            })
            .take(ERROR_LINES)
            .map(|line| clip(line, MAX_LINE)),
        "\n",
    )
}

/// Returns whether an error is about how the tool was called, or is the user's refusal.
fn is_of_the_tool_itself(output: &str) -> bool {
    let output = output.trim_start();
    output.starts_with("<tool_use_error>") || output.starts_with("The user doesn't want")
}

/// Minimum length of a message on the way that explains something, in bytes, and how one begins that only announces.
const MIN_EXPLANATION: usize = 80;
const ANNOUNCING: [&str; 5] = ["Let me", "I'll ", "I will ", "Now I", "Next, I"];

fn explains(text: &str) -> bool {
    text.len() >= MIN_EXPLANATION && !ANNOUNCING.iter().any(|begin| text.starts_with(begin))
}

/// Elements that clients add to messages; they are left out with their content.
const ADDED: &str = "system-reminder local-command-stdout local-command-stderr local-command-caveat \
    command-name command-message command-contents bash-stdout bash-stderr environment_context \
    user_instructions INSTRUCTIONS task-notification ide_opened_file ide_selection session_context \
    hook_context";

/// Returns a message without the elements that clients add to it.
fn spoken(message: &str) -> String {
    let mut said = message.to_owned();
    for name in ADDED.split(' ') {
        while let Some(at) = said.find(&format!("<{name}")) {
            let end = format!("</{name}>");
            let rest = said[at..].split_once(&end).map_or(0, |(_, rest)| rest.len());
            said.replace_range(at..said.len() - rest, "");
        }
    }
    "<command-args> </command-args> <bash-input> </bash-input>"
        .split(' ')
        .fold(said, |said, tag| said.replace(tag, ""))
}

/// A call of a tool, reduced to what is kept of it.
struct Call {
    /// What it did, in one line: `edited src/a.rs`, `ran cargo test`.
    step: String,
    /// The same for calls that try the same thing again.
    aim: String,
    /// The files that it writes.
    written: Vec<String>,
}

/// Maximum length of a command's first line and of a path, in bytes.
const MAX_CALL_LINE: usize = 160;

/// Names of the tools that write files.
const WRITING: &str = "write edit multiedit notebookedit write_file replace";

/// The arguments that name a file, that are a command, and that are a patch.
const PATHS: &str = "file_path filePath notebook_path absolute_path path";
const COMMANDS: &str = "command cmd";
const PATCHES: &str = "patchText input command cmd";

/// How the lines of a patch begin that name a file.
const PATCHED: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

impl Call {
    /// Returns a call, with paths relative to the session's working directory.
    fn new(tool: &str, arguments: &Value, directory: Option<&Path>) -> Self {
        let find = |names: &str| names.split(' ').find_map(|name| line_of(&arguments[name]));
        if let Some(path) = find(PATHS) {
            let path = relative(path, directory);
            let writes = listed(WRITING, &tool.to_ascii_lowercase());
            let step = format!("{} {path}", if writes { "edited" } else { tool });
            let written = if writes { vec![path] } else { Vec::new() };
            return Self { aim: step.clone(), step, written };
        }
        let written: Vec<String> = find(PATCHES)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| {
                Some(relative(
                    PATCHED.iter().find_map(|begin| line.strip_prefix(begin))?.trim(),
                    directory,
                ))
            })
            .collect();
        if !written.is_empty() {
            let step = format!("edited {}", written.join(", "));
            return Self { aim: step.clone(), step, written };
        }
        let line =
            find(COMMANDS).unwrap_or_default().trim_start().lines().next().unwrap_or_default();
        let step = match line {
            "" => format!("called {tool}"),
            line => format!("ran {}", line[..line.floor_char_boundary(MAX_CALL_LINE)].trim_end()),
        };
        let aim = join(step.split_whitespace().take(3), " ");
        Self { step, aim, written }
    }
}

/// Returns an argument's text; of a list such as `bash -lc LINE`, its last word.
fn line_of(argument: &Value) -> Option<&str> {
    argument.as_str().or_else(|| argument.as_array()?.last()?.as_str())
}

/// Returns a path relative to the working directory, on one line.
fn relative(path: &str, directory: Option<&Path>) -> String {
    let path = one_line(
        &directory
            .and_then(|directory| Path::new(path).strip_prefix(directory).ok())
            .map_or(path.into(), Path::to_string_lossy),
    );
    path[..path.floor_char_boundary(MAX_CALL_LINE)].to_owned()
}

/// Returns the text of a content: a string, or what its parts say, print or report, a line each.
pub(crate) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => join(parts.iter().map(text).filter(|text| !text.is_empty()), "\n"),
        Value::Object(part) => "text output error response functionResponse"
            .split(' ')
            .filter_map(|name| part.get(name))
            .map(text)
            .collect(),
        _ => String::new(),
    }
}

/// Returns whether the first or last lines that a command printed say that it failed.
pub(crate) fn says_failed(output: &str) -> bool {
    let begin = &output[..output.floor_char_boundary(400)];
    let end = &output[output.floor_char_boundary(output.len().saturating_sub(200))..];
    let lower = format!("{begin}\n{end}").to_ascii_lowercase();
    ["exit code: ", "exit code ", "exited with code ", "\"exit_code\":"].iter().any(|code| {
        let mut after = lower.split(code).skip(1);
        after.any(|after| after.starts_with(|c: char| ('1'..='9').contains(&c)))
    })
}
