//! Searches a user's facts by words and vectors.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ ranked by `search`, with the facts before and after in the session;
//!        └─ vectors: one per fact ─────┘  the encoder reads the best again
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

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
pub use query::{Components, FactHit, FactQuery, Method, Retrieved, Selection};
use rusqlite::Connection;

use crate::clock::{Clock, parse_timestamp};
use crate::error::Result;
use crate::facts::search::rows::Rows;
use crate::facts::search::words::Words;
use crate::facts::vectors::{self, Similarities};
use crate::facts::{COLUMNS, Fact, Facts, Sql, UserId};
use crate::search::{
    Embedder, Known, Question, Ranked, Ranking, ReadText, Relevance, best, cosines,
    passage_vectors, rank,
};

/// Length of the lexical and vector rankings that the seed method combines, and that are measured.
pub(crate) const TOP: usize = 20;

/// Number of best facts that are returned whether or not they are relevant: who asks for facts can see for themselves.
const ALWAYS_RETURNED: usize = 3;

/// Minimum number of facts judged to decide whether anything is relevant.
const JUDGED: usize = 10;

/// The similarity of a fact without a vector.
const NOT_COMPARED: f64 = f64::NEG_INFINITY;

/// Number of rows read beyond the limit, so that the latest of equal scores are found.
const TIES: usize = 64;

/// Number of facts that the encoder reads for a question, and the similarity at which one is shown that nobody asked for.
const MAX_READ: usize = 300;
const MIN_COSINE: f64 = 0.3;

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
    let snapshot = facts.connection().unchecked_transaction()?;
    let rows =
        Rows::searchable(&snapshot, user, query.project.as_deref(), &facts.clock().timestamp())?;
    let similarities = match &vector {
        None => Similarities::default(),
        Some(vector) => vectors::compare(&snapshot, user, &embedder.model(), vector)?,
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
        let mut scored = self.scored(method, &ranking);
        scored.sort_by(|a, b| b.score.total_cmp(&a.score));
        scored.truncate(depth.saturating_add(TIES));
        let mut facts = self.facts(&scored)?;
        let relevances: HashMap<usize, Relevance> =
            ranking.texts.iter().map(|one| (one.index, one.relevance)).collect();
        let hit = |Scored { index, mut score, mut components }: Scored| {
            let fact = facts.remove(&self.rows.seqs[index])?;
            if method == Method::Seed {
                components.recency = SEED[2] * recency(&fact, clock.now());
                score += components.recency;
            }
            let relevance = relevances.get(&index).copied().filter(|_| is_judged);
            Some(FactHit { score, relevance, components, fact })
        };
        let mut hits: Vec<FactHit> = scored.into_iter().filter_map(hit).collect();
        // Equal scores are ordered latest first, since row order differs between devices.
        hits.sort_by(|a, b| {
            let later = b.fact.last_touched().cmp(a.fact.last_touched());
            let by_id = a.fact.fact_id.cmp(&b.fact.fact_id);
            b.score.total_cmp(&a.score).then(later).then(by_id)
        });
        hits.truncate(depth);
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

    /// Scores the rows that a method finds, without the recency of the seed method.
    fn scored(&self, method: Method, ranking: &Ranking) -> Vec<Scored> {
        let words = &self.words.scores;
        let all = || 0..self.rows.seqs.len();
        let near: Vec<f64> =
            all().map(|index| self.cosine(index).unwrap_or(NOT_COMPARED)).collect();
        let nothing = Components::default();
        let found: Vec<(usize, f64, Components)> = match method {
            Method::Lexical => {
                let found = all().filter(|index| words[*index] > 0.0);
                let part =
                    |index| (index, words[index], Components { lexical: words[index], ..nothing });
                found.map(part).collect()
            }
            Method::Vector => {
                let found = all().filter_map(|index| Some((index, self.cosine(index)?)));
                found
                    .map(|(index, near)| (index, near, Components { vector: near, ..nothing }))
                    .collect()
            }
            Method::Seed => {
                let first = |scores: &[f64], least: f64| -> Vec<usize> {
                    best(scores, TOP).into_iter().filter(|index| scores[*index] > least).collect()
                };
                let (by_words, by_meaning) = (first(words, 0.0), first(&near, NOT_COMPARED));
                let either: BTreeSet<usize> = by_words.iter().chain(&by_meaning).copied().collect();
                let words = seed_words(words, &by_words, either.len() > by_words.len());
                let part = |index: usize| {
                    let lexical = words.get(&index).copied().unwrap_or_default();
                    let is_near = by_meaning.contains(&index);
                    let vector = if is_near { SEED[1] * near[index].max(0.0) } else { 0.0 };
                    (index, lexical + vector, Components { lexical, vector, ..nothing })
                };
                either.into_iter().map(part).collect()
            }
            Method::Fused => {
                let found = ranking.texts.iter();
                let found = found.filter(|one| one.score > 0.0 || near[one.index] > 0.0);
                let part = |one: &Ranked| Components {
                    lexical: one.parts.words,
                    vector: one.parts.meaning,
                    late: one.parts.late,
                    encoder: one.parts.encoder,
                    encoder_cosine: one.cosine,
                    neighbours: one.parts.neighbours,
                    question: one.parts.question,
                    ..nothing
                };
                found.map(|one| (one.index, one.score, part(one))).collect()
            }
        };
        let whole = |(index, score, parts)| {
            let components = Components { bm25: words[index], cosine: self.cosine(index), ..parts };
            Scored { index, score, components }
        };
        found.into_iter().map(whole).collect()
    }

    fn cosine(&self, index: usize) -> Option<f64> {
        self.similarities.get(&self.rows.seqs[index]).copied().map(f64::from)
    }

    /// Ranks every row by words, meaning and neighbours in the session.
    fn ranking(&self, uses_encoder: bool) -> Result<Ranking> {
        let known = |index: usize| Known {
            words: self.words.scores[index],
            meaning: self.cosine(index).unwrap_or_default().max(0.0),
            weight: 1.0,
            bonus: 0.0,
            before: self.rows.before[index],
            after: self.rows.after[index],
            is_turn: true,
        };
        let known: Vec<Known> = (0..self.rows.seqs.len()).map(known).collect();
        let question = Question::new(&self.query.text, &self.words.terms, known.len());
        let read = |index| self.read(index);
        rank(&question, &known, uses_encoder, usize::MAX, read, |encoder, texts| {
            let texts: Vec<&ReadText> = texts.iter().map(|(_, text)| *text).collect();
            Ok(passage_vectors(encoder, &texts))
        })
    }

    /// Returns a fact under its key in words.
    fn read(&self, index: usize) -> Result<ReadText> {
        let sql = "SELECT key, value_text FROM facts WHERE seq = ?1 AND user_id = ?2";
        let values = (self.rows.seqs[index], self.user.as_str());
        let found: Option<(String, String)> = self.connection.optional(sql, values)?;
        let text =
            |(key, body): (String, String)| ReadText { heading: vectors::words_of_key(&key), body };
        Ok(found.map(text).unwrap_or_default())
    }

    /// Returns the facts of these rows, by row.
    fn facts(&self, scored: &[Scored]) -> Result<HashMap<i64, Fact>> {
        let rows: Vec<String> =
            scored.iter().map(|one| self.rows.seqs[one.index].to_string()).collect();
        let sql = format!(
            "SELECT {COLUMNS}, seq FROM facts WHERE user_id = ?1 AND seq IN ({})",
            rows.join(", ")
        );
        let mut statement = self.connection.prepare(&sql)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get("seq")?, Fact::read(row)?));
        let rows = statement.query_map([self.user.as_str()], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// Returns the words' part of the seed method: of the first by words, the worst has 0 and the best the full weight.
fn seed_words(words: &[f64], first: &[usize], others: bool) -> HashMap<usize, f64> {
    let most = first.first().map_or(0.0, |index| words[*index]);
    let least = if others { 0.0 } else { first.last().map_or(0.0, |index| words[*index]) };
    let width = most - least;
    let part =
        |index: &usize| if width > 0.0 { SEED[0] * (words[*index] - least) / width } else { 0.0 };
    first.iter().map(|index| (*index, part(index))).collect()
}

/// Returns the recency of the seed method: 1 for a fact of now, half of it for each half-life before.
fn recency(fact: &Fact, now: DateTime<Utc>) -> f64 {
    parse_timestamp(fact.last_touched()).map_or(0.0, |then| {
        let days = now.signed_duration_since(then).as_seconds_f64() / (24.0 * 60.0 * 60.0);
        0.5_f64.powf(days.max(0.0) / HALF_LIFE)
    })
}

/// Judges each fact separately against a question; returns the evidence for the relevant ones.
///
/// If the encoder reads them, a fact needs no word of the question.
pub(crate) fn judge_each(
    connection: &Connection,
    user: &UserId,
    project: Option<&str>,
    text: &str,
    now: &str,
    facts: &[Fact],
    uses_encoder: bool,
) -> Result<Vec<Option<f64>>> {
    let rows = Rows::searchable(connection, user, project, now)?;
    let words = Words::search(connection, user, text, &rows)?;
    let question = Question::new(text, &words.terms, rows.seqs.len());
    let read = |fact: &Fact| ReadText {
        heading: vectors::words_of_key(&fact.key),
        body: fact.value_text.clone(),
    };
    let texts: Vec<ReadText> = facts.iter().map(read).collect();
    let is_read = uses_encoder && texts.len() <= MAX_READ && !words.terms.is_empty();
    let near = is_read.then(|| cosines(text, &texts)).flatten().unwrap_or_default();
    let evidence = texts.iter().enumerate().map(|(index, fact)| {
        let near = near.get(index).map(|cosine| cosine / MIN_COSINE).filter(|near| *near >= 1.0);
        near.or_else(|| question.judge(fact))
    });
    Ok(evidence.collect())
}

#[cfg(test)]
mod tests;
