//! Compares passages of different plans by their words, to find those about the same subject.

use std::collections::BTreeSet;

use crate::planning::ratio;

/// Minimum share of common words at which two passages are similar.
const SHARE: f64 = 0.4;

/// Minimum share of the shorter passage's words at which it is similar to a longer one.
const SHARE_OF_SHORTER: f64 = 0.8;

/// Minimum number of common words; fewer are chance, however short the passages are.
const MIN_COMMON_WORDS: usize = 3;

/// Minimum number of words of the shorter passage; one with fewer could be contained in any long one.
const MIN_SHORTER_WORDS: usize = 4;

/// Minimum share of common words at which two passages that begin with the same words are similar.
const SHARE_OF_SAME_LEAD: f64 = 0.25;

/// Minimum share of common words at which two lessons are too similar for one short list.
const SHARE_OF_NEAR: f64 = 0.25;

/// Number of words that form the beginning of a passage.
const LEAD: usize = 2;

/// Stop words: words used in every summary, whatever its subject.
const COMMON: &[&str] = &[
    "add", "and", "are", "been", "but", "did", "do", "does", "fix", "for", "from", "had", "has",
    "have", "in", "into", "is", "it", "not", "of", "on", "out", "plan", "so", "task", "than",
    "that", "the", "their", "them", "then", "thi", "to", "us", "use", "via", "wa", "were", "when",
    "which", "while", "with", "issue", "after", "before", "file", "need", "required", "instead",
    "all", "also", "an", "as", "at", "be", "by", "no", "or", "a", "s", "t",
];

/// The stemmed words of a passage that characterise its subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    all: BTreeSet<String>,
    lead: Vec<String>,
}

impl Words {
    pub(crate) fn from_text(text: &str) -> Self {
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.contains(char::is_alphabetic))
            .map(stem)
            .filter(|word| !COMMON.contains(&word.as_str()));
        let mut found = Self::default();
        for word in words {
            if found.lead.len() < LEAD {
                found.lead.push(word.clone());
            }
            found.all.insert(word);
        }
        found
    }

    /// Returns the similarity of two passages by their common words, from 0 to 1.
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let common = self.all.intersection(&other.all).count();
        if common < MIN_COMMON_WORDS {
            return 0.0;
        }
        let all = self.all.len() + other.all.len() - common;
        let shorter = self.all.len().min(other.all.len());
        let of_shorter = ratio(common, shorter);
        if shorter >= MIN_SHORTER_WORDS && of_shorter >= SHARE_OF_SHORTER {
            return of_shorter;
        }
        ratio(common, all)
    }

    /// Returns the common words of two passages.
    pub(crate) fn common_with(&self, other: &Self) -> Self {
        Self {
            all: &self.all & &other.all,
            lead: Vec::new(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether two lessons are so similar that a short list needs only one of them.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        self.is_like(other) || self.likeness(other) >= SHARE_OF_NEAR
    }

    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let likeness = self.likeness(other);
        let has_same_lead = self.lead.len() == LEAD && self.lead == other.lead;
        likeness >= SHARE || (has_same_lead && likeness >= SHARE_OF_SAME_LEAD)
    }
}

/// Returns groups of similar passages, by index; a passage that is similar to no other forms its own group.
///
/// A passage joins the first group whose first passage is similar to it, so that groups never chain from one
/// subject to another.
pub(crate) fn groups(passages: &[Words]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, words) in passages.iter().enumerate() {
        let group = groups
            .iter_mut()
            .find(|group| passages[group[0]].is_like(words));
        match group {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// Returns the word in lower case, without the most common endings.
fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let stemmed = ["ing", "ed", "es", "s"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending).filter(|stem| stem.len() > 2));
    stemmed.unwrap_or(&lower).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_in_other_words_is_alike() {
        let texts = [
            "Backend build initially failed due to file locks from a running Server process.",
            "File locking by a running Server process (PID 59728) made the first build fail",
            "Pre-existing test failures in Pharmacy are unrelated",
            "Formatted imports with prettier",
            "Prettier reordered the imports after formatting",
        ];
        let words: Vec<_> = texts.iter().map(|text| Words::from_text(text)).collect();
        assert_eq!(groups(&words), [vec![0, 1], vec![2], vec![3, 4]]);
    }

    #[test]
    fn one_or_two_common_words_are_chance() {
        for (one, other) in [
            ("MATCH", "The rows match those of the store"),
            ("MATCH", "MATCH"),
            (
                "`--paper` exists",
                "The token `--paper` exists in the printer's own theme",
            ),
            (
                "colour codes leak",
                "Printing tables leaks colour codes of other printers into the next row",
            ),
        ] {
            assert!(
                !Words::from_text(one).is_like(&Words::from_text(other)),
                "{one}"
            );
        }
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert!(!Words::from_text("").is_like(&Words::from_text("")));
        assert!(!Words::from_text("the and").is_like(&Words::from_text("the and")));
    }
}
