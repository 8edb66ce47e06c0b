//! Searches a user's facts by words and vectors.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ fused by `search`, with the facts before and after in the session;
//!        └─ vectors: every passage ────┘  the encoder reads the best again
//! ```
//!
//! The three best facts are returned whatever the evidence; further ones that are irrelevant to the query are withheld,
//! unless all are requested.
//!
//! Every statement is restricted to one user. If vectors are unavailable, the search is lexical only, and the
//! result says so.

mod candidates;
mod fused;
mod hit;
mod judge;
mod lexical;
mod neighbours;
mod query;
mod rank;
mod row_cursor;
mod substrings;

use rusqlite::Connection;

use crate::clock::Clock;
use crate::embedding::{Embedder, Vector};
use crate::error::{Error, Result};
use crate::facts::search::candidates::Check;
use crate::facts::search::fused::FactQuestion;
pub(crate) use crate::facts::search::hit::TOP;
pub use crate::facts::search::hit::{Components, FactHit, Retrieved};
pub(crate) use crate::facts::search::judge::judge_each;
use crate::facts::search::judge::{counted_terms, judge};
pub use crate::facts::search::query::{FactQuery, Method, Selection};
use crate::facts::search::rank::RankedRow;
use crate::facts::vectors::{Chroma, IndexLocation, Scanned};
use crate::facts::{Facts, SqliteResultExt, UserId, vectors};
use crate::ranking::{AnswerEvidence, Relevance, WeightedQuestion, terms};
use crate::search::{Encoder, Question, QuestionVectors};

/// Number of vectors requested from a server per requested fact.
const OVERFETCH: usize = 4;

/// Minimum number of vectors requested from a server.
const MIN_CANDIDATES: usize = 100;

/// Number of best facts that are returned whether or not they are relevant: who asks for facts can see for themselves.
const ALWAYS_RETURNED: usize = 3;

/// Minimum number of facts judged to decide whether anything is relevant.
const JUDGED: usize = 10;

/// Returns the facts of a user that match a query best.
pub fn retrieve(
    facts: &mut Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<Retrieved> {
    let query_vector = match query.method {
        Method::Lexical => Ok(None),
        _ => QueryVector::search(facts, user, query, embedder).map(Some),
    };
    let (query_vector, because) = match query_vector {
        Ok(query_vector) => (query_vector, None),
        Err(error) => (None, Some(error.to_string())),
    };
    // All reads use one snapshot of the database.
    let snapshot = facts.connection().unchecked_transaction();
    let snapshot = snapshot.context("read the facts")?;
    let is_built_in = embedder.is_built_in();
    let search = Search { connection: &snapshot, user, query, clock: facts.clock(), is_built_in };
    let scanned = match &query_vector {
        Some(query_vector) => Some(search.scanned(query_vector, &vectors::model_of(embedder))?),
        None => None,
    };
    let is_lacking = is_lacking(query_vector.as_ref(), scanned.as_ref());
    let method = match because {
        None if !is_lacking => query.method,
        _ => Method::Lexical,
    };
    // Counting them takes as long as searching by words.
    let all = scanned.as_ref().and_then(|scanned| scanned.retrievable);
    let is_judged = query.selection != Selection::Candidates;
    let (counted, all) = if method == Method::Fused || is_judged {
        counted_terms(&snapshot, user, &query.text, all)?
    } else {
        (Vec::new(), 0)
    };
    let asked = FactQuestion {
        text: &query.text,
        question: Question::new(&counted, all),
        encoder: (is_judged && query.uses_encoder).then(Encoder::built_in).flatten(),
    };
    let ranked = search.ranked(method, &asked, scanned)?;
    let mut hits = hits(&snapshot, user, ranked, search.depth())?;
    let (mut withheld, mut verdict) = (0, AnswerEvidence::default());
    if is_judged {
        let weighted = WeightedQuestion::new(&query.text, counted, all);
        let (evidence, judged) = judge(&weighted, &query.text, &hits);
        verdict = evidence;
        for (hit, relevance) in hits.iter_mut().zip(judged) {
            hit.relevance = Some(relevance);
        }
    }
    if query.selection == Selection::Relevant {
        let found = hits.len();
        let mut rank = 0;
        hits.retain(|hit| {
            rank += 1;
            rank <= ALWAYS_RETURNED || hit.relevance == Some(Relevance::High)
        });
        withheld = found - hits.len();
    }
    hits.truncate(query.limit);
    let because = because.or_else(|| {
        let was_searched = is_lacking && (!hits.is_empty() || withheld > 0);
        was_searched.then(|| "no fact of the user has a vector of this model yet".to_owned())
    });
    Ok(Retrieved {
        user: user.as_str().to_owned(),
        method: match because {
            Some(_) => method,
            None => query.method,
        },
        degraded: because.is_some(),
        degraded_because: because,
        hits,
        withheld,
        verdict,
    })
}

/// Returns whether a query with a vector found no vectors to compare with.
fn is_lacking(query_vector: Option<&QueryVector>, scanned: Option<&Scanned>) -> bool {
    let has_vector = query_vector.is_some_and(|query_vector| !query_vector.vector.is_zero());
    has_vector && scanned.is_some_and(|scanned| scanned.seqs.is_empty())
}

/// A search in one snapshot of the database.
struct Search<'a> {
    connection: &'a Connection,
    user: &'a UserId,
    query: &'a FactQuery,
    clock: Clock,
    /// Whether vectors are those of the built-in table.
    is_built_in: bool,
}

impl Search<'_> {
    /// Returns the number of facts to examine: relevance cannot be judged from just one or two.
    fn depth(&self) -> usize {
        match self.query.selection {
            Selection::Candidates => self.query.limit,
            Selection::Relevant | Selection::All => self.query.limit.max(JUDGED),
        }
    }

    fn ranked(
        &self,
        method: Method,
        asked: &FactQuestion<'_>,
        scanned: Option<Scanned>,
    ) -> Result<Vec<RankedRow>> {
        let (connection, user, query) = (self.connection, self.user, self.query);
        let now = self.clock.timestamp();
        let mut check = Check::new(connection, user, &query.scope, &now)?;
        let words = || candidates::by_words(connection, user, &query.text);
        let limit = self.depth();
        match (method, scanned.as_ref()) {
            (Method::Lexical, _) | (_, None) => rank::by_words(&words()?, &mut check, limit),
            (Method::Vector, Some(scanned)) => Ok(rank::by_vectors(scanned, limit)),
            (Method::Seed, Some(scanned)) => {
                let by_words = rank::by_words(&words()?, &mut check, TOP)?;
                let by_vectors = rank::by_vectors(scanned, TOP);
                rank::seed(connection, user, by_words, by_vectors, self.clock.now())
            }
            (Method::Fused, Some(_)) => {
                let scanned = scanned.unwrap_or_default();
                fused::rank(connection, user, asked, words()?, scanned, &mut check, limit)
            }
        }
    }

    /// Compares the query with the vectors of retrievable facts; a query with a zero vector matches none.
    fn scanned(&self, query_vector: &QueryVector, model: &str) -> Result<Scanned> {
        if query_vector.vector.is_zero() {
            return Ok(Scanned::default());
        }
        let (connection, user) = (self.connection, self.user);
        let mut scanned = if let Some(near) = &query_vector.near {
            Scanned::from_server(connection, user, near)?
        } else {
            let query = query_vector.vector.quantized();
            let text = &self.query.text;
            let question = if self.is_built_in {
                QuestionVectors::built_in(text, &terms(text, &[]))
            } else {
                QuestionVectors::one(&query_vector.vector)
            };
            vectors::scan(connection, user, model, &query, &question)?
        };
        let now = self.clock.timestamp();
        let out = candidates::out_of_scope(connection, user, &self.query.scope, &now)?;
        if !out.is_empty() {
            scanned.retain(|seq| !out.contains(&seq));
        }
        Ok(scanned)
    }
}

/// The vector of a query.
struct QueryVector {
    vector: Vector,
    /// The nearest facts, if the vectors are on a server.
    near: Option<Vec<(String, f32)>>,
}

impl QueryVector {
    fn search(
        facts: &mut Facts,
        user: &UserId,
        query: &FactQuery,
        embedder: &Embedder,
    ) -> Result<Self> {
        if facts.vector_server().is_none() {
            return Ok(Self { vector: query_vector(facts, &query.text, embedder)?, near: None });
        }
        let is_settled = IndexLocation::current(facts.connection())?
            == IndexLocation::from_settings(facts, embedder);
        let server = Chroma::from_database(facts.connection())?.filter(|_| is_settled);
        let server = server.ok_or_else(|| {
            Error::failed("the vectors are not on the Chroma server yet")
                .hint("`annals facts work` sends them")
        })?;
        let vector = embedder.vector(&query.text)?;
        let near = if vector.is_zero() {
            Vec::new()
        } else {
            let most = query.limit.saturating_mul(OVERFETCH).max(MIN_CANDIDATES);
            server.nearest(user, &query.scope, &vector, most)?
        };
        Ok(Self { vector, near: Some(near) })
    }
}

/// Returns the query's vector, after ensuring that all vectors in the index are of its model.
fn query_vector(facts: &mut Facts, text: &str, embedder: &Embedder) -> Result<Vector> {
    let is_of_model = |facts: &Facts| -> Result<bool> {
        Ok(vectors::model(facts.connection())? == vectors::model_of(embedder))
    };
    // The built-in vectors are written with their facts; an endpoint's may be missing.
    if !embedder.is_built_in() || !is_of_model(facts)? {
        vectors::refresh(facts, embedder)?;
    }
    if !is_of_model(facts)? {
        let model = embedder.model();
        return Err(Error::failed(format!("the vectors are not those of {model}"))
            .hint("a dry run creates no new ones"));
    }
    embedder.vector(text)
}

/// Reads the facts; equal scores are ordered latest first, since row order differs between devices.
fn hits(
    connection: &Connection,
    user: &UserId,
    ranked: Vec<RankedRow>,
    limit: usize,
) -> Result<Vec<FactHit>> {
    let mut facts = rank::facts(connection, user, &ranked)?;
    let mut hits: Vec<FactHit> = ranked
        .into_iter()
        .filter_map(|ranked| {
            facts.remove(&ranked.seq).map(|fact| FactHit {
                score: ranked.score,
                relevance: None,
                components: ranked.components,
                fact,
            })
        })
        .collect();
    hits.sort_by(|a, b| {
        let later = b.fact.last_touched().cmp(a.fact.last_touched());
        let by_id = a.fact.fact_id.cmp(&b.fact.fact_id);
        b.score.total_cmp(&a.score).then(later).then(by_id)
    });
    hits.truncate(limit);
    Ok(hits)
}

#[cfg(test)]
mod tests;
