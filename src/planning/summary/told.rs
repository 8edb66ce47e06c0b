//! The deviations that the body of a summary tells, in any of the ways people write them.
//!
//! ```text
//! ## Deviations from Plan          ## Deviations            ## Deviations
//! ### Auto-fixed Issues            - Task 3 was skipped     ### DEVN-02: Moved the file
//! **1. [Rule 1 - Bug] Wrong date**                          | ID | Description | Impact |
//! - **Found during:** Task 2
//! **Total deviations:** 1 auto-fixed
//! ```

use std::ops::Range;

use crate::markdown::Block;
use crate::markdown::Content;
use crate::markdown::Label;
use crate::markdown::Section;
use crate::markdown::Table;
use crate::planning::document::Document;
use crate::planning::document::title_words;
use crate::planning::summary::deviations::Deviation;
use crate::planning::summary::deviations::is_none;

/// Labels of lines that tell more about a deviation, or about all of them.
const DETAILS: &[&str] = &[
    "found during",
    "issue",
    "fix",
    "files modified",
    "files changed",
    "files",
    "file",
    "files created",
    "verification",
    "verified",
    "committed in",
    "commit",
    "commits",
    "impact",
    "impact on plan",
    "rationale",
    "decision",
    "root cause",
    "resolution",
    "reason",
    "reasoning",
    "why",
    "action",
    "action taken",
    "status",
    "details",
    "change",
    "effect",
    "risk",
    "type",
    "severity",
    "classification",
    "cause",
    "actual",
    "planned",
    "outcome",
    "result",
    "justification",
    "mitigation",
    "task",
    "note",
    "total deviations",
    "net impact",
    "user impact",
    "total",
    "solution",
    "approach",
    "problem",
    "context",
    "rule",
];

/// What the body tells.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The deviations that stand as entries of their own.
    pub(super) items: Vec<Deviation>,
    /// Paragraphs, where there is no entry.
    pub(super) prose: Vec<Deviation>,
    /// The number in `Total deviations: 3 auto-fixed`.
    pub(super) total: Option<u32>,
    /// Whether it says that the front matter holds the list.
    pub(super) refers_to_front: bool,
}

impl Told {
    pub(super) fn of(document: &Document<'_>) -> Self {
        let mut told = Self::default();
        for section in sections(document) {
            told.section(document, section);
        }
        told
    }

    /// Returns the entries, or as many paragraphs as there are deviations.
    pub(super) fn at_most(self, count: usize) -> Vec<Deviation> {
        if self.items.is_empty() {
            self.prose.into_iter().take(count).collect()
        } else {
            self.items
        }
    }

    fn section(&mut self, document: &Document<'_>, section: &Section) {
        self.blocks(document, &section.own);
        for inner in document.outline.subsections(section) {
            if is_entry_title(document, inner) {
                self.item(unnumbered(&inner.title));
                self.totals(document, &inner.own);
            } else {
                self.blocks(document, &inner.own);
            }
        }
    }

    fn item(&mut self, text: &str) {
        if !is_none(text) {
            self.items.push(Deviation::of_text(text));
        }
    }

    /// Takes only the number of all deviations from a range.
    fn totals(&mut self, document: &Document<'_>, range: &Range<usize>) {
        for label in document.outline.labels(range) {
            if label.name.eq_ignore_ascii_case("total deviations") {
                let number = label
                    .value
                    .split(|c: char| !c.is_ascii_digit())
                    .find(|part| !part.is_empty());
                self.total = number.and_then(|number| number.parse().ok());
            }
        }
    }

    fn blocks(&mut self, document: &Document<'_>, range: &Range<usize>) {
        self.totals(document, range);
        let blocks = document.outline.blocks(range);
        // Inside an entry or a paragraph's own list, list items tell more about it.
        let mut is_inside = false;
        for (at, block) in blocks.iter().enumerate() {
            let text = document.outline.slice(&block.range);
            match &block.content {
                Content::Item(item) => {
                    if item.depth == 0 && !is_inside && !is_detail(&item.text) {
                        self.item(&unbolded(&item.text));
                    }
                }
                Content::Table(table) => self.table(table),
                Content::Paragraph => {
                    is_inside = self.paragraph(text, items_after(blocks, at));
                }
                Content::Code | Content::Html => {}
            }
        }
    }

    /// Takes a paragraph; tells whether the list behind it belongs to it.
    fn paragraph(&mut self, text: &str, items: &[Block]) -> bool {
        let lower = text.to_lowercase();
        if lower.contains("frontmatter") || lower.contains("front matter") {
            self.refers_to_front = true;
            return false;
        }
        if is_none(text) || is_detail(text) || is_of_task(text) || text.starts_with("---") {
            return false;
        }
        let folded = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        if let Some(inner) = folded.strip_prefix("**") {
            let is_title =
                folded.trim_end().ends_with("**") && !inner[..inner.len() - 2].contains("**");
            let tells_more = items.iter().any(|block| match &block.content {
                Content::Item(item) => is_detail(&item.text),
                _ => false,
            });
            let is_tagged = inner.starts_with(|c: char| c.is_ascii_digit() || c == '[')
                || inner.starts_with("DEVN");
            // A bold line over a plain list is the name of a group.
            if is_title && !is_tagged && !tells_more && !items.is_empty() {
                return false;
            }
            self.item(&unbolded(&folded));
            return true;
        }
        if folded.starts_with("DEVN-") || folded.starts_with("[Rule") {
            self.item(&folded);
            return true;
        }
        let introduces = folded.trim_end().ends_with(':') && !items.is_empty();
        if introduces && (lower.contains("deviation") || lower.contains("breakdown")) {
            return false;
        }
        self.prose.push(Deviation::of_text(&folded));
        introduces
    }

    fn table(&mut self, table: &Table) {
        let texts = [
            "description",
            "deviation",
            "what",
            "change",
            "topic",
            "details",
            "issue",
        ];
        let kinds = ["id", "code", "type", "kind", "rule", "severity", "category"];
        let last = table.header.len().min(2).saturating_sub(1);
        let column = table.column(&texts).unwrap_or(last);
        let kind = table.column(&kinds).filter(|kind| *kind != column);
        for row in &table.rows {
            let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
            let is_filler = row.cells.first().is_none_or(|first| is_none(first));
            if is_filler || is_none(cell(column)) {
                continue;
            }
            let mut deviation = Deviation::of_text(cell(column));
            let named = kind
                .map(cell)
                .filter(|kind| kind.contains(char::is_alphabetic));
            deviation.kind = named.map(str::to_owned).or(deviation.kind);
            self.items.push(deviation);
        }
    }
}

/// Returns the sections that tell deviations: those titled so, else those that list fixes.
fn sections<'d>(document: &'d Document<'_>) -> Vec<&'d Section> {
    let is_titled = |words: &[String]| {
        let is_word = |word: &String| {
            [
                "deviation",
                "deviations",
                "\u{43e}\u{442}\u{43a}\u{43b}\u{43e}\u{43d}\u{435}\u{43d}\u{438}\u{44f}",
                "desviaciones",
                "\u{e9}carts",
            ]
            .contains(&word.as_str())
        };
        words.iter().take(3).any(is_word) && words.first().is_none_or(|word| word != "task")
    };
    let titled = document.sections(is_titled);
    if !titled.is_empty() {
        return titled;
    }
    document.sections(|words| {
        matches!(words, [auto, fixed, ..] if auto == "auto" && (fixed == "fixed" || fixed == "added"))
    })
}

/// Tells whether a heading inside the section is itself a deviation: by its code, or by the details under it.
fn is_entry_title(document: &Document<'_>, section: &Section) -> bool {
    let words = title_words(&section.title);
    let starts = |start: &str| words.first().is_some_and(|word| word == start);
    if starts("devn")
        || starts("rule")
        || section.title.trim_start_matches('[').starts_with("Rule ")
    {
        return true;
    }
    if starts("auto")
        && !section.title.contains(':')
        && words.len() <= 4
        && !has_details(document, section)
    {
        return false;
    }
    let is_told = section.title.contains(": ") && starts("auto");
    is_told || has_details(document, section)
}

/// Tells whether the first thing under a heading is a detail of it, not an entry of its own.
fn has_details(document: &Document<'_>, section: &Section) -> bool {
    let first = document.outline.blocks(&section.own).first();
    first.is_some_and(|block| match &block.content {
        Content::Item(item) => is_detail(&item.text),
        Content::Paragraph => is_detail(document.outline.slice(&block.range)),
        _ => false,
    })
}

/// Tells whether a line begins with a label that tells more about the entry above it.
fn is_detail(text: &str) -> bool {
    detail_name(text).is_some_and(|name| DETAILS.contains(&name.as_str()))
}

/// Tells whether a paragraph accounts for a task: `**Task 1:** Executed as planned`.
fn is_of_task(text: &str) -> bool {
    detail_name(text)
        .and_then(|name| name.strip_prefix("task ").map(str::to_owned))
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn detail_name(text: &str) -> Option<String> {
    let label = Label::of(text.lines().next()?, 0, 0)?;
    Some(label.name.trim_matches(['*', ' ']).to_lowercase())
}

/// Returns the list items right behind a block.
fn items_after(blocks: &[Block], at: usize) -> &[Block] {
    let rest = blocks.get(at + 1..).unwrap_or_default();
    let end = rest
        .iter()
        .position(|block| !matches!(block.content, Content::Item(_)))
        .unwrap_or(rest.len());
    &rest[..end]
}

/// Returns a text without the number in front: `1. Text`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(after) if rest.len() < text.len() && after.starts_with(' ') => after.trim_start(),
        _ => text,
    }
}

/// Returns an entry without its number and, where its head is bold with a number or tag in it, without those marks.
fn unbolded(text: &str) -> String {
    let Some(inner) = text.strip_prefix("**") else {
        return text.to_owned();
    };
    let Some((head, rest)) = inner.split_once("**") else {
        return text.to_owned();
    };
    let bare = unnumbered(head);
    if bare.len() == head.len() && !rest.is_empty() && !head.starts_with('[') {
        return text.to_owned();
    }
    format!("{bare}{rest}")
}

#[cfg(test)]
mod tests;
