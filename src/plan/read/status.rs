//! Parses the status words and symbols of phases, and the words for no value.

use serde::Serialize;

use crate::clock::parse_date;
use crate::plan::read::located::Span;
use crate::plan::read::vocabulary::{MILESTONE_STATUSES, STATUSES, SYMBOLS};
use crate::text::strip_prefix_ignore_case;

/// The progress of a phase, independent of wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    pub(super) const ALL: [Self; 7] = [
        Self::Complete,
        Self::InProgress,
        Self::NotStarted,
        Self::Deferred,
        Self::Superseded,
        Self::Removed,
        Self::Blocked,
    ];

    /// Parses a status by its prefix: `Complete (4 plans)`, `✓ Built`, `◑ In progress`, `_(deferred to …)_`.
    pub fn parse(status: &str) -> Option<Self> {
        let lower = status.to_lowercase();
        let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        // `Executed 2 of 4 plans` and `Executed, verification failed` are not complete.
        let executed = words.strip_prefix("executed").map(str::trim);
        let is_executed = executed.is_some_and(|rest| rest.is_empty() || begins_with_date(rest));
        first_word(words)
            .map(|(progress, _)| progress)
            .or(is_executed.then_some(Self::Complete))
            .or_else(|| Self::from_symbol(status))
    }

    /// Parses the first status symbol in a text.
    pub(crate) fn from_symbol(text: &str) -> Option<Self> {
        // No symbol is ASCII, and most texts are.
        let mut symbols = text.chars().filter(|c| !c.is_ascii());
        let (progress, _) = symbols.find_map(|c| {
            SYMBOLS.iter().find(|(_, known)| known.iter().any(|one| one.starts_with(c)))
        })?;
        Some(*progress)
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
/// (`completed`), and its meaning.
fn first_word(text: &str) -> Option<(PhaseProgress, &'static str)> {
    let begins = |word: &&&str| {
        text.strip_prefix(**word).is_some_and(|rest| {
            rest.len() - rest.trim_start_matches(char::is_alphanumeric).len() <= 1
        })
    };
    STATUSES.iter().find_map(|(progress, words)| Some((*progress, *words.iter().find(begins)?)))
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
    let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let Some((_, word)) = first_word(words) else {
        return words.is_empty() && PhaseProgress::from_symbol(text).is_some();
    };
    let rest = words[word.len()..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let rest = rest.trim_start();
    rest.is_empty()
        || begins_with_date(rest)
        || rest.starts_with(|c: char| !c.is_alphanumeric() && c != '&')
        || text.contains(char::is_alphabetic) && !text.contains(char::is_lowercase)
}

/// Marks that separate a name from the status after it.
pub(crate) const DASHES: &[&str] = &[" — ", " – ", " -- ", " - "];

/// Splits a name from the status after it: `Name ✓`, `Name ✅ COMPLETE`, `Name — COMPLETE`, `Name (deferred to v3)`.
pub(crate) fn split_status(text: Span<'_>) -> (Span<'_>, Option<Span<'_>>) {
    split(text, |text| {
        is_status(text) || PhaseProgress::parse(text).is_some_and(PhaseProgress::is_dropped)
    })
}

fn split(text: Span<'_>, is_own: impl Fn(&str) -> bool) -> (Span<'_>, Option<Span<'_>>) {
    let is_symbol = |c: char| PhaseProgress::from_symbol(c.encode_utf8(&mut [0; 4])).is_some();
    let (mut name, mut status) = (text, None);
    // A symbol, a dash and a bracket may follow each other.
    for _ in 0..3 {
        let own = name.text;
        let bracket = own.strip_suffix(')').and_then(|inner| Some((inner.rfind('(')?, 1, 1)));
        let dashes = DASHES.iter().filter_map(|dash| Some((own.rfind(dash)?, dash.len(), 0)));
        let symbol = own.rfind(is_symbol).map(|at| (at, 0, 0));
        // `v1.0 MVP SHIPPED`
        let loud = own.rfind(' ').filter(|at| {
            !own[*at..].contains(char::is_lowercase) && own[..*at].contains(char::is_lowercase)
        });
        let loud = loud.map(|at| (at, 1, 0));
        let mut marks = bracket.into_iter().chain(dashes).chain(symbol).chain(loud);
        let found =
            marks.find(|(at, open, close)| *at > 0 && is_own(&own[at + open..own.len() - close]));
        let Some((at, open, close)) = found else { break };
        status = status.or(Some(name.part(at + open..own.len() - close)));
        name = name.part(0..at);
    }
    (name, status)
}

/// Returns a milestone's name without the status after it: `v1.0 MVP — SHIPPED 2026-02-23`, `v1.0 MVP (complete)`,
/// `v1.0 MVP SHIPPED`.
pub(crate) fn without_status(name: &str) -> &str {
    let is_own = |text: &str| {
        let words = text.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
        let found =
            MILESTONE_STATUSES.iter().find_map(|word| strip_prefix_ignore_case(words, word));
        let is_symbol = words.is_empty() && PhaseProgress::from_symbol(text).is_some();
        is_symbol
            || found.is_some_and(|rest| {
                let remark = rest.trim_start();
                let is_dated = parse_date(remark.trim_start_matches("on ")).is_some();
                !rest.starts_with(char::is_alphanumeric)
                    && (is_dated || !remark.starts_with(char::is_alphanumeric))
            })
    };
    let (name, _) = split(Span::new(name, 0, 1), is_own);
    name.text.trim_end_matches([' ', ':', '-', '–', '—'])
}
