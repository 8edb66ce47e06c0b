//! Ranks rows by words, by vectors, or by both with the seed method.

use std::cmp::Ordering;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rusqlite::Connection;

use crate::clock::parse_timestamp;
use crate::error::Result;
use crate::facts::search::candidates::Check;
use crate::facts::search::hit::{Components, TOP};
use crate::facts::vectors::Scanned;
use crate::facts::{COLUMNS, Fact, SqliteResultExt, UserId};
use crate::ranking::{normalise_min_max, recency};

/// Weights of words, vectors and recency in the seed method.
const SEED: [f64; 3] = [0.45, 0.45, 0.10];

/// Age in days at which the recency of a fact has halved.
const HALF_LIFE: f64 = 30.0;

/// Number of rows examined beyond the limit, so that the latest of equal scores are found.
pub(crate) const TIES: usize = 64;

/// A row with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankedRow {
    /// The row.
    pub(crate) seq: i64,
    /// The score.
    pub(crate) score: f64,
    /// The components of the score.
    pub(crate) components: Components,
}

/// Returns the best rows by words.
pub(crate) fn by_words(
    matches: &[(i64, f64)],
    check: &mut Check<'_>,
    limit: usize,
) -> Result<Vec<RankedRow>> {
    let scores: Vec<f64> = matches.iter().map(|(_, score)| *score).collect();
    let mut wanted = limit.saturating_add(TIES);
    let mut indexes = best(&scores, wanted);
    let mut examined = 0;
    let mut found: Vec<RankedRow> = Vec::new();
    while let Some(index) = indexes.get(examined) {
        let (seq, score) = matches[*index];
        if is_past(&found, score, limit) {
            break;
        }
        if check.is_searchable(seq)? {
            found.push(by_words_alone(seq, score, found.len()));
        }
        examined += 1;
        // Many rows may be of other users, or no longer valid.
        if examined == indexes.len() && examined < matches.len() {
            wanted = wanted.saturating_mul(4);
            indexes = best(&scores, wanted);
        }
    }
    Ok(found)
}

fn by_words_alone(seq: i64, score: f64, rank: usize) -> RankedRow {
    RankedRow {
        seq,
        score,
        components: Components {
            bm25: score,
            lexical: score,
            lexical_rank: top_rank(rank),
            ..Components::default()
        },
    }
}

/// Returns the best rows by similarity; none if the query has a zero vector.
pub(crate) fn by_vectors(scanned: &Scanned, limit: usize) -> Vec<RankedRow> {
    let best = best(&scanned.similarity, limit.saturating_add(TIES));
    best.into_iter()
        .enumerate()
        .map(|(rank, index)| {
            let score = f64::from(scanned.similarity[index]);
            let components = Components {
                cosine: Some(score),
                vector: score,
                vector_rank: top_rank(rank),
                ..Components::default()
            };
            let seq = scanned.seqs[index];
            RankedRow { seq, score, components }
        })
        .collect()
}

/// Combines the first rows by words and by vectors with the seed method.
pub(crate) fn seed(
    connection: &Connection,
    user: &UserId,
    by_words: Vec<RankedRow>,
    by_vectors: Vec<RankedRow>,
    now: DateTime<Utc>,
) -> Result<Vec<RankedRow>> {
    let mut joined: Vec<RankedRow> = by_words.into_iter().take(TOP).collect();
    for near in by_vectors.into_iter().take(TOP) {
        match joined.iter_mut().find(|ranked| ranked.seq == near.seq) {
            Some(ranked) => {
                ranked.components.cosine = near.components.cosine;
                ranked.components.vector_rank = near.components.vector_rank;
            }
            None => joined.push(near),
        }
    }
    let mut words: Vec<f64> = joined.iter().map(|one| one.components.bm25).collect();
    normalise_min_max(&mut words);
    let facts = facts(connection, user, &joined)?;
    for (ranked, words) in joined.iter_mut().zip(words) {
        let near = ranked.components.cosine.unwrap_or_default().max(0.0);
        let age = facts.get(&ranked.seq).and_then(|fact| age(fact, now));
        let late = age.map_or(0.0, |age| recency(age, HALF_LIFE));
        let parts = &mut ranked.components;
        parts.lexical = SEED[0] * words;
        parts.vector = SEED[1] * near;
        parts.recency = SEED[2] * late;
        ranked.score = parts.lexical + parts.vector + parts.recency;
    }
    joined.sort_by(best_first);
    Ok(joined)
}

/// Orders by descending score.
pub(crate) fn best_first(a: &RankedRow, b: &RankedRow) -> Ordering {
    b.score.total_cmp(&a.score).then(a.seq.cmp(&b.seq))
}

/// Returns the indexes of the `wanted` greatest scores, in descending order; equal ones keep their order.
pub(crate) fn best<S: Copy + PartialOrd>(scores: &[S], wanted: usize) -> Vec<usize> {
    let order = |a: &usize, b: &usize| {
        let greater = scores[*b].partial_cmp(&scores[*a]);
        greater.unwrap_or(Ordering::Equal).then(a.cmp(b))
    };
    let Some(last) = wanted.checked_sub(1) else {
        return Vec::new();
    };
    let mut best: Vec<usize> = Vec::new();
    let mut threshold: Option<S> = None;
    for (index, score) in scores.iter().enumerate() {
        // A score equal to the last wanted one ranks after it.
        if threshold.is_some_and(|threshold| *score <= threshold) {
            continue;
        }
        best.push(index);
        if best.len() == wanted.saturating_mul(2) {
            best.select_nth_unstable_by(last, order);
            best.truncate(wanted);
            threshold = best.last().map(|index| scores[*index]);
        }
    }
    best.sort_unstable_by(order);
    best.truncate(wanted);
    best
}

/// Returns the 1-based rank of an index, or `None` beyond [`TOP`].
pub(crate) fn top_rank(index: usize) -> Option<usize> {
    (index < TOP).then_some(index + 1)
}

/// Returns whether no further row can be among the wanted ones.
fn is_past(found: &[RankedRow], score: f64, limit: usize) -> bool {
    let Some(last) = limit.checked_sub(1).map(|last| found.get(last)) else {
        return true;
    };
    last.is_some_and(|last| score < last.score || found.len() >= limit.saturating_add(TIES))
}

/// Returns the facts of the rows, by row.
pub(crate) fn facts(
    connection: &Connection,
    user: &UserId,
    ranked: &[RankedRow],
) -> Result<HashMap<i64, Fact>> {
    let rows: Vec<String> = ranked.iter().map(|ranked| ranked.seq.to_string()).collect();
    let sql = format!(
        "SELECT {COLUMNS}, seq FROM facts WHERE user_id = ?1 AND seq IN ({})",
        rows.join(", ")
    );
    let read = || -> rusqlite::Result<HashMap<i64, Fact>> {
        let mut statement = connection.prepare(&sql)?;
        let rows =
            statement.query_map([user.as_str()], |row| Ok((row.get("seq")?, Fact::read(row)?)))?;
        rows.collect()
    };
    read().context("read the facts")
}

/// Returns the age of a fact in days.
fn age(fact: &Fact, now: DateTime<Utc>) -> Option<f64> {
    let then = parse_timestamp(fact.last_touched())?;
    let seconds = now.signed_duration_since(then).as_seconds_f64();
    Some(seconds / (24.0 * 60.0 * 60.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            scores in prop::collection::vec(0_u8..20, 0..300), wanted in 0_usize..40,
        ) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let mut all: Vec<usize> = (0..scores.len()).collect();
            all.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            all.truncate(wanted);
            prop_assert_eq!(best(&scores, wanted), all);
        }
    }
}
