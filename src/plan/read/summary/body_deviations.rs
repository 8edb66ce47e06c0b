//! Parses the deviations in the body of a summary, in all known formats.
//!
//! ```text
//! ## Deviations from Plan          ## Deviations            ## Deviations
//! ### Auto-fixed Issues            - Task 3 was skipped     ### DEVN-02: Moved the file
//! **1. [Rule 1 - Bug] Wrong date**                          | ID | Description | Impact |
//! - **Found during:** Task 2
//! **Total deviations:** 1 auto-fixed
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use remarks::{introduces_remarks, is_numbered_head, is_remark_title, is_rule_group};

use crate::markdown::{Block, BlockContent, Label, Section, Table};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::summary::deviation::{
    Deviation, is_detail, is_none, is_not_a_deviation, names_rule,
};

/// The deviations in the body.
#[derive(Debug, Default)]
pub(super) struct BodyDeviations {
    /// The deviations that are separate entries.
    pub(super) items: Vec<Deviation>,
    /// Deviations in paragraphs, used if there are no entries.
    pub(super) prose: Vec<Deviation>,
    /// The number in `Total deviations: 3 auto-fixed`.
    pub(super) total: Option<u32>,
    /// Whether the body refers to the front matter for the list.
    pub(super) refers_to_front: bool,
    /// Whether the body mentions deviations, even if only to deny them.
    pub(super) speaks: bool,
    /// Byte offsets of the items, and of paragraphs and headings that are not items.
    starts: Vec<usize>,
    ends: Vec<usize>,
    /// Number of entries beyond [`MAX_LISTED`].
    pub(super) left_out: usize,
    /// Whether the current part says that there are none: after that, only entries that name a rule count.
    is_denied: bool,
}

/// Maximum number of deviations listed per summary; real summaries have fewer than a tenth of that.
pub(super) const MAX_LISTED: usize = 1_000;

impl BodyDeviations {
    pub(super) fn from_document(document: &Document<'_>) -> Self {
        let mut found = Self::default();
        for section in sections(document) {
            found.section(document, section);
            found.ends.push(section.whole.end);
            let own = document.outline.slice(&section.own);
            let has_inner = document.outline.subsections(section).next().is_some();
            found.speaks |= has_inner || !own.trim().is_empty();
        }
        found.read_details(document);
        found
    }

    /// Returns the entries, or without entries, at most `count` paragraphs.
    pub(super) fn at_most(self, count: usize) -> Vec<Deviation> {
        if self.items.is_empty() {
            self.prose.into_iter().take(count).collect()
        } else {
            self.items
        }
    }

    /// Reads the details in the lines of each item, up to the start of the next item or other text.
    fn read_details(&mut self, document: &Document<'_>) {
        let bounds: BTreeSet<usize> = self.starts.iter().chain(&self.ends).copied().collect();
        for (item, start) in self.items.iter_mut().zip(&self.starts) {
            let next = bounds.range(start + 1..).next();
            let end = next.copied().unwrap_or(document.outline.text().len());
            item.read_details(document.outline.slice(&(*start..end)));
        }
    }

    fn section(&mut self, document: &Document<'_>, section: &Section) {
        self.is_denied = false;
        self.blocks(document, &section.own);
        let whole_is_denied = self.is_denied;
        for inner in document.outline.subsections(section) {
            self.is_denied = whole_is_denied && !is_fix_list(&inner.title);
            if is_remark_title(&inner.title) {
                self.ends.push(inner.heading.start);
            } else if is_entry_title(document, inner) {
                self.item(unnumbered(&inner.title), inner.line, inner.heading.start);
                self.totals(document, &inner.own);
            } else {
                self.ends.push(inner.heading.start);
                self.blocks(document, &inner.own);
            }
        }
    }

    fn item(&mut self, text: &str, line: usize, start: usize) {
        self.is_denied |= is_none(text);
        let is_entry = !is_no_entry(text) && (!self.is_denied || names_rule(text));
        if !is_entry || !self.has_room() {
            self.ends.push(start);
        } else {
            self.items.push(Deviation::from_text(text, line));
            self.starts.push(start);
        }
    }

    /// Returns whether another entry may be listed; if not, counts it.
    fn has_room(&mut self) -> bool {
        let has_room = self.items.len() < MAX_LISTED;
        self.left_out += usize::from(!has_room);
        has_room
    }

    /// Reads the total number of deviations from a range.
    fn totals(&mut self, document: &Document<'_>, range: &Range<usize>) {
        for label in document.outline.labels(range) {
            if label.name.eq_ignore_ascii_case("total deviations") {
                let number =
                    label.value.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
                self.total = number.and_then(|number| number.parse().ok());
            }
        }
    }

    fn blocks(&mut self, document: &Document<'_>, range: &Range<usize>) {
        self.totals(document, range);
        let blocks = document.outline.blocks(range);
        let has_numbered = blocks.iter().any(|block| is_numbered_head(document, block));
        // List items below an entry, or below a paragraph that introduces them, are details.
        let mut is_inside = false;
        for (at, block) in blocks.iter().enumerate() {
            match &block.content {
                BlockContent::Item(item) => {
                    if item.depth == 0 && !is_inside && !has_detail(&item.text) {
                        self.item(&unbolded(&item.text), block.line, block.range.start);
                    }
                }
                BlockContent::Table(table) => self.table(table, block.range.start),
                // Next to numbered entries, other paragraphs in bold are remarks on them.
                BlockContent::Paragraph
                    if has_numbered && is_bold_remark(document.outline.slice(&block.range)) =>
                {
                    self.ends.push(block.range.start);
                    is_inside = true;
                }
                BlockContent::Paragraph => {
                    is_inside = self.paragraph(document, block, items_after(blocks, at));
                }
                BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    /// Handles a paragraph; returns whether the following list belongs to it.
    fn paragraph(&mut self, document: &Document<'_>, block: &Block, items: &[Block]) -> bool {
        let text = document.outline.slice(&block.range);
        let start = block.range.start;
        let lower = text.to_lowercase();
        let names_front = lower.contains("frontmatter") || lower.contains("front matter");
        // An entry may be about front matter.
        let is_entry = text
            .strip_prefix("**")
            .is_some_and(|head| head.starts_with(|c: char| c.is_ascii_digit() || c == '['));
        if names_front && !is_entry {
            self.refers_to_front = true;
            return false;
        }
        if has_detail(text) {
            if lower.contains("total deviations") {
                self.ends.push(start);
            }
            return false;
        }
        if is_none(text) {
            // "None beyond the following:" introduces exceptions.
            self.is_denied |= !is_exception(&lower) || items.is_empty();
            self.ends.push(start);
            return false;
        }
        if is_of_task(text) || text.starts_with("---") {
            self.ends.push(start);
            return false;
        }
        let folded = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        if let Some(inner) = folded.strip_prefix("**") {
            let is_title =
                folded.trim_end().ends_with("**") && !inner[..inner.len() - 2].contains("**");
            let tells_more = items.iter().any(|block| match &block.content {
                BlockContent::Item(item) => has_detail(&item.text),
                _ => false,
            });
            let is_tagged = inner.starts_with(|c: char| c.is_ascii_digit() || c == '[')
                || inner.starts_with("DEVN");
            // A bold line above a plain list is the title of a group.
            if is_title && !is_tagged && !tells_more && !items.is_empty() {
                self.ends.push(start);
                return is_remark_title(&folded);
            }
            self.item(&unbolded(&folded), block.line, start);
            return true;
        }
        if folded.starts_with("DEVN-") || folded.starts_with("[Rule") {
            self.item(&folded, block.line, start);
            return true;
        }
        let introduces = folded.trim_end().ends_with(':') && !items.is_empty();
        if introduces && introduces_remarks(&folded) {
            return true;
        }
        if introduces && (lower.contains("deviation") || lower.contains("breakdown")) {
            return false;
        }
        if self.prose.len() < MAX_LISTED && !self.is_denied && !is_no_entry(&folded) {
            self.prose.push(Deviation::from_text(&folded, block.line));
        }
        introduces
    }

    fn table(&mut self, table: &Table, start: usize) {
        let texts = ["description", "deviation", "what", "change", "topic", "details", "issue"];
        let kinds = ["id", "code", "type", "kind", "rule", "category", "severity"];
        // A table of measurements or checks lists no deviations.
        let Some(column) = table.column(&texts) else {
            return;
        };
        let of = |names: &[&str]| table.column(names).filter(|found| *found != column);
        let kind = of(&kinds);
        let severity = of(&["severity"]).filter(|found| Some(*found) != kind);
        let (fix, cause) =
            (of(&["resolution", "fix", "action"]), of(&["reason", "rationale", "why", "cause"]));
        for row in &table.rows {
            let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
            let named = |column: Option<usize>| {
                let words = column.map(cell).filter(|cell| cell.contains(char::is_alphabetic));
                words.map(str::to_owned)
            };
            let is_filler = row.cells.first().is_none_or(|first| is_none(first));
            let read = Deviation::from_text(cell(column), row.line);
            let kind = named(kind).or(read.kind);
            let is_denied = self.is_denied && !kind.as_deref().is_some_and(names_rule);
            if is_filler || is_denied || is_no_entry(cell(column)) || !self.has_room() {
                continue;
            }
            self.items.push(Deviation {
                kind,
                severity: named(severity).or(read.severity),
                fix: named(fix),
                cause: named(cause),
                ..Deviation::from_text(cell(column), row.line)
            });
            // The text after the table is not a detail of its last row.
            self.starts.push(start);
        }
    }
}

/// Returns the sections about deviations: those titled so, otherwise those that list fixes.
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

/// Returns whether a heading within the section is a deviation, judged by its rule code or the details below
/// it.
fn is_entry_title(document: &Document<'_>, section: &Section) -> bool {
    let words = title_words(&section.title);
    let starts = |start: &str| words.first().is_some_and(|word| word == start);
    if starts("devn") || starts("rule") {
        return has_details(document, section) || !is_group(document, section);
    }
    if starts("auto") && !has_details(document, section) && is_group(document, section) {
        return false;
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

/// Returns whether a heading that names a rule is a group with separate entries.
fn is_group(document: &Document<'_>, section: &Section) -> bool {
    let blocks = document.outline.blocks(&section.own);
    is_rule_group(document, &section.title, blocks)
}

/// Returns whether a heading opens a list of fixes, which counts even if deviations were denied: `Auto-fixed
/// Issues`.
fn is_fix_list(title: &str) -> bool {
    title_words(title).first().is_some_and(|word| word == "auto")
}

/// Returns whether "None" is followed by exceptions: `None beyond these two:`.
fn is_exception(lower: &str) -> bool {
    const EXCEPTIONS: &[&str] = &["beyond", "other than", "except", "besides", "apart from"];
    let head = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = head.strip_prefix("none ").unwrap_or_default();
    EXCEPTIONS.iter().any(|word| rest.starts_with(word))
}

/// Returns whether a paragraph begins in bold without a number, a rule or a detail label.
fn is_bold_remark(text: &str) -> bool {
    text.strip_prefix("**").is_some_and(|head| {
        !head.starts_with(|c: char| c.is_ascii_digit()) && !names_rule(head) && !has_detail(text)
    })
}

/// Returns whether an entry says that it is not a deviation, or is a check that passed.
fn is_no_entry(text: &str) -> bool {
    is_none(text)
        || is_not_a_deviation(text)
        || text.starts_with(['\u{2713}', '\u{2705}', '\u{2714}'])
}

/// Returns whether the first block under a heading is a detail, not a separate entry.
fn has_details(document: &Document<'_>, section: &Section) -> bool {
    let first = document.outline.blocks(&section.own).first();
    first.is_some_and(|block| match &block.content {
        BlockContent::Item(item) => has_detail(&item.text),
        BlockContent::Paragraph => has_detail(document.outline.slice(&block.range)),
        _ => false,
    })
}

/// Returns whether a text begins with the label of a detail.
fn has_detail(text: &str) -> bool {
    detail_name(text).is_some_and(|name| is_detail(&name))
}

/// Returns whether a paragraph reports on a task: `**Task 1:** Executed as planned`.
fn is_of_task(text: &str) -> bool {
    detail_name(text)
        .and_then(|name| name.strip_prefix("task ").map(str::to_owned))
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn detail_name(text: &str) -> Option<String> {
    let label = Label::parse(text.lines().next()?, 0, 0)?;
    Some(label.name.trim_matches(['*', ' ']).to_lowercase())
}

/// Returns the list items directly after a block.
fn items_after(blocks: &[Block], at: usize) -> &[Block] {
    let rest = blocks.get(at + 1..).unwrap_or_default();
    let end = rest
        .iter()
        .position(|block| !matches!(block.content, BlockContent::Item(_)))
        .unwrap_or(rest.len());
    &rest[..end]
}

/// Strips the leading number: `1. Text`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(after) if rest.len() < text.len() && after.starts_with(' ') => after.trim_start(),
        _ => text,
    }
}

/// Strips an entry's number, and the bold markup of a head with a number or tag.
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

mod remarks;
#[cfg(test)]
mod tests;
