//! Where a roadmap names its phases: headings of their own, and entries of checklists.

use crate::markdown::Block;
use crate::markdown::ListItem;
use crate::markdown::Outline;
use crate::markdown::Ranges;
use crate::markdown::Section;
use crate::planning::heading;
use crate::planning::roadmap::name;
use crate::planning::roadmap::name::NamedPhase;
use crate::planning::stated::Span;

/// A phase with a section of its own.
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

/// Lists of phases in which an entry needs no checkbox.
const LISTS: &[&str] = &["phases", "phase list", "phase overview", "phase checklist"];

/// Returns the headings that name a phase.
pub(super) fn headings<'o>(outline: &'o Outline<'_>) -> Vec<PhaseHeading<'o>> {
    let sections = outline
        .sections()
        .iter()
        .filter(|section| section.level > 0);
    sections
        .filter_map(|section| {
            let line = outline.text().get(section.heading.clone())?;
            let title = line.trim_start_matches('#');
            let start = section.heading.end - title.len();
            let named = name::named(Span::new(title, start, section.line))?;
            Some(PhaseHeading { named, section })
        })
        .collect()
}

/// Returns the entries of phase checklists; those inside a phase's own section are its plans.
pub(super) fn entries<'o>(
    outline: &'o Outline<'_>,
    headings: &[PhaseHeading<'_>],
) -> Vec<ChecklistEntry<'o>> {
    let details = Ranges::merge(headings.iter().map(|heading| heading.section.whole.clone()));
    let lists = Ranges::merge(heading::sections(outline, LISTS).map(|section| section.own.clone()));
    outline
        .items(&(0..outline.text().len()))
        .filter(|(block, item)| {
            let at = block.range.start;
            let is_entry = item.checked.is_some() || lists.contains(at);
            item.depth == 0 && is_entry && !details.contains(at)
        })
        .filter_map(|(block, item)| {
            let text = outline.slice(&block.range);
            let named = name::named(Span::new(text, block.range.start, block.line))?;
            // `Phase 1 resolves …` is a sentence unless a checkbox makes it an entry.
            (item.checked.is_some() || named.name.is_some()).then_some(ChecklistEntry {
                named,
                block,
                item,
            })
        })
        .collect()
}
