//! Scores texts against a query with BM25.

use std::collections::{BTreeMap, HashMap};

use crate::search::language::Language;
use crate::search::words::{Term, Tokenizer, terms};

/// BM25's k1 (saturation of repeated words) and b (normalisation by length), the usual values: with lower ones, long
/// turns of a conversation found seven points less, and short texts one more.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A set of texts that can be searched by words.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// The languages of the texts.
    languages: Vec<Language>,
    lengths: Vec<usize>,
    mean_length: f64,
    /// For each word, the texts that contain it, with the number of occurrences.
    postings: HashMap<String, Vec<(usize, usize)>>,
}

impl Corpus {
    /// Returns a corpus of these texts; each is identified by its index.
    pub fn new<T: AsRef<str>>(documents: impl IntoIterator<Item = T>) -> Self {
        let mut corpus = Self::default();
        for (document, text) in documents.into_iter().enumerate() {
            let language = Language::detect(text.as_ref());
            if !corpus.languages.contains(&language) {
                corpus.languages.push(language);
            }
            let mut length = 0;
            Tokenizer::new(language).each(text.as_ref(), |word| {
                length += 1;
                let texts = corpus.postings.entry(word.to_owned()).or_default();
                match texts.last_mut() {
                    Some((last, count)) if *last == document => *count += 1,
                    _ => texts.push((document, 1)),
                }
            });
            corpus.lengths.push(length);
        }
        let total: usize = corpus.lengths.iter().sum();
        corpus.mean_length = to_f64(total) / to_f64(corpus.lengths.len().max(1));
        corpus
    }

    /// Returns the score of each text, in the order of the texts; 0 if it shares no word with the query.
    pub fn scores(&self, query: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        for term in terms(query, &self.languages) {
            let texts = self.containing(&term);
            let idf = idf(texts.len(), self.lengths.len());
            for (document, count) in texts {
                scores[document] += idf * bm25(count, self.lengths[document], self.mean_length);
            }
        }
        scores
    }

    /// Returns the texts that contain any of a term's stems, with the count of the most frequent stem.
    fn containing(&self, term: &Term) -> BTreeMap<usize, usize> {
        let mut matches: BTreeMap<usize, usize> = BTreeMap::new();
        let stems = term.stems.iter();
        for &(document, count) in stems.filter_map(|stem| self.postings.get(stem)).flatten() {
            let max_count = matches.entry(document).or_default();
            *max_count = count.max(*max_count);
        }
        matches
    }
}

/// Returns the BM25 weight of a word that occurs `count` times in a text, without its idf.
pub fn bm25(count: usize, length: usize, mean_length: f64) -> f64 {
    let count = to_f64(count);
    let length = to_f64(length) / mean_length.max(1.0);
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

/// Returns the BM25 inverse document frequency of a word that occurs in `containing` of `all` texts.
pub fn idf(containing: usize, all: usize) -> f64 {
    let (containing, all) = (to_f64(containing), to_f64(all));
    (1.0 + (all - containing + 0.5).max(0.5) / (containing + 0.5)).ln()
}

/// Converts a count to a float: no count here comes near 2^53, above which floats skip integers.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn to_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(documents: &[&str], query: &str) -> Vec<usize> {
        let scores = Corpus::new(documents).scores(query);
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order
    }

    #[test]
    fn scores_follow_the_bm25_formula() {
        let corpus = Corpus::new(["apple apple pear", "pear"]);
        // Lengths 3 and 1, mean 2; `apple` in one of two texts, twice.
        let idf = (1.0_f64 + 1.5 / 1.5).ln();
        let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        let scores = corpus.scores("apple");
        assert!((scores[0] - expected).abs() < 1e-12, "{scores:?}");
        assert!(scores[1].abs() < f64::EPSILON, "{scores:?}");
    }

    #[test]
    fn rare_words_weigh_more_and_ties_keep_their_order() {
        let documents = [
            "the queue is retried", "the cache is cleared", "the queue is cleared", "nothing",
            "the cache is cleared",
        ];
        assert_eq!(order(&documents, "retry the queue"), [0, 2]);
        assert_eq!(order(&documents, "clear cache"), [1, 4, 2]);
        assert_eq!(order(&documents, "absent"), [0_usize; 0]);
    }

    #[test]
    fn parts_of_identifiers_and_any_script_are_found() {
        let documents = [
            "`src/http_client.rs` grew",
            "HttpClient grew",
            "再試行キューが遅い",
            "очередь повторов",
        ];
        assert_eq!(order(&documents, "client"), [1, 0]);
        assert_eq!(order(&documents, "httpclient"), [1]);
        assert_eq!(order(&documents, "キュー"), [2]);
        assert_eq!(order(&documents, "Повторов"), [3]);
    }

    #[test]
    fn operators_and_stop_words_match_as_words() {
        let documents = ["a - \"quoted\" * AND b", "who is the best"];
        for query in ["-", "\"", "*", "", "  ", "AND OR NOT NEAR("] {
            Corpus::new(documents).scores(query);
        }
        assert_eq!(order(&documents, "the who"), [1]);
        assert_eq!(order(&documents, "\"quoted\" -x"), [0]);
        assert_eq!(Corpus::new([""; 0]).scores("x"), [0.0; 0]);
        assert_eq!(order(&["", ""], "x"), [0_usize; 0]);
    }
}
