//! Detects which text corrects another, so that the correction can be shown first.

use std::collections::BTreeSet;

use crate::ranking::to_f64;
use crate::ranking::words::words;

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
