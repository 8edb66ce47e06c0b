//! Parses the heading of an entry: `Phase 5.1: Event system (2026-02-11)` and its other spellings.

use std::ops::Range;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::plan::{PhaseNumber, PhaseNumbering};

/// A parsed heading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryHeading {
    pub(crate) phase: Option<PhaseNumber>,
    pub(crate) name: String,
    pub(crate) date: Option<NaiveDate>,
}

/// Maximum number of words before `Phase`; a longer title is a sentence that mentions a phase.
const MAX_WORDS_BEFORE: usize = 3;

impl EntryHeading {
    /// Parses a heading.
    ///
    /// ```text
    /// Phase 5.1: Event system (2026-02-11)      Retrospective: phase 05 - Event system, 2026-02-11
    /// **Phase 3** — Event system                [2026-02-11] Phase 3 Event system
    /// ```
    pub(crate) fn parse(title: &str) -> Self {
        Self::parse_with(title, None)
    }

    /// Parses the heading of an entry that was recorded from a phase's folder: after `02-01-alerts`, the phase of
    /// `Phase 2-01: Alerts` is 2-01. Without one, the heading of such a phase looks like a range.
    pub(crate) fn parse_in_folder(title: &str, folder: &str) -> Self {
        let number = PhaseNumbering::MilestonePrefixed.split_folder(folder);
        Self::parse_with(title, number.map(|(number, _)| number).as_ref())
    }

    fn parse_with(title: &str, known: Option<&PhaseNumber>) -> Self {
        let (without, date) = split_date(title);
        let (phase, name) = split_phase(&without, known).unwrap_or((None, &without));
        Self { phase, name: trimmed(name).to_owned(), date }
    }
}

/// Returns the number after the first `Phase` that has one, and the rest of the title.
fn split_phase<'a>(
    title: &'a str,
    known: Option<&PhaseNumber>,
) -> Option<(Option<PhaseNumber>, &'a str)> {
    for (at, _) in title.match_indices(['p', 'P']) {
        let Some(word) = title.get(at..at + 5) else {
            continue;
        };
        let before = &title[..at];
        if !word.eq_ignore_ascii_case("phase") || before.ends_with(char::is_alphanumeric) {
            continue;
        }
        let words = before.split(|c: char| !c.is_alphanumeric());
        if words.filter(|word| !word.is_empty()).count() > MAX_WORDS_BEFORE {
            return None;
        }
        let rest = title[at + 5..].trim_start_matches(|c: char| " #:_*`-".contains(c));
        if let Some((number, rest)) = split_number(rest, known) {
            return Some((Some(number), rest));
        }
    }
    None
}

/// Splits the number from the start of a text; `2-01:` is a phase of a milestone if it is the `known` one.
fn split_number<'a>(text: &'a str, known: Option<&PhaseNumber>) -> Option<(PhaseNumber, &'a str)> {
    let behind = known.and_then(|known| Some((known, known.strip_id(text)?)));
    behind
        .filter(|(_, rest)| rest.starts_with(':') && !text.starts_with('0'))
        .map(|(known, rest)| (known.clone(), rest))
        .or_else(|| PhaseNumber::split(text))
}

/// Returns the title without its last date and the brackets around it, and the date.
fn split_date(title: &str) -> (String, Option<NaiveDate>) {
    let Some((range, date)) = last_date(title) else {
        return (title.to_owned(), None);
    };
    let (before, after) = (&title[..range.start], &title[range.end..]);
    let inside = before.rfind(['(', '[']).filter(|at| {
        !before[*at..].contains([')', ']']) && after.contains([')', ']']) && before.len() - at < 24
    });
    let without = match (inside, after.find([')', ']'])) {
        (Some(open), Some(close)) => format!("{}{}", &before[..open], &after[close + 1..]),
        _ => format!("{} {}", trimmed_end(before), after.trim_start()),
    };
    (without, Some(date))
}

fn last_date(title: &str) -> Option<(Range<usize>, NaiveDate)> {
    let is_digit = |at: usize| title.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    (0..title.len()).rev().filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1))).find_map(
        |at| {
            let date = parse_date(&title[at..])?;
            let length = title[at..]
                .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '/')))
                .unwrap_or(title.len() - at);
            Some((at..at + length, date))
        },
    )
}

fn trimmed_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || ",;:-\u{2013}\u{2014}".contains(c))
}

fn trimmed(text: &str) -> &str {
    let is_edge = |c: char| c.is_whitespace() || ":;,-\u{2013}\u{2014}*_|".contains(c);
    text.trim_start_matches(|c| is_edge(c) || c == '.' || c == ')' || c == ']')
        .trim_end_matches(is_edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_tells_a_phase_of_a_milestone_from_a_range() {
        for (title, folder, phase, name) in [
            ("Phase 2-01: Alerts (2026-02-11)", "02-01-alerts", "2-01", "Alerts"),
            ("Phase 8-10: Retro", "CK-08-10-retro", "8-10", "Retro"),
            ("Phase 8-10: Retro", "08-retro", "8", "10: Retro"),
            ("Phase 8-10: Retro", "08-11-retro", "8", "10: Retro"),
            ("Phase 8-10: Retro", "", "8", "10: Retro"),
            ("Phase 2-01 Alerts", "02-01-alerts", "2", "01 Alerts"),
            ("Phase 02-01: Alerts", "02-01-alerts", "2", "01: Alerts"),
            ("Phase 2: 01 alerts", "02-01-alerts", "2", "01 alerts"),
        ] {
            let heading = EntryHeading::parse_in_folder(title, folder);
            let number = heading.phase.map(|phase| phase.to_string());
            assert_eq!(number.as_deref(), Some(phase), "{title} in {folder}");
            assert_eq!(heading.name, name, "{title} in {folder}");
        }
        let heading = EntryHeading::parse("Phase 8-10: Retro");
        assert_eq!(heading.phase, Some(PhaseNumber::from(8)));
        assert_eq!(heading.name, "10: Retro");
    }

    #[test]
    fn headings_of_every_spelling_are_taken_apart() {
        for (title, phase, name, date) in [
            ("Phase 5.1: Event system (2026-02-11)", "5.1", "Event system", "2026-02-11"),
            ("Phase 03: C# (core) (2026-02-11)", "3", "C# (core)", "2026-02-11"),
            ("Phase 3 - Auth — 2026-02-11", "3", "Auth", "2026-02-11"),
            ("Retrospective: phase 05 - Events, 2026-02-11", "5", "Events", "2026-02-11"),
            ("[2026-02-11] Phase 3 Auth", "3", "Auth", "2026-02-11"),
            ("**Phase 3** — Auth", "3", "Auth", ""),
            ("PHASE 3b (shipped 2026-02-11)", "3b", "", "2026-02-11"),
            ("Phase 2: Since 2025-01-01 (2026-02-11)", "2", "Since 2025-01-01", "2026-02-11"),
            ("Phase 2: Release 1.2.3", "2", "Release 1.2.3", ""),
            ("Phase X: Later", "", "Phase X: Later", ""),
            ("What we learned in phase 3", "", "What we learned in phase 3", ""),
            ("Error handling", "", "Error handling", ""),
            ("", "", "", ""),
        ] {
            let heading = EntryHeading::parse(title);
            let shown = heading.phase.map(|phase| phase.to_string()).unwrap_or_default();
            let day = heading.date.map(|date| date.to_string()).unwrap_or_default();
            assert_eq!(
                (shown.as_str(), heading.name.as_str(), day.as_str()),
                (phase, name, date),
                "{title:?}"
            );
        }
    }
}
