//! Combines the scores by words and by meaning.
//!
//! Each default is the value that measured best on questions about conversations and about planning files;
//! reciprocal rank fusion found less than words alone.

/// Share of its score that a text adds to the next text of a conversation, and to the one after that.
///
/// The answer is often in the text just before or after.
pub const NEIGHBOUR_SHARES: [f64; 2] = [0.25, 0.15];

/// Share of the better neighbour's score that is added to a text between two texts under one heading.
///
/// Adding both, or a larger share, ranks whole sections above the one text with the answer.
pub const SIBLING_SHARE: f64 = 0.2;

/// Additional share of its score that a question adds to the texts after it.
pub const ANSWER_SHARE: f64 = 0.3;

/// Share of its score that a question loses: a similar question is not an answer.
pub const QUESTION_PENALTY: f64 = 0.3;

/// Normalises scores to the range 0 to 1 by their minimum and maximum; if all are equal, they become 0.
pub fn normalise_min_max(scores: &mut [f64]) {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = highest - lowest;
    for score in scores {
        *score = if range > 0.0 && range.is_finite() { (*score - lowest) / range } else { 0.0 };
    }
}

/// Returns the weight of the words, from 0.3 to 0.6, given the share of the query that the best text covers.
///
/// `covered` is the idf of the query's words in the best text, divided by the idf of all its words: if no
/// text contains the words, they are a poor signal.
pub fn adaptive_weight(covered: f64) -> f64 {
    0.3 + 0.3 * ((covered - 0.3) / 0.6).clamp(0.0, 1.0)
}

/// Returns 1 for age 0, halved for each half-life.
pub fn recency(age_in_days: f64, half_life_in_days: f64) -> f64 {
    0.5_f64.powf(age_in_days.max(0.0) / half_life_in_days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(found: &[f64], expected: &[f64]) -> bool {
        let pairs = found.iter().zip(expected);
        found.len() == expected.len() && pairs.fold(true, |all, (a, b)| all && (a - b).abs() < 1e-9)
    }

    #[test]
    fn scores_are_normalised_to_0_to_1() {
        let mut scores = [2.0, 4.0, 3.0];
        normalise_min_max(&mut scores);
        assert!(is_close(&scores, &[0.0, 1.0, 0.5]));
        for mut flat in [vec![], vec![7.0; 3], vec![f64::NAN; 2]] {
            normalise_min_max(&mut flat);
            assert!(flat.iter().all(|score| score.abs() < 1e-9));
        }
    }

    #[test]
    fn words_weigh_more_if_a_text_contains_them() {
        let weights = [0.0, 0.3, 0.6, 0.9, 1.0].map(adaptive_weight);
        assert!(is_close(&weights, &[0.3, 0.3, 0.45, 0.6, 0.6]));
    }

    #[test]
    fn recency_halves_with_each_half_life() {
        let ages = [0.0, 30.0, 60.0, -5.0].map(|age| recency(age, 30.0));
        assert!(is_close(&ages, &[1.0, 0.5, 0.25, 1.0]));
    }
}
