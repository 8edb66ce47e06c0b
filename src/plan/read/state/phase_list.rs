//! Parses the list or table of phases with their status.
//!
//! ```text
//! - **Phase 1 (Name):** Complete (4 plans)     - **Phase 2:** Pending
//! - Phase 7: Name ✅                            - **Phase 3: Name** — In progress
//! ```

use std::collections::HashSet;

use crate::markdown::Outline;
use crate::plan::read::located::Span;
use crate::plan::read::status::is_status;
use crate::plan::read::{PhaseNumbering, PhaseStatus, heading, progress_table};
use crate::text::strip_prefix_ignore_case;

/// Sections about phases, in which a plain `Phase 1: …` bullet is accepted.
const PHASE_SECTIONS: &[&str] = &[
    "phase status", "phase progress", "phase overview", "phases", "progress", "current position",
    "current phase",
];

/// Sections whose bullets record events rather than the current status.
const LOG_SECTIONS: &[&str] = &["activity log", "recent activity", "activity", "history", "log"];

/// Returns the phases listed with a status, the first mention of each, in file order.
pub(super) fn phase_statuses(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<PhaseStatus> {
    let mut found: Vec<PhaseStatus> = Vec::new();
    let mut seen = HashSet::new();
    for section in outline.sections() {
        let title = heading::words(&section.title);
        if LOG_SECTIONS.contains(&title.as_str()) {
            continue;
        }
        let is_list = PHASE_SECTIONS.contains(&title.as_str());
        let rows = outline
            .tables(&section.own)
            .flat_map(|table| progress_table::rows(table, numbering))
            .filter_map(|row| {
                Some(PhaseStatus {
                    number: row.number,
                    name: row.name,
                    status: row.status.filter(|status| !status.value.is_empty())?,
                })
            });
        let bullets = outline.items(&section.own).filter_map(|(block, _)| {
            let text = outline.slice(&block.range);
            let is_bold = text.starts_with("**");
            entry(Span::new(text, block.range.start, block.line), numbering)
                .filter(|_| is_list || is_bold)
        });
        for status in rows.chain(bullets) {
            if seen.insert(status.number.clone()) {
                found.push(status);
            }
        }
    }
    found.sort_by_key(|status| status.status.range.start);
    found
}

/// Parses a bullet such as `**Phase 1 (Name):** Complete`.
pub(super) fn entry(bullet: Span<'_>, numbering: PhaseNumbering) -> Option<PhaseStatus> {
    let bullet = bullet.part(0..bullet.text.find('\n').unwrap_or(bullet.text.len()));
    let inner = bullet.suffix(bullet.text.trim_start_matches(['*', '~']));
    let rest = strip_prefix_ignore_case(inner.text, "phase ")?;
    let (number, rest) = numbering.split(rest.trim_start())?;
    let (name, status) = name_and_status(inner.suffix(rest))?;
    Some(PhaseStatus {
        number,
        name: name.map(str::to_owned),
        status: status.with_value(status.text.to_owned()),
    })
}

const MARKS: &[char] = &['*', ':', '-', ' ', '\u{2013}', '\u{2014}'];

fn name_and_status(rest: Span<'_>) -> Option<(Option<&str>, Span<'_>)> {
    if let Some(inside) = rest.text.strip_prefix('(') {
        // Names may contain brackets: the closing one is before the colon or the end of the bold text.
        let end = ["):", ")**"].iter().filter_map(|end| inside.find(end)).min()?;
        let status = rest.suffix(inside[end + 1..].trim_start_matches(MARKS));
        return (!status.text.is_empty()).then_some((Some(&inside[..end]), status));
    }
    // If the bold text ends after the number, the rest is the status, whatever its wording.
    let is_label = rest.text.starts_with(":**") || rest.text.starts_with("**:");
    let after = rest.suffix(rest.text.trim_start_matches(MARKS));
    if after.text.is_empty() || after.text.len() == rest.text.len() {
        return None;
    }
    let rest = after;
    if is_label || is_status(rest.text) {
        return Some((None, rest));
    }
    let cut = ["** ", ":** ", " \u{2014} ", " -- ", " - ", ": ", " "]
        .iter()
        .filter_map(|mark| Some((rest.text.rfind(mark)?, mark.len())))
        .find(|(at, len)| is_status(rest.text[at + len..].trim_start_matches(MARKS)));
    let (at, len) = cut?;
    let status = rest.suffix(rest.text[at + len..].trim_start_matches(MARKS));
    let name = rest.text[..at].trim_matches(MARKS);
    (!status.text.is_empty()).then_some((Some(name), status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        entry(Span::new(text, 0, 1), PhaseNumbering::Plain).map(|found| {
            assert_eq!(&text[found.status.range.clone()], found.status.value);
            format!(
                "{}|{}|{}",
                found.number,
                found.name.as_deref().unwrap_or("_"),
                found.status.value
            )
        })
    }

    #[test]
    fn bullets_of_every_shape_are_read() {
        for (text, expected) in [
            ("**Phase 1:** Complete (4 plans, 93 tests)", "1|_|Complete (4 plans, 93 tests)"),
            ("**Phase 1 (Preset (x) Cli):** Complete", "1|Preset (x) Cli|Complete"),
            (
                "**Phase 7 (Read):** Deferred to a future milestone (2026-06-01)",
                "7|Read|Deferred to a future milestone (2026-06-01)",
            ),
            ("**Phase 3:** Superseded by Phase 2 (session)", "3|_|Superseded by Phase 2 (session)"),
            ("**Phase 1:** Pending planning", "1|_|Pending planning"),
            ("Phase 7: Clean Architecture \u{2705}", "7|Clean Architecture|\u{2705}"),
            ("**Phase 3: Name** \u{2014} In progress", "3|Name|In progress"),
            ("Phase 05.1 - A name - COMPLETE (3 plans)", "5.1|A name|COMPLETE (3 plans)"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn sentences_about_phases_are_no_entries() {
        for text in [
            "Phase 1 must complete before Phase 2",
            "Phase 01: 01-01 (7m), 01-02 (10m)",
            "2026-02-17: Phase 4 planned",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
