//! The entries of PATTERNS.md, one per phase, with their headings and bullets as annals writes them.

use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex_lite::Regex;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::clock::parse_date;
use crate::patterns::Trace;
use crate::plan::{PhaseNumber, PhaseNumbering, PlanNumber};
use crate::text::{hexadecimal, pattern};

/// The bullet that stands for an empty list.
const NONE: &str = "none recorded";

/// Returns the part of an entry that contains its bullets, as annals writes it.
pub(crate) fn bullets<T: Display>(worked: &[T], failed: &[T]) -> String {
    let list = |bullets: &[T]| -> String {
        if bullets.is_empty() {
            return format!("- {NONE}\n");
        }
        bullets.iter().map(|bullet| format!("- {bullet}\n")).collect()
    };
    format!("**What worked:**\n{}\n**What failed:**\n{}\n", list(worked), list(failed))
}

/// Returns the digest of an entry's bullets, which shows later whether they were edited.
pub(crate) fn digest<T: Display>(worked: &[T], failed: &[T]) -> String {
    hexadecimal(&Sha256::digest(bullets(worked, failed))[..8])
}

/// Returns whether a bullet only stands for an empty list.
pub(crate) fn is_filler(text: &str) -> bool {
    [NONE, "none observed"].iter().any(|none| text.eq_ignore_ascii_case(none))
}

/// PATTERNS.md as parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// The entries, in file order.
    pub entries: Vec<PatternEntry>,
    /// The content outside all entries, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<LoosePattern>,
}

impl Patterns {
    /// Returns whether nothing is recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.loose.is_empty()
    }

    /// Returns all texts, in no particular order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter();
        entries
            .flat_map(PatternEntry::all_texts)
            .chain(self.loose.iter().map(|loose| loose.text.as_str()))
    }
}

/// The entry of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternEntry {
    /// The phase's number; `None` if the heading has none.
    pub phase: Option<PhaseNumber>,
    /// The phase's name: the heading without number and date.
    pub name: String,
    /// The date in the heading.
    pub date: Option<NaiveDate>,
    /// What worked, one text per bullet, verbatim.
    pub worked: Vec<String>,
    /// What failed, one text per bullet, verbatim.
    pub failed: Vec<String>,
    /// The same texts, each with the plans it cites and its source.
    pub bullets: Vec<Bullet>,
    /// The texts without a label, or with an unknown one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The phase it was recorded from, if the entry says so.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// The whole entry, verbatim, with its heading.
    #[serde(skip)]
    pub text: String,
    /// Byte range of the entry.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number of its heading, from 1.
    #[serde(skip)]
    pub line: usize,
}

impl PatternEntry {
    /// Returns its title: `Phase 3: Shopping Lists`, or else the name alone.
    pub(crate) fn title(&self) -> String {
        match &self.phase {
            Some(phase) => format!("Phase {phase}: {}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the texts of all bullets and notes.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = &str> {
        self.texts().chain(self.notes.iter().map(String::as_str))
    }

    /// Returns the texts of all bullets, those about what worked first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.worked.iter().chain(&self.failed).map(String::as_str)
    }
}

/// A bullet of an entry with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bullet {
    /// Its text, verbatim.
    pub text: String,
    /// The section that it is in.
    pub section: BulletSection,
    /// The plans that it cites.
    pub plans: Vec<PlanNumber>,
    /// The place in a summary that it was drawn from; `None` if the entry does not say, or the file is gone.
    pub source: Option<BulletSource>,
}

/// The section of an entry that a bullet is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BulletSection {
    /// `What worked`.
    Worked,
    /// `What failed`.
    Failed,
}

/// The place in a summary that a bullet was drawn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BulletSource {
    /// Path of the summary, relative to the project.
    pub file: PathBuf,
    /// Line number, from 1; `None` if the source is the summary as a whole.
    pub line: Option<usize>,
    /// The text there.
    pub text: String,
}

/// A bullet or paragraph outside all entries, as written by people and other tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoosePattern {
    /// The heading above it.
    pub section: Option<String>,
    /// Its text on one line, verbatim without the list marker.
    pub text: String,
    /// Byte range.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number, from 1.
    #[serde(skip)]
    pub line: usize,
}

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
static PHASE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bphase[ #:_*`-]*"));

/// A date with the brackets around it and other words in them, or alone.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[(\[][^()\[\]]{0,24}?\b(\d{4}[-/]\d\d?[-/]\d\d?)[^()\[\]]*[)\]]|\b(\d{4}[-/]\d\d?[-/]\d\d?)",
    )
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
