//! Groups the problems of many plans by subject, so that recurring ones are counted the same way everywhere.
//!
//! A problem belongs to a subject if it is similar to one of its members and contains enough of the words
//! that all of them share: groups never chain from one subject to another.

use crate::patterns::lesson::similarity::{Passages, StemmedWords};

/// Minimum number of words shared by all members; fewer do not identify a subject.
const MIN_SHARED_WORDS: usize = 2;

/// Subjects, in the order of their first problem; `T` is the data stored for each member.
#[derive(Clone, Debug)]
pub(crate) struct SubjectIndex<T> {
    all: Vec<Subject<T>>,
    passages: Passages,
    /// The subject of each passage.
    subject_of: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Subject<T> {
    shared: StemmedWords,
    members: Vec<T>,
}

impl<T> Default for SubjectIndex<T> {
    fn default() -> Self {
        Self { all: Vec::new(), passages: Passages::default(), subject_of: Vec::new() }
    }
}

impl<T> SubjectIndex<T> {
    /// Adds a problem to its subject, and returns the index of the subject.
    pub(crate) fn add(&mut self, words: StemmedWords, member: T) -> usize {
        let subject = self.matching(&words).unwrap_or(self.all.len());
        match self.all.get_mut(subject) {
            Some(known) => {
                known.shared = known.shared.common_with(&words);
                known.members.push(member);
            }
            None => self.all.push(Subject { shared: words.clone(), members: vec![member] }),
        }
        self.passages.add(words);
        self.subject_of.push(subject);
        subject
    }

    /// Returns the data of a subject's members, in the order in which they were added.
    pub(crate) fn members(&self, subject: usize) -> &[T] {
        self.all.get(subject).map_or(&[], |subject| &subject.members)
    }

    /// Returns whether a sentence is about a subject, and not about something else that a member mentions.
    ///
    /// Half of the words that all members share are enough, since a sentence is shorter than what it is from.
    pub(crate) fn is_about(&self, subject: usize, sentence: &StemmedWords) -> bool {
        self.all.get(subject).is_some_and(|subject| {
            let shorter = subject.shared.len().min(sentence.len());
            subject.shared.common(sentence) >= shorter.div_ceil(2).max(MIN_SHARED_WORDS)
        })
    }

    /// Returns the subject of the most similar member; the first one if several are equally similar.
    fn matching(&mut self, words: &StemmedWords) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (at, similarity) in self.passages.similar(words) {
            let subject = self.subject_of[at];
            let is_better = best.is_none_or(|(value, _)| similarity > value);
            if is_better && self.all[subject].shared.common(words) >= MIN_SHARED_WORDS {
                best = Some((similarity, subject));
            }
        }
        best.map(|(_, subject)| subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(texts: &[&str]) -> Vec<usize> {
        let mut subjects = SubjectIndex::default();
        let add = |text: &&str| subjects.add(StemmedWords::from_text(text), ());
        let found: Vec<usize> = texts.iter().map(add).collect();
        let members = |subject: &usize| subjects.members(*subject).len();
        found.iter().map(members).collect()
    }

    #[test]
    fn one_problem_in_changing_words_is_one_subject() {
        let texts = [
            "zig is not installed on this machine, so `zig build` and `zig test` were not executed",
            "zig not installed locally; tests not run in this session",
            "zig + clang not installed locally; tests not executed in this session",
            "zig test not run locally; the environment lacks zig",
            "The parser rejects tables without header rows",
        ];
        assert_eq!(counts(&texts), [4, 4, 4, 4, 1]);
    }

    #[test]
    fn a_sentence_is_about_what_the_members_share() {
        let mut subjects = SubjectIndex::default();
        let texts = [
            "zig is not installed locally, so tests were not run. The parser rejects empty tables",
            "zig not installed locally; tests not run in this session",
        ];
        for text in texts {
            assert_eq!(subjects.add(StemmedWords::from_text(text), ()), 0);
        }
        let is_about = |text: &str| subjects.is_about(0, &StemmedWords::from_text(text));
        assert!(is_about("zig is not installed locally"));
        assert!(is_about(texts[1]));
        assert!(!is_about("The parser rejects empty tables"));
        assert!(!is_about("The parser runs"));
    }

    #[test]
    fn one_or_two_words_in_common_are_chance() {
        let texts = [
            "MATCH",
            "The `--paper` token does not exist in any theme",
            "No match for the second row of the table in the store",
            "`--ink` does not exist",
        ];
        assert_eq!(counts(&texts), [1, 1, 1, 1]);
    }

    #[test]
    fn subjects_do_not_chain() {
        let texts = [
            "locks block the build of the parser",
            "the parser build blocks on locks and rejects empty tables",
            "parser rejects empty tables",
        ];
        assert_eq!(counts(&texts), [2, 2, 1]);
    }
}
