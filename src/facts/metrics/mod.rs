//! How well the facts of a user are found, judged and used: sums kept by day, where it happens.

mod overwrites;
mod tally;
mod used;

use std::collections::BTreeMap;

use chrono::TimeDelta;
use rusqlite::params;
use serde::Serialize;

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

pub(crate) use overwrites::note_pending;
pub(crate) use overwrites::note_rejection;
pub(crate) use overwrites::note_resolution;
pub(crate) use overwrites::note_restoration;
pub(crate) use overwrites::note_supersession;
use tally::Figure;
pub use tally::count_injection;
pub(crate) use used::Ranks;
pub(crate) use used::note_turn;

/// What was measured of a user's facts in a window of days.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Whose facts they are.
    pub user_id: String,
    /// The first day.
    pub since: String,
    /// The last day.
    pub until: String,
    /// Of the turns with a used fact, those where words alone had found one among the first 20.
    pub lexical_hits: Share,
    /// Of the turns with a used fact, those where vectors alone had found one among the first 20.
    pub vector_hits: Share,
    /// Of the used facts, those that both together had found among the first 20.
    pub hybrid_recall: Share,
    /// Of the facts that were superseded, those whose old value the user took back.
    pub wrong_overwrites: Share,
    /// Of the facts that waited for confirmation, those that were confirmed or rejected.
    pub pending_resolved: Share,
    /// How long a turn took from being observed to being applied.
    pub observer_latency: Latency,
    /// What profiles cost the prompts that they went into.
    pub injection: Cost,
}

/// A part of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub part: u64,
    /// Of how many.
    pub of: u64,
    /// One by the other, or `None` if there is nothing to divide by.
    pub rate: Option<f64>,
}

/// How long turns took, to two significant digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// How many turns.
    pub turns: u64,
    /// What half of them took at most, in milliseconds.
    pub p50_ms: Option<u64>,
    /// What nineteen of twenty took at most, in milliseconds.
    pub p95_ms: Option<u64>,
}

/// What profiles cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// How many were given out.
    pub profiles: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Tokens of one, on average.
    pub mean: Option<f64>,
}

/// Returns what was measured of a user's facts today and in the days before, so many in all.
pub fn metrics(facts: &Facts, user: &UserId, days: u32) -> Result<Metrics> {
    let until = facts.clock().today();
    let before = TimeDelta::days(i64::from(days.saturating_sub(1)));
    let since = until.checked_sub_signed(before).unwrap_or(until);
    let (since, until) = (since.to_string(), until.to_string());
    let sums = Sums::read(facts, user, &since, &until)?;
    let share = |part, of| {
        let (part, of) = (sums.total(part), sums.total(of));
        Share {
            part,
            of,
            rate: ratio(part, of),
        }
    };
    let (tokens, profiles) = (
        sums.total(Figure::InjectedTokens),
        sums.total(Figure::Injections),
    );
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
        injection: Cost {
            profiles,
            tokens,
            mean: ratio(tokens, profiles),
        },
        since,
        until,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of turns are far below what a float holds exactly"
)]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// The sums of a window, by name and class of the histogram.
struct Sums(BTreeMap<String, BTreeMap<u64, u64>>);

impl Sums {
    fn read(facts: &Facts, user: &UserId, since: &str, until: &str) -> Result<Self> {
        let sql = "SELECT name, bucket, CAST(sum(amount) AS INTEGER) FROM metrics \
                   WHERE user_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY name, bucket";
        let rows = facts.connection().rows(
            "read the metrics",
            sql,
            params![user.as_str(), since, until],
            |row| {
                let (bucket, amount): (i64, i64) = (row.get(1)?, row.get(2)?);
                Ok((
                    row.get::<_, String>(0)?,
                    bucket.unsigned_abs(),
                    amount.unsigned_abs(),
                ))
            },
        )?;
        let mut sums: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
        for (name, bucket, amount) in rows {
            sums.entry(name).or_default().insert(bucket, amount);
        }
        Ok(Self(sums))
    }

    fn classes(&self, figure: Figure) -> impl Iterator<Item = (u64, u64)> {
        let classes = self.0.get(figure.as_str()).into_iter().flatten();
        classes.map(|(class, amount)| (*class, *amount))
    }

    fn total(&self, figure: Figure) -> u64 {
        self.classes(figure).map(|(_, amount)| amount).sum()
    }

    /// The class in which the share of all is reached.
    fn percentile(&self, figure: Figure, percent: u64) -> Option<u64> {
        let wanted = self.total(figure).saturating_mul(percent).div_ceil(100);
        let mut seen = 0;
        self.classes(figure).find_map(|(class, amount)| {
            seen += amount;
            (seen >= wanted).then_some(class)
        })
    }
}
