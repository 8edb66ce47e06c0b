//! Joins what words say and what meaning says into one score.
//!
//! Each default is what measured best on questions over conversations and over planning files; sums
//! of reciprocal ranks found less than words alone.

/// How much a neighbour's score adds: what was said just before and after is often the answer.
pub const NEIGHBOURS: f64 = 0.2;

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

/// Returns, text by text, the weighted sum of both scores, after [`min_max`] of each.
pub fn convex(lexical: &[f64], vectors: &[f64], lexical_weight: f64) -> Vec<f64> {
    let (mut lexical, mut vectors) = (lexical.to_vec(), vectors.to_vec());
    min_max(&mut lexical);
    min_max(&mut vectors);
    let both = lexical.iter().zip(&vectors);
    both.map(|(lexical, vector)| lexical_weight * lexical + (1.0 - lexical_weight) * vector)
        .collect()
}

/// Returns how much words weigh, from 0.3 to 0.6, by the share of the query's words that the best text covers.
///
/// `covered` is the rarity of the words that the best text has, over the rarity of all the query's
/// words: where no text has the words, they say little about which text is meant.
pub fn adaptive_weight(covered: f64) -> f64 {
    0.3 + 0.3 * ((covered - 0.3) / 0.6).clamp(0.0, 1.0)
}

/// Returns the scores with a share of those of each text's neighbours added.
///
/// `neighbours` tells, by place in `scores`, the texts before and after.
pub fn with_neighbours(
    scores: &[f64],
    share: f64,
    neighbours: impl Fn(usize) -> [Option<usize>; 2],
) -> Vec<f64> {
    let score = |place: Option<usize>| {
        let score = place.and_then(|place| scores.get(place));
        score.copied().unwrap_or_default()
    };
    let own = scores.iter().enumerate();
    own.map(|(place, own)| {
        let [before, after] = neighbours(place);
        own + share * (score(before) + score(after))
    })
    .collect()
}

/// Returns 1 for what is of this moment, and half of it for each half-life of age.
pub fn recency(age_in_days: f64, half_life_in_days: f64) -> f64 {
    0.5_f64.powf(age_in_days.max(0.0) / half_life_in_days)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    fn both_scores_weigh_as_asked() {
        let fused = convex(&[0.0, 10.0], &[0.8, 0.2], 0.25);
        assert!(is_close(&fused, &[0.75, 0.25]), "{fused:?}");
    }

    #[test]
    fn words_weigh_more_where_a_text_has_them() {
        let weights = [0.0, 0.3, 0.6, 0.9, 1.0].map(adaptive_weight);
        assert!(is_close(&weights, &[0.3, 0.3, 0.45, 0.6, 0.6]));
    }

    #[test]
    fn neighbours_lend_a_share() {
        let row = |place: usize| [place.checked_sub(1), Some(place + 1)];
        let scores = with_neighbours(&[1.0, 0.0, 0.5], 0.2, row);
        assert!(is_close(&scores, &[1.0, 0.3, 0.5]), "{scores:?}");
    }

    #[test]
    fn recency_halves() {
        let ages = [0.0, 30.0, 60.0, -5.0].map(|age| recency(age, 30.0));
        assert!(is_close(&ages, &[1.0, 0.5, 0.25, 1.0]));
    }

    proptest! {
        #[test]
        fn fused_scores_stay_between_0_and_1(
            scores in prop::collection::vec((any::<f64>(), -1.0_f64..1.0), 0..20),
            weight in 0.0_f64..1.0,
        ) {
            let (lexical, vectors): (Vec<f64>, Vec<f64>) = scores.into_iter().unzip();
            let fused = convex(&lexical, &vectors, weight);
            prop_assert!(fused.iter().all(|score| (0.0..=1.0).contains(score)), "{fused:?}");
        }
    }
}
