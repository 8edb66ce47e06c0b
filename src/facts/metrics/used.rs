//! Measures whether search had found the facts that a turn turned out to concern.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::clock::parse_timestamp;
use crate::embedding::Embedder;
use crate::error::Result;
use crate::facts::application::ActionResult;
use crate::facts::metrics::tally::{Figure, Tally};
use crate::facts::query::Query;
use crate::facts::queue::Turn;
use crate::facts::search::{FactQuery, Method, TOP};
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::{search, vectors};

/// The first hits of each search method for a turn, before its actions change anything.
#[derive(Debug)]
pub(crate) struct Ranks {
    lexical: BTreeSet<String>,
    vector: Option<BTreeSet<String>>,
    fused: Option<BTreeSet<String>>,
}

impl Ranks {
    /// Searches for the user's message; without an embedder, uses vectors only if the built-in one made them.
    pub(crate) fn search(
        facts: &mut Facts,
        turn: &Turn,
        embedder: Option<&Embedder>,
    ) -> Result<Self> {
        let built_in = Embedder::BuiltIn;
        let is_built_in = vectors::model(facts.connection())? == vectors::model_of(&built_in);
        let embedder = embedder.or(is_built_in.then_some(&built_in));
        let mut find = |method, embedder: &Embedder| {
            let project = turn.project.as_deref();
            let query = FactQuery::candidates(&turn.user_input, project, TOP, method);
            search::retrieve(facts, &turn.user_id, &query, embedder)
        };
        let ids = |found: search::Retrieved| -> BTreeSet<String> {
            found.hits.into_iter().map(|hit| hit.fact.fact_id).collect()
        };
        let lexical = ids(find(Method::Lexical, &built_in)?);
        let (mut vector, mut fused) = (None, None);
        if let Some(embedder) = embedder {
            let both = find(Method::Fused, embedder)?;
            if !both.degraded {
                let found = find(Method::Vector, embedder)?;
                vector = (!found.degraded).then(|| ids(found));
            }
            fused = Some(ids(both));
        }
        Ok(Self { lexical, vector, fused })
    }
}

/// Counts an applied turn: whether the facts it used had been found, and how long it took.
pub(crate) fn note_turn(
    connection: &Connection,
    turn: &Turn,
    applied: &[ActionResult],
    ranks: Option<&Ranks>,
    now: &str,
) -> Result<()> {
    let tally = Tally::for_day(connection, &turn.user_id, now);
    if let Some(taken) = milliseconds(&turn.observed_at, now) {
        tally.add_to_bucket(Figure::Latency, two_digits(taken), 1)?;
    }
    let facts = used(connection, &turn.user_id, &turn.turn_id, applied)?;
    let Some(ranks) = ranks.filter(|_| !facts.is_empty()) else {
        return Ok(());
    };
    let found = |ids: &BTreeSet<String>| facts.intersection(ids).count();
    tally.add(Figure::LexicalTurns, 1)?;
    tally.add(Figure::LexicalHits, found(&ranks.lexical).min(1))?;
    if let Some(vector) = &ranks.vector {
        tally.add(Figure::VectorTurns, 1)?;
        tally.add(Figure::VectorHits, found(vector).min(1))?;
    }
    if let Some(fused) = &ranks.fused {
        tally.add(Figure::UsedFacts, facts.len())?;
        tally.add(Figure::FusedFacts, found(fused))?;
    }
    Ok(())
}

/// Returns the facts that the turn's actions concerned and that existed before it.
fn used(
    connection: &Connection,
    user: &UserId,
    turn: &str,
    applied: &[ActionResult],
) -> Result<BTreeSet<String>> {
    let sql = "SELECT fact_id FROM fact_history WHERE user_id = ?1 AND key = ?2 AND turn_id = ?3 \
               GROUP BY fact_id HAVING count(before_json) = count(*)";
    let keys: BTreeSet<&str> = applied.iter().map(|one| one.key.as_str()).collect();
    let mut known = BTreeSet::new();
    for key in keys {
        let values = params![user.as_str(), key, turn];
        known.extend(connection.rows("read the history", sql, values, |row| row.get(0))?);
    }
    Ok(known)
}

fn milliseconds(from: &str, to: &str) -> Option<u64> {
    let taken = parse_timestamp(to)?.signed_duration_since(parse_timestamp(from)?);
    Some(u64::try_from(taken.num_milliseconds()).unwrap_or(0))
}

/// Rounds to two significant digits, so that a histogram has few buckets at sufficient precision.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_two_digits() {
        for (exact, rounded) in
            [(0, 0), (99, 99), (104, 100), (105, 110), (998, 1000), (12_345, 12_000)]
        {
            assert_eq!(two_digits(exact), rounded, "{exact}");
        }
        assert_eq!(milliseconds("2026-03-01T12:00:00.500Z", "2026-03-01T12:00:02Z"), Some(1500));
        assert_eq!(milliseconds("2026-03-01T12:00:02Z", "2026-03-01T12:00:00Z"), Some(0));
    }
}
