//! Compares short texts by the words they contain.

use std::collections::BTreeSet;

use crate::ranking::{to_f64, words};

/// Minimum share of common words at which a text repeats another one.
const MIN_SHARED: f64 = 0.8;
/// Minimum number of words of a text that may be part of a longer one: any text may contain two words.
const MIN_WORDS: usize = 4;

/// Stems of words that restrict or reverse a statement.
const RESTRICTIONS: &[&str] =
    &["cannot", "except", "never", "no", "not", "onli", "unless", "until", "without"];

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

    /// Returns whether each of two texts repeats the other; symmetric.
    pub(crate) fn is_similar_to(&self, other: &Self) -> bool {
        let size = self.0.len().max(other.0.len());
        let most = self.0.len().min(other.0.len());
        size > 0
            && to_f64(most) >= MIN_SHARED * to_f64(size)
            && self.shared_words(other) >= MIN_SHARED * to_f64(size)
    }

    /// Returns whether two similar texts differ only by words added to one of them, none of which restricts or
    /// reverses the statement.
    pub(crate) fn differs_only_by_additions(&self, other: &Self) -> bool {
        let (fewer, more) =
            if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let mut added = more.0.difference(&fewer.0);
        self.is_similar_to(other)
            && fewer.0.is_subset(&more.0)
            && !added.any(|word| RESTRICTIONS.contains(&word.as_str()))
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
    fn an_addition_is_distinguished_from_a_replacement() {
        let differs = |one: &str, other: &str| {
            WordSet::from_text(one).differs_only_by_additions(&WordSet::from_text(other))
        };
        assert!(differs("Tokens are encrypted with AES", "Tokens encrypted with AES"));
        assert!(differs("Warn below 5 euros", "Warn below 5 euros"));
        assert!(!differs(
            "Use Redis for the cache of sessions",
            "Use SQLite for the cache of sessions"
        ));
        assert!(!differs("Warn users below 5 euros", "Warn users below 10 euros"));
        assert!(!differs("Use SQLite", "Use SQLite for sessions"));
        for word in ["not", "never", "only", "without", "except"] {
            let restricted = format!("Use the mock server of the shop in tests, {word} in CI");
            assert!(
                !differs("Use the mock server of the shop in tests in CI", &restricted),
                "{word}"
            );
        }
        assert!(!differs("", ""));
    }
}
