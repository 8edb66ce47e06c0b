//! Searches a user's facts by words and vectors.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ each from 0 to 1, half and half
//!        └─ vectors: every passage ────┘   + a share of the facts before and after in the session
//! ```
//!
//! A question ranks below its answer. Facts that are irrelevant to the query are withheld, unless all are
//! requested.
//!
//! Every statement is restricted to one user. If vectors are unavailable, the search is lexical only, and the
//! result says so.

mod candidates;
mod fused;
mod judge;
mod lexical;
mod neighbours;
mod places;
mod rank;
mod substrings;

use std::fmt;

use rusqlite::Connection;
use serde::Serialize;

use crate::clock::Clock;
use crate::embedding::Embedder;
use crate::embedding::Vector;
use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::SqliteResultExt;
use crate::facts::scope::ProjectScope;
use crate::facts::search::candidates::Check;
use crate::facts::search::judge::judge;
pub(crate) use crate::facts::search::judge::judge_each;
use crate::facts::search::rank::RankedRow;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vectors;
use crate::facts::vectors::Chroma;
use crate::facts::vectors::IndexLocation;
use crate::facts::vectors::Scanned;
use crate::project::Fusion;
use crate::ranking::AnswerEvidence;
use crate::ranking::Relevance;
use crate::text::word_enum;

/// Length of the lexical and vector rankings in which ranks are reported.
pub(crate) const TOP: usize = 20;

/// Number of vectors requested from a server per requested fact.
const OVERFETCH: usize = 4;

/// Minimum number of vectors requested from a server.
const MIN_CANDIDATES: usize = 100;

/// Minimum number of facts judged to decide whether anything is relevant.
const JUDGED: usize = 10;

word_enum! {
    /// A search method.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
    pub enum Method {
        /// Words only.
        Lexical = "lexical",
        /// Vectors only.
        Vector = "vector",
        /// The first 20 of each: lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
        /// Words and vectors with equal weights, plus a share of the neighbours in the session.
        #[default]
        Fused = "fused",
    }
}

impl From<Fusion> for Method {
    fn from(fusion: Fusion) -> Self {
        match fusion {
            Fusion::Own => Self::Fused,
            Fusion::Seed => Self::Seed,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Selects which of the facts found are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those that are relevant to the query.
    #[default]
    Relevant,
    /// The nearest, each with its relevance.
    All,
    /// The nearest, without relevance: conflict resolution needs every possible contradiction.
    Candidates,
}

/// A search query.
#[derive(Clone, Debug)]
pub struct FactQuery {
    /// The text as a person wrote it; it has no operators.
    pub text: String,
    /// Maximum number of facts.
    pub limit: usize,
    /// The projects to search.
    pub scope: ProjectScope,
    /// The search method.
    pub method: Method,
    /// Which of the facts found are returned.
    pub selection: Selection,
}

impl FactQuery {
    /// Returns a query for the facts nearest to a text, in a project or in none, without regard to relevance.
    pub(crate) fn candidates(
        text: &str,
        project: Option<&str>,
        limit: usize,
        method: Method,
    ) -> Self {
        let project = project.map(str::to_owned);
        Self {
            text: text.to_owned(),
            limit,
            scope: project.map_or(ProjectScope::General, ProjectScope::Project),
            method,
            selection: Selection::Candidates,
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retrieved {
    /// The user.
    pub user: String,
    /// The search method used.
    pub method: Method,
    /// Whether vectors were unavailable, so that the search was lexical only.
    pub degraded: bool,
    /// The reason why they were unavailable.
    pub degraded_because: Option<String>,
    /// The facts, best first.
    pub hits: Vec<FactHit>,
    /// Number of irrelevant facts that were withheld.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// The evidence for the answer as a whole, if it was judged.
    #[serde(skip)]
    pub verdict: AnswerEvidence,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde needs it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A fact found by a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactHit {
    /// The score, comparable within one result.
    pub score: f64,
    /// The relevance to the query, or `None` if it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Relevance>,
    /// The components of the score.
    pub components: Components,
    /// The fact.
    pub fact: Fact,
}

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Components {
    /// BM25 score of the words; 0 if none is shared.
    pub bm25: f64,
    /// Cosine similarity, from -1 to 1, or `None` if no vectors were compared.
    pub cosine: Option<f64>,
    /// Contribution of the words to the score.
    pub lexical: f64,
    /// Contribution of the vectors.
    pub vector: f64,
    /// Contribution of the neighbours in the session.
    pub neighbours: f64,
    /// Deduction for a fact that is a question.
    pub question: f64,
    /// Contribution of recency.
    pub recency: f64,
    /// Rank among the first 20 by words, from 1.
    pub lexical_rank: Option<usize>,
    /// Rank among the first 20 by vectors, from 1.
    pub vector_rank: Option<usize>,
}

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
    let search = Search {
        connection: &snapshot,
        user,
        query,
        clock: facts.clock(),
    };
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
    let ranked = search.ranked(method, scanned)?;
    let mut hits = hits(&snapshot, user, ranked, search.depth())?;
    let (mut withheld, mut verdict) = (0, AnswerEvidence::default());
    if query.selection != Selection::Candidates {
        let found = hits.iter().map(|hit| &hit.fact);
        let (evidence, judged) = judge(&snapshot, user, (&query.text, all), found)?;
        verdict = evidence;
        for (hit, relevance) in hits.iter_mut().zip(judged) {
            hit.relevance = Some(relevance);
        }
    }
    if query.selection == Selection::Relevant {
        let found = hits.len();
        hits.retain(|hit| hit.relevance == Some(Relevance::High));
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
}

impl Search<'_> {
    /// Returns the number of facts to examine: relevance cannot be judged from just one or two.
    fn depth(&self) -> usize {
        match self.query.selection {
            Selection::Candidates => self.query.limit,
            Selection::Relevant | Selection::All => self.query.limit.max(JUDGED),
        }
    }

    fn ranked(&self, method: Method, scanned: Option<Scanned>) -> Result<Vec<RankedRow>> {
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
                rank::seed(connection, user, (by_words, by_vectors), self.clock.now())
            }
            (Method::Fused, Some(_)) => {
                let sides = (words()?, scanned.unwrap_or_default());
                fused::rank(connection, user, sides, &mut check, limit)
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
            vectors::scan(connection, user, model, &query)?
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
            return Ok(Self {
                vector: query_vector(facts, &query.text, embedder)?,
                near: None,
            });
        }
        let is_settled = IndexLocation::read(facts.connection())?
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
        Ok(Self {
            vector,
            near: Some(near),
        })
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
        return Err(
            Error::failed(format!("the vectors are not those of {model}"))
                .hint("a dry run creates no new ones"),
        );
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
