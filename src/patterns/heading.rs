//! Parses the heading of an entry: `Phase 5.1: Event system (2026-02-11)` and its other spellings.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex_lite::Regex;

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

/// `Phase`, and what may stand between it and its number.
static PHASE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bphase[ #:_*`-]*").expect("a constant pattern"));

/// A date with the brackets around it and other words in them, or alone.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"[(\[][^()\[\]]{0,24}?\b(\d{4}[-/]\d\d?[-/]\d\d?)[^()\[\]]*[)\]]|\b(\d{4}[-/]\d\d?[-/]\d\d?)",
    )
    .expect("a constant pattern")
});

impl EntryHeading {
    /// Parses a heading of an entry that was recorded from `folder`, which may be empty.
    ///
    /// ```text
    /// Phase 5.1: Event system (2026-02-11)      Retrospective: phase 05 - Event system, 2026-02-11
    /// **Phase 3** — Event system                [2026-02-11] Phase 3 Event system
    /// ```
    ///
    /// After `02-01-alerts`, the phase of `Phase 2-01: Alerts` is 2-01; without a folder, that is a range.
    pub(crate) fn parse(title: &str, folder: &str) -> Self {
        let known = PhaseNumbering::MilestonePrefixed.split_folder(folder);
        let dates = DATE.captures_iter(title).filter_map(|found| {
            let day = parse_date(found.get(1).or_else(|| found.get(2))?.as_str())?;
            Some((found.get(0)?.range(), day))
        });
        let date = dates.last();
        let without = date.as_ref().map_or(title.to_owned(), |(range, _)| {
            format!("{} {}", &title[..range.start], &title[range.end..])
        });
        let split = split_phase(&without, known.map(|(number, _)| number).as_ref());
        let (phase, name) = match split {
            Some((number, name)) => (Some(number), name),
            None => (None, &*without),
        };
        Self { phase, name: trimmed(name).to_owned(), date: date.map(|(_, day)| day) }
    }
}

/// Returns the number after the first `Phase` that has one, and the rest of the title.
fn split_phase<'a>(title: &'a str, known: Option<&PhaseNumber>) -> Option<(PhaseNumber, &'a str)> {
    let words = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
    };
    let found = PHASE.find_iter(title);
    let mut found = found.take_while(|found| words(&title[..found.start()]) <= MAX_WORDS_BEFORE);
    found.find_map(|found| split_number(&title[found.end()..], known))
}

/// Splits the number from the start of a text; `2-01:` is a phase of a milestone if it is the `known` one.
fn split_number<'a>(text: &'a str, known: Option<&PhaseNumber>) -> Option<(PhaseNumber, &'a str)> {
    let behind = known.and_then(|known| Some((known, known.strip_id(text)?)));
    behind
        .filter(|(_, rest)| rest.starts_with(':') && !text.starts_with('0'))
        .map(|(known, rest)| (known.clone(), rest))
        .or_else(|| PhaseNumber::split(text))
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
            let heading = EntryHeading::parse(title, folder);
            let number = heading.phase.map(|phase| phase.to_string());
            assert_eq!(number.as_deref(), Some(phase), "{title} in {folder}");
            assert_eq!(heading.name, name, "{title} in {folder}");
        }
        let heading = EntryHeading::parse("Phase 8-10: Retro", "");
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
            let heading = EntryHeading::parse(title, "");
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
