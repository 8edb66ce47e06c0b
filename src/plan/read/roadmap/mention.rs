//! Finds the phases in a roadmap: headings of sections, and checklist entries.

use std::collections::BTreeSet;

use crate::markdown::{Block, ListItem, Outline, Ranges, Section};
use crate::plan::read::located::Span;
use crate::plan::read::roadmap::name;
use crate::plan::read::roadmap::name::NamedPhase;
use crate::plan::read::{Located, PhaseNumbering, heading, phase_numbering};
use crate::text::strip_prefix_ignore_case;

/// A phase with a section.
pub(super) struct PhaseHeading<'o> {
    pub(super) named: NamedPhase,
    pub(super) section: &'o Section,
}

/// A phase in a checklist.
pub(super) struct ChecklistEntry<'o> {
    pub(super) named: NamedPhase,
    pub(super) block: &'o Block,
    pub(super) item: &'o ListItem,
}

/// Words after `Phase` in the headings of parts of a roadmap.
const PARTS: &[&str] = &[
    "checklist", "dependencies", "dependency", "details", "goals", "list", "numbering", "order",
    "overview", "plan", "plans", "progress", "sequence", "status", "structure", "summary",
];

/// Returns headings and checklist entries that begin like a phase, `Phase Alpha: Name`, but have no number that is read.
pub(super) fn not_understood(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<Located<String>> {
    let sections = outline.sections().iter().filter(|section| section.level > 0);
    let titles = sections.filter_map(|section| {
        let text = outline.text().get(section.heading.clone())?.trim_start_matches('#');
        Some(Span::new(text, section.heading.end - text.len(), section.line))
    });
    let all = 0..outline.text().len();
    let boxed = outline.items(&all).filter(|(_, item)| item.depth == 0 && item.checked.is_some());
    let boxed = boxed
        .map(|(block, _)| Span::new(outline.slice(&block.range), block.range.start, block.line));
    let seems_a_phase = |span: &Span<'_>| {
        let line = span.text.lines().next().unwrap_or_default();
        let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let Some(rest) = strip_prefix_ignore_case(text, "phase ").map(str::trim_start) else {
            return false;
        };
        let end = rest.find([' ', ':', '*', '\u{2013}', '\u{2014}']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start_matches(['*', ' ']);
        let is_named = after.starts_with([':', '\u{2013}', '\u{2014}']) || after.starts_with("- ");
        let is_id = word.contains(|c: char| c.is_ascii_digit()) || is_named;
        let is_part = PARTS.iter().any(|part| word.eq_ignore_ascii_case(part));
        // A range of phases is read elsewhere, or stands for phases that are over.
        is_id && !is_part && !word.is_empty() && numbering.split(rest).is_none()
    };
    let found = titles.chain(boxed).filter(seems_a_phase);
    found
        .map(|span| span.with_value(span.text.lines().next().unwrap_or_default().to_owned()))
        .collect()
}

/// Returns the first open checkbox: without a phase, the roadmap lists its work in a way that is not read.
pub(super) fn open_box(outline: &Outline<'_>) -> Option<Located<String>> {
    let all = 0..outline.text().len();
    let mut open = outline.items(&all).filter(|(_, item)| item.checked == Some(false));
    let (block, item) = open.next()?;
    Some(Located { value: item.text.clone(), range: block.range.clone(), line: block.line })
}

/// Titles of phase lists whose entries need no checkbox.
const LISTS: &[&str] = &["phases", "phase list", "phase overview", "phase checklist"];

/// Returns the headings that name a phase.
pub(super) fn headings<'o>(
    outline: &'o Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<PhaseHeading<'o>> {
    let sections = outline.sections().iter().filter(|section| section.level > 0);
    sections
        .filter_map(|section| {
            let line = outline.text().get(section.heading.clone())?;
            let title = line.trim_start_matches('#');
            let start = section.heading.end - title.len();
            let named = name::parse_phase(Span::new(title, start, section.line), numbering)?;
            Some(PhaseHeading { named, section })
        })
        .collect()
}

/// Returns whether headings or checklist entries name phases by milestone, such as `Phase 2-01: Name`.
///
/// If the number before the hyphen is a phase itself, they are its plans; so are those in a phase's section.
pub(in crate::plan::read) fn names_phases_of_milestones(outline: &Outline<'_>) -> bool {
    let headings = headings(outline, PhaseNumbering::Plain);
    let details = Ranges::merge(headings.iter().map(|heading| heading.section.whole.clone()));
    let entries = entries(outline, &headings, PhaseNumbering::Plain);
    let of_headings = headings.iter().map(|heading| &heading.named);
    let named = of_headings.chain(entries.iter().map(|entry| &entry.named));
    let plain_numbers: BTreeSet<u32> = named.map(|named| named.number.whole()).collect();
    let titles = outline
        .sections()
        .iter()
        .filter(|section| !details.contains(section.heading.start))
        .map(|section| &section.title);
    let all = 0..outline.text().len();
    let items = outline.items(&all);
    let items = items
        .filter(|(block, item)| item.checked.is_some() && !details.contains(block.range.start));
    titles
        .chain(items.map(|(_, item)| &item.text))
        .filter_map(|title| phase_numbering::titled(title.trim_start_matches('*')))
        .any(|number| !plain_numbers.contains(&number.whole()))
}

/// Returns the entries of phase checklists; those in a phase's own section are its plans, not phases.
///
/// Where neither a heading nor such an entry names a phase, bullets that begin with one in bold are the list.
pub(super) fn entries<'o>(
    outline: &'o Outline<'_>,
    headings: &[PhaseHeading<'_>],
    numbering: PhaseNumbering,
) -> Vec<ChecklistEntry<'o>> {
    let details = Ranges::merge(headings.iter().map(|heading| heading.section.whole.clone()));
    let lists = Ranges::merge(heading::sections(outline, LISTS).map(|section| section.own.clone()));
    let bullets: Vec<ChecklistEntry<'o>> = outline
        .items(&(0..outline.text().len()))
        .filter(|(block, item)| item.depth == 0 && !details.contains(block.range.start))
        .filter_map(|(block, item)| {
            let text = outline.slice(&block.range);
            let named =
                name::parse_phase(Span::new(text, block.range.start, block.line), numbering)?;
            Some(ChecklistEntry { named, block, item })
        })
        .collect();
    let is_listed = |entry: &ChecklistEntry<'_>| {
        // `Phase 1 resolves …` is a sentence unless it has a checkbox.
        entry.item.checked.is_some()
            || entry.named.name.is_some() && lists.contains(entry.block.range.start)
    };
    let is_bold = |entry: &ChecklistEntry<'_>| {
        let text = outline.slice(&entry.block.range).strip_prefix("**");
        let title = text.and_then(|text| text.split_once("**"));
        // `**Phase 2 planning**: …` is a note.
        let is_title =
            title.is_some_and(|(title, _)| title.contains([':', '\u{2013}', '\u{2014}']));
        is_title && entry.named.name.is_some()
    };
    let has_list = !headings.is_empty() || bullets.iter().any(is_listed);
    let is_entry = |entry: &ChecklistEntry<'_>| {
        if has_list { is_listed(entry) } else { is_bold(entry) }
    };
    bullets.into_iter().filter(is_entry).collect()
}
