//! Normalises scores, and weighs age.

/// Normalises scores to the range 0 to 1 by their minimum and maximum; if all are equal, they become 0.
pub fn normalise_min_max(scores: &mut [f64]) {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = highest - lowest;
    for score in scores {
        *score = if range > 0.0 && range.is_finite() { (*score - lowest) / range } else { 0.0 };
    }
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
    fn recency_halves_with_each_half_life() {
        let ages = [0.0, 30.0, 60.0, -5.0].map(|age| recency(age, 30.0));
        assert!(is_close(&ages, &[1.0, 0.5, 0.25, 1.0]));
    }
}
