//! Compares short texts by the words they contain, and detects which of two corrects the other.

use std::collections::BTreeSet;

use crate::search::bm25::to_f64;
use crate::search::words::words;

/// Number of characters at the start of a text in which a correction must identify itself.
const OPENING_CHARS: usize = 120;

/// Minimum share of the shorter text's words that both texts must contain.
const MIN_SHARED_WORDS: f64 = 0.5;

/// Openings of a correction.
const OPENINGS: &[&str] =
    &["actually", "correction", "corrected", "erratum", "no longer", "update:", "wrong:"];

/// Phrases by which a correction refers to the earlier statement.
const PHRASES: &[&str] = &[
    " is no longer ", " are no longer ", " was wrong", " were wrong", " not as stated",
    ", not as ", "changed from ", "supersedes ",
];

/// Minimum share of common words at which a text repeats another one.
const MIN_SHARED: f64 = 0.8;
/// Minimum number of words of a text that may be part of a longer one: any text may contain two words.
const MIN_WORDS: usize = 4;

/// The words of a text.
#[derive(Clone, Debug)]
pub(crate) struct WordSet(BTreeSet<String>);

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(words(text).into_iter().collect())
    }

    /// Returns whether this text adds hardly anything to another one.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let is_short = self.0.len() < MIN_WORDS;
        let size = if is_short { self.0.len().max(other.0.len()) } else { self.0.len() };
        size > 0 && self.shared_words(other) >= MIN_SHARED * to_f64(size)
    }

    /// Returns whether two texts have no words in common.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns the number of words that two texts have in common.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.0.intersection(&other.0).count()
    }

    fn shared_words(&self, other: &Self) -> f64 {
        to_f64(self.common(other))
    }
}

/// Returns whether a text corrects another one about the same subject.
pub fn corrects(text: &str, other: &str) -> bool {
    is_correction(text) && !is_correction(other) && have_same_subject(text, other)
}

fn is_correction(text: &str) -> bool {
    let head: String = text.chars().take(OPENING_CHARS).collect();
    let head = head.to_lowercase();
    let head = head.trim_start_matches(|c: char| !c.is_alphanumeric());
    OPENINGS.iter().any(|opening| head.starts_with(opening))
        || PHRASES.iter().any(|phrase| head.contains(phrase))
}

fn have_same_subject(one: &str, other: &str) -> bool {
    let long_words = |text: &str| -> BTreeSet<String> {
        let is_long = |word: &String| word.chars().count() > 2;
        words(text).into_iter().filter(is_long).collect()
    };
    let (one, other) = (long_words(one), long_words(other));
    let shared = one.intersection(&other).count();
    shared > 1 && to_f64(shared) >= MIN_SHARED_WORDS * to_f64(one.len().min(other.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_adds_nothing_is_a_repetition() {
        let repeat =
            |new: &str, old: &str| WordSet::from_text(new).repeats(&WordSet::from_text(old));
        let old = "The gateway listens on port 7778 and binds to all addresses";
        assert!(repeat("The gateway listens on port 7778 and binds to all addresses", old));
        assert!(repeat("Gateway binds to all addresses, port 7778", old));
        assert!(!repeat("The dashboard is served from public/index.html", old));
        assert!(!repeat("Use tabs", "Use tabs in Makefiles, spaces elsewhere"));
        assert!(!repeat(
            "Use worktrees for agents that run at once, never clones",
            "Use worktrees"
        ));
        assert!(repeat("再試行キューはファイルに保存される", "再試行キューはファイルに保存される"));
        assert!(!repeat("", ""));
    }

    #[test]
    fn a_correction_identifies_itself_and_shares_the_subject() {
        let old = "The server listens on port 5432.";
        for new in [
            "Correction: the server listens on port 5433.",
            "**Correction** (2026-02-01): the server listens on 5433",
            "The server is no longer on port 5432, it listens on 5433.",
        ] {
            assert!(corrects(new, old), "{new}");
            assert!(!corrects(old, new), "{new}");
        }
        assert!(!corrects("Correction: the logo is green.", old));
        assert!(!corrects("The server listens on port 5433.", old));
        assert!(!corrects("", ""));
    }
}
