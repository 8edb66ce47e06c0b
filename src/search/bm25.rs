//! Scores texts by the words that they share with a query.

use crate::search::language::Language;
use crate::search::words::{terms, words};

/// BM25's k1 (saturation of repeated words) and b (normalisation by length), the usual values: with lower ones, long
/// turns of a conversation found seven points less, and short texts one more.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The texts that contain a stem of a term, by their index, with how often.
pub(crate) type Matches = Vec<(usize, u32)>;

/// Returns the score of each text by BM25; 0 if it shares no word with the query.
pub fn bm25<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, query: &str) -> Vec<f64> {
    let mut languages = Vec::new();
    let texts = texts.into_iter().map(|text| {
        let language = Language::detect(text.as_ref());
        if !languages.contains(&language) {
            languages.push(language);
        }
        words(text.as_ref())
    });
    let texts: Vec<Vec<String>> = texts.collect();
    let lengths: Vec<u32> = texts.iter().map(|words| to_u32(words.len())).collect();
    let mut scores = vec![0.0; texts.len()];
    for term in terms(query, &languages) {
        let mut matches = Matches::new();
        for (index, words) in texts.iter().enumerate() {
            let count = |stem: &String| words.iter().filter(|word| *word == stem).count();
            let most = term.stems.iter().map(count).max().unwrap_or_default();
            if most > 0 {
                matches.push((index, to_u32(most)));
            }
        }
        add_term(matches, &lengths, &mut scores);
    }
    scores
}

/// Adds to the scores of texts of these lengths what a term is worth that occurs in some of them; returns in how many.
pub(crate) fn add_term(mut matches: Matches, lengths: &[u32], scores: &mut [f64]) -> usize {
    // The most frequent stem of each text counts.
    matches.sort_unstable();
    matches.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 = if is_same { next.1 } else { kept.1 };
        is_same
    });
    let total: f64 = lengths.iter().copied().map(f64::from).sum();
    let mean = (total / to_f64(lengths.len().max(1))).max(1.0);
    let idf = idf(matches.len(), lengths.len());
    for (index, count) in &matches {
        let (count, length) = (f64::from(*count), f64::from(lengths[*index]) / mean);
        scores[*index] += idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
    }
    matches.len()
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

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(documents: &[&str], query: &str) -> Vec<usize> {
        let scores = bm25(documents, query);
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order
    }

    #[test]
    fn scores_follow_the_bm25_formula() {
        // Lengths 3 and 1, mean 2; `apple` in one of two texts, twice.
        let idf = (1.0_f64 + 1.5 / 1.5).ln();
        let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        let scores = bm25(["apple apple pear", "pear"], "apple");
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
            bm25(documents, query);
        }
        assert_eq!(order(&documents, "the who"), [1]);
        assert_eq!(order(&documents, "\"quoted\" -x"), [0]);
        assert_eq!(bm25([""; 0], "x"), [0.0; 0]);
        assert_eq!(order(&["", ""], "x"), [0_usize; 0]);
    }
}
