//! Compares passages of different plans by their words, to find those about the same subject.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use crate::plan::ratio;
use crate::ranking::Language;

/// Minimum share of common words at which two passages are similar.
const MIN_SIMILARITY: f64 = 0.4;

/// Minimum share of the shorter passage's words at which it is similar to a longer one.
const MIN_SHARE_OF_SHORTER: f64 = 0.8;

/// Minimum number of common words; fewer are chance, however short the passages are.
const MIN_COMMON_WORDS: usize = 3;

/// Minimum number of words of the shorter passage; one with fewer could be contained in any long one.
const MIN_SHORTER_WORDS: usize = 4;

/// Minimum share of common words at which two passages that begin with the same words are similar.
const MIN_SIMILARITY_WITH_SAME_LEAD: f64 = 0.25;

/// Minimum share of common words at which two lessons are too similar for one short list.
const MIN_SIMILARITY_OF_NEAR_DUPLICATES: f64 = 0.25;

/// Number of words that form the beginning of a passage.
const LEADING_WORDS: usize = 2;

/// Maximum number of passages stored per word, since frequent words identify no subject; the latest are kept.
const MAX_USING: usize = 200;

/// Stop words: words used in every summary, whatever its subject.
const COMMON: &[&str] = &[
    "add", "and", "are", "been", "but", "did", "do", "does", "fix", "for", "from", "had", "has",
    "have", "in", "into", "is", "it", "not", "of", "on", "out", "plan", "so", "task", "than",
    "that", "the", "their", "them", "then", "this", "to", "us", "use", "via", "was", "were",
    "when", "which", "while", "with", "issue", "after", "before", "file", "need", "required",
    "instead", "all", "also", "an", "as", "at", "be", "by", "no", "or", "a", "s", "t",
];

/// The stemmed words of a passage that characterise its subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StemmedWords {
    all: BTreeSet<String>,
    lead: Vec<String>,
}

impl StemmedWords {
    pub(crate) fn from_text(text: &str) -> Self {
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.contains(char::is_alphabetic))
            .map(stem)
            .filter(|stem| !is_common(stem));
        let mut found = Self::default();
        for word in words {
            if found.lead.len() < LEADING_WORDS {
                found.lead.push(word.clone());
            }
            found.all.insert(word);
        }
        found
    }

    /// Returns the similarity of two passages by their common words, from 0 to 1.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        self.similarity_by(self.common(other), other)
    }

    /// Returns the similarity of passages with this many words in common.
    fn similarity_by(&self, common: usize, other: &Self) -> f64 {
        if common < MIN_COMMON_WORDS {
            return 0.0;
        }
        let all = self.all.len() + other.all.len() - common;
        let shorter = self.all.len().min(other.all.len());
        let of_shorter = ratio(common, shorter);
        if shorter >= MIN_SHORTER_WORDS && of_shorter >= MIN_SHARE_OF_SHORTER {
            return of_shorter;
        }
        ratio(common, all)
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of words that two passages share.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.all.intersection(&other.all).count()
    }

    /// Returns the common words of two passages.
    pub(crate) fn common_with(&self, other: &Self) -> Self {
        Self { all: &self.all & &other.all, lead: Vec::new() }
    }

    /// Returns whether two lessons are too similar for one short list.
    pub(crate) fn is_near_duplicate(&self, other: &Self) -> bool {
        self.is_similar(other) || self.similarity(other) >= MIN_SIMILARITY_OF_NEAR_DUPLICATES
    }

    pub(crate) fn is_similar(&self, other: &Self) -> bool {
        self.is_similar_by(self.similarity(other), other)
    }

    fn is_similar_by(&self, similarity: f64, other: &Self) -> bool {
        let has_same_lead = || self.lead.len() == LEADING_WORDS && self.lead == other.lead;
        similarity >= MIN_SIMILARITY
            || (similarity >= MIN_SIMILARITY_WITH_SAME_LEAD && has_same_lead())
    }
}

/// Passages indexed by word, so that only those with enough common words are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passages {
    all: Vec<StemmedWords>,
    /// The latest passages that contain a word.
    by_word: HashMap<String, VecDeque<usize>>,
    /// Number of words that each passage shares with the current query; all 0 between queries.
    shared: Vec<usize>,
}

impl Passages {
    /// Adds a passage and returns its index.
    pub(crate) fn add(&mut self, words: StemmedWords) -> usize {
        let at = self.all.len();
        for word in &words.all {
            let using = self.by_word.entry(word.clone()).or_default();
            if using.len() == MAX_USING {
                using.pop_front();
            }
            using.push_back(at);
        }
        self.shared.push(0);
        self.all.push(words);
        at
    }

    /// Returns the passages similar to this one, in insertion order, each with its similarity.
    pub(crate) fn similar(&mut self, words: &StemmedWords) -> Vec<(usize, f64)> {
        let mut found = Vec::new();
        for at in words.all.iter().filter_map(|word| self.by_word.get(word)) {
            for at in at {
                self.shared[*at] += 1;
                if self.shared[*at] == MIN_COMMON_WORDS {
                    found.push(*at);
                }
            }
        }
        found.sort_unstable();
        let like = found.into_iter().filter_map(|at| {
            let other = &self.all[at];
            let similarity = other.similarity_by(self.shared[at], words);
            words.is_similar_by(similarity, other).then_some((at, similarity))
        });
        let like = like.collect();
        for at in words.all.iter().filter_map(|word| self.by_word.get(word)) {
            for at in at {
                self.shared[*at] = 0;
            }
        }
        like
    }
}

/// Returns groups of similar passages, by index; a passage that is similar to no other forms its own group.
///
/// A passage joins the first group whose first passage is similar to it, so that groups never chain from one
/// subject to another.
pub(crate) fn groups(passages: impl IntoIterator<Item = StemmedWords>) -> Vec<Vec<usize>> {
    let mut leads = Passages::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, words) in passages.into_iter().enumerate() {
        let like = leads.similar(&words);
        if let Some(group) = like.first().and_then(|(lead, _)| groups.get_mut(*lead)) {
            group.push(index);
        } else {
            leads.add(words);
            groups.push(vec![index]);
        }
    }
    groups
}

/// Returns the stem of a word, which its singular and plural share.
fn stem(word: &str) -> String {
    Language::English.stem(&word.to_lowercase())
}

/// Returns whether a stem is that of a stop word.
fn is_common(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| COMMON.iter().map(|word| self::stem(word)).collect());
    STEMS.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_about_one_problem_are_similar() {
        let texts = [
            "Backend build initially failed due to file locks from a running Server process.",
            "File locking by a running Server process (PID 59728) made the first build fail",
            "Pre-existing test failures in Pharmacy are unrelated",
            "Formatted imports with prettier",
            "Prettier reordered the imports after formatting",
        ];
        let words = texts.iter().map(|text| StemmedWords::from_text(text));
        assert_eq!(groups(words), [vec![0, 1], vec![2], vec![3, 4]]);
    }

    #[test]
    fn singular_and_plural_are_one_word() {
        let singular = StemmedWords::from_text("The cache of the class is a copy");
        let plural = StemmedWords::from_text("The caches of the classes are copies");
        assert_eq!(singular, plural);
        assert_eq!(StemmedWords::from_text("This file needed all plans").all.len(), 0);
    }

    #[test]
    fn one_or_two_common_words_are_chance() {
        for (one, other) in [
            ("MATCH", "The rows match those of the store"),
            ("MATCH", "MATCH"),
            ("`--paper` exists", "The token `--paper` exists in the printer's own theme"),
            (
                "colour codes leak",
                "Printing tables leaks colour codes of other printers into the next row",
            ),
        ] {
            assert!(
                !StemmedWords::from_text(one).is_similar(&StemmedWords::from_text(other)),
                "{one}"
            );
        }
    }

    #[test]
    fn a_word_of_all_passages_leads_to_the_last_of_them_only() {
        let mut passages = Passages::default();
        for number in 0..=MAX_USING {
            passages.add(StemmedWords::from_text(&format!("the parser rejects table n{number}")));
        }
        let like = passages.similar(&StemmedWords::from_text("the parser rejects table again"));
        let places: Vec<usize> = like.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, (1..=MAX_USING).collect::<Vec<_>>());
        // Counts of one query do not leak into the next.
        assert_eq!(passages.similar(&StemmedWords::from_text("colour codes leak")), []);
        let of_one = passages.similar(&StemmedWords::from_text("table n7 of the parser"));
        assert_eq!(of_one.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert!(!StemmedWords::from_text("").is_similar(&StemmedWords::from_text("")));
        assert!(
            !StemmedWords::from_text("the and").is_similar(&StemmedWords::from_text("the and"))
        );
    }
}
