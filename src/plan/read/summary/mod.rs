//! Parses SUMMARY files, which describe the result of a plan: front matter first, the body for what it lacks.

use std::path::Path;

use chrono::{DateTime, NaiveDate, Timelike, Utc};
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit, parse_date, parse_timestamp};
use crate::markdown::{BlockContent, Node, Outline, Section, front_matter};
use crate::plan::read::document::Document;
use crate::plan::read::identity::Identity;
use crate::plan::read::list_entry::{self, is_lead};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::{
    Count, Decision, decision, heading, is_absent, json_lines, limit, non_placeholder,
    serialize_phase, serialize_plan,
};
use crate::text::{one_line, strip_prefix_ignore_case};
use crate::warning::{Parsed, Warning};

mod changes;
mod deviation;

pub use deviation::Deviation;

/// A summary, from its front matter or, for missing fields, its body.
///
/// A list that is unknown is `None`; one that is known to be empty is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The phase, without its name: `5.1`; a word for a quick task.
    #[serde(serialize_with = "serialize_phase")]
    pub phase: Option<String>,
    /// The plan as spelled in the file, without phase and slug: `02` (in JSON `2`), `01a`, `D`, `R01`.
    #[serde(serialize_with = "serialize_plan")]
    pub plan: Option<String>,
    /// The title in the front matter, otherwise the first heading.
    pub title: Option<String>,
    /// The plan's outcome; `None` if the file has no status word.
    pub status: Option<SummaryStatus>,
    /// Duration of the plan's execution.
    pub duration_minutes: Option<Minutes>,
    /// Whether the duration was derived from timestamps rather than stated.
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
    /// Number of tokens consumed.
    pub tokens_consumed: Option<u64>,
    /// The results of checking the must-haves.
    pub acceptance: Option<Vec<AcceptanceResult>>,
    /// The patterns that it established or used.
    pub patterns: Option<Vec<String>>,
    /// The result, in one line.
    pub one_line: Option<String>,
    /// Issues that are listed separately from the deviations; not serialized.
    #[serde(skip)]
    pub issues: Vec<IssueNote>,
}

/// The outcome of a plan according to its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryStatus {
    /// All of it is done.
    Complete,
    /// Some of it is done, or it is waiting.
    Partial,
    /// It could not be done.
    Failed,
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

/// A bullet or paragraph under `Issues Encountered`, `Lessons Learned` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueNote {
    /// Its text on one line; after a bullet that announces the bullets below it, their texts, too.
    pub text: String,
    /// Whether it was noted as a lesson instead of as an issue.
    pub is_lesson: bool,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// Maximum number of commits of a summary: git is asked about each.
const MAX_COMMITS: usize = 1000;

impl Summary {
    /// Parses a summary in markdown or JSON Lines; `path` identifies the plan if the text does not.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let identity = Identity::from_document(&document, path);
        let status = SummaryStatus::of_document(&document);
        if let (None, Some(node)) = (status, document.front.get(&["status"]))
            && let Some(word) = node.as_text()
        {
            warnings.push(Warning::at(path, node.line, format!("unknown status: {word:?}")));
        }
        let stated = stated_duration(&document, path, &mut warnings);
        let derived = if stated.is_none() { span(&document) } else { None };
        let (deviation_count, deviations) = deviation::deviations(&document);
        let mut commits = changes::commits(&document);
        if let Some(list) = &mut commits {
            limit::truncate(list, MAX_COMMITS, "commits", path, &mut warnings);
        }
        let title = document.front.text(&["title", "name"]).or_else(|| document.outline.title());
        let value = Self {
            phase: identity.phase,
            plan: identity.plan,
            title: title.and_then(non_placeholder).map(str::to_owned),
            status,
            duration_minutes: stated.or(derived),
            duration_derived: derived.is_some(),
            completed: completed(&document),
            deviation_count,
            deviations,
            tasks: TaskCount::from_document(&document),
            files: changes::files(&document),
            commits,
            decisions: decisions(&document),
            tokens_consumed: tokens(&document),
            acceptance: acceptance(&document),
            patterns: patterns(&document),
            one_line: one_liner(&document),
            issues: issue_notes(&document.outline),
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

impl AcceptanceResult {
    /// Returns whether the verdict says that the criterion is not met, or only partly.
    pub fn has_failed(&self) -> bool {
        let verdict = self.verdict.as_deref().unwrap_or_default().to_lowercase();
        ["fail", "partial", "not met", "unmet"].iter().any(|words| verdict.starts_with(words))
    }
}

/// Beginnings of the words for the outcome of a plan, in lower case.
const OUTCOMES: &[(SummaryStatus, &[&str])] = &[
    (SummaryStatus::Complete, &["complete", "done", "finished", "success", "shipped", "passed"]),
    (
        SummaryStatus::Partial,
        &[
            "partial", "incomplete", "in progress", "in_progress", "in-progress", "blocked",
            "pending", "paused", "not complete", "not started", "not_started", "wip", "started",
            "awaiting", "checkpoint", "at checkpoint", "at-checkpoint", "stopped",
        ],
    ),
    (SummaryStatus::Failed, &["fail", "abort", "abandon", "error"]),
];

/// Parts of headings under which a status is that of a task, an issue or a check, not of the plan.
const PARTS: &[&str] =
    &["task", "issue", "deviation", "checkpoint", "verif", "test", "check", "criteria"];

impl SummaryStatus {
    /// Parses a status word: `complete`, `COMPLETED`, `completed_verified`, `✅ Done`, `partial`, `blocked`.
    pub fn from_word(text: &str) -> Option<Self> {
        let word = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let begins = |(_, words): &&(Self, &[&str])| words.iter().any(|own| word.starts_with(own));
        OUTCOMES.iter().find(begins).map(|(outcome, _)| *outcome)
    }

    /// Parses only the status of a summary, without a full parse if possible.
    ///
    /// The result is the same as that of [`Summary::parse`].
    pub fn from_text(text: &str) -> Option<Self> {
        let quick = if json_lines::is_json_lines(text) {
            None
        } else {
            front_matter::scan(text, ["status"])
        };
        match quick {
            Some(([Some(word)], _)) => Self::from_word(word),
            Some(([None], end)) => Self::in_body(&text[end..]),
            None => Self::of_document(&Document::parse(text, Path::new(""), &mut Vec::new())),
        }
    }

    fn of_document(document: &Document<'_>) -> Option<Self> {
        match document.front.text(&["status"]) {
            Some(word) => Self::from_word(word),
            None => Self::in_body(&document.outline.text()[document.body()]),
        }
    }

    /// Finds the first line of a text that states the plan's status, outside sections about its parts.
    ///
    /// ```text
    /// ## Status: COMPLETE    **Status:** Complete    **Plan Status:** Complete    | Status | Complete |
    /// ## Status (and the word on the next line)      **Tasks completed:** 3/4 (says that it is partial)
    /// ```
    fn in_body(body: &str) -> Option<Self> {
        let (mut has_open_tasks, mut is_code, mut is_part, mut is_next) =
            (false, false, false, false);
        for line in body.lines().filter(|line| !line.is_empty() && !line.starts_with("  ")) {
            is_code ^= line.starts_with("```");
            if is_code {
                continue;
            }
            let bare = line.trim_start_matches(['#', '-', '*', '+', '_', '>', '|', ' ']);
            let (name, value) = bare.split_once([':', '|']).unwrap_or((bare, ""));
            let name = name.trim_matches(['*', '_', ' ']).to_lowercase();
            let is_label = ["status", "plan status", "overall status", "execution status"]
                .contains(&name.as_str());
            if line.starts_with('#') {
                is_part = !is_label && PARTS.iter().any(|part| name.contains(part));
            }
            let word = if is_next { line } else { value };
            let is_stated = is_next || is_label && (!is_part || name != "status");
            is_next = line.starts_with('#') && is_label && value.is_empty();
            if let Some(status) = Self::from_word(word).filter(|_| is_stated) {
                return Some(status);
            }
            has_open_tasks |= !is_part
                && name == "tasks completed"
                && Count::parse(value.trim_start_matches(['*', ' ', '|']))
                    .is_some_and(|count| count.is_open());
        }
        has_open_tasks.then_some(Self::Partial)
    }
}

/// Fields with a duration, and the unit of a bare number if their name states it.
const DURATIONS: &[(&[&str], Option<TimeUnit>)] = &[
    (&["duration_minutes", "duration_min", "duration_mins"], Some(TimeUnit::Minutes)),
    (&["duration_seconds", "duration_secs", "duration_sec"], Some(TimeUnit::Seconds)),
    (&["duration_hours"], Some(TimeUnit::Hours)),
    (DURATION, None),
];
const DURATION: &[&str] = &["duration", "actual_duration", "total_duration", "execution_time"];
const STARTED: &[&str] = &["started_at", "started", "start_time", "start"];
const COMPLETED: &[&str] = &[
    "completed", "completed_at", "completed_date", "completed_on", "date_completed",
    "completion_date", "finished", "finished_at", "ended_at", "ended", "end_time", "end", "date",
];

/// Maximum bare number taken as minutes; a larger one is as likely to be seconds.
const MAX_BARE_MINUTES: f64 = 90.0;

/// Returns the duration stated in the front matter, otherwise in the body.
fn stated_duration(
    document: &Document<'_>,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Option<Minutes> {
    for (keys, unit) in DURATIONS {
        let Some(node) = document.field(keys) else { continue };
        let Some(text) = node.as_text().filter(|text| !is_absent(text)) else { continue };
        let number = text.trim_start_matches('~').trim().parse::<f64>().ok();
        let minutes = match (number, unit) {
            (Some(number), Some(unit)) => Minutes::from_number(number, *unit),
            (Some(number), None) if number > MAX_BARE_MINUTES => None,
            (Some(number), None) => Minutes::from_number(number, TimeUnit::Minutes),
            (None, _) => Minutes::parse(text),
        };
        if minutes.is_some() {
            return minutes;
        }
        let fault = match number {
            Some(_) => "a number without a unit (minutes or seconds?)",
            None => "not a duration",
        };
        warnings.push(Warning::at(path, node.line, format!("{fault}: {text:?}")));
    }
    document.values(DURATION).into_iter().find_map(Minutes::parse)
}

/// Returns the values of a field, in the front matter and then in the body.
fn stated<'d>(document: &'d Document<'_>, names: &'d [&str]) -> impl Iterator<Item = &'d str> {
    let fields = names.iter().filter_map(|key| document.field(&[key])?.as_text());
    fields.chain(document.values(names))
}

/// Returns the time between the stated start and the stated end.
fn span(document: &Document<'_>) -> Option<Minutes> {
    let time = |names| stated(document, names).find_map(parse_timestamp);
    let (start, end) = (time(STARTED)?, time(COMPLETED)?);
    // If both ends are exact multiples of five minutes, they were not measured.
    let is_round = |time: DateTime<Utc>| time.minute().is_multiple_of(5) && time.second() == 0;
    let span = Minutes::between(start, end).filter(|span| *span > Minutes::default());
    span.filter(|_| !is_round(start) || !is_round(end))
}

fn completed(document: &Document<'_>) -> Option<NaiveDate> {
    stated(document, COMPLETED).find_map(parse_date)
}

impl TaskCount {
    fn from_document(document: &Document<'_>) -> Self {
        const COMPLETED: &[&str] = &["tasks_completed", "tasks_done", "completed_tasks"];
        const TOTAL: &[&str] = &["tasks_total", "total_tasks", "task_count"];
        let fields = [COMPLETED, &["tasks"], &["task_rows"]];
        let nodes = fields.into_iter().filter_map(|keys| document.field(keys));
        let mut count = Self::default();
        for found in nodes.map(Self::from_node) {
            count.add(found);
        }
        if let Some(total) = document.field(TOTAL).and_then(Node::as_text) {
            count.total = Count::parse(total).map(|total| total.done).or(count.total);
        }
        // `2/2` in the body completes a lone `2` in the front matter, if the numbers of complete tasks agree.
        let labels = [COMPLETED, &["tasks"]].concat();
        for found in document.values(&labels).into_iter().map(Self::parse) {
            if count.completed.is_none() || found.completed == count.completed {
                count.add(found);
            }
        }
        count
    }

    /// Fills in missing numbers.
    fn add(&mut self, other: Self) {
        self.completed = self.completed.or(other.completed);
        self.total = self.total.or(other.total);
    }

    /// Parses a number, `5/5`, or a list of tasks.
    fn from_node(node: &Node) -> Self {
        if let Some(text) = node.as_text() {
            return Self::parse(text);
        }
        let tasks = node.elements();
        let statuses = tasks.iter().filter_map(|task| task.get(&["status"])?.as_text());
        let statuses: Vec<_> = statuses.map(SummaryStatus::from_word).collect();
        let is_open = |status: &&Option<SummaryStatus>| **status != Some(SummaryStatus::Complete);
        let open = statuses.iter().filter(is_open).count();
        let number = |count: usize| u32::try_from(count).ok();
        Self {
            completed: number(tasks.len() - open),
            total: number(tasks.len()).filter(|_| !statuses.is_empty()),
        }
    }

    /// Parses `5`, `5/5`, `3 of 3 completed`, `8 (Tasks 4-5 skipped)`, `2 completed`.
    fn parse(text: &str) -> Self {
        let count = Count::parse(text.trim().trim_start_matches(['*', '`', '~']));
        Self {
            completed: count.as_ref().map(|count| count.done),
            total: count.and_then(|count| count.total),
        }
    }
}

fn tokens(document: &Document<'_>) -> Option<u64> {
    let text = document.field(&["tokens_consumed", "tokens_used", "tokens"])?.as_text()?;
    text.replace(['_', ',', '~'], "").parse().ok()
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

/// Returns the acceptance results of the front matter.
fn acceptance(document: &Document<'_>) -> Option<Vec<AcceptanceResult>> {
    let node = document.field(&["ac_results", "acceptance_results", "acceptance"])?;
    let results = node.elements().into_iter().map(|node| {
        let of = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
        let names = ["criterion", "must_have", "truth", "description", "text", "name", "id"];
        AcceptanceResult {
            criterion: of(&names).unwrap_or_else(|| node.flat()),
            verdict: of(&["verdict", "status", "result"]),
            evidence: of(&["evidence", "proof", "notes"]),
        }
    });
    Some(results.filter(|result| !result.criterion.is_empty()).collect())
}

/// Returns the decisions in the front matter, otherwise in the body; `None` if there is no such field or
/// section.
fn decisions(document: &Document<'_>) -> Option<Vec<Decision>> {
    const TEXTS: &[&str] = &["decision", "summary", "text", "title", "what", "choice"];
    let node = document.field(&["key_decisions", "decisions", "decisions_made"]);
    let stated = node.into_iter().flat_map(Node::elements).map(|node| {
        let of = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
        Decision {
            text: of(TEXTS).unwrap_or_else(|| node.flat()),
            date: of(&["date"]).and_then(|date| parse_date(&date)),
            rationale: of(&["rationale", "reason", "why", "context"]),
            ..Decision::default()
        }
    });
    let mut list: Vec<Decision> = stated.filter(|one| !is_absent(&one.text)).collect();
    let outline = &document.outline;
    let mut sections = decision::sections(outline).peekable();
    let is_known = node.is_some() || sections.peek().is_some();
    if list.is_empty() {
        list = sections.flat_map(|section| decision::decisions(outline, &section.own)).collect();
    }
    is_known.then_some(list)
}

/// Returns the value of `one_liner` or `**One-liner:** …`, otherwise the first paragraph before the first section.
fn one_liner(document: &Document<'_>) -> Option<String> {
    let outline = &document.outline;
    let paragraph = |section: &Section| outline.paragraphs(&section.own).next();
    let opening = || {
        let mut heads = outline.sections().iter().take_while(|section| section.level < 2);
        heads.find_map(paragraph).map(|(_, text)| text).filter(|text| !text.contains(":**"))
    };
    let stated = stated(document, &["one_liner", "one_line"]).find(|value| !value.is_empty());
    let folded = one_line(stated.or_else(opening)?);
    non_placeholder(folded.trim_matches(['*', '_']).trim()).map(str::to_owned)
}

/// Headings of sections about issues, and about lessons.
const ISSUES: &[&str] = &[
    "issues encountered", "issues", "problems encountered", "problems", "known issues", "gotchas",
];
const LESSONS: &[&str] = &["key learnings", "learnings", "lessons", "lessons learned"];

/// Returns the notes of a summary.
fn issue_notes(outline: &Outline<'_>) -> Vec<IssueNote> {
    let mut found = Vec::new();
    for (is_lesson, titles) in [(false, ISSUES), (true, LESSONS)] {
        for section in heading::sections(outline, titles).filter(|section| section.level > 1) {
            for block in outline.blocks(&section.own) {
                let text = match &block.content {
                    BlockContent::Item(item) if item.depth == 0 => {
                        let is_title = item.text.ends_with("**") || is_lead(&item.text);
                        let whole = is_title.then(|| list_entry::on_one_line(outline, block, item));
                        whole.unwrap_or_else(|| item.text.clone())
                    }
                    BlockContent::Paragraph => one_line(outline.slice(&block.range)),
                    _ => continue,
                };
                // A section that begins with "None" goes on to say what went well.
                if is_nothing(&text) {
                    break;
                }
                if text.contains(char::is_alphabetic) && !is_lead(&text) {
                    found.push(IssueNote { text, is_lesson, line: block.line });
                }
            }
        }
    }
    found
}

/// Returns whether a text says that there were no issues.
fn is_nothing(text: &str) -> bool {
    let starts = ["no issues", "no problems", "no blockers", "nothing"];
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    is_none_remark(text)
        || starts.iter().any(|start| strip_prefix_ignore_case(bare, start).is_some())
}

#[cfg(test)]
mod tests;
