//! Joins words and meaning over all facts of a user, and lets neighbours in a session lend to each other.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::search::Components;
use crate::facts::search::candidates::Check;
use crate::facts::search::neighbours;
use crate::facts::search::neighbours::Sides;
use crate::facts::search::rank::Ranked;
use crate::facts::search::rank::best;
use crate::facts::search::rank::best_first;
use crate::facts::search::rank::top_rank;
use crate::facts::user::UserId;
use crate::facts::vectors::Scanned;
use crate::ranking::NEIGHBOURS;
use crate::ranking::min_max;

/// What words weigh; meaning has the rest.
const LEXICAL: f64 = 0.5;

/// How many of the best rows are looked at first, for each that is wanted.
const POOL: usize = 4;

/// More rows than this are not looked at for the sake of their neighbours.
const LARGEST_POOL: usize = 4096;

/// All rows of a user that may be found, in order, and what words and meaning say of each.
struct Scored {
    seqs: Vec<i64>,
    bm25: Vec<f64>,
    cosine: Vec<f64>,
    /// From 0 to the side's weight.
    lexical: Vec<f64>,
    vector: Vec<f64>,
    /// The sum of both.
    base: Vec<f64>,
}

/// Returns the best rows.
pub(crate) fn rank(
    connection: &Connection,
    user: &UserId,
    (matches, scanned): (Vec<(i64, f64)>, Scanned),
    check: &mut Check<'_>,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let scored = Scored::new(matches, scanned, check)?;
    let mut ranked = if neighbours::are_any(connection, user)? {
        scored.with_neighbours(connection, user, limit)?
    } else {
        let places = best(&scored.base, limit.saturating_add(limit));
        places
            .into_iter()
            .map(|place| scored.ranked(place, 0.0))
            .collect()
    };
    ranked.retain(|ranked| {
        ranked.score > 0.0 || ranked.components.cosine.is_some_and(|cosine| cosine > 0.0)
    });
    ranked.sort_by(best_first);
    scored.note_ranks(&mut ranked);
    Ok(ranked)
}

impl Scored {
    fn new(matches: Vec<(i64, f64)>, scanned: Scanned, check: &mut Check<'_>) -> Result<Self> {
        let mut seqs = scanned.seqs;
        let mut cosine: Vec<f64> = scanned.nearness.into_iter().map(f64::from).collect();
        let mut bm25 = vec![0.0; seqs.len()];
        let mut without_vector = Vec::new();
        for (seq, score) in matches {
            match seqs.binary_search(&seq) {
                Ok(place) => bm25[place] = score,
                // Of another user, or no longer valid; or its vector is still to come.
                Err(_) if check.may_be_found(seq)? => without_vector.push((seq, score)),
                Err(_) => {}
            }
        }
        if !without_vector.is_empty() {
            let least = cosine.iter().copied().fold(1.0, f64::min);
            let mut rows: Vec<(i64, f64, f64)> = Vec::with_capacity(seqs.len());
            for (place, seq) in seqs.iter().enumerate() {
                rows.push((*seq, bm25[place], cosine[place]));
            }
            rows.extend(
                without_vector
                    .iter()
                    .map(|(seq, score)| (*seq, *score, least)),
            );
            rows.sort_unstable_by_key(|row| row.0);
            seqs = rows.iter().map(|row| row.0).collect();
            bm25 = rows.iter().map(|row| row.1).collect();
            cosine = rows.iter().map(|row| row.2).collect();
        }
        Ok(Self::weighted(seqs, bm25, cosine))
    }

    fn weighted(seqs: Vec<i64>, bm25: Vec<f64>, cosine: Vec<f64>) -> Self {
        let (mut lexical, mut vector) = (bm25.clone(), cosine.clone());
        // Of words, nothing at all is the least, also where every fact has some.
        let most = lexical.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for score in &mut lexical {
            *score /= most;
        }
        min_max(&mut vector);
        for (lexical, vector) in lexical.iter_mut().zip(&mut vector) {
            *lexical *= LEXICAL;
            *vector *= 1.0 - LEXICAL;
        }
        let base = lexical.iter().zip(&vector).map(|(a, b)| a + b).collect();
        Self {
            seqs,
            bm25,
            cosine,
            lexical,
            vector,
            base,
        }
    }

    fn place(&self, seq: i64) -> Option<usize> {
        self.seqs.binary_search(&seq).ok()
    }

    fn ranked(&self, place: usize, neighbours: f64) -> Ranked {
        Ranked {
            seq: self.seqs[place],
            score: self.base[place] + neighbours,
            components: Components {
                bm25: self.bm25[place],
                cosine: Some(self.cosine[place]),
                lexical: self.lexical[place],
                vector: self.vector[place],
                neighbours,
                ..Components::default()
            },
        }
    }

    /// Looks at the best rows and their sessions, and at more of them until no other row can be among the wanted.
    fn with_neighbours(
        &self,
        connection: &Connection,
        user: &UserId,
        limit: usize,
    ) -> Result<Vec<Ranked>> {
        let mut wanted = limit.saturating_mul(POOL).max(64);
        loop {
            let pool = best(&self.base, wanted);
            let rows: Vec<i64> = pool.iter().map(|place| self.seqs[*place]).collect();
            let is_known = |row| self.place(row).is_some();
            let sides = neighbours::in_sessions_of(connection, user, &rows, is_known)?;
            let ranked = self.lent(&pool, &sides);
            let is_all = pool.len() == self.seqs.len() || wanted >= LARGEST_POOL;
            // A row that was not looked at is at most as good as the last of the pool, and so are its neighbours.
            let least = pool.last().map_or(0.0, |place| self.base[*place]);
            let others = least * (1.0 + 2.0 * NEIGHBOURS);
            let wanted_last = limit.checked_sub(1).and_then(|last| ranked.get(last));
            if is_all || wanted_last.is_some_and(|ranked| ranked.score >= others) {
                return Ok(ranked);
            }
            wanted *= 2;
        }
    }

    /// Returns the rows of the pool and of its sessions with what their neighbours lend, the best first.
    fn lent(&self, pool: &[usize], sides: &HashMap<i64, Sides>) -> Vec<Ranked> {
        let alone = pool
            .iter()
            .filter(|place| !sides.contains_key(&self.seqs[**place]));
        let mut ranked: Vec<Ranked> = alone.map(|place| self.ranked(*place, 0.0)).collect();
        let base = |row: Option<i64>| {
            let place = row.and_then(|row| self.place(row));
            place.map_or(0.0, |place| self.base[place])
        };
        for (row, [before, after]) in sides {
            if let Some(place) = self.place(*row) {
                let neighbours = NEIGHBOURS * (base(*before) + base(*after));
                ranked.push(self.ranked(place, neighbours));
            }
        }
        ranked.sort_by(best_first);
        ranked
    }

    /// Notes where each row stands among the first by words, and among those by meaning.
    fn note_ranks(&self, ranked: &mut [Ranked]) {
        let ranks = |scores: &[f64]| -> HashMap<i64, usize> {
            let top = best(scores, crate::facts::search::TOP)
                .into_iter()
                .enumerate();
            top.map(|(rank, place)| (self.seqs[place], rank)).collect()
        };
        let (words, meaning) = (ranks(&self.bm25), ranks(&self.cosine));
        for ranked in ranked {
            let parts = &mut ranked.components;
            let rank =
                |ranks: &HashMap<i64, usize>| ranks.get(&ranked.seq).copied().and_then(top_rank);
            parts.lexical_rank = rank(&words).filter(|_| parts.bm25 > 0.0);
            parts.vector_rank = rank(&meaning);
        }
    }
}
