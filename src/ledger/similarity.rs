//! Compares bullets by their words.

use std::collections::BTreeSet;

use crate::ranking::words;

/// Minimum share of common words at which a bullet repeats another one.
const MIN_SHARED: f64 = 0.8;
/// Minimum number of words of a bullet that may be part of a longer one: any bullet may contain two words.
const MIN_WORDS: usize = 4;

/// The words of a bullet.
#[derive(Clone, Debug)]
pub(crate) struct WordSet(BTreeSet<String>);

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(words(without_note(text)).into_iter().collect())
    }

    /// Returns whether this bullet adds hardly anything to another one.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let is_short = self.0.len() < MIN_WORDS;
        let size = if is_short {
            self.0.len().max(other.0.len())
        } else {
            self.0.len()
        };
        size > 0 && self.shared_words(other) >= MIN_SHARED * as_f64(size)
    }

    /// Returns whether each of two bullets repeats the other; symmetric.
    pub(crate) fn is_similar_to(&self, other: &Self) -> bool {
        let size = self.0.len().max(other.0.len());
        size > 0 && self.shared_words(other) >= MIN_SHARED * as_f64(size)
    }

    /// Returns whether two bullets have no words in common.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    fn shared_words(&self, other: &Self) -> f64 {
        as_f64(self.0.intersection(&other.0).count())
    }
}

fn as_f64(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Returns a bullet without the trailing note `(added …)` or `(updated …)`.
pub(crate) fn without_note(text: &str) -> &str {
    let trimmed = text.trim_end();
    let note = |open: &str| {
        let at = trimmed.rfind(open)?;
        let date = trimmed[at + open.len()..].strip_suffix(')')?;
        (date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')).then_some(at)
    };
    match note("(updated ").or_else(|| note("(added ")) {
        Some(at) => trimmed[..at].trim_end(),
        None => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bullet_that_adds_nothing_is_a_repetition() {
        let repeat =
            |new: &str, old: &str| WordSet::from_text(new).repeats(&WordSet::from_text(old));
        let old =
            "The gateway listens on port 7778 and binds to all addresses (updated 2026-02-05)";
        assert!(repeat(
            "The gateway listens on port 7778 and binds to all addresses",
            old
        ));
        assert!(repeat("Gateway binds to all addresses, port 7778", old));
        assert!(!repeat(
            "The dashboard is served from public/index.html",
            old
        ));
        assert!(!repeat(
            "Use tabs",
            "Use tabs in Makefiles, spaces elsewhere"
        ));
        assert!(!repeat(
            "Use worktrees for agents that run at once, never clones",
            "Use worktrees"
        ));
        assert!(repeat(
            "再試行キューはファイルに保存される",
            "再試行キューはファイルに保存される"
        ));
        assert!(!repeat("", ""));
    }

    #[test]
    fn date_notes_are_removed() {
        assert_eq!(without_note("a (updated 2026-02-05)"), "a");
        assert_eq!(without_note("a (added 2026-02-05) "), "a");
        assert_eq!(
            without_note("a (updated yesterday)"),
            "a (updated yesterday)"
        );
    }
}
