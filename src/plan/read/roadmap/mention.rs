//! Finds the phases in a roadmap: headings of sections, and checklist entries.
//!
//! ```text
//! ### Phase 5.1: Name (INSERTED) ✓       - [x] [Phase 3: Name](#phase-3) _(superseded by Phase 2)_
//! ## Phase 1 — Name — COMPLETE           - [ ] ~~**Phase 6: Name**~~ - what it is about
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::markdown::{Block, ListItem, Outline, Ranges, Section};
use crate::plan::read::located::Span;
use crate::plan::read::progress_table::phase_in_front;
use crate::plan::read::status::split_status;
use crate::plan::read::vocabulary::has;
use crate::plan::read::{Located, PhaseNumber, PhaseNumbering, PhaseProgress, heading};
use crate::text::{pattern, strip_prefix_ignore_case};

/// A phase's number and name, with its status remarks.
pub(super) struct NamedPhase {
    pub(super) number: PhaseNumber,
    pub(super) name: Option<String>,
    /// The status after the name, verbatim.
    pub(super) status: Option<Located<String>>,
    /// The status that takes the phase out of the roadmap: deferred, superseded or removed.
    pub(super) dropped_as: Option<PhaseProgress>,
}

/// The end of a phase's name: its markup, or a remark in italics, in capitals or with a plan count.
static NAME_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\*\*|\]\(|~~| [_*]\(| \(INSERTED| \(\d[^)]*plan"));

/// Parses a text that begins with `Phase` and a number.
pub(super) fn parse_phase(text: Span<'_>, numbering: PhaseNumbering) -> Option<NamedPhase> {
    let line = text.part(0..text.text.find('\n').unwrap_or(text.text.len()));
    let begins = line.text.trim_start_matches(|c: char| !c.is_alphanumeric());
    strip_prefix_ignore_case(begins, "phase ")?;
    let (number, rest) = phase_in_front(line.text, numbering)?;
    let rest = line.after(rest.as_ptr() as usize - line.text.as_ptr() as usize);
    let is_struck = line.text.starts_with("~~") || line.text.starts_with("**~~");
    let end = NAME_END.find(rest.text).map_or(rest.text.len(), |found| found.start());
    let (name, remarks) = (rest.part(0..end), rest.after(end));
    let (bare, status) = split_status(name);
    let bare = bare.text.trim_matches(|c: char| c.is_whitespace() || "*~:_".contains(c));
    let is_dropping =
        |span: &Span<'_>| PhaseProgress::parse(span.text).is_some_and(PhaseProgress::is_dropped);
    // Other text in the brackets after a name describes its content.
    let mut inside = remarks.text.match_indices('(').map(|(at, _)| {
        let end = remarks.text[at..].find(')').map_or(remarks.text.len(), |end| at + end);
        remarks.part(at + 1..end)
    });
    let status = status.or_else(|| inside.find(is_dropping));
    let dropped = status.filter(is_dropping).and_then(|span| PhaseProgress::parse(span.text));
    Some(NamedPhase {
        number,
        name: Some(bare.to_owned()).filter(|name| !name.is_empty()),
        dropped_as: is_struck.then_some(PhaseProgress::Removed).or(dropped),
        status: status.map(|span| span.with_value(span.text.to_owned())),
    })
}

/// Returns headings and checklist entries that begin like a phase, `Phase Alpha: Name`, but have no number that is read.
pub(super) fn not_understood(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<Located<String>> {
    let all = 0..outline.text().len();
    let boxed = outline.items(&all).filter(|(_, item)| item.depth == 0 && item.checked.is_some());
    let boxed = boxed
        .map(|(block, _)| Span::new(outline.slice(&block.range), block.range.start, block.line));
    let titles = outline.sections().iter().filter_map(|section| title(outline, section));
    let lines = titles.chain(boxed).filter_map(|span| {
        let line = span.text.lines().next().unwrap_or_default();
        let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let rest = strip_prefix_ignore_case(text, "phase ")?.trim_start();
        let end = rest.find([' ', ':', '*', '–', '—']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start_matches(['*', ' ']);
        let is_named = after.starts_with([':', '–', '—']) || after.starts_with("- ");
        let is_id = is_named || word.contains(|c: char| c.is_ascii_digit());
        let is_part = has("part of a roadmap", &word.to_lowercase());
        // A range of phases is read elsewhere, or stands for phases that are over.
        (is_id && !is_part && !word.is_empty() && numbering.split(rest).is_none())
            .then(|| span.with_value(line.to_owned()))
    });
    lines.collect()
}

/// Returns where a roadmap without phases seems to list its work, in a way that is not read: the first open checkbox, or
/// the first of several headings that differ in a number or letter after the same word (`Step A`, `Step B`).
pub(super) fn unread_work(outline: &Outline<'_>) -> Option<Located<String>> {
    let all = 0..outline.text().len();
    let mut open = outline.items(&all).filter(|(_, item)| item.checked == Some(false));
    if let Some((block, item)) = open.next() {
        let value = item.text.clone();
        return Some(Located { value, range: block.range.clone(), line: block.line });
    }
    let mut heads = HashMap::new();
    for span in outline.sections().iter().filter_map(|section| title(outline, section)) {
        let mut words = span.text.split_whitespace();
        let (Some(label), Some(id)) = (words.next(), words.next()) else { continue };
        let id = id.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_id = id.starts_with(|c: char| c.is_ascii_digit()) || id.chars().count() == 1;
        if is_id && label.chars().all(char::is_alphabetic) {
            let (first, other) = *heads.entry(label.to_lowercase()).or_insert((span, id));
            if other != id {
                return Some(first.with_value(first.text.to_owned()));
            }
        }
    }
    None
}

/// Returns the title of a section where it stands in the file.
fn title<'o>(outline: &Outline<'o>, section: &Section) -> Option<Span<'o>> {
    let line = outline.text().get(section.heading.clone()).filter(|_| section.level > 0)?;
    let title = line.trim_start_matches('#');
    Some(Span::new(title, section.heading.end - title.len(), section.line))
}

/// Returns the headings that name a phase.
pub(super) fn headings<'o>(
    outline: &'o Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<(NamedPhase, &'o Section)> {
    let named = |section| Some((parse_phase(title(outline, section)?, numbering)?, section));
    outline.sections().iter().filter_map(named).collect()
}

/// Returns the entries of phase checklists; those in a phase's own section are its plans, not phases.
pub(super) fn entries<'o>(
    outline: &'o Outline<'_>,
    headings: &[(NamedPhase, &Section)],
    numbering: PhaseNumbering,
) -> Vec<(NamedPhase, &'o Block, &'o ListItem)> {
    let details = Ranges::merge(headings.iter().map(|(_, section)| section.whole.clone()));
    let lists = Ranges::merge(
        heading::sections(outline, "phases of a roadmap").map(|section| section.own.clone()),
    );
    let all = 0..outline.text().len();
    let bullets = outline
        .items(&all)
        .filter(|(block, item)| item.depth == 0 && !details.contains(block.range.start));
    let entries = bullets.filter_map(|(block, item)| {
        let text = Span::new(outline.slice(&block.range), block.range.start, block.line);
        let named = parse_phase(text, numbering)?;
        // `Phase 1 resolves …` is a sentence unless it has a checkbox.
        let is_entry =
            item.checked.is_some() || named.name.is_some() && lists.contains(block.range.start);
        is_entry.then_some((named, block, item))
    });
    entries.collect()
}
