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
use crate::plan::read::status::{begins_with_date, is_status, without_status};
use crate::plan::read::{PhaseNumber, PhaseNumbering, PhaseProgress, RoadmapMilestone, heading};
use crate::text::strip_prefix_ignore_case;

/// Maximum number of milestones with phases, and of milestones that are only listed.
pub(super) const MAX_MILESTONES: usize = 200;

/// Returns the milestones, blocks and sections before those only listed, and whether some were left out.
pub(super) fn milestones(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> (Vec<RoadmapMilestone>, bool) {
    let mut found = details(outline, numbering);
    found.extend(sections(outline, numbering));
    let mut all_listed = in_list(outline, numbering);
    let is_cut = found.len() > MAX_MILESTONES || all_listed.len() > MAX_MILESTONES;
    found.truncate(MAX_MILESTONES);
    all_listed.truncate(MAX_MILESTONES);
    found.sort_by_key(|milestone| milestone.range.start);
    for listed in all_listed {
        let own = version(&listed.name);
        match found.iter_mut().find(|known| own.is_some() && version(&known.name) == own) {
            Some(known) => {
                known.is_shipped |= listed.is_shipped;
                known.phases = known.phases.take().or(listed.phases);
            }
            None => found.push(listed),
        }
    }
    (found, is_cut)
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

/// Words for a milestone that is over.
const SHIPPED: &[&str] = &["shipped", "archived", "released"];
const COMPLETE: &[&str] = &["complete", "completed"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|own| word.eq_ignore_ascii_case(own))
}

/// Returns whether a text says that its milestone has shipped. With a symbol of ongoing work, only a part
/// has.
fn says_shipped(text: &str) -> bool {
    let sign = PhaseProgress::from_symbol(text);
    sign.is_none_or(|sign| sign == PhaseProgress::Complete)
        && words(text).any(|word| is_one_of(word, SHIPPED))
}

/// Returns whether the summary of a collapsed block calls its milestone complete, in the name after a check mark or at
/// the beginning of what follows a dash or a bracket: `Complete Rewrite` is a name.
fn says_complete(summary: &str) -> bool {
    if let Some(sign) = PhaseProgress::from_symbol(summary) {
        sign == PhaseProgress::Complete && words(summary).any(|word| is_one_of(word, COMPLETE))
    } else {
        let parts = summary.split([':', '(', '—', '–']).flat_map(|part| part.split(" - "));
        let mut firsts = parts.filter_map(|part| words(part).next());
        firsts.any(|word| is_one_of(word, COMPLETE))
    }
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
            let is_shipped = says_shipped(summary) || says_complete(summary);
            let line = outline.line(open);
            found.push(RoadmapMilestone {
                is_shipped,
                ..milestone(summary, open..end, line, numbering)
            });
        }
        at = end.max(open + 1);
    }
    found
}

fn milestone(
    text: &str,
    range: Range<usize>,
    line: usize,
    numbering: PhaseNumbering,
) -> RoadmapMilestone {
    RoadmapMilestone {
        name: plain(text),
        is_shipped: says_shipped(text),
        phases: phase_range(text, numbering),
        range,
        line,
    }
}

/// Finds sections titled like a milestone. One of a version that is only called complete, and has neither phases nor
/// plans, is over.
fn sections(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let is_milestone = |title: &str| {
        let words = heading::words(title);
        let is_numbered =
            words.starts_with("milestone ") && words.contains(|c: char| c.is_ascii_digit());
        (version(title).is_some() || is_numbered) && phase_in_front(title, numbering).is_none()
    };
    let sections = outline.sections().iter();
    let found = sections.filter(|section| section.level > 1 && is_milestone(&section.title));
    found
        .map(|section| {
            let own: Vec<&str> = section.title.split_whitespace().collect();
            let is_complete = || {
                let mut inner = outline.subsections(section);
                matches!(own.as_slice(), [one, two] if version(one).is_some() && is_one_of(two, COMPLETE))
                    && !inner.any(|inner| phase_in_front(&inner.title, numbering).is_some())
                    && outline.items(&section.whole).next().is_none()
            };
            let found = milestone(&section.title, section.whole.clone(), section.line, numbering);
            RoadmapMilestone { is_shipped: found.is_shipped || is_complete(), ..found }
        })
        .collect()
}

/// Parses the list of milestones.
fn in_list(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let titles = ["milestones", "completed milestones", "shipped milestones", "milestone history"];
    let items = heading::sections(outline, &titles).flat_map(|section| outline.items(&section.own));
    let found = items.filter(|(_, item)| item.depth == 0).map(|(block, item)| {
        let start = block.range.start;
        milestone(&item.text, start..start, block.line, numbering)
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
    // `v1.0 — Name`, `Milestone 1 — Name`: the name continues after the dash, unless something else follows.
    let is_number_only = |before: &str| {
        !strip_prefix_ignore_case(before, "milestone ").unwrap_or(before).contains(' ')
    };
    let ends_name = |(at, mark): &(usize, &str)| {
        let follows = &text[at + mark.len()..];
        is_remark(follows)
            || if *mark == ". " {
                follows.starts_with("Since ")
            } else {
                !is_number_only(&text[..*at])
            }
    };
    let marks = [" (", ". ", " - ", " — ", " – "].into_iter();
    let mut ends = marks.flat_map(|mark| text.match_indices(mark)).filter(ends_name);
    let end = ends.by_ref().map(|(at, _)| at).min().unwrap_or(text.len());
    without_status(&text[..end].replace("**", "")).to_owned()
}

/// Returns whether a text after a milestone's name is about its phases, its size, its state or its date.
fn is_remark(text: &str) -> bool {
    let text = text.trim_start_matches('(');
    let word = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let counts = [" phase", " plan", " task", " requirement"];
    let is_count = word.len() < text.len() && counts.iter().any(|noun| word.starts_with(noun));
    let names = |word| strip_prefix_ignore_case(text, word).is_some();
    is_count
        || names("phase ")
        || names("phases ")
        || begins_with_date(text)
        || is_status(text.trim_end_matches(')')) && !text.contains('-')
}

/// Parses `Phases 1-6`, `Phase 3`, `Phases 13+`, `Phases 10, 10.1, 11`, `Phase 24 shipped; Phases 25-26` into
/// a range from the lowest to the highest number.
fn phase_range(text: &str, numbering: PhaseNumbering) -> Option<Range<PhaseNumber>> {
    const COUNTED: &[&str] = &["plan", "task", "requirement", "test", "file", "commit", "day"];
    // A number before one of these counts something else than phases.
    let is_counted = |text: &str| {
        let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        COUNTED.contains(&word.strip_suffix('s').unwrap_or(word)) || text.starts_with(['/', '%'])
    };
    // In `Phases 1-6, 12 plans`, 12 is not a phase.
    let may_follow = |text: &str| {
        let text = text.strip_prefix('+').unwrap_or(text).trim_start();
        !text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '%'))
            || text.starts_with("and ")
            || PhaseProgress::parse(text).is_some()
    };
    let lower = text.to_lowercase();
    let mut range: Option<Range<PhaseNumber>> = None;
    for behind in lower.split("phase").skip(1) {
        let mut rest = behind.strip_prefix('s').unwrap_or(behind);
        let mut before = None;
        while let Some((number, after)) = numbering.split(rest.trim_start()) {
            let next = after.trim_start();
            let is_phase = match before {
                None => true,
                Some("-" | "–") => !number.is_year() && !is_counted(next),
                Some(_) => !number.is_year() && may_follow(next),
            };
            if !is_phase {
                break;
            }
            let end =
                if after.starts_with('+') { u32::MAX } else { number.ordinal().saturating_add(1) };
            let (first, end) = (number.sibling(number.ordinal()), number.sibling(end));
            range = Some(match range {
                None => first..end,
                Some(range) => range.start.min(first)..range.end.max(end),
            });
            let joints = ["-", "–", ",", "+", "&", "and "];
            let Some(joint) = joints.into_iter().find(|joint| next.starts_with(joint)) else {
                break;
            };
            before = Some(joint);
            rest = &next[joint.len()..];
        }
    }
    range
}
