//! Computes retrieval metrics of a ranking, and confidence intervals of differences between rankings.

use serde::Serialize;

use crate::search::to_f64;

/// Number of bootstrap samples.
const DRAWS: usize = 2000;

/// Fixed seed, so that every run draws the same samples.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Metrics of a ranking, or the means of several; each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Recall among the first 5.
    pub r_at_5: f64,
    /// Recall among the first 10.
    pub r_at_10: f64,
    /// Recall among the first 20.
    pub r_at_20: f64,
    /// Mean reciprocal rank of the first relevant item.
    pub mrr: f64,
    /// Normalised discounted cumulative gain of the first 10.
    pub ndcg_at_10: f64,
}

impl Measures {
    /// Measures a ranking; `ranks` are the 1-based ranks of the relevant items found, in ascending order.
    pub(crate) fn from_ranks(ranks: &[usize], relevant: usize) -> Self {
        let within = |k| to_f64(ranks.iter().filter(|rank| **rank <= k).count());
        let recall = |k| within(k) / to_f64(relevant.max(1));
        let gain = |rank: usize| 1.0 / (to_f64(rank) + 1.0).log2();
        let found = ranks.iter().filter(|rank| **rank <= 10);
        let found: f64 = found.map(|rank| gain(*rank)).sum();
        let best: f64 = (1..=relevant.min(10)).map(gain).sum();
        Self {
            r_at_5: recall(5),
            r_at_10: recall(10),
            r_at_20: recall(20),
            mrr: ranks.first().map_or(0.0, |rank| 1.0 / to_f64(*rank)),
            ndcg_at_10: if best > 0.0 { found / best } else { 0.0 },
        }
    }

    /// Returns the mean of each metric.
    pub(crate) fn mean(all: &[Self]) -> Self {
        let share = 1.0 / to_f64(all.len().max(1));
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() * share;
        Self {
            r_at_5: mean(|one| one.r_at_5),
            r_at_10: mean(|one| one.r_at_10),
            r_at_20: mean(|one| one.r_at_20),
            mrr: mean(|one| one.mrr),
            ndcg_at_10: mean(|one| one.ndcg_at_10),
        }
    }
}

/// The mean of differences, with its 95 % bootstrap confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// Computes the interval by resampling the differences per question with replacement.
    pub(crate) fn bootstrap(differences: &[f64]) -> Self {
        if differences.is_empty() {
            return Self::default();
        }
        let mean = |sum: f64| sum / to_f64(differences.len());
        let mut state = SEED;
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let drawn = differences.iter().map(|_| {
                    let index = below(&mut state, differences.len());
                    differences[index]
                });
                mean(drawn.sum())
            })
            .collect();
        means.sort_by(f64::total_cmp);
        Self {
            mean: mean(differences.iter().sum()),
            low: means[DRAWS / 40],
            high: means[DRAWS - 1 - DRAWS / 40],
        }
    }
}

/// Returns the next pseudorandom number below a limit.
fn below(state: &mut u64, limit: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    // The upper half of the product is distributed as evenly as the sequence.
    let product = u128::from(*state) * (limit as u128);
    usize::try_from(product >> 64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn a_ranking_is_worth_what_the_definitions_say() {
        let found = Measures::from_ranks(&[2, 12], 4);
        assert!(is_near(found.r_at_5, 0.25) && is_near(found.r_at_10, 0.25));
        assert!(is_near(found.r_at_20, 0.5) && is_near(found.mrr, 0.5));
        let best = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
        assert!(is_near(found.ndcg_at_10, 1.0 / 3_f64.log2() / best));
        assert_eq!(Measures::from_ranks(&[], 0), Measures::default());
        let perfect = Measures::from_ranks(&[1, 2], 2);
        assert!(is_near(perfect.ndcg_at_10, 1.0) && is_near(perfect.mrr, 1.0));
        assert!(is_near(Measures::mean(&[perfect, Measures::default()]).mrr, 0.5));
    }

    #[test]
    fn an_interval_holds_the_mean_and_is_the_same_each_time() {
        let differences: Vec<f64> = (0..400).map(|n| f64::from(n % 5) - 1.0).collect();
        let interval = Interval::bootstrap(&differences);
        assert!(is_near(interval.mean, 1.0));
        assert!(interval.low < 1.0 && 1.0 < interval.high);
        // The standard error is sqrt(2 / 400).
        assert!((interval.high - interval.low - 2.0 * 1.96 * 0.0707).abs() < 0.03);
        assert_eq!(interval, Interval::bootstrap(&differences));
        assert_eq!(Interval::bootstrap(&[]), Interval::default());
    }
}
