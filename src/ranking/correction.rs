//! Detects which text corrects another, so that the correction can be shown first.

use std::collections::BTreeSet;

use crate::ranking::real;
use crate::ranking::words::words;

/// Number of characters at the start of a text in which a correction must identify itself.
const HEAD: usize = 120;

/// Minimum share of the shorter text's words that both texts must contain.
const SHARED: f64 = 0.5;

/// Openings of a correction.
const OPENINGS: &[&str] = &[
    "actually",
    "correction",
    "corrected",
    "erratum",
    "no longer",
    "update:",
    "wrong:",
];

/// Phrases by which a correction refers to the earlier statement.
const PHRASES: &[&str] = &[
    " is no longer ",
    " are no longer ",
    " was wrong",
    " were wrong",
    " not as stated",
    ", not as ",
    "changed from ",
    "supersedes ",
];

/// Returns whether a text corrects another one about the same subject.
pub fn corrects(text: &str, other: &str) -> bool {
    is_correction(text) && !is_correction(other) && are_of_one_matter(text, other)
}

fn is_correction(text: &str) -> bool {
    let head: String = text.chars().take(HEAD).collect();
    let head = head.to_lowercase();
    let head = head.trim_start_matches(|c: char| !c.is_alphanumeric());
    OPENINGS.iter().any(|opening| head.starts_with(opening))
        || PHRASES.iter().any(|phrase| head.contains(phrase))
}

fn are_of_one_matter(one: &str, other: &str) -> bool {
    let set = |text: &str| -> BTreeSet<String> {
        let long = |word: &String| word.chars().count() > 2;
        words(text).into_iter().filter(long).collect()
    };
    let (one, other) = (set(one), set(other));
    let shared = one.intersection(&other).count();
    shared > 1 && real(shared) >= SHARED * real(one.len().min(other.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_says_that_it_is_one_and_is_of_the_same_matter() {
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
