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

use crate::markdown::Outline;
use crate::plan::read::progress_table::phase_in_front;
use crate::plan::read::roadmap::section::numbers;
use crate::plan::read::status::{begins_with_date, is_status, without_status};
use crate::plan::read::{PhaseNumbering, PhaseProgress, RoadmapMilestone, heading};
use crate::text::strip_prefix_ignore_case;

/// Maximum number of milestones with phases, and of milestones that are only listed.
const MAX_MILESTONES: usize = 200;

/// Returns the milestones, blocks and sections before those only listed.
pub(super) fn milestones(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
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
    found
}

/// Returns the first version in a text, in the form that [`version`] returns.
pub(crate) fn version_in(text: &str) -> Option<&str> {
    let words = text.split([' ', '(', ')', ',', ';', ':', '–', '—']);
    let mut sure = words.filter(|word| word.starts_with(['v', 'V']));
    sure.find_map(version).or_else(|| version(text))
}

/// Returns the version at the start of a name, without its letter and zeros at its end: `1.2` for `✅ v1.2.0 MVP`.
pub(crate) fn version(name: &str) -> Option<&str> {
    let name = name.trim_start_matches(|c: char| !c.is_alphanumeric());
    let name = strip_prefix_ignore_case(name, "milestone ").unwrap_or(name);
    let word = name.split([' ', ':', '*', ')', ']', ',', '–', '—']).next()?;
    let digits = word.strip_prefix(['v', 'V', 'M'])?;
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| digits.trim_end_matches('.').trim_end_matches(".0"))
}

/// Returns whether a text says that its milestone has shipped, or, after a check mark or in a collapsed block, that it is
/// complete. With a symbol of ongoing work, only a part has.
fn says_shipped(text: &str, is_collapsed: bool) -> bool {
    const OVER: &[&str] = &["shipped", "archived", "released", "complete", "completed"];
    let sign = PhaseProgress::from_symbol(text);
    let over = if is_collapsed || sign.is_some() { OVER } else { &OVER[..3] };
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    sign.is_none_or(|sign| sign == PhaseProgress::Complete)
        && words.any(|word| over.iter().any(|own| word.eq_ignore_ascii_case(own)))
}

fn milestone(text: &str, range: Range<usize>, numbering: PhaseNumbering) -> RoadmapMilestone {
    let (found, is_open) = numbers(text, numbering);
    let phases = found.iter().min().zip(found.iter().max()).map(|(first, last)| {
        let end = if is_open { u32::MAX } else { last.ordinal().saturating_add(1) };
        first.sibling(first.ordinal())..last.sibling(end)
    });
    RoadmapMilestone { name: plain(text), is_shipped: says_shipped(text, false), phases, range }
}

/// Finds collapsed blocks.
fn details(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let text = outline.text();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("<details").map(|open| at + open) {
        let end = text[open..].find("</details>").map_or(text.len(), |end| open + end);
        let inside = text[open..end].split_once("<summary>");
        let summary = inside.and_then(|(_, rest)| rest.split_once("</summary>"));
        let summary = summary.map_or("", |(summary, _)| summary.trim());
        if summary.to_lowercase().contains("phase") || version(summary).is_some() {
            let one = milestone(summary, open..end, numbering);
            let is_shipped = says_shipped(summary, true);
            found.push(RoadmapMilestone { is_shipped, ..one });
        }
        at = end.max(open + 1);
    }
    found
}

/// Finds sections titled like a milestone.
fn sections(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let is_milestone = |title: &str| {
        let words = heading::words(title);
        let is_numbered =
            words.starts_with("milestone ") && words.contains(|c: char| c.is_ascii_digit());
        (version(title).is_some() || is_numbered) && phase_in_front(title, numbering).is_none()
    };
    let sections = outline.sections().iter();
    let found = sections.filter(|section| section.level > 1 && is_milestone(&section.title));
    found.map(|section| milestone(&section.title, section.whole.clone(), numbering)).collect()
}

/// Parses the list of milestones.
fn in_list(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let titles = ["milestones", "completed milestones", "shipped milestones", "milestone history"];
    let items = heading::sections(outline, &titles).flat_map(|section| outline.items(&section.own));
    let found = items.filter(|(_, item)| item.depth == 0).map(|(block, item)| {
        let start = block.range.start;
        milestone(&item.text, start..start, numbering)
    });
    found.filter(|found| version(&found.name).is_some() || found.phases.is_some()).collect()
}

/// Returns a milestone's name without symbols, links and the remark about its phases.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    // Only the text of a link.
    let text = match text.split_once("](") {
        Some((text, _)) => text.replacen('[', "", 1),
        None => text.to_owned(),
    };
    // `v1.0 — Name`, `Milestone 1 — Name`: the name continues after the dash, unless a remark follows.
    let is_number_only = |before: &str| {
        !strip_prefix_ignore_case(before, "milestone ").unwrap_or(before).contains(' ')
    };
    let marks = [" (", " - ", " — ", " – "].into_iter();
    let ends = marks
        .flat_map(|mark| text.match_indices(mark))
        .filter(|(at, mark)| is_remark(&text[at + mark.len()..]) || !is_number_only(&text[..*at]));
    let end = ends.map(|(at, _)| at).min().unwrap_or(text.len());
    without_status(&text[..end].replace("**", "")).to_owned()
}

/// Returns whether a text after a milestone's name is about its phases, its size, its state or its date.
fn is_remark(text: &str) -> bool {
    let text = text.trim_start_matches('(');
    let word = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let counts = [" phase", " plan", " task", " requirement"];
    word.len() < text.len() && counts.iter().any(|noun| word.starts_with(noun))
        || ["phase ", "phases "].iter().any(|word| strip_prefix_ignore_case(text, word).is_some())
        || begins_with_date(text)
        || is_status(text.trim_end_matches(')')) && !text.contains('-')
}
