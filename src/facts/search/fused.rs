//! Fuses lexical and vector scores over all facts of a user, with boosts from neighbours in a session.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::facts::SqliteResultExt;
use crate::facts::UserId;
use crate::facts::search::candidates::Check;
use crate::facts::search::hit::{Components, TOP};
use crate::facts::search::neighbours::Neighbours;
use crate::facts::search::rank::{RankedRow, TIES, best, best_first, top_rank};
use crate::facts::search::row_cursor::RowCursor;
use crate::facts::vectors;
use crate::facts::vectors::Scanned;
use crate::ranking::{ANSWER_SHARE, QUESTION_PENALTY, question_share};

/// Weight of the lexical score; the vector score has the rest.
const LEXICAL: f64 = 0.5;

/// All retrievable rows of a user, in order, with their scores.
struct Scored {
    seqs: Vec<i64>,
    bm25: Vec<f64>,
    cosine: Vec<f32>,
    weights: Weights,
}

/// Normalises both scores to between 0 and their weight.
#[derive(Clone, Copy)]
struct Weights {
    most_by_words: f64,
    farthest: f64,
    /// Difference between the greatest and the least similarity, or `None` if all are equal.
    width: Option<f64>,
}

/// Returns the best rows.
pub(crate) fn rank(
    connection: &Connection,
    user: &UserId,
    matches: Vec<(i64, f64)>,
    scanned: Scanned,
    check: &mut Check<'_>,
    limit: usize,
) -> Result<Vec<RankedRow>> {
    let turns = vectors::turns(connection, user)?;
    let scored = Scored::new(matches, scanned, check)?;
    let neighbours = Neighbours::from_turns(turns.into_iter(), &scored.seqs);
    let base = scored.base();
    let session_boost = neighbours.session_boost(&base);
    let sums: Vec<f64> =
        base.iter().zip(&session_boost).map(|(base, session_boost)| base + session_boost).collect();
    let indexes = with_answers(best(&sums, limit.saturating_add(TIES)), &neighbours);
    let shares = QuestionShares::read(connection, user, &scored.seqs, &indexes, &neighbours)?;
    let mut ranked: Vec<RankedRow> = indexes
        .into_iter()
        .map(|index| {
            let answers = neighbours
                .before(index)
                .map_or(0.0, |question| ANSWER_SHARE * shares.share(question) * base[question]);
            let score = sums[index] + answers;
            let loss = QUESTION_PENALTY * shares.share(index) * score;
            scored.ranked(index, session_boost[index] + answers, loss)
        })
        .collect();
    ranked.retain(|ranked| {
        ranked.score > 0.0 || ranked.components.cosine.is_some_and(|cosine| cosine > 0.0)
    });
    ranked.sort_by(best_first);
    scored.note_ranks(&mut ranked);
    Ok(ranked)
}

/// Adds the index of the next row in the session to each, since that has the answer to a question.
fn with_answers(indexes: Vec<usize>, neighbours: &Neighbours) -> Vec<usize> {
    let answers: Vec<usize> = indexes.iter().filter_map(|index| neighbours.after(*index)).collect();
    let mut all = indexes;
    all.extend(answers);
    all.sort_unstable();
    all.dedup();
    all
}

/// The share of each fact that consists of questions, by index.
struct QuestionShares(HashMap<usize, f64>);

impl QuestionShares {
    /// Reads the facts at these indexes, and the ones before them.
    fn read(
        connection: &Connection,
        user: &UserId,
        seqs: &[i64],
        indexes: &[usize],
        neighbours: &Neighbours,
    ) -> Result<Self> {
        let before = indexes.iter().filter_map(|index| neighbours.before(*index));
        let mut wanted: Vec<usize> = indexes.iter().copied().chain(before).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let sql = "SELECT value_text FROM facts WHERE seq = ?1 AND user_id = ?2";
        let mut statement = connection.prepare_cached(sql).context("read the facts")?;
        let mut shares = HashMap::with_capacity(wanted.len());
        for index in wanted {
            let share = statement
                .query_row((seqs[index], user.as_str()), |row| {
                    row.get_ref(0)?.as_str().map(question_share).map_err(Into::into)
                })
                .optional()
                .context("read the facts")?;
            shares.insert(index, share.unwrap_or_default());
        }
        Ok(Self(shares))
    }

    fn share(&self, index: usize) -> f64 {
        self.0.get(&index).copied().unwrap_or_default()
    }
}

impl Scored {
    fn new(matches: Vec<(i64, f64)>, scanned: Scanned, check: &mut Check<'_>) -> Result<Self> {
        let Scanned { seqs, similarity, is_complete, .. } = scanned;
        let mut bm25 = vec![0.0; seqs.len()];
        let mut without_vector = Vec::new();
        let mut cursor = RowCursor::new(&seqs);
        for (seq, score) in matches {
            match cursor.find(seq) {
                Some(index) => bm25[index] = score,
                // It belongs to another user, has expired, or does not have a vector yet.
                None if !is_complete && check.is_searchable(seq)? => {
                    without_vector.push((seq, score));
                }
                None => {}
            }
        }
        if without_vector.is_empty() {
            return Ok(Self::weighted(seqs, bm25, similarity));
        }
        let least = similarity.iter().copied().fold(1.0, f32::min);
        let known = seqs.into_iter().zip(bm25).zip(similarity);
        let mut rows: Vec<(i64, f64, f32)> =
            known.map(|((seq, bm25), cosine)| (seq, bm25, cosine)).collect();
        rows.extend(without_vector.iter().map(|(seq, score)| (*seq, *score, least)));
        rows.sort_unstable_by_key(|row| row.0);
        let seqs = rows.iter().map(|row| row.0).collect();
        let bm25 = rows.iter().map(|row| row.1).collect();
        let cosine = rows.iter().map(|row| row.2).collect();
        Ok(Self::weighted(seqs, bm25, cosine))
    }

    fn weighted(seqs: Vec<i64>, bm25: Vec<f64>, cosine: Vec<f32>) -> Self {
        let farthest = cosine.iter().copied().fold(f32::INFINITY, f32::min);
        let nearest = cosine.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let width = f64::from(nearest) - f64::from(farthest);
        let weights = Weights {
            // The minimum lexical score is 0, even if every fact matches a word.
            most_by_words: bm25.iter().copied().fold(f64::MIN_POSITIVE, f64::max),
            farthest: f64::from(farthest),
            width: Some(width).filter(|width| *width > 0.0 && width.is_finite()),
        };
        Self { seqs, bm25, cosine, weights }
    }

    /// Returns the sum of both normalised scores for each row.
    fn base(&self) -> Vec<f64> {
        let weights = self.weights;
        let both = self.bm25.iter().zip(&self.cosine);
        both.map(|(bm25, cosine)| weights.lexical(*bm25) + weights.vector(*cosine)).collect()
    }

    fn ranked(&self, index: usize, neighbours: f64, question: f64) -> RankedRow {
        let (bm25, cosine) = (self.bm25[index], self.cosine[index]);
        let (lexical, vector) = (self.weights.lexical(bm25), self.weights.vector(cosine));
        RankedRow {
            seq: self.seqs[index],
            score: lexical + vector + neighbours - question,
            components: Components {
                bm25,
                cosine: Some(f64::from(cosine)),
                lexical,
                vector,
                neighbours,
                question,
                ..Components::default()
            },
        }
    }

    /// Sets the ranks of each row among the best by words and among the best by vectors.
    fn note_ranks(&self, ranked: &mut [RankedRow]) {
        let words = best(&self.bm25, TOP).into_iter();
        let words: Vec<f64> = words.map(|index| self.bm25[index]).collect();
        let meaning = best(&self.cosine, TOP).into_iter();
        let meaning: Vec<f64> = meaning.map(|index| self.cosine[index].into()).collect();
        for ranked in ranked {
            let parts = &mut ranked.components;
            parts.lexical_rank = rank_among(&words, parts.bm25).filter(|_| parts.bm25 > 0.0);
            parts.vector_rank = parts.cosine.and_then(|cosine| rank_among(&meaning, cosine));
        }
    }
}

/// Returns the rank of a score among the best; equal scores share a rank, regardless of row order.
fn rank_among(best: &[f64], score: f64) -> Option<usize> {
    let index = best.iter().position(|one| one.total_cmp(&score).is_eq());
    index.and_then(top_rank)
}

impl Weights {
    fn lexical(self, bm25: f64) -> f64 {
        LEXICAL * (bm25 / self.most_by_words)
    }

    fn vector(self, cosine: f32) -> f64 {
        let cosine = f64::from(cosine);
        let normalised = match self.width {
            Some(width) => (cosine - self.farthest) / width,
            // If there is nothing to compare with, such as for a single fact, the similarity itself counts.
            None => cosine.clamp(0.0, 1.0),
        };
        (1.0 - LEXICAL) * normalised
    }
}
