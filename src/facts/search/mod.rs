//! Searches a user's facts by words and vectors.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ ranked by `search`, with the facts before and after in the session;
//!        └─ vectors: every passage ────┘  the encoder reads the best again
//! ```
//!
//! The three best facts are returned whatever the evidence; further ones that are irrelevant to the query are withheld,
//! unless all are requested.
//!
//! Every statement is restricted to one user. If vectors are unavailable, the search is lexical only, and the
//! result says so.

mod query;
mod rows;
mod words;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
pub use query::{Components, FactHit, FactQuery, Method, Retrieved, Selection};
use rusqlite::{Connection, OptionalExtension};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::search::rows::Rows;
use crate::facts::search::words::Words;
use crate::facts::vectors::{self, Similarities};
use crate::facts::{COLUMNS, Fact, Facts, ProjectScope, SqliteResultExt, UserId};
use crate::search::{
    Embedder, Encode, Encoder, Known, Question, QuestionVectors, Ranking, ReadText, Relevance,
    best, greatest_cosine, passage_vectors, rank, terms,
};

/// Length of the lexical and vector rankings in which ranks are reported, and of those that the seed method combines.
pub(crate) const TOP: usize = 20;

/// Number of best facts that are returned whether or not they are relevant: who asks for facts can see for themselves.
const ALWAYS_RETURNED: usize = 3;

/// Minimum number of facts judged to decide whether anything is relevant.
const JUDGED: usize = 10;

/// Number of rows read beyond the limit, so that the latest of equal scores are found.
const TIES: usize = 64;

/// Weights of words, vectors and recency in the seed method, and the age in days at which recency has halved.
const SEED: [f64; 3] = [0.45, 0.45, 0.10];
const HALF_LIFE: f64 = 30.0;

/// A row with its score, by its index.
struct Scored {
    index: usize,
    score: f64,
    components: Components,
}

/// Returns the facts of a user that match a query best.
pub fn retrieve(
    facts: &mut Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<Retrieved> {
    let vector = match query.method {
        Method::Lexical => Ok(None),
        _ => vectors::of_query(facts, user, query, embedder).map(Some),
    };
    let (vector, because) = match vector {
        Ok(vector) => (vector, None),
        Err(error) => (None, Some(error.to_string())),
    };
    // All reads use one snapshot of the database.
    let snapshot = facts.connection().unchecked_transaction();
    let snapshot = snapshot.context("read the facts")?;
    let rows = Rows::searchable(&snapshot, user, &query.scope, &facts.clock().timestamp())?;
    let similarities = match &vector {
        None => Similarities::default(),
        Some(vector) => {
            let question = if embedder.is_built_in() {
                QuestionVectors::built_in(&query.text, terms(&query.text, &[]).iter())
            } else {
                QuestionVectors::one(&vector.vector)
            };
            vectors::compare(&snapshot, user, &vectors::model_of(embedder), vector, &question)?
        }
    };
    let is_lacking = vector.is_some_and(|vector| !vector.vector.is_zero())
        && !rows.seqs.iter().any(|seq| similarities.contains_key(seq));
    let method = match because {
        None if !is_lacking => query.method,
        _ => Method::Lexical,
    };
    let words = Words::search(&snapshot, user, &query.text, &rows)?;
    let search = Search { connection: &snapshot, user, query, rows, words, similarities };
    let mut result = search.result(method, facts.clock())?;
    let because = because.or_else(|| {
        let was_searched = is_lacking && (!result.hits.is_empty() || result.withheld > 0);
        was_searched.then(|| "no fact of the user has a vector of this model yet".to_owned())
    });
    if because.is_none() {
        result.method = query.method;
    }
    Ok(Retrieved { degraded: because.is_some(), degraded_because: because, ..result })
}

/// A search in one snapshot of the database.
struct Search<'a> {
    connection: &'a Connection,
    user: &'a UserId,
    query: &'a FactQuery,
    rows: Rows,
    words: Words,
    similarities: Similarities,
}

impl Search<'_> {
    fn result(&self, method: Method, clock: Clock) -> Result<Retrieved> {
        let is_judged = self.query.selection != Selection::Candidates;
        // Relevance cannot be judged from just one or two.
        let depth = if is_judged { self.query.limit.max(JUDGED) } else { self.query.limit };
        let ranking = if method == Method::Fused || is_judged {
            self.ranking(is_judged && self.query.uses_encoder)?
        } else {
            Ranking::default()
        };
        let wanted = depth.saturating_add(TIES);
        let scored = match method {
            Method::Lexical => self.by_words(wanted),
            Method::Vector => self.by_vectors(wanted),
            Method::Seed => self.seed(clock.now())?,
            Method::Fused => self.fused(&ranking, wanted),
        };
        let mut hits = self.hits(scored, depth)?;
        if is_judged {
            let relevances = ranking.texts.iter().map(|one| (self.rows.seqs[one.index], one));
            let relevances: HashMap<i64, Relevance> =
                relevances.map(|(seq, one)| (seq, one.relevance)).collect();
            for (seq, hit) in &mut hits {
                hit.relevance = relevances.get(seq).copied();
            }
        }
        let mut hits: Vec<FactHit> = hits.into_iter().map(|(_, hit)| hit).collect();
        let found = hits.len();
        if self.query.selection == Selection::Relevant {
            let mut rank = 0;
            hits.retain(|hit| {
                rank += 1;
                rank <= ALWAYS_RETURNED || hit.relevance == Some(Relevance::High)
            });
        }
        let withheld = found - hits.len();
        hits.truncate(self.query.limit);
        Ok(Retrieved {
            user: self.user.as_str().to_owned(),
            method,
            degraded: false,
            degraded_because: None,
            hits,
            withheld,
            evidence: ranking.evidence,
        })
    }

    fn similarity(&self, index: usize) -> Option<f64> {
        let similarity = self.similarities.get(&self.rows.seqs[index]);
        similarity.map(|(similarity, _)| f64::from(*similarity))
    }

    /// Ranks every row by words, meaning and neighbours in the session.
    fn ranking(&self, uses_encoder: bool) -> Result<Ranking> {
        let known = |index: usize| Known {
            words: self.words.scores[index],
            meaning: self.similarities.get(&self.rows.seqs[index]).map_or(0.0, |(_, both)| *both),
            weight: 1.0,
            bonus: 0.0,
            before: self.rows.before[index],
            after: self.rows.after[index],
            is_turn: true,
        };
        let known: Vec<Known> = (0..self.rows.seqs.len()).map(known).collect();
        let question = Question::new(&self.query.text, &self.words.terms, known.len());
        let encoder = uses_encoder.then(Encoder::built_in).flatten();
        let mut encode = |texts: &[(usize, &ReadText)]| {
            let Some(encoder) = encoder else {
                return Ok(Vec::new());
            };
            let question = encoder.vector(&self.query.text).quantized();
            let texts: Vec<&ReadText> = texts.iter().map(|(_, text)| *text).collect();
            let vectors = passage_vectors(encoder, &texts).into_iter();
            Ok(vectors.map(|vectors| greatest_cosine(&question, &vectors)).collect())
        };
        let encode = encoder.is_some().then_some(&mut encode as &mut Encode<'_, Error>);
        rank(&question, &known, |index| self.read(index), encode)
    }

    /// Returns a fact under its key in words.
    fn read(&self, index: usize) -> Result<ReadText> {
        let sql = "SELECT key, value_text FROM facts WHERE seq = ?1 AND user_id = ?2";
        let mut statement = self.connection.prepare_cached(sql).context("read the facts")?;
        let found = statement.query_row((self.rows.seqs[index], self.user.as_str()), |row| {
            let key: String = row.get(0)?;
            Ok(ReadText { heading: vectors::words_of_key(&key), body: row.get(1)? })
        });
        Ok(found.optional().context("read the facts")?.unwrap_or_default())
    }

    fn by_words(&self, wanted: usize) -> Vec<Scored> {
        let first = best(&self.words.scores, wanted).into_iter().enumerate();
        let first = first.map(|(rank, index)| {
            let bm25 = self.words.scores[index];
            let lexical_rank = (rank < TOP).then_some(rank + 1);
            let components =
                Components { bm25, lexical: bm25, lexical_rank, ..Components::default() };
            Scored { index, score: bm25, components }
        });
        first.filter(|one| one.score > 0.0).collect()
    }

    fn by_vectors(&self, wanted: usize) -> Vec<Scored> {
        let all: Vec<(usize, f64)> = (0..self.rows.seqs.len())
            .filter_map(|index| Some((index, self.similarity(index)?)))
            .collect();
        let scores: Vec<f64> = all.iter().map(|(_, score)| *score).collect();
        let first = best(&scores, wanted).into_iter().enumerate();
        let first = first.map(|(rank, at)| {
            let (index, score) = all[at];
            let components = Components {
                cosine: Some(score),
                vector: score,
                vector_rank: (rank < TOP).then_some(rank + 1),
                ..Components::default()
            };
            Scored { index, score, components }
        });
        first.collect()
    }

    /// Combines the first rows by words and by vectors with the seed method.
    fn seed(&self, now: DateTime<Utc>) -> Result<Vec<Scored>> {
        let mut joined = self.by_words(TOP);
        for near in self.by_vectors(TOP) {
            match joined.iter_mut().find(|one| one.index == near.index) {
                Some(one) => {
                    one.components.cosine = near.components.cosine;
                    one.components.vector_rank = near.components.vector_rank;
                }
                None => joined.push(near),
            }
        }
        let words = joined.iter().map(|one| one.components.bm25);
        let (least, most) = words.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| {
            (least.min(one), most.max(one))
        });
        let facts = self.facts(&joined)?;
        for one in &mut joined {
            let age = facts.get(&self.rows.seqs[one.index]).and_then(|fact| age(fact, now));
            let parts = &mut one.components;
            let words = if most > least { (parts.bm25 - least) / (most - least) } else { 0.0 };
            parts.lexical = SEED[0] * words;
            parts.vector = SEED[1] * parts.cosine.unwrap_or_default().max(0.0);
            parts.recency = SEED[2] * age.map_or(0.0, |age| 0.5_f64.powf(age.max(0.0) / HALF_LIFE));
            one.score = parts.lexical + parts.vector + parts.recency;
        }
        joined.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
        Ok(joined)
    }

    fn fused(&self, ranking: &Ranking, wanted: usize) -> Vec<Scored> {
        let rank_by = |scores: Vec<f64>| {
            let mut best: Vec<f64> = best(&scores, TOP).into_iter().map(|at| scores[at]).collect();
            best.retain(|score| *score != 0.0);
            // Equal scores share a rank, regardless of row order.
            move |score: f64| {
                best.iter().position(|one| one.total_cmp(&score).is_eq()).map(|at| at + 1)
            }
        };
        let similarity = |index: usize| self.similarity(index).unwrap_or_default();
        let by_words = rank_by(self.words.scores.clone());
        let by_meaning = rank_by((0..self.rows.seqs.len()).map(similarity).collect());
        let found = ranking.texts.iter().map(|one| {
            let (parts, index) = (one.parts, one.index);
            let (bm25, cosine) = (self.words.scores[index], similarity(index));
            let components = Components {
                bm25,
                cosine: Some(cosine),
                lexical: parts.words,
                vector: parts.meaning,
                late: parts.late,
                encoder: parts.encoder,
                encoder_cosine: one.cosine,
                neighbours: parts.neighbours,
                question: parts.question,
                lexical_rank: by_words(bm25),
                vector_rank: by_meaning(cosine),
                ..Components::default()
            };
            Scored { index, score: one.score, components }
        });
        let is_match = |one: &Scored| one.score > 0.0 || one.components.cosine > Some(0.0);
        found.filter(is_match).take(wanted).collect()
    }

    /// Reads the facts; equal scores are ordered latest first, since row order differs between devices.
    fn hits(&self, scored: Vec<Scored>, limit: usize) -> Result<Vec<(i64, FactHit)>> {
        let mut facts = self.facts(&scored)?;
        let hit = |one: Scored| {
            let seq = self.rows.seqs[one.index];
            let fact = facts.remove(&seq)?;
            let Scored { score, components, .. } = one;
            Some((seq, FactHit { score, relevance: None, components, fact }))
        };
        let mut hits: Vec<(i64, FactHit)> = scored.into_iter().filter_map(hit).collect();
        hits.sort_by(|(_, a), (_, b)| {
            let later = b.fact.last_touched().cmp(a.fact.last_touched());
            let by_id = a.fact.fact_id.cmp(&b.fact.fact_id);
            b.score.total_cmp(&a.score).then(later).then(by_id)
        });
        hits.truncate(limit);
        Ok(hits)
    }

    /// Returns the facts of these rows, by row.
    fn facts(&self, scored: &[Scored]) -> Result<HashMap<i64, Fact>> {
        let rows: Vec<String> =
            scored.iter().map(|one| self.rows.seqs[one.index].to_string()).collect();
        let sql = format!(
            "SELECT {COLUMNS}, seq FROM facts WHERE user_id = ?1 AND seq IN ({})",
            rows.join(", ")
        );
        let read = || -> rusqlite::Result<HashMap<i64, Fact>> {
            let mut statement = self.connection.prepare(&sql)?;
            let read = |row: &rusqlite::Row<'_>| Ok((row.get("seq")?, Fact::read(row)?));
            let rows = statement.query_map([self.user.as_str()], read)?;
            rows.collect()
        };
        read().context("read the facts")
    }
}

/// Returns the age of a fact in days.
fn age(fact: &Fact, now: DateTime<Utc>) -> Option<f64> {
    let then = parse_timestamp(fact.last_touched())?;
    Some(now.signed_duration_since(then).as_seconds_f64() / (24.0 * 60.0 * 60.0))
}

/// Judges each fact separately against a question; returns the evidence for the relevant ones.
pub(crate) fn judge_each<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    now: &str,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<Vec<Option<f64>>> {
    let rows = Rows::searchable(connection, user, &ProjectScope::All, now)?;
    let words = Words::search(connection, user, text, &rows)?;
    let question = Question::new(text, &words.terms, rows.seqs.len());
    let judge = |fact: &Fact| {
        let body = fact.value_text.clone();
        question.judge(&ReadText { heading: vectors::words_of_key(&fact.key), body })
    };
    Ok(facts.map(judge).collect())
}

#[cfg(test)]
mod tests;
