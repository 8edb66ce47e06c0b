//! Reads input, prints results to stdout and messages to stderr; nothing else prints.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;
use std::{io, path};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Color, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use regex::Regex;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::clock::parse_date;
use crate::error::{At, Error, ErrorKind, Result};
use crate::knowledge::yaml;
use crate::lifecycle::CommandOutcome;
use crate::progress::Progress;
use crate::project::Project;
use crate::storage::read;
use crate::templates;
use crate::text::{
    Line, clip, one_line, pattern, quantity, sanitize_json, sanitized, slashed, strip_controls,
};
use crate::warning::{SourceLocation, Warning};

/// Returns the style of a line of a result.
pub(crate) type Paint = fn(&str) -> Style;

/// The format and the verbosity of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputMode {
    /// Whether to print one JSON document instead of text.
    pub(crate) json: bool,
    /// Whether to suppress warnings and notes.
    pub(crate) quiet: bool,
    /// Whether to print detailed notes.
    pub(crate) verbose: bool,
    /// When to use colour.
    pub(crate) color: ColorChoice,
}

/// Standard output and standard error of this run.
pub(crate) struct Output {
    mode: OutputMode,
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
    /// The project's folder, once known: paths inside it are printed relative to it.
    root: Option<PathBuf>,
    /// The kind of the last failure.
    failed: Option<ErrorKind>,
    /// Whether the reader of standard output has closed it.
    closed: bool,
    /// Whether secrets are redacted in results.
    redacts: bool,
    /// A line printed before the next result in text format.
    preface: Option<&'static str>,
    /// The style of each line of a result.
    paint: Paint,
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
        let mode =
            OutputMode { json: false, quiet: false, verbose: false, color: ColorChoice::Never };
        Self { captured: Some(String::new()), ..Self::new(mode) }
    }

    /// Returns the captured text.
    pub(crate) fn into_text(self) -> String {
        self.captured.unwrap_or_default()
    }

    /// Sets the project's folder, so that paths inside it are printed relative to it.
    pub(crate) fn set_root(&mut self, root: &Path) {
        self.root = Some(root.to_owned());
    }

    /// Returns the exit code for the failures so far.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.failed.map_or(0, ErrorKind::exit_code))
    }

    /// Returns whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.mode.json
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
            serde_json::to_value(result).and_then(|mut document| {
                if self.redacts {
                    sanitize_json(&mut document);
                }
                Ok(serde_json::to_string_pretty(&document)? + "\n")
            })
        } else {
            render(template, result, more).map_err(serde::ser::Error::custom)
        };
        let mut page = page.map_err(|error| unshown(&error))?;
        if !self.mode.json {
            page.insert_str(0, self.preface.take().unwrap_or_default());
            if self.redacts {
                page = sanitized(&page).into_owned();
            }
        }
        self.print(&page);
        Ok(())
    }

    /// Prints a result before returning `end`, which may be an error; as JSON, only one of them is printed.
    pub(crate) fn show_until<T: Serialize>(
        &mut self,
        result: &T,
        more: &impl Serialize,
        template: &str,
        end: Result<()>,
    ) -> Result<()> {
        if end.is_ok() || !self.is_json() {
            self.show_with(result, more, template)?;
        }
        end
    }

    /// Prints one of the results of a command that streams: as a line of JSON, or as the text that a template makes of it.
    pub(crate) fn streamed<T: Serialize>(&mut self, result: &T, template: &str) {
        if self.mode.json {
            self.json_line(result);
        } else if let Err(error) = self.show(result, template) {
            self.failure(&error);
        }
    }

    /// Enables redaction of secrets in all further results.
    pub(crate) fn redact(&mut self) {
        self.redacts = true;
    }

    /// Sets how the lines of further results are coloured on a terminal; by default as those of a diff.
    pub(crate) fn paint(&mut self, paint: Paint) {
        self.paint = paint;
    }

    /// Sets a line to print before the next result in text format.
    pub(crate) fn preface(&mut self, line: &'static str) {
        self.preface = Some(line);
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
            Err(error) => self.failure(&unshown(&error)),
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
        if self.mode.json || self.stdout.current_choice() == ColorChoice::Never {
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
            self.write_message("error: ", RED, &format!("cannot write the result: {error}"));
        }
    }

    /// Returns whether a streamed result still has a reader.
    pub(crate) fn is_read(&self) -> bool {
        !self.closed
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
        let written = write!(self.stderr, "{question}").and_then(|()| self.stderr.flush());
        written.at("ask", Path::new("-"))?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).at("read the answer", Path::new("-"))?;
        let answer = answer.trim();
        Ok((!answer.is_empty()).then(|| answer.to_owned()))
    }

    /// Prints interrupted operations; the next writing command completes them.
    pub(crate) fn interrupted(&mut self, project: &Project) -> Result<()> {
        let found = project.storage().interrupted()?;
        self.warnings(&found.warnings);
        for operation in found.value {
            self.note(&format!(
                "operation {} ({}) was interrupted; the next writing command completes it",
                operation.id, operation.operation
            ));
        }
        Ok(())
    }

    /// Prints warnings, one per line; those that repeat for many files are combined, unless `--verbose` is given.
    pub(crate) fn warnings(&mut self, warnings: &[Warning]) {
        if !self.mode.quiet {
            let warnings = if self.mode.verbose { warnings.to_vec() } else { combined(warnings) };
            for warning in &warnings {
                let message = format!("{}: {}", self.named(&warning.place), warning.message);
                self.write_message("warning: ", bold(AnsiColor::Yellow), &message);
            }
        }
    }

    /// Prints a failure: one line with its hint, or its JSON document.
    pub(crate) fn failure(&mut self, error: &Error) {
        self.failed = Some(error.kind);
        let place = error.place.as_ref().map(|place| self.named(place));
        if self.mode.json {
            self.sanitized_line(&failure(error, place.as_ref()));
            return;
        }
        let message = match place {
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

    /// Prints a failure as a custom JSON document, for commands that specify one.
    pub(crate) fn failed_with<T: Serialize>(&mut self, kind: ErrorKind, document: &T) {
        self.failed = Some(kind);
        self.sanitized_line(document);
    }

    /// Returns a location relative to the project if inside it.
    fn named(&self, place: &SourceLocation) -> SourceLocation {
        let root = self.root.as_deref();
        let below = root.and_then(|root| place.file.strip_prefix(root).ok());
        let below = below.filter(|below| !below.as_os_str().is_empty());
        SourceLocation::new(below.unwrap_or(&place.file), place.line)
    }

    fn write_message(&mut self, label: &str, style: Style, message: &str) {
        // It may quote a file or an argument.
        let message = sanitized(message);
        if let Some(captured) = &mut self.captured {
            for piece in [label, message.as_ref(), "\n"] {
                captured.push_str(piece);
            }
            return;
        }
        // If stderr is closed, the message is lost.
        let _written = writeln!(self.stderr, "{style}{label}{style:#}{message}").is_ok();
    }
}

/// The JSON document of a failure.
fn failure(error: &Error, place: Option<&SourceLocation>) -> Json {
    let (kind, message, hint) = (error.kind, error.reason(), &error.hint);
    let mut body = json!({ "kind": kind, "message": message, "place": place, "hint": hint });
    if !error.problems.is_empty() {
        body["problems"] = json!(error.problems);
    }
    json!({ "error": body })
}

/// Returns the error for a result that could not be formatted.
fn unshown(error: &serde_json::Error) -> Error {
    Error::failed(format!("cannot show the result: {error}"))
}

const RED: Style = bold(AnsiColor::Red);

const fn bold(color: AnsiColor) -> Style {
    plain(color).bold()
}

const fn plain(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Returns the style of a line in a unified diff.
fn diff_style(line: &str) -> Style {
    let color = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => return Style::new().bold(),
        [b'@', b'@', ..] => AnsiColor::Cyan,
        [b'+', ..] => AnsiColor::Green,
        [b'-', next, ..] if *next != b' ' => AnsiColor::Red,
        _ => return Style::new(),
    };
    plain(color)
}

/// Returns the style of a line of a list: the heads of its items stand out.
pub(crate) fn head_style(line: &str) -> Style {
    let is_head = !line.starts_with([' ', '\n']);
    if is_head { Style::new().bold() } else { Style::new() }
}

/// Returns the style of a line of the checks.
pub(crate) fn check_style(line: &str) -> Style {
    let mut words = line.split_whitespace().filter(|_| !line.starts_with(' '));
    let level = words.find_map(|word| match word {
        "ok" => Some(AnsiColor::Green),
        "attention" => Some(AnsiColor::Yellow),
        "fault" => Some(AnsiColor::Red),
        _ => None,
    });
    level.map_or(Style::new(), plain)
}

/// Returns the style of a line of the status: the next action, and what speaks against it, stand out.
pub(crate) fn status_style(line: &str) -> Style {
    match line.split_once(':').map(|(label, _)| label) {
        Some("Next") => bold(AnsiColor::Green),
        Some("Contested" | "Drift" | "Finding") => plain(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

fn choice(requested: ColorChoice, is_terminal: bool) -> ColorChoice {
    match requested {
        ColorChoice::Auto if is_terminal => ColorChoice::Auto,
        ColorChoice::Auto => ColorChoice::Never,
        other => other,
    }
}

/// Renders a template of `templates/text/` over a document and what is added to it for people.
pub(crate) fn render(
    template: &str,
    document: &impl Serialize,
    more: &impl Serialize,
) -> io::Result<String> {
    let mut document = serde_json::to_value(document)?;
    if let (Some(fields), Json::Object(more)) =
        (document.as_object_mut(), serde_json::to_value(more)?)
    {
        fields.extend(more);
    }
    let document = Value::from(Serde(document));
    let rendered = engine().and_then(|engine| engine.render_str(template, document));
    rendered.map_err(io::Error::other)
}

fn engine() -> std::result::Result<Environment<'static>, minijinja::Error> {
    let mut engine = templates::engine()?;
    engine.add_filter("quantity", |count: i64, one: &str| quantity(count, one));
    engine.add_filter("clip", |text: &str, width: usize| clip(&one_line(text), width).into_owned());
    engine.add_filter("line", |text: &str| Line::new(text).to_string());
    engine.add_filter("scalar", |text: &str| yaml::scalar(text));
    engine.add_filter("quoted", |text: &str| yaml::quoted(text));
    engine.add_filter("fixed", |number: f64, digits: usize| format!("{number:.digits$}"));
    engine.add_filter("signed", |number: f64, digits: usize| format!("{number:+.digits$}"));
    engine.add_filter("left", |text: &str, width: usize| format!("{text:<width$}"));
    engine.add_filter("right", |text: &str, width: usize| format!("{text:>width$}"));
    engine.add_filter("bullets", bullets);
    engine.add_filter("head", head);
    engine.add_filter("span", |sizes: Option<Vec<usize>>, one: &str| match sizes.as_deref() {
        Some([from, to]) if from < to => format!("{from}-{to} {one}s"),
        Some([from, _]) => quantity(*from, one),
        _ => String::new(),
    });
    engine.add_filter("below", below);
    engine.add_filter("folder", |path: &str| {
        slashed(Path::new(path).parent().unwrap_or(Path::new("")))
    });
    // A date needs no quotes; any other text may.
    engine.add_filter("day", |text: &str| match parse_date(text) {
        Some(_) if text.len() == 10 => text.to_owned(),
        _ => yaml::scalar(text),
    });
    engine.add_filter("flow", flow);
    Ok(engine)
}

/// Returns the lines of a text as a list with a heading, each clipped; nothing if there are none.
fn bullets(text: &str, heading: &str, most: usize, width: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    // A line "1 more" takes as much space as the line it replaces.
    let shown = if lines.len() > most { most - 1 } else { lines.len() };
    let mut list = format!("{heading}:\n");
    for line in &lines[..shown] {
        list.push_str(&format!("  - {}\n", clip(line, width)));
    }
    if lines.len() > shown {
        list.push_str(&format!("  - … {} more (--json)\n", lines.len() - shown));
    }
    list
}

/// Returns the first lines of a text, and the number of the rest.
fn head(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // Printing one more line takes no more space than printing that there is one.
    let shown = if lines.len() <= most + 1 { lines.len() } else { most };
    let mut head: String = lines[..shown].iter().map(|line| format!("{line}\n")).collect();
    if lines.len() > shown {
        head.push_str(&format!("… {}\n", quantity(lines.len() - shown, "more line")));
    }
    head
}

/// Joins paths, each relative to a folder.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn below(paths: Vec<String>, folder: &str) -> String {
    let below = paths.iter().map(|path| {
        let path = Path::new(path);
        slashed(path.strip_prefix(folder).unwrap_or(path))
    });
    below.collect::<Vec<String>>().join(", ")
}

/// Returns a list as a YAML flow sequence of scalars, or of mappings with these fields.
#[expect(clippy::needless_pass_by_value, reason = "a filter of a template takes its arguments so")]
fn flow(
    items: Vec<Value>,
    fields: Option<Vec<String>>,
) -> std::result::Result<String, minijinja::Error> {
    let scalar = |value: Value| match value.as_str() {
        Some(text) => yaml::scalar(text),
        None if value.is_none() => "null".to_owned(),
        None => value.to_string(),
    };
    let mut all = Vec::new();
    for item in items {
        all.push(match &fields {
            None => scalar(item),
            Some(fields) => {
                let mut values = Vec::new();
                for field in fields {
                    values.push((field.as_str(), scalar(item.get_attr(field)?)));
                }
                yaml::map(&values)
            }
        });
    }
    Ok(yaml::list(all))
}

/// The template with this path below `templates/text/`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/text/", $path, ".j2"))
    };
}

pub(crate) use text;

/// Implements `ValueEnum` for an enum, with its words as values; a method of the enum may describe them.
macro_rules! value_enum {
    ($name:ty $(, $help:ident)?) => {
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.as_str())$(.help(self.$help()))?)
            }
        }
    };
}

pub(crate) use value_enum;

/// Maximum number of files for which the same warning is printed each time.
const MAX_FILES: usize = 5;

/// Delay before a progress bar is shown, so that short tasks do not make it flash.
const PATIENCE: Duration = Duration::from_millis(400);

/// Reads at most this many bytes of standard input, without a byte order mark; `tried` says in an error what
/// was attempted.
pub(crate) fn stdin(most: u64, tried: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mark = "\u{feff}".as_bytes();
    let mut input = io::stdin().take(most.saturating_add(mark.len() as u64));
    input.read_to_end(&mut bytes).at(tried, Path::new("-"))?;
    if bytes.starts_with(mark) {
        bytes.drain(..mark.len());
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(bytes)
}

/// Reads a text from a file, or from standard input if the file is `-` or `None`; `what` names it in errors.
pub(crate) fn document(file: Option<&Path>, what: &str) -> Result<String> {
    let bytes = if let Some(file) = file.filter(|file| *file != Path::new("-")) {
        let file = path::absolute(file).at("find", file)?;
        read::users_bytes(&file)?.ok_or_else(|| Error::not_found("no such file").at(&file, None))?
    } else {
        stdin(read::MAX_FILE + 1, &format!("read {what}"))?
    };
    if bytes.len() as u64 > read::MAX_FILE {
        return Err(Error::refused(format!("{what} is larger than 8 MiB")));
    }
    String::from_utf8(bytes).map_err(|_| Error::refused(format!("{what} is not UTF-8 text")))
}

/// Returns the warnings, with only the first of those that repeat for many files, followed by the number of the others.
///
/// Warnings are the same if they differ only in their location and in text in brackets.
fn combined(warnings: &[Warning]) -> Vec<Warning> {
    static BRACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(r" \([^)]*\)"));
    let key = |warning: &Warning| BRACKETS.replace_all(&warning.message, "").into_owned();
    let mut files: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    for warning in warnings {
        files.entry(key(warning)).or_default().insert(&warning.place.file);
    }
    let mut printed = BTreeSet::new();
    let mut combined = Vec::new();
    for warning in warnings {
        let key = key(warning);
        let others = files.get(&key).map_or(0, BTreeSet::len).saturating_sub(1);
        if others < MAX_FILES {
            combined.push(warning.clone());
        } else if printed.insert(key) {
            let others = quantity(others, "more file");
            let message = format!("{}; the same in {others} (-v lists them)", warning.message);
            combined.push(Warning { place: warning.place.clone(), message });
        }
    }
    combined
}

/// Returns the progress reporter of this run: bars on standard error if it is a terminal, otherwise none.
pub(crate) fn progress_on_terminal() -> Progress {
    if !io::stderr().is_terminal() {
        return Progress::default();
    }
    Progress::watched(|task, total| {
        let bar = bar(task, total);
        let mut is_shown = false;
        Box::new(move || {
            if !is_shown && bar.elapsed() >= PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                is_shown = true;
            }
            bar.inc(1);
        })
    })
}

/// Returns a hidden bar, which is cleared when it is dropped.
fn bar(task: &str, total: usize) -> ProgressBar {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
        .with_style(style)
        .with_finish(ProgressFinish::AndClear)
        .with_message(task.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::storage::read;

    #[expect(
        clippy::disallowed_methods,
        reason = "the test lists the source folder, not a project"
    )]
    fn templates(folder: &Path, found: &mut Vec<PathBuf>) {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() {
                templates(&path, found);
            } else if path.extension().is_some_and(|end| end == "j2") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_template_is_understood() {
        let mut found = Vec::new();
        templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/text"), &mut found);
        let engine = engine().unwrap();
        for file in &found {
            let text = String::from_utf8(read::users_bytes(file).unwrap().unwrap()).unwrap();
            engine.template_from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
        assert!(found.len() > 30, "{found:?}");
    }

    #[test]
    fn a_list_and_the_head_of_a_text_say_what_they_leave_out() {
        assert_eq!(bullets("", "Plans", 2, 9), "");
        assert_eq!(bullets("a\n\nb\n", "Plans", 2, 9), "Plans:\n  - a\n  - b\n");
        assert_eq!(bullets("a\nb\nc", "Plans", 2, 9), "Plans:\n  - a\n  - … 2 more (--json)\n");
        assert_eq!(head("a\nb\nc", 2), "a\nb\nc\n");
        assert_eq!(head("a\nb\nc\nd", 2), "a\nb\n… 2 more lines\n");
    }

    fn printed(files: usize, message: impl Fn(usize) -> String) -> Vec<String> {
        let warning = |n: usize| Warning::at(Path::new(&format!("{n}.md")), 3, message(n));
        let warnings: Vec<Warning> = (1..=files).map(warning).collect();
        combined(&warnings).iter().map(Warning::to_string).collect()
    }

    #[test]
    fn a_warning_about_many_files_is_printed_once_and_different_ones_stay() {
        let invalid = |n: usize| format!("is not valid YAML (at column {n}); read line by line");
        assert_eq!(
            printed(25, invalid),
            [
                "1.md:3: is not valid YAML (at column 1); read line by line; the same in 24 more files (-v lists them)"
            ]
        );
        assert_eq!(printed(MAX_FILES, invalid).len(), MAX_FILES);
        assert_eq!(printed(25, |n| format!("names plan {n}")).len(), 25);
    }
}
