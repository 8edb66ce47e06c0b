//! Prints results to stdout and messages to stderr, and asks; nothing else prints.

use std::io;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::{Args, ColorChoice};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::cli::render::{render, text};
use crate::cli::style::{Paint, RED, bold, choice, diff_style};
use crate::cli::warnings::combined;
use crate::error::{At, Error, ErrorKind, Result};
use crate::lifecycle::CommandOutcome;
use crate::project::Project;
use crate::text::{sanitize_json, sanitized, shell_word, strip_controls};
use crate::warning::{Parsed, SourceLocation, Warning};

/// The format and the verbosity of the output, as every command takes them.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct OutputMode {
    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no warnings
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more detail
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// Standard output and standard error of this run.
pub(crate) struct Output {
    pub(crate) mode: OutputMode,
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
    /// The project's folder, once known: paths inside it are printed relative to it.
    pub(crate) root: Option<PathBuf>,
    /// Whether the run was started in that folder.
    pub(crate) is_here: bool,
    /// The kind of the last failure.
    failed: Option<ErrorKind>,
    /// Whether the reader of standard output has closed it.
    pub(crate) closed: bool,
    /// Whether secrets are redacted in results.
    pub(crate) redacts: bool,
    /// A line printed before the next result in text format.
    preface: Option<&'static str>,
    /// The style of each line of a result; by default as those of a diff.
    pub(crate) paint: Paint,
    /// The output so far, if it is captured rather than printed.
    captured: Option<String>,
}

impl Output {
    pub(crate) fn new(mode: OutputMode) -> Self {
        Self {
            mode,
            stdout: AutoStream::new(io::stdout(), choice(mode.color, io::stdout().is_terminal())),
            stderr: AutoStream::new(io::stderr(), choice(mode.color, io::stderr().is_terminal())),
            root: None,
            is_here: false,
            failed: None,
            closed: false,
            redacts: false,
            preface: None,
            paint: diff_style,
            captured: None,
        }
    }

    /// Returns an output that is captured as unstyled text.
    pub(crate) fn captured() -> Self {
        let mode = OutputMode { color: ColorChoice::Never, ..OutputMode::default() };
        Self { captured: Some(String::new()), ..Self::new(mode) }
    }

    /// Returns the captured text.
    pub(crate) fn into_text(self) -> String {
        self.captured.unwrap_or_default()
    }

    /// Returns the beginning of a command of git that takes paths relative to the project's folder.
    pub(crate) fn git(&self) -> String {
        match &self.root {
            Some(root) if !self.is_here => {
                format!("git -C {}", shell_word(&root.to_string_lossy()))
            }
            _ => "git".to_owned(),
        }
    }

    /// Returns the exit code for the failures so far.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.failed.map_or(0, ErrorKind::exit_code))
    }

    /// Prints a result: as a JSON document, or as the text that a template makes of it.
    pub(crate) fn show<T: Serialize>(&mut self, result: &T, template: &str) -> Result<()> {
        self.show_with(result, &(), template)
    }

    /// Prints a result with a template that also uses `more`, which the JSON document does not contain.
    pub(crate) fn show_with<T: Serialize>(
        &mut self,
        result: &T,
        more: &impl Serialize,
        template: &str,
    ) -> Result<()> {
        let page = if self.mode.json {
            let mut document =
                serde_json::to_value(result).map_err(Error::cannot("show the result"))?;
            if self.redacts {
                sanitize_json(&mut document);
            }
            format!("{document:#}\n")
        } else {
            let page = render(template, result, more).map_err(Error::cannot("show the result"))?;
            let page = self.preface.take().unwrap_or_default().to_owned() + &page;
            if self.redacts { sanitized(&page).into_owned() } else { page }
        };
        self.print(&page);
        Ok(())
    }

    /// Prints a result before returning `end`, which may be an error; as JSON, one document has both.
    pub(crate) fn show_until<T: Serialize>(
        &mut self,
        result: &T,
        more: &impl Serialize,
        template: &str,
        end: Result<()>,
    ) -> Result<()> {
        if self.mode.json
            && let Err(error) = &end
        {
            let failure = self.failed(error);
            return self.show(&ResultAndFailure { result, failure }, "");
        }
        self.show_with(result, more, template)?;
        end
    }

    /// Prints one of the results of a command that streams: as a line of JSON, or as the text that a template makes of it.
    pub(crate) fn streamed<T: Serialize>(&mut self, result: &T, template: &str) {
        if self.mode.json {
            self.sanitized_line(result);
        } else if let Err(error) = self.show(result, template) {
            self.failure(&error);
        }
    }

    /// Has the next result in text format say that it is that of a dry run, if it is.
    pub(crate) fn preface(&mut self, project: &Project) {
        let preface = "Would be done (dry run, nothing is written):\n";
        self.preface = project.dry_run.then_some(preface);
    }

    /// Prints the outcome of a writing command: in a dry run the diff, otherwise the text that a template makes of it,
    /// the context files and the next command.
    pub(crate) fn outcome<T: Serialize>(
        &mut self,
        outcome: &CommandOutcome<T>,
        template: &str,
        end: Result<()>,
    ) -> Result<()> {
        self.warnings(&outcome.warnings);
        let is_planned = outcome.diff.as_ref().is_some_and(|diff| !diff.is_empty());
        let whole = format!("{template}{}", text!("workflow/ending"));
        self.show_until(outcome, &(), if is_planned { "{{ diff }}" } else { &whole }, end)
    }

    /// Prints one line of JSON, for commands that stream.
    pub(crate) fn json_line<T: Serialize>(&mut self, result: &T) {
        match serde_json::to_string(result) {
            Ok(line) => self.print(&format!("{line}\n")),
            Err(error) => self.failure(&Error::cannot("show the result")(error)),
        }
    }

    /// Prints one line of JSON with secrets redacted, since it may quote any file or argument.
    pub(crate) fn sanitized_line<T: Serialize>(&mut self, result: &T) {
        let mut document = serde_json::to_value(result).unwrap_or_default();
        sanitize_json(&mut document);
        self.json_line(&document);
    }

    /// Prints a text that is the result itself: a completion script, a manual page.
    pub(crate) fn verbatim(&mut self, bytes: &[u8]) -> Result<()> {
        self.file(&json!({ "text": String::from_utf8_lossy(bytes) }), bytes)
    }

    /// Prints the bytes of a file unchanged, or as JSON, the document that contains them.
    pub(crate) fn file<T: Serialize>(&mut self, document: &T, bytes: &[u8]) -> Result<()> {
        if self.mode.json {
            return self.show(document, "");
        }
        if io::stdout().is_terminal() {
            // Control sequences are not printed to a terminal.
            let text = String::from_utf8_lossy(bytes);
            self.raw(strip_controls(&text).as_bytes());
        } else {
            self.raw(bytes);
        }
        Ok(())
    }

    /// Prints the help with its styles.
    pub(crate) fn help(&mut self, text: &str) -> Result<()> {
        if self.mode.json {
            let text = anstream::adapter::strip_str(text).to_string();
            return self.show(&json!({ "text": text }), "");
        }
        self.styled(text);
        Ok(())
    }

    /// Prints a page without escape sequences that stored text might contain.
    fn print(&mut self, page: &str) {
        let page = strip_controls(page);
        if self.mode.json || self.stdout.current_choice() == anstream::ColorChoice::Never {
            // Unstyled text bypasses the style processing, since it may be long.
            return self.raw(page.as_bytes());
        }
        let mut styled = String::with_capacity(page.len());
        for line in page.split_inclusive('\n') {
            let (body, style) = (line.trim_end_matches('\n'), (self.paint)(line));
            styled.push_str(&format!("{style}{body}{style:#}{}", &line[body.len()..]));
        }
        self.styled(&styled);
    }

    fn raw(&mut self, bytes: &[u8]) {
        if let Some(captured) = &mut self.captured {
            captured.push_str(&String::from_utf8_lossy(bytes));
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        self.check(written);
    }

    fn styled(&mut self, text: &str) {
        if self.captured.is_some() {
            return self.raw(anstream::adapter::strip_str(text).to_string().as_bytes());
        }
        let written = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
        self.check(written);
    }

    /// Reports an error that prevented writing the result; a closed pipe is not an error, since the reader
    /// has seen enough.
    fn check(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        self.closed = true;
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.failed.get_or_insert(ErrorKind::Failed);
            // Whoever does not know that would run it again.
            let message = format!("cannot write the result: {error}; any changes were still made");
            self.write_message("error: ", RED, &message);
        }
    }

    /// Prints a message that is not part of the result.
    pub(crate) fn note(&mut self, message: &str) {
        if !self.mode.quiet {
            self.write_message("", Style::new(), message);
        }
    }

    /// Prints the help after a usage error, to stderr since it is not a result.
    pub(crate) fn explain(&mut self, text: &str) {
        self.failed = Some(ErrorKind::Usage);
        // If stderr is closed, the message is lost.
        let _written = self.stderr.write_all(text.as_bytes()).is_ok();
    }

    /// Prints a message that only `--verbose` enables.
    pub(crate) fn detail(&mut self, message: &str) {
        if self.mode.verbose {
            self.note(message);
        }
    }

    /// Returns whether the user can be asked: stdin and stderr are terminals, and no program reads the
    /// result.
    pub(crate) fn can_ask(&self) -> bool {
        let is_there = io::stdin().is_terminal() && io::stderr().is_terminal();
        is_there && self.captured.is_none() && !self.mode.json && !self.mode.quiet
    }

    /// Asks for one line; returns `None` if the answer is empty.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Option<String>> {
        let question = sanitized(question);
        write!(self.stderr, "{question}")
            .and_then(|()| self.stderr.flush())
            .at("ask", Path::new("-"))?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).at("read the answer", Path::new("-"))?;
        let answer = answer.trim();
        Ok((!answer.is_empty()).then(|| answer.to_owned()))
    }

    /// Prints interrupted operations, which the next writing command completes, or what prevents listing them, such as that
    /// another user made the folder.
    pub(crate) fn interrupted(&mut self, project: &Project) {
        let found = project.storage().interrupted().unwrap_or_else(|error| vec![error.into()]);
        self.warnings(&project.named(found));
    }

    /// Prints warnings, one per line; those that repeat for many files are combined, unless `--verbose` is given.
    pub(crate) fn warnings(&mut self, warnings: &[Warning]) {
        if !self.mode.quiet {
            let warnings = if self.mode.verbose { warnings.to_vec() } else { combined(warnings) };
            for warning in &warnings {
                let place = self.named(&warning.place);
                let message = Warning { place, ..warning.clone() }.to_string();
                self.write_message("warning: ", bold(AnsiColor::Yellow), &message);
            }
        }
    }

    /// Prints the warnings of what was read, and returns the rest.
    pub(crate) fn understood<T>(&mut self, found: Parsed<T>) -> T {
        self.warnings(&found.warnings);
        found.value
    }

    /// Prints a failure: one line with its hint, or its JSON document.
    pub(crate) fn failure(&mut self, error: &Error) {
        if self.mode.json {
            let failure = self.failed(error);
            self.json_line(&failure);
            return;
        }
        self.failed = Some(error.kind);
        let message = match error.place.as_ref().map(|place| self.named(place)) {
            Some(place) => format!("{place}: {}", error.reason()),
            None => error.reason(),
        };
        self.write_message("error: ", RED, &message);
        for problem in &error.problems {
            let message = format!("  {}: {}", problem.location(), problem.message);
            self.write_message("", Style::new(), &message);
        }
        if let Some(hint) = &error.hint {
            self.write_message("hint: ", bold(AnsiColor::Cyan), hint);
        }
    }

    /// Notes a failure, and returns its JSON document with secrets redacted, since it may quote any file or argument.
    fn failed(&mut self, error: &Error) -> Json {
        self.failed = Some(error.kind);
        let place = error.place.as_ref().map(|place| self.named(place));
        let (kind, message, hint) = (error.kind, error.reason(), &error.hint);
        let mut body = json!({ "kind": kind, "message": message, "place": place, "hint": hint });
        if !error.problems.is_empty() {
            body["problems"] = json!(error.problems);
        }
        sanitize_json(&mut body);
        json!({ "error": body })
    }

    /// Prints a failure as a custom JSON document, for commands that specify one.
    pub(crate) fn failed_with<T: Serialize>(&mut self, kind: ErrorKind, document: &T) {
        self.failed = Some(kind);
        self.sanitized_line(document);
    }

    /// Returns a location relative to the project if inside it.
    fn named(&self, place: &SourceLocation) -> SourceLocation {
        let root = self.root.as_deref();
        let below = root
            .and_then(|root| place.file.strip_prefix(root).ok())
            .filter(|below| !below.as_os_str().is_empty());
        SourceLocation::new(below.unwrap_or(&place.file), place.line)
    }

    fn write_message(&mut self, label: &str, style: Style, message: &str) {
        // It may quote a file or an argument.
        let message = sanitized(message);
        if let Some(captured) = &mut self.captured {
            captured.extend([label, &message, "\n"]);
            return;
        }
        // If stderr is closed, the message is lost.
        let _written = writeln!(self.stderr, "{style}{label}{style:#}{message}").is_ok();
    }
}

/// The JSON document of a command that fails after its work.
#[derive(Serialize)]
struct ResultAndFailure<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(flatten)]
    failure: Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_about_the_project_as_a_whole_names_no_place() {
        let mut out = Output::captured();
        out.warnings(&[Warning::file(Path::new(""), "x"), Warning::at(Path::new("a"), 2, "y")]);
        assert_eq!(out.into_text(), "warning: x\nwarning: a:2: y\n");
    }
}
