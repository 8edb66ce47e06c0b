//! Tells which text corrects another: what was wrong must not be read before what is right.

use std::collections::BTreeSet;

use crate::ranking::real;
use crate::ranking::words::words;

/// A correction says that it is one in so many characters.
const HEAD: usize = 120;

/// The share of the shorter text's words that both must have.
const SHARED: f64 = 0.5;

/// How a correction begins.
const OPENINGS: &[&str] = &[
    "actually",
    "correction",
    "corrected",
    "erratum",
    "no longer",
    "update:",
    "wrong:",
];

/// What a correction says of what was there before.
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

/// Returns whether a text corrects another one on the same matter.
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
