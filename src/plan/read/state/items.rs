//! Parses the open todos and blockers.

use std::ops::Range;

use crate::markdown::{Block, ListItem, Outline, Section};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::vocabulary::{begins, has};
use crate::plan::read::{heading, list_entry};

/// The entries of some sections.
#[derive(Default)]
struct OpenItems {
    open: Vec<String>,
    /// Whether other entries are done, struck out or marked as resolved.
    has_settled: bool,
}

/// Returns the open todos, from bullets, each with what is indented below it. A paragraph says where
/// todos are kept, so it is not one.
pub(super) fn todos(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::default();
    let mut end = 0;
    for section in outline.sections().iter().filter(|section| section.level > 0) {
        let title = heading::words(&section.title);
        if has("todos", &title) {
            end = end.max(section.whole.end);
            entries.read(outline, &section.own, false);
        } else if section.heading.start < end && !has("blockers", &title) {
            entries.read(outline, &section.own, has("done", &title));
        }
    }
    entries.open
}

/// Returns the open blockers, from bullets, or from paragraphs if there are neither open nor
/// settled entries.
pub(super) fn blockers(outline: &Outline<'_>) -> Vec<String> {
    let sections: Vec<&Section> = heading::sections(outline, "blockers").collect();
    let mut entries = OpenItems::default();
    for section in &sections {
        entries.read(outline, &section.own, false);
    }
    if entries.open.is_empty() && !entries.has_settled {
        let paragraphs = sections.iter().flat_map(|section| outline.paragraphs(&section.own));
        for (_, paragraph) in paragraphs {
            let is_hint = paragraph.starts_with('[') && paragraph.ends_with(']');
            if !is_hint && !list_entry::is_lead(paragraph) {
                entries.push(paragraph, paragraph, false);
            }
        }
    }
    entries.open
}

impl OpenItems {
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

/// Returns whether a short entry says that there is none: `None as of 2026-05-08`, `No active blockers.`, `Nothing
/// blocking`. A clause says more.
fn says_none(text: &str) -> bool {
    let text = text.trim_matches(['*', '_', '.', ' ']).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_none = match words.as_slice() {
        ["none" | "nothing", next, ..] => *next != "of",
        ["no", rest @ ..] => rest.iter().take(3).any(|word| begins("item", word)),
        _ => false,
    };
    is_none
        && words.len() <= 7
        && !text.contains([',', ':', ';', '—', '–'])
        && !words.iter().any(|word| has("exception", word))
}

/// Returns whether an entry is struck out or marked as settled: `✅ …`, `[resolved] …`, `FIXED 2026-07-31: …`.
fn is_settled(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.clone().next().unwrap_or_default();
    let is_loud = text.starts_with(['[', '(', '*', '✅', '✓']) || first == first.to_uppercase();
    text.starts_with("~~") && text[2..].contains("~~")
        || text.starts_with('✅')
        || is_loud && has("settled", &first.to_lowercase())
        || words.any(|word| word == "RESOLVED")
}
