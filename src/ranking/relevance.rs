//! Decides whether a text is relevant to a question: no answer is better than a merely similar text.

use serde::Serialize;

use crate::ranking::corpus::idf;
use crate::ranking::language::Language;
use crate::ranking::to_f64;
use crate::ranking::words::Term;
use crate::text::word_enum;

/// Minimum evidence for the best text of an answer.
///
/// This and the other constants were set by hand from the curves in docs/recall.md: each question about one
/// conversation or project was also asked about the others, which do not answer it.
const MIN_ANSWER_EVIDENCE: f64 = 0.66;

/// Minimum evidence for an answer whose texts the encoder has read.
const MIN_READ_EVIDENCE: f64 = 0.53;

/// Weight of the words beside the encoder's similarity.
const READ_WORDS_WEIGHT: f64 = 0.15;

/// Number of the first texts that count as the answer.
const JUDGED: usize = 10;

/// Minimum evidence for a text beside a better one: below it, a match is chance.
const MIN_TEXT_EVIDENCE: f64 = 0.1;

/// Weight of a unit of idf mass: three rare words in one text are significant, however long the question is.
const MASS_WEIGHT: f64 = 0.03;

/// Weight of the similarity relative to the share of words: among thousands of texts, some are similar to
/// anything.
const SIMILARITY_WEIGHT: f64 = 0.5;

/// Loss of a text's evidence for each text ranked before it: if nothing answers a question, its words
/// co-occur by chance, and rarely in the text that ranks first.
const RANK_PENALTY: f64 = 0.08;

/// Maximum number of texts before a text that count for this loss.
const MAX_PENALISED_RANKS: u32 = 5;

/// Minimum number of words of a question without function words to be treated as a list of keywords.
const MIN_KEYWORDS: usize = 4;

/// Minimum share of the keywords' idf that a text must cover.
const MIN_KEYWORD_COVERAGE: f64 = 0.7;

/// Number of texts above which chance is accounted for: the more there are, the more often one of them
/// resembles a question that none of them answers.
const CHANCE_FREE_TEXTS: usize = 8_000;

/// Loss of evidence for each doubling of the number of texts above that.
const LOSS_PER_DOUBLING: f64 = 0.15;

/// Number of texts below which idf is not meaningful; it is computed as for this many.
const MIN_TEXTS_FOR_IDF: usize = 300;

/// Similarity that is assumed if no vectors are compared.
const DEFAULT_SIMILARITY: f64 = 0.4;

word_enum! {
    /// The relevance of a text to the question.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Relevance {
        /// Probably relevant.
        High = "high",
        /// Among the most similar texts, but probably irrelevant.
        Low = "low",
    }
}

/// The evidence that a text answers a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextEvidence {
    /// Total idf of the question's words that the text contains.
    pub mass: f64,
    /// The same as a share of the total idf of all its words.
    pub share: f64,
    /// Similarity of the text to the question's content words, if compared.
    pub similarity: Option<f64>,
    /// Similarity of the text to the question by the encoder, if it was read.
    pub cosine: Option<f64>,
}

impl TextEvidence {
    /// Returns the evidence as a single number; the decision is made by [`WeightedQuestion::relevance`].
    pub fn sum(self) -> f64 {
        let similarity = self.similarity.unwrap_or(DEFAULT_SIMILARITY).clamp(0.0, 1.0);
        self.words() + SIMILARITY_WEIGHT * similarity
    }

    fn words(self) -> f64 {
        MASS_WEIGHT * self.mass + self.share
    }
}

/// The terms of a question, each with its idf.
#[derive(Clone, Debug)]
pub struct WeightedQuestion {
    terms: Vec<(Term, f64)>,
    mass: f64,
    is_keywords: bool,
    /// Loss of evidence for the number of texts searched.
    chance: f64,
}

impl WeightedQuestion {
    /// Returns a question from its terms, each with the number of texts that contain it, out of `all`.
    pub fn new(text: &str, terms: Vec<(Term, usize)>, all: usize) -> Self {
        let all = all.max(MIN_TEXTS_FOR_IDF);
        let terms: Vec<(Term, f64)> = terms
            .into_iter()
            .filter(|(term, _)| !term.is_compound)
            .map(|(term, containing)| (term, idf(containing, all)))
            .collect();
        let language = Language::detect(text);
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let is_function_word = |word: &str| {
            let word = word.to_lowercase();
            Language::English.is_function_word(&word) || language.is_function_word(&word)
        };
        Self {
            mass: terms.iter().map(|(_, idf)| idf).sum(),
            is_keywords: terms.len() >= MIN_KEYWORDS && !words.any(is_function_word),
            terms,
            chance: chance(all),
        }
    }

    /// Returns the evidence for a text that contains the terms for which `has` is true.
    pub fn evidence(&self, similarity: Option<f64>, has: impl Fn(&Term) -> bool) -> TextEvidence {
        let contained = self.terms.iter().filter(|(term, _)| has(term));
        let mass: f64 = contained.map(|(_, idf)| idf).sum();
        TextEvidence {
            mass,
            share: if self.mass > 0.0 { mass / self.mass } else { 0.0 },
            similarity,
            cosine: None,
        }
    }

    /// Judges the texts of one answer, best first: if none is good enough, all are irrelevant.
    pub fn relevance(&self, answer: &[TextEvidence]) -> Vec<Relevance> {
        let has_answer = self.verdict(answer).is_enough();
        let judge = |text: &TextEvidence| {
            if has_answer && text.sum() >= MIN_TEXT_EVIDENCE {
                Relevance::High
            } else {
                Relevance::Low
            }
        };
        answer.iter().map(judge).collect()
    }

    /// Returns the evidence for an answer as a whole: the highest among its texts, which are given in rank
    /// order.
    pub fn verdict(&self, answer: &[TextEvidence]) -> AnswerEvidence {
        let first = || answer.iter().take(JUDGED);
        if let Some(nearest) = first().filter_map(|text| text.cosine).reduce(f64::max) {
            let words = (0..).zip(first()).map(|(before, text)| text.words() * rank_factor(before));
            let words = words.fold(0.0, f64::max);
            return AnswerEvidence {
                sum: nearest + READ_WORDS_WEIGHT * words,
                threshold: MIN_READ_EVIDENCE,
            };
        }
        let is_covered =
            |text: &TextEvidence| !self.is_keywords || text.share >= MIN_KEYWORD_COVERAGE;
        let ranked = (0..).zip(answer).filter(|(_, text)| is_covered(text));
        let sums = ranked.map(|(before, text)| text.sum() * rank_factor(before));
        AnswerEvidence {
            sum: (sums.fold(0.0, f64::max) - self.chance).max(0.0),
            threshold: MIN_ANSWER_EVIDENCE,
        }
    }
}

/// The evidence for an answer as a whole: the highest among its texts, or 0 if none covers enough of the keywords.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerEvidence {
    pub(crate) sum: f64,
    /// The evidence that is enough; it depends on whether the encoder has read the texts.
    pub(crate) threshold: f64,
}

impl Default for AnswerEvidence {
    fn default() -> Self {
        Self { sum: 0.0, threshold: MIN_ANSWER_EVIDENCE }
    }
}

impl AnswerEvidence {
    /// Returns whether the evidence reaches its own threshold.
    pub(crate) fn is_enough(self) -> bool {
        self.passes(self.threshold)
    }

    /// Returns whether the evidence reaches this threshold.
    pub(crate) fn passes(self, threshold: f64) -> bool {
        self.sum >= threshold
    }
}

/// Returns the loss of evidence for a search among `all` texts.
fn chance(all: usize) -> f64 {
    let doublings = (to_f64(all) / to_f64(CHANCE_FREE_TEXTS)).log2();
    LOSS_PER_DOUBLING * doublings.max(0.0)
}

/// Returns the factor for the evidence of a text with `before` texts ranked before it.
fn rank_factor(before: u32) -> f64 {
    1.0 - RANK_PENALTY * f64::from(before.min(MAX_PENALISED_RANKS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::words::terms;

    /// Judges one of a thousand texts; each word of the question occurs in ten of them.
    fn judged(question: &str, text: &str, similarity: Option<f64>) -> Relevance {
        let terms = terms(question, &[]).into_iter().map(|term| (term, 10));
        let question = WeightedQuestion::new(question, terms.collect(), 1000);
        let words = crate::ranking::words(text);
        let evidence = question
            .evidence(similarity, |term| term.stems.iter().any(|stem| words.contains(stem)));
        question.relevance(&[evidence])[0]
    }

    #[test]
    fn relevance_needs_words_and_meaning_together() {
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
    fn most_keywords_must_be_covered() {
        let text = "postgres index partition table";
        let judged = |question| judged(question, text, Some(0.5));
        assert_eq!(judged("postgres index partition vacuum"), Relevance::High);
        assert_eq!(judged("postgres index vacuum freeze"), Relevance::Low);
        assert_eq!(judged("the postgres index and its vacuum freeze"), Relevance::High);
    }

    #[test]
    fn more_evidence_is_needed_among_more_texts() {
        let judged = |all| {
            let terms = terms("lock the file", &[]).into_iter();
            let asked =
                WeightedQuestion::new("lock the file", terms.map(|t| (t, 9)).collect(), all);
            let text =
                TextEvidence { share: 0.5, similarity: Some(0.5), ..TextEvidence::default() };
            asked.relevance(&[text])[0]
        };
        assert_eq!(judged(8_000), Relevance::High);
        assert_eq!(judged(32_000), Relevance::Low);
    }

    #[test]
    fn evidence_counts_less_at_lower_ranks() {
        let asked = WeightedQuestion::new("lock", vec![(terms("lock", &[])[0].clone(), 1)], 1000);
        let good = TextEvidence { share: 0.7, ..TextEvidence::default() };
        let poor = TextEvidence { similarity: Some(0.0), ..TextEvidence::default() };
        assert_eq!(asked.relevance(&[good, poor])[0], Relevance::High);
        let down = [poor, poor, poor, poor, good];
        assert_eq!(asked.relevance(&down)[4], Relevance::Low);
    }

    #[test]
    fn next_to_a_good_text_only_one_without_evidence_is_low() {
        let asked = WeightedQuestion::new("lock", vec![(terms("lock", &[])[0].clone(), 1)], 1000);
        let of = |share: f64, similarity| TextEvidence {
            mass: 0.0,
            share,
            similarity: Some(similarity),
            cosine: None,
        };
        let judged = asked.relevance(&[of(1.0, 0.8), of(0.0, 0.5), of(0.0, 0.05)]);
        assert_eq!(judged, [Relevance::High, Relevance::High, Relevance::Low]);
        assert_eq!(asked.relevance(&[of(0.0, 0.5)]), [Relevance::Low]);
        assert!(asked.relevance(&[]).is_empty());
    }
}
