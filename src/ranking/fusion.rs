//! Joins what words say and what meaning says into one score.
//!
//! Each default is what measured best on questions over conversations and over planning files; sums
//! of reciprocal ranks found less than words alone.

/// What share of its score a text lends to the next one in a conversation, and to the one after that.
///
/// What was said just before and after is often the answer.
pub const NEIGHBOURS: [f64; 2] = [0.25, 0.15];

/// What share of its score the better of two texts lends to one between them, under one heading of a document.
///
/// The sum of both, or more, puts whole sections before the one text that answers.
pub const SIBLINGS: f64 = 0.2;

/// What share of its score a question lends in addition to what follows it.
pub const ANSWER: f64 = 0.3;

/// What share of its score a question loses: who asks the same wants the answer.
pub const QUESTION: f64 = 0.3;

/// Moves scores to 0 to 1 by their least and greatest; all equal ones become 0.
pub fn min_max(scores: &mut [f64]) {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = greatest - least;
    for score in scores {
        *score = if width > 0.0 && width.is_finite() {
            (*score - least) / width
        } else {
            0.0
        };
    }
}

/// Returns how much words weigh, from 0.3 to 0.6, by the share of the query's words that the best text covers.
///
/// `covered` is the rarity of the words that the best text has, over the rarity of all the query's
/// words: where no text has the words, they say little about which text is meant.
pub fn adaptive_weight(covered: f64) -> f64 {
    0.3 + 0.3 * ((covered - 0.3) / 0.6).clamp(0.0, 1.0)
}

/// Returns 1 for what is of this moment, and half of it for each half-life of age.
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
    fn scores_move_to_0_to_1() {
        let mut scores = [2.0, 4.0, 3.0];
        min_max(&mut scores);
        assert!(is_close(&scores, &[0.0, 1.0, 0.5]));
        for mut flat in [vec![], vec![7.0; 3], vec![f64::NAN; 2]] {
            min_max(&mut flat);
            assert!(flat.iter().all(|score| score.abs() < 1e-9));
        }
    }

    #[test]
    fn words_weigh_more_where_a_text_has_them() {
        let weights = [0.0, 0.3, 0.6, 0.9, 1.0].map(adaptive_weight);
        assert!(is_close(&weights, &[0.3, 0.3, 0.45, 0.6, 0.6]));
    }

    #[test]
    fn recency_halves() {
        let ages = [0.0, 30.0, 60.0, -5.0].map(|age| recency(age, 30.0));
        assert!(is_close(&ages, &[1.0, 0.5, 0.25, 1.0]));
    }
}
