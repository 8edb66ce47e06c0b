//! Measures how well a user's facts are found, judged and used, as sums per day.

mod overwrites;
mod tally;
mod used;

use std::collections::BTreeMap;

use chrono::TimeDelta;
pub(crate) use overwrites::{note_rejection, note_resolution, note_restoration};
use serde::Serialize;
pub use tally::count_injection;
pub(crate) use tally::{Figure, Tally};
pub(crate) use used::{Ranks, note_turn};

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// Metrics of a user's facts in a window of days.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// The user.
    pub user_id: String,
    /// The first day.
    pub since: String,
    /// The last day.
    pub until: String,
    /// Share of turns with a used fact in which lexical search found one among the first 20.
    pub lexical_hits: Share,
    /// Share of turns with a used fact in which vector search found one among the first 20.
    pub vector_hits: Share,
    /// Share of used facts that hybrid search found among the first 20.
    pub hybrid_recall: Share,
    /// Share of supersessions that the user undid, by confirming the old value or rejecting the new one.
    pub wrong_overwrites: Share,
    /// Share of pending facts that took effect or were dropped.
    pub pending_resolved: Share,
    /// Time from the observation of a turn to the application of its actions.
    pub observer_latency: Latency,
    /// Tokens of the profiles that were injected into prompts.
    pub injection: Cost,
}

/// A count as a share of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The count.
    pub part: u64,
    /// The total.
    pub of: u64,
    /// Their ratio, or `None` if the total is 0.
    pub rate: Option<f64>,
}

/// Durations of turns, to two significant digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Number of turns.
    pub turns: u64,
    /// Median, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95th percentile, in milliseconds.
    pub p95_ms: Option<u64>,
}

/// Tokens of injected profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Number of profiles.
    pub profiles: u64,
    /// Total number of tokens.
    pub tokens: u64,
    /// Mean number of tokens per profile.
    pub mean: Option<f64>,
}

/// Returns a user's metrics for the last `days` days, including today.
pub fn metrics(facts: &Facts, user: &UserId, days: u32) -> Result<Metrics> {
    let until = facts.clock().today();
    let before = TimeDelta::days(i64::from(days.saturating_sub(1)));
    let since = until.checked_sub_signed(before).unwrap_or(until);
    let (since, until) = (since.to_string(), until.to_string());
    let sums = Sums::read(facts, user, &since, &until)?;
    let share = |part, of| {
        let (part, of) = (sums.total(part), sums.total(of));
        Share { part, of, rate: ratio(part, of) }
    };
    let (tokens, profiles) = (sums.total(Figure::InjectedTokens), sums.total(Figure::Injections));
    Ok(Metrics {
        user_id: user.as_str().to_owned(),
        lexical_hits: share(Figure::LexicalHits, Figure::LexicalTurns),
        vector_hits: share(Figure::VectorHits, Figure::VectorTurns),
        hybrid_recall: share(Figure::FusedFacts, Figure::UsedFacts),
        wrong_overwrites: share(Figure::WrongOverwrites, Figure::Supersessions),
        pending_resolved: share(Figure::PendingResolved, Figure::Pending),
        observer_latency: Latency {
            turns: sums.total(Figure::Latency),
            p50_ms: sums.percentile(Figure::Latency, 50),
            p95_ms: sums.percentile(Figure::Latency, 95),
        },
        injection: Cost { profiles, tokens, mean: ratio(tokens, profiles) },
        since,
        until,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of turns and tokens are far below 2^53")]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// The sums of a window, by name and histogram bucket.
struct Sums(BTreeMap<String, BTreeMap<u64, u64>>);

impl Sums {
    fn read(facts: &Facts, user: &UserId, since: &str, until: &str) -> Result<Self> {
        let sql = "SELECT name, bucket, CAST(sum(amount) AS INTEGER) FROM metrics \
                   WHERE user_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY name, bucket";
        let mut sums: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
        let values = [user.as_str(), since, until];
        let connection = facts.connection();
        connection.each("read the metrics", sql, values, |row| {
            let buckets = sums.entry(row.get(0)?).or_default();
            buckets.insert(row.get(1)?, row.get(2)?);
            Ok(())
        })?;
        Ok(Self(sums))
    }

    fn buckets(&self, figure: Figure) -> impl Iterator<Item = (u64, u64)> {
        let buckets = self.0.get(figure.as_str()).into_iter().flatten();
        buckets.map(|(bucket, amount)| (*bucket, *amount))
    }

    fn total(&self, figure: Figure) -> u64 {
        self.buckets(figure).map(|(_, amount)| amount).sum()
    }

    /// Returns the bucket in which a percentile falls.
    fn percentile(&self, figure: Figure, percent: u64) -> Option<u64> {
        let wanted = self.total(figure).saturating_mul(percent).div_ceil(100);
        let mut seen = 0;
        self.buckets(figure).find_map(|(bucket, amount)| {
            seen += amount;
            (seen >= wanted).then_some(bucket)
        })
    }
}
