//! Parses SUMMARY files, which describe the result of a plan: front matter first, the body for what it lacks.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Timelike, Utc};
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit, parse_date, parse_timestamp};
use crate::markdown::{Block, BlockContent, Node, Outline, Section, front_matter};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::identity::Identity;
use crate::plan::read::list_entry::is_lead;
use crate::plan::read::{
    Count, Decision, decision, is_absent, json_lines, limit, non_placeholder, serialize_phase,
    serialize_plan,
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
    /// The phase as spelled in the file, without its name: `05.1`, in JSON `5.1`; a word for a quick task.
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
    /// Its text on one line; after a bullet that is only a title, that of the bullets below it, too.
    pub text: String,
    /// Whether it was noted as a lesson instead of as an issue.
    pub is_lesson: bool,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// Maximum number of patterns read from one summary, since each is searched for in its text.
const MAX_PATTERNS: usize = 100;

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
            let message = format!("unknown status: {word:?}");
            warnings.push(Warning::at(path, node.line, message));
        }
        let stated = stated_duration(&document, path, &mut warnings);
        let derived = if stated.is_none() { span(&document) } else { None };
        let (deviation_count, deviations) = deviation::deviations(&document);
        let mut patterns = patterns(&document);
        if let Some(list) = &mut patterns {
            limit::truncate(list, MAX_PATTERNS, "patterns", path, &mut warnings);
        }
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
            patterns,
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
        let first = verdict.split(|c: char| !c.is_alphanumeric()).next();
        matches!(first, Some("no" | "unmet" | "missed"))
            || ["fail", "partial", "not met"].iter().any(|words| verdict.starts_with(words))
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

/// Words after `checkpoint` that say that work went on behind it.
const CLEARED: &[&str] = &["approved", "passed", "cleared", "verified", "complete"];

/// Parts of headings under which a status is that of a task, an issue or a check, not of the plan.
const PARTS: &[&str] =
    &["task", "issue", "deviation", "checkpoint", "verif", "test", "check", "criteria"];

impl SummaryStatus {
    /// Parses a status word: `complete`, `COMPLETED`, `completed_verified`, `✅ Done`, `partial`, `blocked`.
    pub fn from_word(text: &str) -> Option<Self> {
        let word = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let (outcome, start) = OUTCOMES.iter().find_map(|(outcome, words)| {
            let start = words.iter().find(|start| word.starts_with(*start))?;
            Some((*outcome, *start))
        })?;
        let stops = start.contains("checkpoint") || start == "stopped";
        let is_cleared = stops && CLEARED.iter().any(|cleared| word.contains(cleared));
        (!is_cleared).then_some(outcome)
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

    /// Finds the first line of a text that states the plan's status.
    ///
    /// ```text
    /// ## Status: COMPLETE    **Status:** Complete    **Plan Status:** Complete    *Status: done*
    /// ## Status (and the word on the next line)      | Status | Complete |
    /// ```
    fn in_body(body: &str) -> Option<Self> {
        // Most summaries have no such line, and searching for the word is cheaper than parsing lines.
        let words = ["tatus", "STATUS", "asks completed", "asks Completed"];
        if !words.iter().any(|word| body.contains(word)) {
            return None;
        }
        let (mut has_open_tasks, mut is_code, mut is_part, mut is_next) =
            (false, false, false, false);
        for line in body.lines() {
            let content = line.trim_start();
            is_code ^= content.starts_with("```") || content.starts_with("~~~");
            if is_code || content.is_empty() {
                continue;
            }
            if content.starts_with('#') {
                let title = content.trim_start_matches('#').trim().to_lowercase();
                let named = title.strip_prefix("plan ").unwrap_or(&title).strip_prefix("status");
                let named = named.map(str::trim_start);
                is_next = named.is_some_and(str::is_empty);
                let marks = [':', '-', '\u{2013}', '\u{2014}'];
                let word = named.and_then(|named| named.strip_prefix(marks));
                is_part =
                    word.is_none() && !is_next && PARTS.iter().any(|part| title.contains(part));
                if let Some(status) = word.and_then(Self::from_word) {
                    return Some(status);
                }
                continue;
            }
            // The text after a horizontal rule is about the whole file again.
            is_part &= line.trim_end() != "---";
            let is_outermost = line.len() - content.len() < 2;
            let labelled = status_label(content)
                .filter(|(name, _)| is_outermost && (!is_part || name.len() > "status".len()));
            let word = if is_next { Some(content) } else { labelled.map(|(_, word)| word) };
            is_next = false;
            has_open_tasks |= is_outermost && !is_part && counts_open_tasks(content);
            if let Some(status) = word.and_then(Self::from_word) {
                return Some(status);
            }
        }
        has_open_tasks.then_some(Self::Partial)
    }
}

/// Returns the name and the value of a line with a status label.
fn status_label(content: &str) -> Option<(&str, &str)> {
    let content = content.trim_start_matches(['-', '*', '+', '_', '>', '|', ' ']);
    let (name, value) = content.split_once([':', '|'])?;
    let name = name.trim_matches(['*', '_', ' ']);
    let names = ["status", "plan status", "overall status", "execution status"];
    names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)).then_some((name, value))
}

/// Returns whether a line counts fewer finished tasks than there are: `**Tasks completed:** 3 / 4`.
fn counts_open_tasks(content: &str) -> bool {
    let label = content.trim_start_matches(['-', '*', '+', '|', ' ']);
    let value = strip_prefix_ignore_case(label, "tasks completed").unwrap_or_default();
    let lower = value.to_lowercase();
    let count = Count::parse(lower.trim_start_matches([':', '*', ' ', '|']));
    count.is_some_and(|count| {
        let has = |words: &[&str]| words.iter().any(|word| count.rest.contains(word));
        let is_dropped = has(&["not needed", "skipped", "n/a"]) && !has(&["block", "fail"]);
        count.is_open() && !is_dropped
    })
}

/// Fields whose name states the unit of a bare number.
const DURATIONS_WITH_UNIT: &[(&[&str], TimeUnit)] = &[
    (&["duration_minutes", "duration_min", "duration_mins"], TimeUnit::Minutes),
    (&["duration_seconds", "duration_secs", "duration_sec"], TimeUnit::Seconds),
    (&["duration_hours"], TimeUnit::Hours),
];
const DURATION: &[&str] = &[
    "duration", "duration_human", "actual_duration", "total_duration", "execution_time", "elapsed",
];
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
    for (keys, unit) in DURATIONS_WITH_UNIT {
        let value = document.field(keys).and_then(Node::as_text);
        let read = value.and_then(|value| {
            let number = value.parse().ok().and_then(|number| Minutes::from_number(number, *unit));
            number.or_else(|| Minutes::parse(value))
        });
        if read.is_some() {
            return read;
        }
    }
    let in_body = || document.values(DURATION).into_iter().find_map(Minutes::parse);
    let Some(node) = document.field(DURATION) else {
        return in_body();
    };
    let Some(text) = node.as_text().filter(|text| !is_absent(text)) else {
        return in_body();
    };
    let bare = text.trim_start_matches('~').trim().parse::<f64>().ok();
    let (minutes, fault) = match bare {
        Some(number) if number <= MAX_BARE_MINUTES => {
            (Minutes::from_number(number, TimeUnit::Minutes), "not a duration")
        }
        Some(_) => (None, "a number without a unit (minutes or seconds?)"),
        None => (Minutes::parse(text), "not a duration"),
    };
    if minutes.is_none() {
        warnings.push(Warning::at(path, node.line, format!("{fault}: {text:?}")));
    }
    minutes.or_else(in_body)
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
    // `*Completed: 2026-02-26*` at the end of a file.
    let footer = || {
        let body = &document.outline.text()[document.body()];
        body.lines().rev().take(12).find_map(|line| {
            let (name, value) = line.trim().trim_matches(['*', '_', '-', ' ']).split_once(':')?;
            let is_date = ["completed", "date"].iter().any(|own| name.eq_ignore_ascii_case(own));
            is_date.then(|| parse_date(value)).flatten()
        })
    };
    stated(document, COMPLETED).find_map(parse_date).or_else(footer)
}

impl TaskCount {
    fn from_document(document: &Document<'_>) -> Self {
        const COMPLETED: &[&str] = &["tasks_completed", "tasks_done", "completed_tasks"];
        const TOTAL: &[&str] = &["tasks_total", "total_tasks", "task_count"];
        let mut count = Self::default();
        for keys in [COMPLETED, &["tasks"], &["task_rows"]] {
            if let Some(node) = document.field(keys) {
                count.add(Self::from_node(node));
            }
        }
        if let Some(total) = document.field(TOTAL).and_then(Node::as_text) {
            count.total = Count::parse(total).map(|total| total.done).or(count.total);
        }
        // `2/2` in the body completes a lone `2` in the front matter, if the numbers of complete tasks agree.
        let labels = ["tasks", "tasks_completed", "tasks_done", "completed_tasks"];
        let labelled = document.values(&labels).into_iter().map(Self::parse);
        let titled = document.outline.sections().iter().filter_map(|section| {
            let mut words = title_words(&section.title);
            words.sort_unstable();
            let is_count = matches!(words.as_slice(), [state, tasks] if tasks == "tasks" && (state == "completed" || state == "done"));
            let number = section.title.trim_start_matches(|c: char| !c.is_ascii_digit());
            is_count.then(|| Self::parse(number))
        });
        for found in labelled.chain(titled) {
            if count.completed.is_none() || found.completed == count.completed {
                count.add(found);
            }
        }
        if count == Self::default() {
            let body = document.body();
            let mut items = document.outline.items(&body);
            count = items.find_map(|(_, item)| Self::from_sentence(&item.text)).unwrap_or_default();
        }
        count
    }

    /// Parses `2 of 2 tasks completed`, as found in lists of accomplishments.
    fn from_sentence(text: &str) -> Option<Self> {
        let (numbers, state) = text.split_once(" tasks ")?;
        let is_count = ["completed", "complete", "done"].contains(&state.trim_end_matches('.'));
        Some(Self::parse(numbers)).filter(|count| is_count && count.total.is_some())
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
        let completed = count.as_ref().map(|count| count.done);
        Self { completed, total: count.and_then(|count| count.total) }
    }
}

fn tokens(document: &Document<'_>) -> Option<u64> {
    let keys = ["tokens_consumed", "tokens_used", "tokens", "total_tokens"];
    let text = document.field(&keys)?.as_text()?;
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | ',' | '~')).collect();
    let digits = plain.trim_end_matches(|c: char| !c.is_ascii_digit() && !"kK".contains(c));
    match digits.strip_suffix(['k', 'K']) {
        Some(thousands) => Some(thousands.parse::<u64>().ok()?.saturating_mul(1000)),
        None => digits.parse().ok(),
    }
}

fn patterns(document: &Document<'_>) -> Option<Vec<String>> {
    let stack = document.front.get(&["tech_stack"]);
    let nodes = [
        document.front.get(&["patterns_established", "patterns"]),
        stack.and_then(|stack| stack.get(&["patterns"])),
    ];
    let known: Vec<&Node> = nodes.into_iter().flatten().collect();
    let mut seen = HashSet::new();
    let texts = known.iter().flat_map(|node| node.texts());
    let list = texts.filter(|text| non_placeholder(text).is_some() && seen.insert(text.clone()));
    let list = list.collect();
    (!known.is_empty()).then_some(list)
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
    const TEXTS: &[&str] =
        &["decision", "summary", "text", "title", "what", "description", "choice"];
    let node = document.field(&["key_decisions", "decisions", "decisions_made"]);
    let stated = node.map(|node| {
        let decisions = node.elements().into_iter().map(|node| {
            let of = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
            Decision {
                text: of(TEXTS).unwrap_or_else(|| node.flat()),
                date: of(&["date"]).and_then(|date| parse_date(&date)),
                rationale: of(&["rationale", "reason", "why", "context"]),
                ..Decision::default()
            }
        });
        decisions.filter(|decision| !is_absent(&decision.text)).collect::<Vec<_>>()
    });
    if stated.as_ref().is_some_and(|list| !list.is_empty()) {
        return stated;
    }
    let sections = document.sections(|words| {
        let names_them = words.iter().any(|word| word == "decisions" || word == "decision");
        names_them && words.len() <= 4 && words.first().is_none_or(|word| word != "task")
    });
    if sections.is_empty() {
        return stated;
    }
    let blocks = sections.iter().flat_map(|section| document.outline.blocks(&section.whole));
    let mut list: Vec<Decision> = Vec::new();
    for block in blocks {
        match &block.content {
            BlockContent::Item(item) if item.depth == 0 => {
                list.push(Decision { text: item.text.clone(), ..Decision::default() });
            }
            BlockContent::Table(table) => list.extend(decision::from_table(table)),
            _ => {}
        }
    }
    list.retain(|decision| !is_absent(&decision.text));
    Some(list)
}

/// Returns the value of `one_liner` or `**One-liner:** …`, otherwise a paragraph: of the section titled so,
/// before the first section, or of an overview section.
fn one_liner(document: &Document<'_>) -> Option<String> {
    let outline = &document.outline;
    let paragraph =
        |section: &Section| outline.paragraphs(&section.own).next().map(|(_, text)| text);
    let titled = |titles: &[&str]| outline.section(titles).and_then(paragraph);
    let opening = || {
        let mut heads = outline.sections().iter().take_while(|section| section.level < 2);
        heads.find_map(paragraph)
    };
    let is_sentence = |text: &&str| {
        let first = text.lines().next().unwrap_or_default().trim_end();
        !first.ends_with(':') && !first.contains(":**") && !first.starts_with("---")
    };
    let text = stated(document, &["one_liner", "one_line"])
        .find(|value| !value.is_empty())
        .or_else(|| titled(&["one-liner", "one liner"]))
        .or_else(|| opening().filter(is_sentence))
        .or_else(|| titled(&["summary", "overview", "what was built"]).filter(is_sentence))?;
    let folded = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    non_placeholder(folded.trim_matches(['*', '_']).trim()).map(str::to_owned)
}

/// Headings of sections about issues, and about lessons, normalised.
const ISSUES: &[&str] = &[
    "issues encountered", "issues", "problems encountered", "problems", "known issues", "blockers",
    "blocked", "challenges", "gotchas",
];
const LESSONS: &[&str] = &[
    "implementation insights",
    "key learnings",
    "learnings",
    "lessons",
    "lessons learned",
    "technical insights",
];

/// Labels of bullets that only say what was done about the issue before them.
const REMEDIES: &[&str] = &["action taken", "fix", "outcome", "resolution", "solution"];

/// Returns the notes of a summary.
fn issue_notes(outline: &Outline<'_>) -> Vec<IssueNote> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for section in outline.sections().iter().filter(|section| section.level > 1) {
        let title = plain_title(&section.title);
        let is_lesson = LESSONS.contains(&title.as_str());
        if !is_lesson && !ISSUES.contains(&title.as_str()) {
            continue;
        }
        let mut is_first = true;
        let good_news = |inner: &&Section| {
            let title = plain_title(&inner.title);
            let starts = ["what worked", "what went well", "successes"];
            starts.iter().any(|start| title.starts_with(start))
        };
        let left_out: Vec<_> = outline.subsections(section).filter(good_news).collect();
        let mut left_out = left_out.iter().map(|inner| &inner.whole).peekable();
        let blocks = outline.blocks(&section.whole);
        for (index, block) in blocks.iter().enumerate() {
            while left_out.next_if(|range| range.end <= block.range.start).is_some() {}
            if left_out.peek().is_some_and(|range| range.contains(&block.range.start)) {
                continue;
            }
            let text = match &block.content {
                BlockContent::Item(item) if item.depth == 0 => {
                    with_nested(&item.text, &blocks[index + 1..])
                }
                BlockContent::Paragraph => one_line(outline.slice(&block.range)),
                _ => continue,
            };
            // A list that begins with "None" goes on to say what went well.
            if is_first && is_nothing(&text) {
                break;
            }
            is_first = false;
            let is_remedy = text.split_once(':').is_some_and(|(label, _)| {
                let label = label.trim_matches(|c: char| !c.is_alphanumeric());
                REMEDIES.iter().any(|remedy| remedy.eq_ignore_ascii_case(label))
            });
            let is_signature = text.starts_with("*Phase:") || text.starts_with("*Plan");
            let is_note = text.contains(char::is_alphabetic) && !is_signature && !is_remedy;
            if is_note && !is_nothing(&text) && !is_lead(&text) && known.insert(text.clone()) {
                found.push(IssueNote { text, is_lesson, line: block.line });
            }
        }
    }
    found
}

/// Returns the text of a bullet, and after one that is only a title, that of the bullets below it.
fn with_nested(own: &str, following: &[Block]) -> String {
    let title = own.trim_end_matches(':');
    let inner = title.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    if inner.is_none_or(|inner| inner.contains("**")) && !is_lead(own) {
        return own.to_owned();
    }
    let nested = following.iter().map_while(|block| match &block.content {
        BlockContent::Item(item) if item.depth > 0 => Some(item),
        _ => None,
    });
    let nested = nested.filter(|item| item.depth == 1).map(|item| item.text.trim_end_matches('.'));
    let nested: Vec<&str> = nested.collect();
    if nested.is_empty() {
        return own.to_owned();
    }
    let title = title.trim_matches('*').trim_end_matches(':');
    format!("{title}: {}", nested.join(". "))
}

/// Returns a title in lower case, without punctuation, numbers and anything in brackets.
fn plain_title(title: &str) -> String {
    let title = title.split(['(', '[', ':']).next().unwrap_or_default();
    let words =
        title.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.filter(|word| word.contains(char::is_alphabetic)).collect();
    words.join(" ").to_lowercase()
}

/// Returns whether a text says that there were no issues.
fn is_nothing(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let starts = ["none", "no issues", "no problems", "no blockers", "n/a", "nothing"];
    let says_none = starts.iter().any(|start| lower.starts_with(start));
    non_placeholder(text).is_none() || says_none && !lower.starts_with("none of ")
}

#[cfg(test)]
mod tests;
