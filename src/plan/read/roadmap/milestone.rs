//! Parses the milestones of a roadmap.
//!
//! ```text
//! ## Milestones                                   <details>
//! - ✅ **v1.0 MVP** — Phases 1-6 (shipped …)      <summary>v1.0 MVP (Phases 1-6) — SHIPPED …</summary>
//! - 📋 **v2.0** — Phases 7+ (planned)             …
//!                                                 </details>
//! ### v2.0 Name (In Progress)
//! ```

use std::ops::Range;

use crate::markdown::{Block, Outline, Section, TableRow};
use crate::plan::read::roadmap::section::numbers;
use crate::plan::read::roadmap::{MAX_MILESTONES, phase_in_front};
use crate::plan::read::vocabulary::{has, says, without_status};
use crate::plan::read::{PhaseNumbering, PhaseProgress, RoadmapMilestone, document};
use crate::text::{
    Pattern, is_digit, non_placeholder, strip_prefix_ignore_case, unmarked, words_in,
};

/// Returns the milestones, blocks and sections before those only listed.
pub(super) fn milestones(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
    is_over: impl Fn(&str) -> bool,
) -> Vec<RoadmapMilestone> {
    let mut found = details(outline, numbering);
    found.extend(sections(outline, numbering));
    found.truncate(MAX_MILESTONES);
    found.sort_by_key(|milestone| milestone.range.start);
    for listed in in_list(outline, numbering).into_iter().take(MAX_MILESTONES) {
        let own = version(&listed.name);
        match found.iter_mut().find(|known| own.is_some() && version(&known.name) == own) {
            Some(known) => {
                known.is_shipped |= listed.is_shipped;
                known.phases = known.phases.take().or(listed.phases);
            }
            None => found.push(listed),
        }
    }
    // What is called complete has shipped where a later milestone is not.
    let order = |one: &RoadmapMilestone| (version_parts(&one.name), one.line);
    let last_open = found.iter().filter(|one| !one.is_complete).map(order).max();
    found.truncate(MAX_MILESTONES);
    for one in found.iter_mut().filter(|one| !one.is_shipped) {
        one.is_shipped = is_over(&one.name)
            || one.is_complete && last_open.as_ref().is_some_and(|last| order(one) < *last);
    }
    found
}

/// Returns the numbers of a milestone's version, to compare it.
pub(crate) fn version_parts(name: &str) -> Option<Vec<u32>> {
    Some(version(name)?.split('.').flat_map(str::parse).collect())
}

/// Returns the first version in a text, in the form that [`version`] returns.
pub(crate) fn version_in(text: &str) -> Option<&str> {
    let words = text.split([' ', '(', ')', ',', ';', ':', '–', '—']);
    let mut sure = words.filter(|word| word.starts_with(['v', 'V']));
    sure.find_map(version).or_else(|| version(text))
}

/// Returns the version at the start of a name, without its letter and zeros at its end: `1.2` for `✅ v1.2.0 MVP`.
pub(crate) fn version(name: &str) -> Option<&str> {
    let name = unmarked(name);
    let name = strip_prefix_ignore_case(name, "milestone ").unwrap_or(name);
    let word = name.split([' ', ':', '*', ')', ']', ',', '–', '—']).next()?;
    let digits = word.strip_prefix(['v', 'V', 'M'])?;
    let is_version = digits.starts_with(is_digit);
    is_version.then(|| digits.trim_end_matches('.').trim_end_matches(".0"))
}

/// Returns whether a text says that its milestone has shipped, or, after a check mark or in a collapsed block, that it is
/// complete. With a symbol of ongoing work, only a part has.
fn says_shipped(text: &str, is_collapsed: bool) -> bool {
    let sign = PhaseProgress::from_symbol(text);
    let is_marked = is_collapsed || sign.is_some();
    let lower = text.to_lowercase();
    let mut words = words_in(&lower);
    sign.is_none_or(|sign| sign == PhaseProgress::Complete)
        && words.any(|word| has("shipped", word) || is_marked && word.starts_with("complete"))
}

/// Returns whether a milestone's text ends with a word or has a symbol that calls it complete.
fn says_complete(text: &str) -> bool {
    let last = text.rsplit(['(', '[', '—', '–']).next().unwrap_or_default();
    says_shipped(text, true)
        || PhaseProgress::from_symbol(text) == Some(PhaseProgress::Complete)
        || PhaseProgress::is_complete_status(last)
        || says("milestone that is over", last)
}

fn milestone(
    text: &str,
    (range, line): (Range<usize>, usize),
    numbering: PhaseNumbering,
) -> RoadmapMilestone {
    let (found, is_open) = numbers(text, numbering);
    let phases = found.iter().min().zip(found.iter().max()).map(|(first, last)| {
        let end = if is_open { u32::MAX } else { last.ordinal().saturating_add(1) };
        first.sibling(first.ordinal())..last.sibling(end)
    });
    let (is_shipped, is_complete) = (says_shipped(text, false), says_complete(text));
    RoadmapMilestone { name: plain(text), is_shipped, is_complete, phases, range, line }
}

/// Finds collapsed blocks.
fn details(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let text = outline.text();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(open) = text[at..].find("<details").map(|open| at + open) {
        line += text[at..open].matches('\n').count();
        let end = text[open..].find("</details>").map_or(text.len(), |end| open + end);
        let inside = text[open..end].split_once("<summary>");
        let summary = inside.and_then(|(_, rest)| rest.split_once("</summary>"));
        let summary = summary.map_or("", |(summary, _)| summary.trim());
        if summary.to_lowercase().contains("phase") || version(summary).is_some() {
            let one = milestone(summary, (open..end, line), numbering);
            let is_shipped = says_shipped(summary, true);
            found.push(RoadmapMilestone { is_shipped, ..one });
        }
        at = end.max(open + 1);
        line += text[open..at].matches('\n').count();
    }
    found
}

/// Finds sections titled like a milestone.
fn sections(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let is_milestone = |title: &str| {
        let title = unlabelled(title);
        let words = document::heading(title);
        let is_numbered = words.starts_with("milestone ") && words.contains(is_digit);
        (version(title).is_some() || is_numbered) && phase_in_front(title, numbering).is_none()
    };
    let sections = outline.sections().iter();
    let found = sections.filter(|section| section.level > 1 && is_milestone(&section.title));
    let read = |section: &Section| {
        let one = milestone(&section.title, (section.whole.clone(), section.line), numbering);
        RoadmapMilestone { name: plain(unlabelled(&section.title)), ..one }
    };
    found.map(read).collect()
}

/// Returns a milestone's title without what precedes the name: `Current Milestone: v2.0 Sync`, `In Progress: v2.0 Sync`.
fn unlabelled(title: &str) -> &str {
    let Some((label, name)) = title.split_once(": ") else { return title };
    let label = unmarked(label).to_lowercase();
    let is_label = has("label of a milestone", &label) || PhaseProgress::parse(&label).is_some();
    if is_label { name.trim_start() } else { title }
}

/// Parses the list of milestones.
fn in_list(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let mut listed: Vec<(&Block, &str, String)> = Vec::new();
    for section in document::sections(outline, "milestones") {
        for (block, item) in outline.items(&section.own) {
            let label = item.text.split_once(':').map(|(label, _)| label.to_lowercase());
            let is_part = label.is_some_and(|label| ["status", "phases"].contains(&&*label));
            match listed.last_mut().filter(|_| item.depth > 0) {
                Some((.., text)) if is_part => text.extend([" — ", &item.text]),
                _ if item.depth == 0 => listed.push((block, &item.text, item.text.clone())),
                _ => {}
            }
        }
    }
    let found = listed.iter().map(|(block, name, text)| {
        let start = block.range.start;
        let one = milestone(text, (start..start, block.line), numbering);
        RoadmapMilestone { name: plain(name), ..one }
    });
    let all = outline.all();
    let tables = outline.tables(&all).filter(|table| {
        let first = table.header.first().map(|cell| cell.to_lowercase());
        first.is_some_and(|first| has("label of a milestone", &first))
    });
    let row = |row: &TableRow| {
        let start = row.ranges.first().map_or(0, |cell| cell.start);
        milestone(&row.cells.join(" — "), (start..start, row.line), numbering)
    };
    let rows = tables.flat_map(|table| &table.rows).map(row);
    let is_one = |found: &RoadmapMilestone| {
        let is_phase = phase_in_front(&found.name, numbering).is_some();
        version(&found.name).is_some() || found.phases.is_some() && !is_phase
    };
    found.chain(rows).filter(is_one).collect()
}

/// Returns the name of a milestone without a version, if only one heading has one: `# Roadmap — Milestone: bread`, or the
/// line below `## Milestone`.
pub(crate) fn in_heading<'o>(outline: &'o Outline<'_>) -> Option<&'o str> {
    let mut names =
        outline.sections().iter().filter(|section| section.level < 3).filter_map(|section| {
            let found = IN_HEADING.captures(&section.title)?;
            let below = || outline.slice(&section.own).lines().next();
            let name = found.get(1).map_or_else(below, |name| Some(name.as_str()))?;
            non_placeholder(name).filter(|name| version(name).is_none())
        });
    names.next().filter(|_| names.next().is_none())
}

static IN_HEADING: Pattern = Pattern::new(r"(?i)^(?:.* [—–-] )?milestone(?:(?::| [—–-]) (.+))?$");

/// What follows a milestone's name: a remark about its phases, its size or its date.
static REMARK: Pattern = Pattern::new(
    r"(?i) (?:\(|(?:-|—|–) \(?)(?:phases? |\d+ (?:phase|plan|task|requirement)|20\d\d-)",
);

/// Returns a milestone's name without symbols, links and the remark about its phases.
fn plain(text: &str) -> String {
    // The name in bold, and only the text of a link.
    let marked =
        text.split_once("**").filter(|(before, _)| !before.contains(char::is_alphanumeric));
    let bold = marked.and_then(|(_, rest)| rest.split_once("**")).map(|(bold, _)| bold);
    let text = unmarked(bold.unwrap_or(text));
    let text = match text.split_once("](") {
        Some((text, _)) => text.replacen('[', "", 1),
        None => text.to_owned(),
    };
    let end = REMARK.find(&text).map_or(text.len(), |found| found.start());
    without_status(&text[..end]).to_owned()
}
