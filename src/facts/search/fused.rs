//! Fuses words, meaning and the neighbours in a session over all facts of a user.

use rusqlite::{Connection, OptionalExtension};

use crate::error::{Error, Result};
use crate::facts::search::candidates::Check;
use crate::facts::search::hit::{Components, TOP};
use crate::facts::search::neighbours::Neighbours;
use crate::facts::search::rank::{RankedRow, TIES, best, top_rank};
use crate::facts::search::row_cursor::RowCursor;
use crate::facts::vectors::Scanned;
use crate::facts::{SqliteResultExt, UserId, vectors};
use crate::search::{
    Encoder, Known, Question, ReadText, Reread, fuse, greatest_cosine, passage_vectors,
};

/// A question about facts.
pub(crate) struct FactQuestion<'a> {
    pub(crate) text: &'a str,
    pub(crate) question: Question,
    /// The encoder, if it reads the best facts.
    pub(crate) encoder: Option<&'static Encoder>,
}

/// All retrievable rows of a user, in order, with their scores.
struct Scored {
    seqs: Vec<i64>,
    bm25: Vec<f64>,
    cosine: Vec<f32>,
    meaning: Vec<f64>,
}

/// Returns the best rows.
pub(crate) fn rank(
    connection: &Connection,
    user: &UserId,
    asked: &FactQuestion<'_>,
    matches: Vec<(i64, f64)>,
    scanned: Scanned,
    check: &mut Check<'_>,
    limit: usize,
) -> Result<Vec<RankedRow>> {
    let turns = vectors::turns(connection, user)?;
    let scored = Scored::new(matches, scanned, check)?;
    let neighbours = Neighbours::from_turns(turns.into_iter(), &scored.seqs);
    let known: Vec<Known> = (0..scored.seqs.len())
        .map(|index| Known {
            words: scored.bm25[index],
            meaning: scored.meaning[index],
            weight: 1.0,
            bonus: 0.0,
            before: neighbours.before(index),
            after: neighbours.after(index),
            is_turn: true,
        })
        .collect();
    let mut reread = |texts: &[(usize, &ReadText)]| Ok(cosines(asked, texts));
    let read = |index: usize| read(connection, user, scored.seqs[index]);
    let reread = asked.encoder.is_some().then_some(&mut reread as &mut Reread<'_, Error>);
    let found = fuse(&asked.question, &known, read, reread)?.into_iter();
    let mut ranked: Vec<RankedRow> = found
        .filter(|found| found.score > 0.0 || scored.cosine[found.index] > 0.0)
        .take(limit.saturating_add(TIES))
        .map(|found| {
            let parts = found.parts;
            RankedRow {
                seq: scored.seqs[found.index],
                score: found.score,
                components: Components {
                    bm25: scored.bm25[found.index],
                    cosine: Some(f64::from(scored.cosine[found.index])),
                    lexical: parts.words,
                    vector: parts.meaning,
                    late: parts.late,
                    encoder: parts.encoder,
                    encoder_cosine: found.cosine,
                    neighbours: parts.neighbours,
                    question: parts.question,
                    ..Components::default()
                },
            }
        })
        .collect();
    scored.note_ranks(&mut ranked);
    Ok(ranked)
}

fn cosines(asked: &FactQuestion<'_>, texts: &[(usize, &ReadText)]) -> Vec<f64> {
    let Some(encoder) = asked.encoder else {
        return Vec::new();
    };
    let question = encoder.vector(asked.text).quantized();
    let texts: Vec<&ReadText> = texts.iter().map(|(_, text)| *text).collect();
    let vectors = passage_vectors(encoder, &texts).into_iter();
    vectors.map(|vectors| greatest_cosine(&question, &vectors)).collect()
}

/// Returns a fact under its key in words.
fn read(connection: &Connection, user: &UserId, seq: i64) -> Result<ReadText> {
    let sql = "SELECT key, value_text FROM facts WHERE seq = ?1 AND user_id = ?2";
    let mut statement = connection.prepare_cached(sql).context("read the facts")?;
    let found = statement.query_row((seq, user.as_str()), |row| {
        let key: String = row.get(0)?;
        Ok(ReadText { heading: vectors::words_of_key(&key), body: row.get(1)? })
    });
    Ok(found.optional().context("read the facts")?.unwrap_or_default())
}

impl Scored {
    fn new(matches: Vec<(i64, f64)>, scanned: Scanned, check: &mut Check<'_>) -> Result<Self> {
        let Scanned { seqs, similarity, meaning, is_complete, .. } = scanned;
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
        let known = seqs.into_iter().zip(bm25).zip(similarity.into_iter().zip(meaning));
        let mut rows: Vec<(i64, f64, f32, f64)> =
            known.map(|((seq, bm25), (cosine, meaning))| (seq, bm25, cosine, meaning)).collect();
        if !without_vector.is_empty() {
            rows.extend(without_vector.iter().map(|(seq, score)| (*seq, *score, 0.0, 0.0)));
            rows.sort_unstable_by_key(|row| row.0);
        }
        Ok(Self {
            seqs: rows.iter().map(|row| row.0).collect(),
            bm25: rows.iter().map(|row| row.1).collect(),
            cosine: rows.iter().map(|row| row.2).collect(),
            meaning: rows.iter().map(|row| row.3).collect(),
        })
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
