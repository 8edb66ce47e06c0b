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
        let (progress, _) =
            symbols.find_map(|c| SYMBOLS.iter().find(|(_, known)| known.contains(c)))?;
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
    let is_own = |text: &str| {
        is_status(text) || PhaseProgress::parse(text).is_some_and(PhaseProgress::is_dropped)
    };
    let is_symbol = |c: char| PhaseProgress::from_symbol(c.encode_utf8(&mut [0; 4])).is_some();
    let (mut name, mut status) = (text, None);
    // A symbol, a dash and a bracket may follow each other.
    for _ in 0..3 {
        let own = name.text;
        let sign = || {
            let at = own.rfind(is_symbol)?;
            is_status(&own[at..]).then_some((at, at..own.len()))
        };
        let Some((at, stated)) =
            bracketed(own, is_own).or_else(|| dashed(own, is_status)).or_else(sign)
        else {
            break;
        };
        status = status.or(Some(name.part(stated)));
        name = name.part(0..at);
    }
    (name, status)
}

type Split = Option<(usize, std::ops::Range<usize>)>;

/// Finds a status in brackets at the end: the end of the name, and the range of the status.
fn bracketed(text: &str, is_own: impl Fn(&str) -> bool) -> Split {
    let inner = text.strip_suffix(')')?;
    let at = inner.rfind('(')?;
    is_own(&inner[at + 1..]).then_some((at, at + 1..inner.len()))
}

/// Finds a status after the last dash.
fn dashed(text: &str, is_own: impl Fn(&str) -> bool) -> Split {
    DASHES.iter().find_map(|dash| {
        let at = text.rfind(dash)?;
        let start = at + dash.len();
        is_own(&text[start..]).then_some((at, start..text.len()))
    })
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
    let mut name = name.trim();
    loop {
        let colon = || name.rfind(": ").filter(|at| is_own(&name[at + 2..]));
        let loud = || {
            let at = name.rfind(' ')?;
            let (before, word) = (&name[..at], &name[at + 1..]);
            let is_loud = !word.contains(char::is_lowercase) && before.contains(char::is_lowercase);
            (is_loud && is_own(word)).then_some(at)
        };
        let found = dashed(name, is_own).or_else(|| bracketed(name, is_own));
        match found.map(|(at, _)| at).or_else(colon).or_else(loud) {
            Some(at) if at > 0 => name = name[..at].trim_end_matches([' ', ':', '-', '–', '—']),
            _ => return name,
        }
    }
}
