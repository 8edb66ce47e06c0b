//! Parses the status words and symbols of phases, and the words for no value.

use serde::{Deserialize, Serialize};

use crate::clock::parse_date;
use crate::plan::read::located::Span;
use crate::plan::read::vocabulary;

/// The progress of a phase, independent of wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseProgress {
    /// Finished.
    Complete,
    /// Started.
    InProgress,
    /// Not started, whether planned or not.
    NotStarted,
    /// Postponed to a later milestone.
    Deferred,
    /// Covered by another phase.
    Superseded,
    /// Removed from the roadmap.
    Removed,
    /// Unable to continue.
    Blocked,
}

impl PhaseProgress {
    /// Parses a status by its prefix: `Complete (4 plans)`, `✓ Built`, `◑ In progress`, `_(deferred to …)_`.
    pub fn parse(status: &str) -> Option<Self> {
        let found = first_word(&status.to_lowercase()).map(|(progress, _)| progress);
        found.or_else(|| Self::from_symbol(status))
    }

    /// Parses the first status symbol in a text.
    pub(crate) fn from_symbol(text: &str) -> Option<Self> {
        // No symbol is ASCII, and most texts are.
        let mut symbols = text.chars().filter(|c| !c.is_ascii());
        let meaning = |c: char| vocabulary::find("symbol", |symbol| symbol.starts_with(c));
        symbols.find_map(meaning).map(|(progress, _)| progress)
    }

    /// Returns whether a status means complete.
    pub(crate) fn is_complete_status(status: &str) -> bool {
        Self::parse(status) == Some(Self::Complete)
    }

    /// Returns whether a status means that work remains.
    pub(crate) fn is_open_status(status: &str) -> bool {
        matches!(Self::parse(status), Some(Self::InProgress | Self::NotStarted | Self::Blocked))
    }

    /// Returns whether the phase is no longer to be done under its own number.
    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Deferred | Self::Superseded | Self::Removed)
    }
}

/// Returns the first status word that a text in lower case begins with, followed by at most one letter or digit
/// (`completed`), and what follows it.
fn first_word(text: &str) -> Option<(PhaseProgress, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |word: &str| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).count() <= 1)
    };
    let (progress, word) = vocabulary::find("status", begins)?;
    Some((progress, &text[word.len()..]))
}

/// Returns whether a text begins with a date: `2026-01-02`.
pub(crate) fn begins_with_date(text: &str) -> bool {
    let word = text.split([' ', ')', ',', ':']).next();
    word.is_some_and(|word| word.starts_with("20") && parse_date(word).is_some())
}

/// Returns whether a text is a status rather than a name: `COMPLETE`, `Complete (4 plans)`, `complete, verified` and
/// `complete 2026-01-02`, but not `Complete Rewrite`.
pub(crate) fn is_status(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let Some((_, rest)) = first_word(&lower) else {
        return !text.contains(char::is_alphanumeric) && PhaseProgress::from_symbol(text).is_some();
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start();
    rest.is_empty()
        || begins_with_date(rest.trim_start_matches("on "))
        || rest.starts_with(|c: char| !c.is_alphanumeric() && c != '&')
}

/// Marks that separate a name from the status after it.
const DASHES: &[&str] = &[" — ", " – ", " -- ", " - "];

/// Splits a name from the status after it: `Name ✓`, `Name ✅ COMPLETE`, `Name — COMPLETE`, `Name (deferred to v3)`.
pub(crate) fn split_status(text: Span<'_>) -> (Span<'_>, Option<Span<'_>>) {
    let is_symbol = |c: char| PhaseProgress::from_symbol(c.encode_utf8(&mut [0; 4])).is_some();
    let is_own = |text: &str| {
        is_status(text) || PhaseProgress::parse(text).is_some_and(PhaseProgress::is_dropped)
    };
    let (mut name, mut status) = (text, None);
    // A symbol, a dash and a bracket may follow each other.
    loop {
        let own = name.text;
        let bracket = own.strip_suffix(')').and_then(|inner| Some(inner.rfind('(')?..inner.len()));
        let after = DASHES.iter().filter_map(|dash| own.rfind(dash)).chain(own.rfind(is_symbol));
        let mut marks = bracket.into_iter().chain(after.map(|at| at..own.len()));
        let found = marks.find(|range| range.start > 0 && is_own(&own[range.clone()]));
        let Some(range) = found else { break };
        let at = range.start;
        status = status.or(Some(name.part(range).trim_chars(&['(', '-', '–', '—', ' '])));
        name = name.part(0..at);
    }
    (name, status)
}

/// Returns a milestone's name without the status after it: `v1.0 MVP — SHIPPED 2026-02-23`, `v1.0 MVP (complete)`.
pub(crate) fn without_status(name: &str) -> &str {
    let (name, _) = split_status(Span::new(name, 0, 1));
    name.text.trim_end_matches([' ', ':', '-', '–', '—'])
}
