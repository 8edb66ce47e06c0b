//! Parses SUMMARY files, which describe the result of a plan: front matter first, the body for what it lacks.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit, parse_date};
use crate::markdown::{BlockContent, FrontMatter, Node, Outline, Value};
use crate::plan::read::document::{Document, is_lead};
use crate::plan::read::vocabulary::{begins, find, has, is_all_of, is_excepted, words};
use crate::plan::read::{Count, Decision, PhaseProgress, decision, document};
use crate::text::{
    file_name, is_absent, is_digit, line_number, one_line, says_none, unmarked, word_enum, words_in,
};
use crate::warning::{Parsed, Warning};

mod deviation;

pub use deviation::Deviation;
/// A summary, from its front matter or, for missing fields, its body.
///
/// A list that is unknown is `None`; one that is known to be empty is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The phase, without its name: `5.1`; a word for a quick task.
    pub phase: Option<String>,
    /// The plan, without phase and slug: `2`, `1a`, `d`, `R01`.
    pub plan: Option<String>,
    /// The title in the front matter, otherwise the first heading.
    pub title: Option<String>,
    /// The plan's outcome; `None` if the file has no status word.
    pub status: Option<PlanState>,
    /// Duration of the plan's execution.
    pub duration_minutes: Option<Minutes>,
    /// Whether the duration was derived from the commits rather than stated.
    pub duration_derived: bool,
    /// The completion date.
    pub completed: Option<NaiveDate>,
    /// Number of deviations, which exceeds the length of the list if only a number is stated; `None` if the
    /// summary does not mention deviations.
    pub deviation_count: Option<u32>,
    /// The deviations; `None` if only their number is known, or nothing at all.
    pub deviations: Option<Vec<Deviation>>,
    /// The number of complete tasks and of all tasks.
    pub tasks: TaskCount,
    /// The files created, modified or deleted.
    pub files: Option<Vec<String>>,
    /// The commit hashes, as written.
    pub commits: Option<Vec<String>>,
    /// The decisions made during execution.
    pub decisions: Option<Vec<Decision>>,
    /// The results of checking the must-haves.
    pub acceptance: Option<Vec<AcceptanceResult>>,
    /// The patterns that it established or used.
    pub patterns: Option<Vec<String>>,
    /// What went wrong or well, listed separately from the deviations; not serialized.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

word_enum! {
    /// The state of a plan.
    pub enum PlanState {
        /// It has a summary that calls it neither partial nor failed.
        Complete = "complete",
        /// Its summary calls it partial, or waiting.
        Partial = "partial",
        /// Its summary calls it failed.
        Failed = "failed",
        /// It has no summary.
        Open = "open",
    }
}

/// The numbers of tasks of a plan, as far as its summary states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskCount {
    /// Number of complete tasks.
    pub completed: Option<u32>,
    /// Total number of tasks.
    pub total: Option<u32>,
}

/// The result of one acceptance criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptanceResult {
    /// The criterion.
    pub criterion: String,
    /// The verdict, as written: `pass`, `partial`, `fail`.
    pub verdict: Option<String>,
    /// The evidence for the verdict.
    pub evidence: Option<String>,
}

/// A bullet or paragraph under `Issues Encountered`, `What Worked`, `Lessons Learned` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its text on one line; after a bullet that announces the bullets below it, their texts, too.
    pub text: String,
    /// What it was noted as.
    pub kind: NoteKind,
    /// Line number in the summary, from 1.
    pub line: usize,
}

word_enum! {
    /// The kind of a note, and of the headings above it.
    pub enum NoteKind {
        /// A problem.
        Issue = "issue",
        /// What worked.
        Worked = "worked",
        /// A lesson, good or bad.
        Lesson = "lesson",
    }
}

impl Summary {
    /// Parses a summary in markdown or JSON Lines; `path` identifies the plan if the text does not.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let (phase, plan) = document.identity(path);
        let status = PlanState::stated_in(&document.front, &text[document.body()]);
        warnings.extend(PlanState::unknown_word(text, &document.front, path));
        let (deviation_count, deviations) = deviation::deviations(&document);
        let value = Self {
            phase,
            plan,
            title: document.title(),
            status,
            duration_minutes: stated_duration(&document, path, &mut warnings),
            duration_derived: false,
            completed: document.stated("completed").find_map(parse_date),
            deviation_count,
            deviations,
            tasks: tasks(&document),
            files: files(&document),
            commits: commits(&document),
            decisions: decisions(&document),
            acceptance: acceptance(&document),
            patterns: patterns(&document),
            notes: notes(&document.outline),
        };
        Parsed { value, warnings }
    }

    /// Fills in a missing duration with the time between the first and the last of the plan's commits.
    pub fn derive_duration(&mut self, commit_times: &[DateTime<Utc>]) {
        let ends = commit_times.iter().min().zip(commit_times.iter().max());
        if let (None, Some((first, last))) = (self.duration_minutes, ends) {
            let span = Minutes::between(*first, *last);
            self.duration_minutes = span.filter(|span| *span > Minutes::default());
            self.duration_derived = self.duration_minutes.is_some();
        }
    }
}

/// The fields with the status of a plan.
const STATUS: &[&str] = &["status", "plan_status"];

impl AcceptanceResult {
    /// Returns whether the verdict says that the criterion is not met, or only partly.
    pub fn has_failed(&self) -> bool {
        let verdict = self.verdict.as_deref().unwrap_or_default().to_lowercase();
        ["fail", "partial", "not met", "unmet"].iter().any(|words| verdict.starts_with(words))
    }
}

impl PlanState {
    /// Parses a status word: `complete`, `COMPLETED`, `completed_verified`, `✅ Done`, `partial`, `blocked`.
    fn parse(text: &str) -> Option<Self> {
        let text = unmarked(text).to_lowercase();
        let text = text.replace(['_', '-'], " ");
        let known = find("outcome of a plan", |word| text.starts_with(word));
        let known = known.map(|(one, word)| match one {
            Self::Complete if is_excepted(&text[word.len()..]) => Self::Partial,
            one => one,
        });
        // `on hold`, `executing`: the words of phases. A plan that is ready for what follows is done.
        known.or_else(|| PhaseProgress::is_open_status(&text).then_some(Self::Partial))
    }

    /// Returns whether a text says that a plan is partial, and no more.
    fn is_partial(text: &str) -> bool {
        let text = text.replace('_', " ");
        let outcome = find("outcome of a plan", |word| is_all_of(&text, word));
        outcome.is_some_and(|(outcome, _): (Self, _)| outcome == Self::Partial)
    }

    /// Returns whether a text says that a plan is partial or, in a single word, failed: `Fail-Loud Dispatch` is a name.
    fn is_unfinished(text: &str) -> bool {
        Self::is_partial(text)
            || words_in(text).count() == 1 && Self::parse(text) == Some(Self::Failed)
    }

    /// Parses a status word of a summary, also one for what is over, such as `superseded`, and a symbol before other words.
    fn of_summary(text: &str) -> Option<Self> {
        let is_over = || PhaseProgress::stated(text).is_some_and(|progress| !progress.is_open());
        Self::parse(text).or_else(|| is_over().then_some(Self::Complete))
    }

    /// Returns what a summary states, without a full parse if possible. The result is the same as that of
    /// [`Summary::parse`].
    pub fn stated(summary: &str) -> Option<Self> {
        if document::is_json_lines(summary) {
            let document = Document::parse(summary, Path::new(""), &mut Vec::new());
            return Self::stated_in(&document.front, summary);
        }
        let front = FrontMatter::parse(summary, Path::new("")).value;
        Self::stated_in(&front, &summary[front.range.end..])
    }

    fn stated_in(front: &FrontMatter, body: &str) -> Option<Self> {
        let Some(stated) = front.text(STATUS).filter(|text| !is_absent(text)) else {
            let texts = |kind| words(kind).filter_map(|key| front.text(&[key]));
            // `tasks_completed: 1` with `tasks_total: 4`, or `tasks: 1/4`
            let count = |kind| texts(kind).find_map(Count::parse);
            let done = count("completed tasks");
            let all = done.as_ref().and_then(|done| done.total);
            let all = all.or_else(|| count("all tasks").map(|all| all.done));
            let is_short = done.zip(all).is_some_and(|(done, all)| done.done < all);
            // A file or a field that was created and not filled in: `status: {complete|partial|failed}`.
            let is_unfilled = match front.get(&["status"]).map(|node| &node.value) {
                None => front.is_empty() && body.trim().is_empty(),
                Some(Value::List(_)) => false,
                Some(Value::Map(pairs)) => pairs.iter().all(|(_, value)| value.flat().is_empty()),
                Some(Value::Text(_)) => texts("completed").all(is_absent),
            };
            let is_partial =
                is_short || is_unfilled || texts("result of a plan").any(Self::is_partial);
            let stated = Self::in_body(body).map(|stated| stated.unwrap_or(Self::Partial));
            return stated.or(is_partial.then_some(Self::Partial));
        };
        // A plan whose status is not understood is not done.
        Self::of_summary(stated).or(Some(Self::Partial))
    }

    /// Returns a warning if the status of a summary is not a known word.
    pub(crate) fn unknown_word(summary: &str, front: &FrontMatter, path: &Path) -> Option<Warning> {
        let node = front.get(STATUS);
        let word = node.and_then(Node::as_text).filter(|word| !is_absent(word));
        let (word, line) = match node.zip(word) {
            Some((node, word)) => Self::of_summary(word).is_none().then_some((word, node.line))?,
            None => {
                let (lines, word) = Self::in_body(&summary[front.range.end..])?.err()?;
                (word, line_number(summary, front.range.end) + lines)
            }
        };
        let message = format!("unknown status: {word:?}, so the plan counts as partial");
        Some(Warning::at(path, line, message))
    }

    /// Finds the first line of a text that states the plan's status, outside sections about its parts; without a known
    /// word, the first unknown one and the number of lines above it.
    ///
    /// ```text
    /// ## Status: COMPLETE    **Status:** Complete    **Plan Status:** Complete    | Status | Complete |
    /// ## Status (and the word on the next line)      **Tasks completed:** 3/4 (says that it is partial)
    /// ```
    fn in_body(body: &str) -> Option<Result<Self, (usize, &str)>> {
        let (mut has_open_tasks, mut is_code, mut is_part, mut is_next) =
            (false, false, false, false);
        let (mut unknown, mut has_failed, mut is_next_result) = (None, false, false);
        let lines = body.lines().enumerate();
        for (above, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with("  ")) {
            is_code ^= line.starts_with("```");
            if is_code {
                continue;
            }
            // `- ⚠️ **Status**: Partial`
            let is_mark = |c: char| match c {
                '#' | '-' | '*' | '+' | '_' | '>' | '|' => true,
                c => !(c.is_alphanumeric() || c.is_ascii_punctuation()),
            };
            let bare = line.trim_start_matches(is_mark);
            let (name, value) = bare.split_once([':', '：', '|']).unwrap_or((bare, ""));
            let name = name.trim_matches(['*', '_', ' ']).to_lowercase();
            let is_label = has("status of a summary", &name);
            if line.starts_with('#') {
                is_part = !is_label && words("part of a summary").any(|part| name.contains(part));
            }
            // The last one counts.
            if has("self-check of a plan", &name) && !value.is_empty() {
                has_failed = Self::parse(value).is_some_and(|outcome| outcome != Self::Complete);
            }
            let word = if is_next { line } else { value };
            let is_stated = is_next || is_label && (!is_part || name != "status");
            is_next = line.starts_with('#') && is_label && value.is_empty();
            if is_stated && let Some(status) = Self::of_summary(word) {
                return Some(Ok(status));
            }
            let word = word.trim_matches(['*', '_', ' ']);
            // A row may be the head of a table.
            let is_unknown = is_stated && !line.starts_with('|') && !is_absent(word);
            unknown = unknown.or(is_unknown.then_some((above, word)));
            // `# Phase 3 Plan 2: Cards Summary (PARTIAL)`, `# Plan 2 Summary - PARTIAL`
            let title = line.strip_prefix("# ").unwrap_or_default();
            let end =
                title.rsplit(['—', '–', ':', '(']).next().and_then(|end| end.rsplit(" - ").next());
            let end = end.filter(|end| end.len() < title.len());
            // `## Outcome` and the word on the next line
            let value = if is_next_result { line } else { value }.trim_matches(['*', ' ', '|']);
            let may_be_result = line.starts_with('#') || !value.is_empty();
            let is_result = may_be_result && has("result of a plan", &name);
            let in_section = (!is_part && is_next_result).then_some(value);
            let is_outcome = !is_part && !value.is_empty() && is_result;
            is_next_result = line.starts_with('#') && is_result && value.is_empty();
            has_open_tasks |= end.or(in_section).is_some_and(Self::is_unfinished);
            // `Result: FAILED` may be that of a test that was to fail first.
            has_open_tasks |= is_outcome && Self::is_partial(value);
            has_open_tasks |= !is_part
                && Count::parse(value).is_some_and(|count| {
                    let rest = count.rest.trim();
                    let is_count = has("done tasks", &name)
                        || name == "tasks" && matches!(rest, "" | "complete" | "completed")
                        || has("progress of a plan", &name) && rest.starts_with("tasks");
                    is_count && count.is_open()
                });
        }
        let is_partial = has_open_tasks || has_failed;
        unknown.map(Err).or(is_partial.then_some(Ok(Self::Partial)))
    }
}

/// Maximum bare number taken as minutes; a larger one is as likely to be seconds.
const MAX_BARE_MINUTES: f64 = 90.0;

/// Returns the duration stated in the front matter, otherwise in the body.
fn stated_duration(
    document: &Document<'_>,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Option<Minutes> {
    for key in words("duration") {
        let Some(node) = document.get(key) else { continue };
        let Some(text) = node.as_text().filter(|text| !is_absent(text)) else { continue };
        let unit = match key.split_once("duration_").map(|(_, unit)| unit) {
            Some("hours") => Some(TimeUnit::Hours),
            Some(unit) if unit.starts_with("sec") => Some(TimeUnit::Seconds),
            unit => unit.map(|_| TimeUnit::Minutes),
        };
        let fault = match (text.trim_start_matches('~').trim().parse::<f64>(), unit) {
            (Ok(number), None) if number > MAX_BARE_MINUTES => {
                "a number without a unit (minutes or seconds?)"
            }
            (Ok(number), unit) => {
                return Minutes::from_number(number, unit.unwrap_or(TimeUnit::Minutes));
            }
            (Err(_), _) => match Minutes::parse(text) {
                Some(minutes) => return Some(minutes),
                None => "not a duration",
            },
        };
        warnings.push(Warning::at(path, node.line, format!("{fault}: {text:?}")));
    }
    document.values("duration").find_map(Minutes::parse)
}

/// Returns the numbers of tasks. `2/2` in the body completes a lone `2` in the front matter.
fn tasks(document: &Document<'_>) -> TaskCount {
    let parse = |text: &str| {
        let count = Count::parse(text.trim_start_matches(['*', '`', '~', ' ']));
        (count.map(|count| count.done), count.and_then(|count| count.total))
    };
    let is_done = |task: &Node| {
        let word = task.get(&["status"]).and_then(Node::as_text);
        word.is_none_or(|word| PlanState::parse(word) == Some(PlanState::Complete))
    };
    // A number, `5/5`, or a list of tasks, all of them done.
    let from_node = |node: &Node| match &node.value {
        Value::List(tasks) if tasks.iter().all(is_done) => (u32::try_from(tasks.len()).ok(), None),
        _ => node.as_text().map_or((None, None), parse),
    };
    let fields = words("completed tasks").filter_map(|key| document.get(key)).map(from_node);
    let found: Vec<_> = fields.chain(document.values("completed tasks").map(parse)).collect();
    let completed = found.iter().find_map(|(done, _)| *done);
    let total = document.field("all tasks").and_then(|node| parse(node.as_text()?).0);
    let mut same = found.iter().filter(|(done, _)| *done == completed);
    TaskCount { completed, total: total.or_else(|| same.find_map(|(_, total)| *total)) }
}

fn patterns(document: &Document<'_>) -> Option<Vec<String>> {
    let front = &document.front;
    let stack = front.get(&["tech_stack"]).and_then(|stack| stack.get(&["patterns"]));
    let nodes = [front.get(&["patterns_established", "patterns"]), stack];
    let known = nodes.into_iter().flatten().map(Node::texts);
    let mut list = known.reduce(|known, more| [known, more].concat())?;
    list.retain(|text| !is_absent(text));
    Some(list)
}

/// Returns a text of an entry.
fn text_of(entry: &Node, keys: &[&str]) -> Option<String> {
    entry.get(keys)?.as_text().map(str::to_owned)
}

/// Returns the acceptance results of the front matter.
fn acceptance(document: &Document<'_>) -> Option<Vec<AcceptanceResult>> {
    let node = document.field("acceptance results")?;
    let results = node.elements().into_iter().map(|node| {
        let names = ["criterion", "must_have", "truth", "description", "text", "name", "id"];
        AcceptanceResult {
            criterion: text_of(node, &names).unwrap_or_else(|| node.flat()),
            verdict: text_of(node, &["verdict", "status", "result"]),
            evidence: text_of(node, &["evidence", "proof", "notes"]),
        }
    });
    Some(results.filter(|result| !result.criterion.is_empty()).collect())
}

/// Returns the decisions in the front matter, otherwise in the body; `None` if there is no such field or
/// section.
fn decisions(document: &Document<'_>) -> Option<Vec<Decision>> {
    let node = document.field("decisions of a plan");
    let stated = node.into_iter().flat_map(Node::elements).map(|node| {
        let texts = ["decision", "summary", "text", "title", "what", "choice"];
        Decision {
            text: text_of(node, &texts).unwrap_or_else(|| node.flat()),
            date: text_of(node, &["date"]).and_then(|date| parse_date(&date)),
            rationale: text_of(node, &["rationale", "reason", "why", "context"]),
            ..Decision::default()
        }
    });
    let mut list: Vec<Decision> = stated.filter(|one| !is_absent(&one.text)).collect();
    let outline = &document.outline;
    let is_known = node.is_some() || decision::sections(outline).next().is_some();
    if list.is_empty() {
        list = decision::in_sections(outline);
    }
    is_known.then_some(list)
}

/// Returns the notes of a summary.
fn notes(outline: &Outline<'_>) -> Vec<Note> {
    let mut found = Vec::new();
    for kind in NoteKind::ALL {
        let sections = document::sections(outline, kind.as_str());
        for section in sections.filter(|section| section.level > 1) {
            for block in outline.blocks(&section.own) {
                let text = match &block.content {
                    BlockContent::Item(item) if item.depth == 0 => {
                        let is_title = item.text.ends_with("**") || is_lead(&item.text);
                        let whole = is_title.then(|| document::on_one_line(outline, block, item));
                        whole.unwrap_or_else(|| item.text.clone())
                    }
                    BlockContent::Paragraph if !is_footer(outline.slice(&block.range)) => {
                        one_line(outline.slice(&block.range))
                    }
                    _ => continue,
                };
                let bare = unmarked(&text).to_lowercase();
                // A section that begins with "None" goes on to say what went well.
                if says_none(&text) || kind == NoteKind::Issue && begins("no issue", &bare) {
                    break;
                }
                if text.contains(char::is_alphabetic) && !is_lead(&text) {
                    found.push(Note { text, kind, line: block.line });
                }
            }
        }
    }
    found
}

/// Returns whether a paragraph is the end of GSD's template: `*Phase: 01-base*` and `*Completed: 2026-02-11*`.
fn is_footer(text: &str) -> bool {
    text.lines().all(|line| {
        let inner = line.trim().strip_prefix('*').and_then(|line| line.strip_suffix('*'));
        let label = inner.and_then(|inner| inner.split_once(": "));
        label.is_some_and(|(label, _)| ["Phase", "Plan", "Completed"].contains(&label))
    })
}

/// Returns the hashes in the front matter, otherwise in the body's lines about tasks and commits; `None` if no list of
/// them is stated.
fn commits(document: &Document<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut is_known = false;
    // The first list of hashes is complete; `commits` repeats them with messages.
    for key in words("fields with commits") {
        let Some(node) = document.get(key).filter(|_| found.is_empty()) else { continue };
        is_known |= key.starts_with("commit") && matches!(node.value, Value::List(_));
        for item in node.elements() {
            let hash = item.get(&["hash", "sha", "commit", "commit_hash", "commits"]);
            let text = hash.unwrap_or(item).flat();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            let words = words.filter(|word| !word.is_empty());
            let leading = words.take_while(|word| (7..=64).contains(&word.len()) && is_hex(word));
            found.extend(leading.map(str::to_owned));
        }
    }
    if found.is_empty() {
        found = in_body(document);
    }
    let found = distinct(found);
    (is_known || !found.is_empty()).then_some(found)
}

/// Returns the hashes in the paragraphs, list items, tables and sections of the body that are about tasks and commits.
fn in_body(document: &Document<'_>) -> Vec<String> {
    let outline = &document.outline;
    let is_about = |text: &str| {
        let text = text.to_lowercase();
        words("commits").any(|word| text.contains(word))
    };
    let mut found = Vec::new();
    for section in outline.sections() {
        let is_of_section = is_about(&section.title);
        for block in outline.blocks(&section.own) {
            let text = outline.slice(&block.range);
            if !matches!(block.content, BlockContent::Code) && (is_of_section || is_about(text)) {
                found.extend(hashes(text).map(str::to_owned));
            }
        }
    }
    found
}

/// Returns the hashes of a text: words of hexadecimal digits, of which some are letters unless they stand in a code span.
fn hashes(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "-_/#@=.`".contains(c);
    text.split(move |c| !is_part(c)).filter_map(|word| {
        let bare = word.trim_matches(['`', '.']);
        let is_mixed = bare.contains(is_digit) && bare.contains(|c: char| c.is_ascii_alphabetic());
        let is_certain = is_mixed || word.starts_with('`') && !bare.starts_with("20");
        (matches!(bare.len(), 7..=12 | 40) && is_hex(bare) && is_certain).then_some(bare)
    })
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn distinct<T: Hash + Eq + Clone>(mut list: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    list.retain(|one| seen.insert(one.clone()));
    list
}

/// Returns the files in the front matter and in the sections of files in the body, without duplicates, in that order; `None`
/// if neither lists any.
fn files(document: &Document<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut is_known = false;
    let fields: Vec<&str> = words("fields with files").collect();
    let rows = document.get("task_rows").map(Node::elements).unwrap_or_default();
    let of_rows = rows.into_iter().filter_map(|row| row.get(&fields));
    for node in fields.iter().filter_map(|key| document.get(key)).chain(of_rows) {
        is_known |= !matches!(node.value, Value::Text(_));
        add_files(node, &mut found);
    }
    let is_title =
        |title: &[String]| title.len() <= 4 && title.iter().any(|word| has("files", word));
    for section in document.sections(is_title) {
        let text = document.outline.slice(&section.whole);
        is_known |= is_absent(text);
        for block in document.outline.blocks(&section.whole) {
            match &block.content {
                BlockContent::Table(table) => {
                    let names = ["file", "path", "files", "file path", "artifact"];
                    let column = table.column(&names).unwrap_or(0);
                    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
                    found.extend(cells.flat_map(|cell| paths(cell)));
                }
                BlockContent::Html => {}
                _ => found.extend(document.outline.slice(&block.range).lines().flat_map(paths)),
            }
        }
    }
    let found = distinct(found);
    (is_known || !found.is_empty()).then(|| found.into_iter().map(str::to_owned).collect())
}

/// Adds the files of a field: texts, mappings with a path, and `path: what changed`, which YAML parses as a mapping.
fn add_files<'d>(node: &'d Node, found: &mut Vec<&'d str>) {
    match &node.value {
        Value::Text(text) => found.extend(paths(text)),
        Value::List(items) => items.iter().for_each(|item| add_files(item, found)),
        Value::Map(pairs) => match node.get(&["path", "file", "name"]) {
            Some(path) => add_files(path, found),
            None => pairs.iter().for_each(|(key, value)| match paths(key).next() {
                Some(path) => found.push(path),
                None => add_files(value, found),
            }),
        },
    }
}

/// Returns the paths of a line, in code spans or bare, before a remark on them.
///
/// ```text
/// `src/a.rs` — new file        src/a.rs (modified)
/// ```
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_mark =
        |rest: &str| [" — ", " – ", " - ", " -- ", ": "].iter().any(|mark| rest.starts_with(mark));
    let mut ends = line.match_indices([' ', ':']).map(|(at, _)| at);
    let end = ends.find(|at| is_mark(&line[*at..]));
    let head = &line[..end.unwrap_or(line.len())];
    let (marks, step): (&[char], usize) = match head.find('`') {
        Some(_) => (&['`'], 2),
        None => (&[' ', ',', ';', '[', ']', '(', ')', '*', '│'], 1),
    };
    let words = head.split(marks).skip(step - 1).step_by(step);
    words.map(|path| path.trim_start_matches("./")).filter(|path| is_path(path))
}

/// Returns whether a text looks like the path of a file or folder.
fn is_path(text: &str) -> bool {
    let name = file_name(text.trim_end_matches('/'));
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=12).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric() || "{},*_-".contains(c))
            && ending.contains(|c: char| c.is_ascii_alphabetic() || c == '*' || c == '{')
    });
    let has_folder = text.contains('/') && text.contains(char::is_alphabetic);
    let is_other = text.contains("://")
        || text.ends_with("()")
        || text.contains(['"', '\'', '=', '<', '>', '|', ';'])
        || text.contains(' ') && !text.contains('/')
        || text.starts_with(['/', '@']) && !text[1..].contains('/');
    !is_other && (has_ending || has_folder || ["Makefile", "Dockerfile", "LICENSE"].contains(&name))
}

#[cfg(test)]
mod tests;
