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

use crate::markdown::{Outline, Section};
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
        match found.iter_mut().find(|known| {
            version(&known.name).is_some() && version(&known.name) == version(&listed.name)
        }) {
            Some(known) => {
                known.is_shipped |= listed.is_shipped;
                known.phases = known.phases.clone().or(listed.phases);
            }
            None => found.push(listed),
        }
    }
    (found, is_cut)
}

/// Returns the first version in a text, in the form that [`version`] returns.
pub(crate) fn version_in(text: &str) -> Option<&str> {
    let words = text.split([' ', '(', ')', ',', ';', ':', '\u{2013}', '\u{2014}']);
    let is_sure = |word: &&str| word.starts_with(['v', 'V']);
    words.filter(is_sure).find_map(version).or_else(|| version(text))
}

/// Returns the version at the start of a name, without its letter and zeros at its end: `1.2` for `✅ v1.2.0 MVP`.
pub(crate) fn version(name: &str) -> Option<&str> {
    let name = name.trim_start_matches(|c: char| !c.is_alphanumeric());
    let name = strip_prefix_ignore_case(name, "milestone ").unwrap_or(name);
    let ends = [' ', ':', '*', ')', ']', ',', '\u{2013}', '\u{2014}'];
    let word = name.split(ends).next()?;
    let digits = word.strip_prefix(['v', 'V', 'M'])?;
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| digits.trim_end_matches('.').trim_end_matches(".0"))
}

/// Returns whether a text says that its milestone has shipped. With a symbol of ongoing work, only a part
/// has.
fn says_shipped(text: &str) -> bool {
    let goes_on =
        PhaseProgress::from_symbol(text).is_some_and(|sign| sign != PhaseProgress::Complete);
    !goes_on && names_shipping(text)
}

/// Returns whether a summary calls its milestone complete, in the name after a check mark or at the beginning
/// of what follows a dash or a bracket: `Complete Rewrite` is a name, and `40% complete` is not complete.
fn says_complete(summary: &str) -> bool {
    let is_complete = |word: &str| {
        word.eq_ignore_ascii_case("complete") || word.eq_ignore_ascii_case("completed")
    };
    match PhaseProgress::from_symbol(summary) {
        Some(PhaseProgress::Complete) => words(summary).any(is_complete),
        Some(_) => false,
        None => summary
            .split([':', '(', '\u{2014}', '\u{2013}'])
            .flat_map(|part| part.split(" - "))
            .any(|part| words(part).next().is_some_and(is_complete)),
    }
}

/// Returns whether a section lists phases or plans; one of a milestone that is over is often only a paragraph.
fn has_phases(outline: &Outline<'_>, section: &Section, numbering: PhaseNumbering) -> bool {
    let mut inner = outline.subsections(section);
    inner.any(|inner| phase_in_front(&inner.title, numbering).is_some())
        || outline.items(&section.whole).next().is_some()
}

/// Returns whether a title only calls a version complete: `v1.0 Complete`, not `v2.0 Complete Rewrite`.
fn is_version_complete(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let is_version = words.next().is_some_and(|word| version(word).is_some());
    let is_complete = words.next().is_some_and(|word| {
        word.eq_ignore_ascii_case("complete") || word.eq_ignore_ascii_case("completed")
    });
    is_version && is_complete && words.next().is_none()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn names_shipping(text: &str) -> bool {
    words(text).any(|word| {
        ["shipped", "archived", "released"].iter().any(|said| word.eq_ignore_ascii_case(said))
    })
}

/// Finds collapsed blocks; a collapsed block that is called complete counts as shipped.
fn details(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let text = outline.text();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("<details").map(|open| at + open) {
        let end = text[open..].find("</details>").map_or(text.len(), |end| open + end);
        let block = &text[open..end];
        let summary = block
            .split_once("<summary>")
            .and_then(|(_, rest)| rest.split_once("</summary>"))
            .map_or("", |(summary, _)| summary.trim());
        let names_phases = summary.to_lowercase().contains("phase") || version(summary).is_some();
        if names_phases {
            found.push(RoadmapMilestone {
                name: plain(summary),
                is_shipped: says_shipped(summary) || says_complete(summary),
                phases: phase_range(summary, numbering),
                range: open..end,
                line: outline.line(open),
            });
        }
        at = end.max(open + 1);
    }
    found
}

/// Finds sections titled like a milestone.
fn sections(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let is_milestone = |title: &str| {
        let words = heading::words(title);
        version(title).is_some()
            || (words.starts_with("milestone ") && words.contains(|c: char| c.is_ascii_digit()))
    };
    let sections = outline.sections().iter().filter(|section| {
        section.level > 1
            && is_milestone(&section.title)
            && phase_in_front(&section.title, numbering).is_none()
    });
    sections
        .map(|section| RoadmapMilestone {
            name: plain(&section.title),
            is_shipped: says_shipped(&section.title)
                || is_version_complete(&section.title) && !has_phases(outline, section, numbering),
            phases: phase_range(&section.title, numbering),
            range: section.whole.clone(),
            line: section.line,
        })
        .collect()
}

/// Parses the list of milestones.
fn in_list(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<RoadmapMilestone> {
    let titles = ["milestones", "completed milestones", "shipped milestones", "milestone history"];
    let mut found = Vec::new();
    for section in heading::sections(outline, &titles) {
        for (block, item) in outline.items(&section.own) {
            let is_milestone =
                version(&item.text).is_some() || phase_range(&item.text, numbering).is_some();
            if item.depth == 0 && is_milestone {
                found.push(RoadmapMilestone {
                    name: plain(&item.text),
                    is_shipped: says_shipped(&item.text),
                    phases: phase_range(&item.text, numbering),
                    range: block.range.start..block.range.start,
                    line: block.line,
                });
            }
        }
    }
    found
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
        let of_milestone = strip_prefix_ignore_case(before, "milestone ");
        !of_milestone.unwrap_or(before).contains(' ')
    };
    let ends_name = |(at, mark): &(usize, &str)| {
        let follows = &text[at + mark.len()..];
        let is_remark = is_remark(follows);
        match *mark {
            ". " => is_remark || follows.starts_with("Since "),
            _ => is_remark || !is_number_only(&text[..*at]),
        }
    };
    let marks = [" (", ". ", " - ", " \u{2014} ", " \u{2013} "].into_iter();
    let end = marks
        .flat_map(|mark| text.match_indices(mark))
        .filter(ends_name)
        .map(|(at, _)| at)
        .min()
        .unwrap_or(text.len());
    without_status(&text[..end].replace("**", "")).to_owned()
}

/// Returns whether a text after a milestone's name is about its phases, its size, its state or its date.
fn is_remark(text: &str) -> bool {
    let text = text.trim_start_matches('(');
    let word = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let counts = [" phase", " plan", " task", " requirement"];
    let is_count = word.len() < text.len() && counts.iter().any(|noun| word.starts_with(noun));
    let names_phases = ["phase ", "phases "].iter();
    let mut names_phases = names_phases.map(|word| strip_prefix_ignore_case(text, word));
    is_count
        || names_phases.any(|rest| rest.is_some())
        || begins_with_date(text)
        || is_status(text.trim_end_matches(')')) && !text.contains('-')
}

/// Parses `Phases 1-6`, `Phase 3`, `Phases 13+`, `Phases 10, 10.1, 11`, `Phase 24 shipped; Phases 25-26` into
/// a range from the lowest to the highest number.
fn phase_range(text: &str, numbering: PhaseNumbering) -> Option<Range<PhaseNumber>> {
    let lower = text.to_lowercase();
    let mut range: Option<Range<PhaseNumber>> = None;
    for behind in lower.split("phase").skip(1) {
        let mut rest = behind.strip_prefix('s').unwrap_or(behind);
        // The first number is a phase's whatever follows, and so is the end of a range, unless it is counted.
        let mut before = None;
        while let Some((number, after)) = numbering.split(rest.trim_start()) {
            let next = after.trim_start();
            let is_phase = match before {
                None => true,
                Some("-" | "\u{2013}") => !number.is_year() && !is_counted(next),
                Some(_) => !number.is_year() && may_follow_phase(next),
            };
            if !is_phase {
                break;
            }
            let first = number.sibling(number.ordinal());
            let end = if after.starts_with('+') {
                number.sibling(u32::MAX)
            } else {
                number.sibling(number.ordinal().saturating_add(1))
            };
            range = Some(match range {
                None => first..end,
                Some(range) => range.start.min(first)..range.end.max(end),
            });
            let joints = ["-", "\u{2013}", ",", "+", "&", "and "];
            let mut joints = joints.iter();
            let Some(joint) = joints.find(|joint| next.starts_with(**joint)) else {
                break;
            };
            before = Some(*joint);
            rest = &next[joint.len()..];
        }
    }
    range
}

/// Returns whether a further number before this text may be a phase: in `Phases 1-6, 12 plans`, 12 is not.
fn may_follow_phase(text: &str) -> bool {
    let text = text.strip_prefix('+').unwrap_or(text).trim_start();
    let is_of_count = |c: char| c.is_alphanumeric() || matches!(c, '/' | '%');
    let is_end = text.is_empty() || text.starts_with("and ") || !text.starts_with(is_of_count);
    is_end || PhaseProgress::parse(text).is_some()
}

/// Returns whether a number before this text counts something else than phases.
fn is_counted(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let nouns = ["plan", "task", "requirement", "test", "file", "commit", "day"];
    nouns.contains(&word.strip_suffix('s').unwrap_or(word)) || text.starts_with(['/', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_sections_and_lists_are_one_milestone_each() {
        let text = "# R\n## Milestones\n- \u{2705} **v1.0 MVP** \u{2014} Phases 1-2 (shipped 2026-04-05)\n- v2.0 **Next** - Phases 3-4 (in progress)\n- \u{1f4cb} **v3.0** \u{2014} Phases 5+ (planned)\n## Phases\n<details>\n<summary>\u{2705} v1.0 MVP (Phases 1-2) \u{2014} SHIPPED</summary>\n\n- [x] Phase 1: A\n</details>\n\n### v2.0 Next (In Progress)\n#### Phase 3: B\n";
        let (found, _) = milestones(&Outline::parse(text, 0), PhaseNumbering::Plain);
        let shown: Vec<_> =
            found.iter().map(|m| (m.name.as_str(), m.is_shipped, m.phases.clone())).collect();
        assert_eq!(
            shown,
            [
                ("v1.0 MVP", true, Some(numbers(1..3))),
                ("v2.0 Next", false, Some(numbers(3..5))),
                ("v3.0", false, Some(numbers(5..u32::MAX))),
            ]
        );
        assert!(text[found[0].range.clone()].contains("Phase 1: A"));
    }

    fn numbers(range: Range<u32>) -> Range<PhaseNumber> {
        PhaseNumber::from(range.start)..PhaseNumber::from(range.end)
    }

    #[test]
    fn other_numbers_after_a_range_are_not_phases() {
        for (text, expected) in [
            ("v1 (Phases 3-6, 27 plans, 2026-05-08)", 3..7),
            ("v1 - Phases 51\u{2013}56 + 56.1, 27 plans", 51..57),
            ("Phases 1-2, 2026-05-08", 1..3),
            ("Phases 4-5 shipped 2026-05-08", 4..6),
            ("Phases 4, 7 and 9", 4..10),
            ("Phases 5-8 planned", 5..9),
            ("Phases 1 - 6 delivered the base", 1..7),
            ("Phases 1-6, 50+ requirements, 95% coverage", 1..7),
            ("Phases 1-6 + 12 quick tasks", 1..7),
            ("Phases 1-6, 28/28 plans, 54 files", 1..7),
            ("Phases 10, 10.1, 11 shipped", 10..12),
        ] {
            let found = phase_range(text, PhaseNumbering::Plain);
            assert_eq!(found, Some(numbers(expected)), "{text}");
        }
    }

    #[test]
    fn a_name_is_freed_of_its_status() {
        for (text, expected) in [
            ("\u{2705} v1.0 MVP -- SHIPPED 2026-02-23", "v1.0 MVP"),
            ("**v1.0 MVP**: shipped", "v1.0 MVP"),
            ("Milestone 1 \u{2014} Map (done)", "Milestone 1 \u{2014} Map"),
            ("v2.0 Complete Rewrite", "v2.0 Complete Rewrite"),
            ("v1.0 \u{2014} Base (Phases 1-3)", "v1.0 \u{2014} Base"),
            ("v1.0 - Base - Phases 1-3", "v1.0 - Base"),
            ("v3.0 \u{2014} Phases 5+ (planned)", "v3.0"),
            ("v3.0 (planned)", "v3.0"),
            ("v1.0 (2026-01-02)", "v1.0"),
            ("v1.0 \u{2014} 4 phases, 12 plans", "v1.0"),
            ("v1.1 \u{2014} 3D viewer", "v1.1 \u{2014} 3D viewer"),
            ("v1.1 (Parser & Web)", "v1.1 (Parser & Web)"),
            ("v1.1 (current)", "v1.1"),
            ("v1.1 - Built-in Player", "v1.1 - Built-in Player"),
            ("v1.0 \u{2014} [MVP](m/v1.md) \u{2014} Phases 1-2", "v1.0 \u{2014} MVP"),
            ("v1.0 \u{2014} Phased rollout. Since 2026", "v1.0 \u{2014} Phased rollout"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn versions_are_the_same_without_their_last_zeros() {
        for (name, expected) in [
            ("\u{2705} v0.17.0 MVP (Phases 1-6)", Some("0.17")),
            ("Milestone v2.0: Sharing", Some("2")),
            ("V1.10.", Some("1.10")),
            ("M001", Some("001")),
            ("MVP", None),
            ("Heart Rate v1.1", None),
        ] {
            assert_eq!(version(name), expected, "{name}");
        }
        for name in ["Heart Rate v1.1", "Next (v1.1)", "v1.1\u{2014}Next", "v1.1."] {
            assert_eq!(version_in(name), Some("1.1"), "{name}");
        }
    }

    #[test]
    fn ranges_within_a_milestone_contain_none_of_another() {
        let range = |text| phase_range(text, PhaseNumbering::MilestonePrefixed).unwrap();
        let id = |text| PhaseNumber::parse_id(text).unwrap();
        let second = range("v2.0 (Phases 2-01 \u{2013} 2-04)");
        assert!(second.contains(&id("2-04.1")));
        assert!(!second.contains(&id("2-05")));
        assert!(!range("Phases 1-4").contains(&id("2-01")));
        assert!(range("Phases 2-03+").contains(&id("2-40")));
    }

    #[test]
    fn a_collapsed_block_has_shipped_if_its_summary_says_so() {
        for (summary, expected) in [
            ("v1.0 MVP (Phases 1-2) \u{2014} SHIPPED 2026-04-05", true),
            ("v1.0 MVP (Phases 1-2) - Complete", true),
            ("Completed: Phases 1-2", true),
            ("v1.0 MVP (completed 2026-04-05)", true),
            ("\u{2705} v1.0 MVP COMPLETE", true),
            ("\u{1f6a7} v2.0 (Phases 7-9) \u{2014} 40% complete", false),
            ("v2.0 (Phases 7-9) \u{2014} 40% complete", false),
            ("v2.0 (incomplete)", false),
            ("v2.0 (not complete)", false),
            ("v2.0 Complete Rewrite", false),
        ] {
            let text = format!("<details>\n<summary>{summary}</summary>\n\n</details>\n");
            let (found, _) = milestones(&Outline::parse(&text, 0), PhaseNumbering::Plain);
            assert_eq!(found[0].is_shipped, expected, "{summary}");
        }
    }

    #[test]
    fn a_collapsed_block_of_something_else_is_none() {
        let text = "<details>\n<summary>More</summary>\n\nx\n</details>\n<details>\n";
        assert!(milestones(&Outline::parse(text, 0), PhaseNumbering::Plain).0.is_empty());
    }
}
