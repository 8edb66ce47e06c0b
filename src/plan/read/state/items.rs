//! Parses the open todos and blockers.

use std::ops::Range;

use crate::markdown::{Block, ListItem, Outline};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::status::begins_with_date;
use crate::plan::read::vocabulary::{BLOCKERS, DONE, OPERATOR_STEPS, TODOS};
use crate::plan::read::{PhaseNumber, PhaseProgress, heading, list_entry, non_placeholder};

/// The entries of some sections.
#[derive(Default)]
pub(super) struct OpenItems {
    /// The open entries.
    pub(super) open: Vec<String>,
    /// Whether other entries are done, struck through or marked as resolved.
    has_settled: bool,
}

/// Returns the open todos, from bullets and table rows, each with what is indented below it. A paragraph says where
/// todos are kept, so it is not one.
pub(super) fn todos(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::default();
    let mut end = 0;
    for section in outline.sections().iter().filter(|section| section.level > 0) {
        let title = heading::words(&section.title);
        let is_title = |list: &[&str]| list.contains(&title.as_str());
        if is_title(TODOS) {
            end = end.max(section.whole.end);
            entries.read(outline, &section.own, false);
        } else if section.heading.start < end && !is_title(BLOCKERS) {
            entries.read(outline, &section.own, is_title(DONE));
        }
    }
    let known = entries.open.clone();
    let steps = OpenItems::under(outline, OPERATOR_STEPS).open.into_iter();
    entries.open.extend(steps.filter(|step| !is_workflow_step(step) && !known.contains(step)));
    entries.open
}

/// Returns whether a next step only names commands of the workflow, which may have been run since: `Plan phase 8:
/// /gsd-plan-phase 8`.
fn is_workflow_step(step: &str) -> bool {
    let is_command = |word: &str| {
        let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '/'));
        let command = word.strip_prefix('/').filter(|name| !name.contains('/'));
        let last = command.and_then(|name| name.rsplit_once(['-', ':']));
        last.is_some_and(|(_, last)| ["phase", "milestone", "work"].contains(&last))
    };
    let clauses = step.split("; ").flat_map(|part| part.split(". "));
    let mut clauses = clauses.flat_map(|part| part.split(", then "));
    clauses.all(|clause| clause.split_whitespace().any(is_command))
}

/// Returns the open blockers, from bullets and table rows, or from paragraphs if there are neither open nor
/// settled entries.
pub(super) fn blockers(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::under(outline, BLOCKERS);
    if entries.open.is_empty() && !entries.has_settled {
        let sections = heading::sections(outline, BLOCKERS);
        for (_, paragraph) in sections.flat_map(|section| outline.paragraphs(&section.own)) {
            let is_hint = paragraph.starts_with('[') && paragraph.ends_with(']');
            if !is_hint && !list_entry::is_lead(paragraph) {
                entries.push(paragraph, paragraph, false);
            }
        }
    }
    entries.open
}

impl OpenItems {
    /// Reads the entries of the sections with these titles.
    pub(super) fn under(outline: &Outline<'_>, titles: &[&str]) -> Self {
        let mut entries = Self::default();
        for section in heading::sections(outline, titles) {
            entries.read(outline, &section.own, false);
        }
        entries
    }

    fn read(&mut self, outline: &Outline<'_>, range: &Range<usize>, is_done: bool) {
        let items: Vec<(&Block, &ListItem)> = outline.items(range).collect();
        let mut rest = items.as_slice();
        while let Some(((block, item), later)) = rest.split_first() {
            let nested = later.iter().take_while(|(_, item)| item.depth > 0).count();
            let (nested, later) = later.split_at(nested);
            let is_done = |item: &ListItem| is_done || item.checked == Some(true);
            let boxed = || nested.iter().filter(|(_, item)| item.checked.is_some());
            // A bullet above checkboxes is their heading; the checkboxes are the entries.
            if item.checked.is_none() && boxed().next().is_some() {
                boxed().for_each(|(_, item)| self.push(&item.text, &item.text, is_done(item)));
            } else if item.depth == 0 {
                let entry = list_entry::on_one_line(outline, block, item);
                self.push(&item.text, &entry, is_done(item));
            }
            rest = later;
        }
        for table in outline.tables(range) {
            let names =
                ["Todo", "Task", "Title", "Item", "Blocker", "Concern", "Issue", "Description"];
            let text = table.column(&names);
            let outcome = table.column(&["Resolution", "Resolved", "Outcome"]);
            let status = table.column(&["Status", "State"]);
            for row in &table.rows {
                let cell = |index: Option<usize>| non_placeholder(row.cells.get(index?)?);
                let progress = cell(status).and_then(PhaseProgress::parse);
                let is_over =
                    progress.is_some_and(|own| own == PhaseProgress::Complete || own.is_dropped());
                if let Some(text) = cell(text) {
                    self.push(text, text, cell(outcome).is_some() || is_over);
                }
            }
        }
    }

    /// Adds an entry, unless its first line says that it is none.
    fn push(&mut self, first_line: &str, entry: &str, is_done: bool) {
        if is_none_remark(first_line) || says_none(first_line) {
            return;
        }
        if is_done || is_settled(first_line) {
            self.has_settled = true;
        } else {
            self.open.push(entry.trim().to_owned());
        }
    }
}

/// Returns whether a short entry says that there is or was none: `None at this time`, `None as of 2026-05-08`,
/// `No active blockers.`, `Nothing blocking`. A clause or an exception says more.
fn says_none(text: &str) -> bool {
    /// Words after `none` for a time or a scope.
    const AFTER_NONE: &[&str] = &[
        "active", "as", "at", "before", "blocked", "blocking", "for", "from", "in", "known", "on",
        "open", "outstanding", "pending", "so", "to", "yet",
    ];
    const WHICH: &[&str] = &[
        "active", "blocking", "current", "further", "known", "major", "new", "open", "outstanding",
        "pending", "remaining", "unresolved",
    ];
    const ITEMS: &[&str] = &[
        "blocker", "blockers", "blockers/concerns", "concern", "concerns", "issue", "issues",
        "item", "items", "problems", "risks", "task", "tasks", "todo", "todos",
    ];
    /// Words after the items.
    const FOUND: &[&str] = &[
        "at", "before", "currently", "for", "found", "identified", "in", "known", "now", "on",
        "recorded", "remain", "remaining", "so", "yet",
    ];
    /// Words that go on.
    const MORE: &[&str] =
        &["but", "until", "except", "can", "may", "must", "of", "unless", "without"];
    let text = text.trim_matches(['*', '_', '.', ' ']).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    // `as of 2026-05-08` names only a day.
    let goes_on = words.iter().enumerate().any(|(at, word)| {
        MORE.contains(word) && !(*word == "of" && at > 0 && words[at - 1] == "as")
    });
    if words.len() > 7 || goes_on || text.contains([',', ':', ';', '—', '–']) {
        return false;
    }
    match words.as_slice() {
        ["none" | "nothing", next, ..] => AFTER_NONE.contains(next),
        ["no", rest @ ..] => {
            let mut rest = rest.iter().skip_while(|word| WHICH.contains(word));
            let is_item = rest.next().is_some_and(|word| ITEMS.contains(word));
            is_item && rest.next().is_none_or(|word| FOUND.contains(word))
        }
        _ => false,
    }
}

/// Returns whether an entry is struck through, marked as resolved, or only reports a finished phase.
fn is_settled(text: &str) -> bool {
    const MARKS: &[&str] = &["resolved", "[resolved", "(resolved", "**resolved", "✅", "[done"];
    let lower = text.to_lowercase();
    let is_struck = text.starts_with("~~") && text[2..].contains("~~");
    // `FIXED 2026-07-31 (commit 510b424): …`
    let bare = text.trim_start_matches(['*', '[', '(', '`']);
    let loud = ["FIXED", "DONE", "CLOSED"].iter().find_map(|word| bare.strip_prefix(word));
    let is_closed = loud.is_some_and(|rest| {
        let words = rest.trim_start();
        words.is_empty()
            || begins_with_date(words)
            || rest.starts_with(|c: char| !c.is_alphanumeric() && c != ' ' && c != '-')
            || [" -", " –", " —", " (", " ✓", " in ", " by "]
                .iter()
                .any(|end| rest.starts_with(end))
    });
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    is_struck
        || is_closed
        || words.any(|word| word == "RESOLVED")
        || MARKS.iter().any(|mark| lower.starts_with(mark))
        || reports_finished_phase(&lower)
}

/// Returns whether an entry only reports a finished phase: `phase 3 complete -- all 3 plans executed`.
fn reports_finished_phase(lower: &str) -> bool {
    const OVER: &[&str] = &["completed", "complete", "finished", "done", "shipped"];
    const LEFT: &[&str] =
        &["must", "need", "open", "red", "fail", "but", "not", "except", "remain", "await"];
    let lower = lower.replace('*', "");
    let number = lower.strip_prefix("phase ").and_then(PhaseNumber::split);
    let status = number.map_or("", |(_, rest)| rest.trim_start_matches([':', ' ']));
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    let is_left = words.any(|word| LEFT.iter().any(|left| word.starts_with(left)));
    let rest = OVER.iter().find_map(|word| status.strip_prefix(word));
    rest.is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let counts = ["plan", "task"];
        let mut first = rest.split_whitespace().take(3);
        let is_count = rest.starts_with("all ") || rest.starts_with(|c: char| c.is_ascii_digit());
        !is_left
            && (rest.is_empty()
                || is_count && first.any(|word| counts.iter().any(|own| word.starts_with(own)))
                || begins_with_date(rest)
                || rest.starts_with("verified")
                || rest.starts_with("no blockers"))
    })
}
