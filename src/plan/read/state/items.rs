//! Parses the open todos and blockers.

use std::ops::Range;

use crate::markdown::{Block, ListItem, Outline};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::vocabulary::{begins, has};
use crate::plan::read::{heading, list_entry};

/// Returns the open todos, from bullets, each with what is indented below it. A paragraph says where
/// todos are kept, so it is not one.
pub(super) fn todos(outline: &Outline<'_>) -> Vec<String> {
    let mut open = Vec::new();
    let mut end = 0;
    for section in outline.sections().iter().filter(|section| section.level > 0) {
        let title = heading::words(&section.title);
        let is_inside = section.heading.start < end && !has("blockers", &title);
        if has("todos", &title) {
            end = end.max(section.whole.end);
        } else if !is_inside || has("done", &title) {
            continue;
        }
        open.extend(entries(outline, &section.own));
    }
    open
}

/// Returns the open blockers, from bullets, or from paragraphs where there are none.
pub(super) fn blockers(outline: &Outline<'_>) -> Vec<String> {
    let own = || heading::sections(outline, "blockers").map(|section| &section.own);
    let paragraphs = own().filter(|range| outline.items(range).next().is_none());
    let paragraphs = paragraphs.flat_map(|range| outline.paragraphs(range));
    let is_hint = |text: &str| text.starts_with('[') && text.ends_with(']');
    let in_prose = paragraphs
        .filter(|(_, text)| !is_hint(text) && !list_entry::is_lead(text))
        .filter_map(|(_, text)| open(text, text));
    own().flat_map(|range| entries(outline, range)).chain(in_prose).collect()
}

/// Returns the bullets of a section that are open; boxes below a bullet without one say whether it is.
fn entries(outline: &Outline<'_>, range: &Range<usize>) -> Vec<String> {
    let items: Vec<(&Block, &ListItem)> = outline.items(range).collect();
    let entry = |group: &[(&Block, &ListItem)]| {
        let ((block, item), below) =
            group.split_first().filter(|((_, item), _)| item.depth == 0)?;
        let mut boxes = below.iter().filter_map(|(_, item)| item.checked).peekable();
        let is_done = match item.checked {
            Some(is_done) => is_done,
            None => boxes.peek().is_some() && boxes.all(|is_done| is_done),
        };
        let text = list_entry::on_one_line(outline, block, item);
        open(&item.text, &text).filter(|_| !is_done)
    };
    items.chunk_by(|_, (_, next)| next.depth > 0).filter_map(entry).collect()
}

/// Returns an entry, unless its first line says that it is none, or settled.
fn open(first_line: &str, entry: &str) -> Option<String> {
    let is_open = !is_none_remark(first_line) && !says_none(first_line) && !is_settled(first_line);
    is_open.then(|| entry.trim().to_owned())
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
