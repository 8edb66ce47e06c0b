//! Tests whether two groups of plans differ by more than chance.

use serde::Serialize;

use crate::search::to_f64;

/// Tolerance for rounding when comparing the probabilities of equally likely tables.
const ROUNDING: f64 = 1e-7;

/// How many members of a group have a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// Number of members with the property.
    pub count: usize,
    /// The size of the group; never less than `count`.
    pub of: usize,
}

impl Rate {
    /// Returns the number of items in `all` that pass `test`.
    pub fn measure<T>(all: impl IntoIterator<Item = T>, test: impl Fn(T) -> bool) -> Self {
        let mut rate = Self::default();
        for one in all {
            rate.of += 1;
            rate.count += usize::from(test(one));
        }
        rate
    }

    /// Returns the number of known values that are true; unknown ones count on neither side.
    pub fn measure_known(all: impl IntoIterator<Item = Option<bool>>) -> Self {
        Self::measure(all.into_iter().flatten(), |passes| passes)
    }

    /// Returns the share, in whole percent; `None` for an empty group.
    pub fn percent(self) -> Option<usize> {
        (self.count * 100 + self.of / 2).checked_div(self.of)
    }
}

/// Returns the probability of two rates that differ at least this much by chance.
///
/// Fisher's exact test, two-sided: the sum over all tables with the same margins that are no more likely than
/// this one.
pub fn fisher_exact(one: Rate, other: Rate) -> f64 {
    let within = |rate: Rate| Rate { count: rate.count.min(rate.of), of: rate.of };
    let (one, other) = (within(one), within(other));
    let all = one.of + other.of;
    let hits = one.count + other.count;
    let logarithms = logarithms_of_factorials(all);
    let choices =
        |of: usize, chosen: usize| logarithms[of] - logarithms[chosen] - logarithms[of - chosen];
    let probability = |count: usize| {
        let logarithm = choices(one.of, count) + choices(other.of, hits - count);
        (logarithm - choices(all, hits)).exp()
    };
    let observed = probability(one.count);
    let least = hits.saturating_sub(other.of);
    let sum: f64 = (least..=hits.min(one.of))
        .map(probability)
        .filter(|probability| *probability <= observed * (1.0 + ROUNDING))
        .sum();
    sum.min(1.0)
}

fn logarithms_of_factorials(largest: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let mut logarithms = vec![0.0];
    for number in 1..=largest {
        sum += to_f64(number).ln();
        logarithms.push(sum);
    }
    logarithms
}

/// Returns the probability of two samples that differ at least this much by chance.
///
/// The Mann-Whitney U test, two-sided, by the normal approximation with corrections for ties and continuity, which
/// groups of five or more are large enough for. With an empty group, the result is 1.
pub fn mann_whitney(one: &[f64], other: &[f64]) -> f64 {
    let (first, second) = (one.len(), other.len());
    let (product, all) = (to_f64(first * second), to_f64(first + second));
    let ranks = Ranks::from_samples(one, other);
    let variance = product / 12.0 * (all + 1.0 - ranks.ties / (all * (all - 1.0)));
    // An empty group, or none but equal values.
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let u = ranks.sum_of_first - to_f64(first * (first + 1)) / 2.0;
    let distance = (u.max(product - u) - product / 2.0 - 0.5) / variance.sqrt();
    libm::erfc(distance / std::f64::consts::SQRT_2).min(1.0)
}

/// The ranks of the values of both groups, sorted together.
struct Ranks {
    /// Sum of the ranks of the first group, from 1; tied values share their mean rank.
    sum_of_first: f64,
    /// Sum of t³ - t over all groups of t tied values.
    ties: f64,
}

impl Ranks {
    fn from_samples(one: &[f64], other: &[f64]) -> Self {
        let first = one.iter().map(|value| (*value, true));
        let second = other.iter().map(|value| (*value, false));
        let mut row: Vec<(f64, bool)> = first.chain(second).collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks = Self { sum_of_first: 0.0, ties: 0.0 };
        let mut before = 0;
        for tied in row.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let length = to_f64(tied.len());
            let place = to_f64(before) + f64::midpoint(length, 1.0);
            let of_first = tied.iter().filter(|(_, is_first)| *is_first).count();
            ranks.sum_of_first += place * to_f64(of_first);
            ranks.ties += length.powi(3) - length;
            before += tied.len();
        }
        ranks
    }
}

#[cfg(test)]
mod tests;
