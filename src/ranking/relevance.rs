//! How sure it is that a text has to do with a question: silence is better than what happens to be nearest.

use serde::Serialize;

use crate::ranking::language::Language;
use crate::ranking::real;
use crate::ranking::words::Term;

/// The evidence that the best text of an answer needs.
///
/// This and the other numbers were set by hand from the curves in docs/recall.md: each question about one
/// conversation or project was also asked of the others, where nothing answers it.
const ENOUGH: f64 = 0.66;

/// A text with less is shown beside a better one by nothing but chance.
const MIN_RELEVANCE: f64 = 0.1;

/// What a unit of idf mass counts: three rare words in one text are no chance, however long the question is.
const MASS: f64 = 0.03;

/// What closeness counts beside the share of words: among thousands of texts, some are near to anything.
const CLOSENESS: f64 = 0.5;

/// What the evidence of a text loses for each better one before it: where nothing answers a question, its words
/// meet by chance, and seldom in the text that fits best.
const LOWER: f64 = 0.08;

/// No text loses for more than so many.
const MAX_BEFORE: u32 = 5;

/// So many words without a single function word name what is looked for.
const KEYWORDS: usize = 4;

/// The share of such words that a text must have.
const KEYWORDS_COVERED: f64 = 0.7;

/// Among fewer texts than this, how rare a word is says little.
const FEW_TEXTS: usize = 300;

/// What stands for the closeness where no vectors are compared.
const USUAL_CLOSENESS: f64 = 0.4;

/// Whether a text has to do with what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relevance {
    /// It likely has.
    High,
    /// It is among the nearest, and that is all.
    Low,
}

impl Relevance {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

/// What speaks for a text as an answer to a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextEvidence {
    /// The idf mass of the question's words that the text has.
    pub mass: f64,
    /// The same as a share of all the question's words.
    pub share: f64,
    /// How near the text is in meaning to the question's content words, where that was compared.
    pub closeness: Option<f64>,
}

impl TextEvidence {
    /// Returns all of it as one number; what decides is [`WeightedQuestion::relevance`].
    pub fn sum(self) -> f64 {
        let closeness = self.closeness.unwrap_or(USUAL_CLOSENESS).clamp(0.0, 1.0);
        MASS * self.mass + self.share + CLOSENESS * closeness
    }
}

/// The words of a question, each with its idf.
#[derive(Clone, Debug)]
pub struct WeightedQuestion {
    terms: Vec<(Term, f64)>,
    mass: f64,
    is_keywords: bool,
}

impl WeightedQuestion {
    /// Returns a question whose terms so many of all texts have.
    pub fn new(text: &str, terms: Vec<(Term, usize)>, all: usize) -> Self {
        let all = all.max(FEW_TEXTS);
        let terms: Vec<(Term, f64)> = terms
            .into_iter()
            .filter(|(term, _)| !term.is_compound)
            .map(|(term, with)| (term, idf(with, all)))
            .collect();
        let language = Language::detect(text);
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let is_function_word = |word: &str| {
            let word = word.to_lowercase();
            Language::English.is_function_word(&word) || language.is_function_word(&word)
        };
        Self {
            mass: terms.iter().map(|(_, idf)| idf).sum(),
            is_keywords: terms.len() >= KEYWORDS && !words.any(is_function_word),
            terms,
        }
    }

    /// Returns the evidence that a text with some of the terms gives; `has` tells which.
    pub fn evidence(&self, closeness: Option<f64>, has: impl Fn(&Term) -> bool) -> TextEvidence {
        let had = self.terms.iter().filter(|(term, _)| has(term));
        let mass: f64 = had.map(|(_, idf)| idf).sum();
        TextEvidence {
            mass,
            share: if self.mass > 0.0 {
                mass / self.mass
            } else {
                0.0
            },
            closeness,
        }
    }

    /// Judges the texts of one answer, the best first: with no good one among them, none has to do with the question.
    pub fn relevance(&self, answer: &[TextEvidence]) -> Vec<Relevance> {
        let is_enough = self.verdict(answer).passes(ENOUGH);
        let judge = |one: &TextEvidence| {
            if is_enough && one.sum() >= MIN_RELEVANCE {
                Relevance::High
            } else {
                Relevance::Low
            }
        };
        answer.iter().map(judge).collect()
    }

    /// Returns what speaks for an answer as a whole: the best of its texts, which come in the order of their rank.
    pub fn verdict(&self, answer: &[TextEvidence]) -> AnswerEvidence {
        let is_covered = |one: &TextEvidence| !self.is_keywords || one.share >= KEYWORDS_COVERED;
        let ranked = (0..).zip(answer).filter(|(_, one)| is_covered(one));
        let sums = ranked.map(|(before, one)| one.sum() * of_rank(before));
        AnswerEvidence {
            evidence: sums.fold(0.0, f64::max),
        }
    }
}

/// What speaks for an answer as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerEvidence {
    /// The evidence for the best of its texts; 0 where none has enough of the keywords.
    pub evidence: f64,
}

impl AnswerEvidence {
    /// The evidence that is asked for.
    pub(crate) const THRESHOLD: f64 = ENOUGH;

    /// Returns whether anything of the answer is given, with this threshold.
    pub(crate) fn passes(self, threshold: f64) -> bool {
        self.evidence >= threshold
    }
}

/// Returns the share of its evidence that a text keeps with so many before it.
fn of_rank(before: u32) -> f64 {
    1.0 - LOWER * f64::from(before.min(MAX_BEFORE))
}

/// BM25 inverse document frequency of a word that so many of all texts have.
pub fn idf(with: usize, all: usize) -> f64 {
    let (with, all) = (real(with), real(all));
    (1.0 + (all - with + 0.5).max(0.5) / (with + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::words::terms;

    /// Asks about one of a thousand texts; each of its words is in ten of them.
    fn judged(question: &str, text: &str, closeness: Option<f64>) -> Relevance {
        let terms = terms(question, &[]).into_iter().map(|term| (term, 10));
        let asked = WeightedQuestion::new(question, terms.collect(), 1000);
        let words = crate::ranking::words(text);
        let evidence = asked.evidence(closeness, |term| {
            term.stems.iter().any(|stem| words.contains(stem))
        });
        asked.relevance(&[evidence])[0]
    }

    #[test]
    fn words_and_meaning_together_speak_for_a_text() {
        let question = "Why do we lock the file before reading?";
        let answer = "The lock is held while the file is read.";
        assert_eq!(judged(question, answer, Some(0.6)), Relevance::High);
        assert_eq!(judged(question, answer, None), Relevance::High);
        let other = "The colour of the button is red.";
        assert_eq!(judged(question, other, Some(0.3)), Relevance::Low);
        assert_eq!(judged("zzzz qqqq", other, Some(0.1)), Relevance::Low);
        assert_eq!(judged("", other, Some(0.2)), Relevance::Low);
    }

    #[test]
    fn most_of_many_keywords_must_be_there() {
        let text = "postgres index partition table";
        let judged = |question| judged(question, text, Some(0.5));
        assert_eq!(judged("postgres index partition vacuum"), Relevance::High);
        assert_eq!(judged("postgres index vacuum freeze"), Relevance::Low);
        assert_eq!(
            judged("the postgres index and its vacuum freeze"),
            Relevance::High
        );
    }

    #[test]
    fn what_stands_further_down_says_less() {
        let asked = WeightedQuestion::new("lock", vec![(terms("lock", &[])[0].clone(), 1)], 1000);
        let good = TextEvidence {
            share: 0.7,
            ..TextEvidence::default()
        };
        let poor = TextEvidence {
            closeness: Some(0.0),
            ..TextEvidence::default()
        };
        assert_eq!(asked.relevance(&[good, poor])[0], Relevance::High);
        let down = [poor, poor, poor, poor, good];
        assert_eq!(asked.relevance(&down)[4], Relevance::Low);
    }

    #[test]
    fn beside_a_good_text_only_what_has_nothing_at_all_is_low() {
        let asked = WeightedQuestion::new("lock", vec![(terms("lock", &[])[0].clone(), 1)], 1000);
        let of = |share: f64, closeness| TextEvidence {
            mass: 0.0,
            share,
            closeness: Some(closeness),
        };
        let judged = asked.relevance(&[of(1.0, 0.8), of(0.0, 0.5), of(0.0, 0.05)]);
        assert_eq!(judged, [Relevance::High, Relevance::High, Relevance::Low]);
        assert_eq!(asked.relevance(&[of(0.0, 0.5)]), [Relevance::Low]);
        assert!(asked.relevance(&[]).is_empty());
    }
}
