//! Finds a user's facts by words and by meaning.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ each from 0 to 1, half and half
//!        └─ vectors: every passage ────┘   + a share of the facts before and after in the session
//! ```
//!
//! A question loses to its answer. What has nothing to do with the query is left out, unless all is wanted.
//!
//! Every statement is bound to one user. Where vectors cannot be had, words alone answer, and the
//! answer says so.

mod candidates;
mod fused;
mod judge;
mod lexical;
mod neighbours;
mod places;
mod rank;
mod substrings;

use std::fmt;

use chrono::DateTime;
use chrono::SecondsFormat;
use chrono::Utc;
use rusqlite::Connection;
use serde::Serialize;

use crate::embedding::Embedder;
use crate::embedding::Vector;
use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
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

/// How deep the lists of words and of vectors are that tell how well each side did.
pub(crate) const TOP: usize = 20;

/// How many vectors a server is asked for, for each fact that is wanted.
const DEEPER: usize = 4;

/// The fewest that it is asked for.
const MIN_CANDIDATES: usize = 100;

/// How many facts at least tell whether anything has to do with a query.
const JUDGED: usize = 10;

word_enum! {
    /// What a search goes by.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
    pub enum Method {
        /// Words alone.
        Lexical = "lexical",
        /// Meaning alone.
        Vector = "vector",
        /// The first 20 of each: lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
        /// Words and meaning, half and half, and a share of the neighbours in the session.
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

/// Which of the facts that are found are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those that have to do with the query.
    #[default]
    Relevant,
    /// The nearest, each marked with whether it has.
    All,
    /// The nearest, unmarked: what is settled against them must see each that could contradict.
    Candidates,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct FactQuery {
    /// The words, as a person wrote them; nothing in them is an operator.
    pub text: String,
    /// How many facts are wanted.
    pub limit: usize,
    /// Which projects count.
    pub scope: ProjectScope,
    /// What the search goes by.
    pub method: Method,
    /// Which of them are given.
    pub selection: Selection,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retrieved {
    /// Whose facts.
    pub user: String,
    /// What the search went by.
    pub method: Method,
    /// Whether vectors were wanted and could not be had, so that words alone answered.
    pub degraded: bool,
    /// Why they could not be had.
    pub degraded_because: Option<String>,
    /// The facts, the best first.
    pub hits: Vec<FactHit>,
    /// How many of the nearest have nothing to do with the query and were left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// What speaks for the answer as a whole, where that was judged.
    #[serde(skip)]
    pub verdict: AnswerEvidence,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A fact that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactHit {
    /// How well it fits; scores of one answer compare.
    pub score: f64,
    /// Whether it has to do with the query, or `None` if that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Relevance>,
    /// What the score is made of.
    pub components: Components,
    /// The fact.
    pub fact: Fact,
}

/// What a score is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Components {
    /// How well the words fit (BM25); 0 where none is shared.
    pub bm25: f64,
    /// How near the meaning is, from -1 to 1, or `None` if no vectors were compared.
    pub cosine: Option<f64>,
    /// What the words add to the score.
    pub lexical: f64,
    /// What the meaning adds.
    pub vector: f64,
    /// What the facts before and after in the session add.
    pub neighbours: f64,
    /// What is taken off since the fact asks and does not tell.
    pub question: f64,
    /// What it adds that the fact is of late.
    pub recency: f64,
    /// Its place among the first 20 by words, counted from 1.
    pub lexical_rank: Option<usize>,
    /// Its place among the first 20 by meaning.
    pub vector_rank: Option<usize>,
}

/// Finds the facts of a user that fit a query best.
pub fn retrieve(
    facts: &mut Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<Retrieved> {
    let meaning = match query.method {
        Method::Lexical => Ok(None),
        _ => Meaning::search(facts, user, query, embedder).map(Some),
    };
    let (meaning, because) = match meaning {
        Ok(meaning) => (meaning, None),
        Err(error) => (None, Some(error.to_string())),
    };
    // One state of the database for all that is read.
    let snapshot = facts.connection().unchecked_transaction();
    let snapshot = snapshot.stored("read the facts")?;
    let search = Search {
        connection: &snapshot,
        user,
        query,
        now: facts.clock().now(),
    };
    let scanned = match &meaning {
        Some(meaning) => Some(search.scanned(meaning, &vectors::model_of(embedder))?),
        None => None,
    };
    let is_lacking = is_lacking(meaning.as_ref(), scanned.as_ref());
    let method = match because {
        None if !is_lacking => query.method,
        _ => Method::Lexical,
    };
    let ranked = search.ranked(method, scanned)?;
    let mut hits = hits(&snapshot, user, ranked, search.depth())?;
    let (mut withheld, mut verdict) = (0, AnswerEvidence::default());
    if query.selection != Selection::Candidates {
        let found = hits.iter().map(|hit| &hit.fact);
        let judged = judge(&snapshot, user, &query.text, found)?;
        verdict = judged.verdict;
        for (hit, relevance) in hits.iter_mut().zip(judged.relevance) {
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

/// Returns whether a query with a meaning had no vector to be compared with.
fn is_lacking(meaning: Option<&Meaning>, scanned: Option<&Scanned>) -> bool {
    let has_meaning = meaning.is_some_and(|meaning| !meaning.vector.is_zero());
    has_meaning && scanned.is_some_and(|scanned| scanned.seqs.is_empty())
}

/// One search in one state of the database.
struct Search<'a> {
    connection: &'a Connection,
    user: &'a UserId,
    query: &'a FactQuery,
    now: DateTime<Utc>,
}

impl Search<'_> {
    /// How many are looked at: whether anything fits is judged by more than one or two.
    fn depth(&self) -> usize {
        match self.query.selection {
            Selection::Candidates => self.query.limit,
            Selection::Relevant | Selection::All => self.query.limit.max(JUDGED),
        }
    }

    fn ranked(&self, method: Method, scanned: Option<Scanned>) -> Result<Vec<RankedRow>> {
        let (connection, user, query) = (self.connection, self.user, self.query);
        let now = timestamp(self.now);
        let mut check = Check::new(connection, user, &query.scope, &now)?;
        let words = || candidates::by_words(connection, user, &query.text);
        let limit = self.depth();
        match (method, scanned.as_ref()) {
            (Method::Lexical, _) | (_, None) => rank::by_words(&words()?, &mut check, limit),
            (Method::Vector, Some(scanned)) => Ok(rank::by_meaning(scanned, limit)),
            (Method::Seed, Some(scanned)) => {
                let by_words = rank::by_words(&words()?, &mut check, TOP)?;
                let by_meaning = rank::by_meaning(scanned, TOP);
                rank::seed(connection, user, (by_words, by_meaning), self.now)
            }
            (Method::Fused, Some(_)) => {
                let sides = (words()?, scanned.unwrap_or_default());
                fused::rank(connection, user, sides, &mut check, limit)
            }
        }
    }

    /// Compares the query with the vectors of what may be found; a query without meaning is near to nothing.
    fn scanned(&self, meaning: &Meaning, model: &str) -> Result<Scanned> {
        if meaning.vector.is_zero() {
            return Ok(Scanned::default());
        }
        let (connection, user) = (self.connection, self.user);
        let mut scanned = if let Some(near) = &meaning.near {
            Scanned::from_server(connection, user, near)?
        } else {
            let query = meaning.vector.quantized();
            vectors::scan(connection, user, model, &query)?
        };
        let now = timestamp(self.now);
        let out = candidates::out_of_scope(connection, user, &self.query.scope, &now)?;
        if !out.is_empty() {
            scanned.retain(|seq| !out.contains(&seq));
        }
        Ok(scanned)
    }
}

/// What a query means.
struct Meaning {
    vector: Vector,
    /// The nearest facts, where a server has the vectors and was asked.
    near: Option<Vec<(String, f32)>>,
}

impl Meaning {
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
            let most = query.limit.saturating_mul(DEEPER).max(MIN_CANDIDATES);
            server.nearest(user, &query.scope, &vector, most)?
        };
        Ok(Self {
            vector,
            near: Some(near),
        })
    }
}

/// Returns the query's vector, after all vectors in the index are of its model.
fn query_vector(facts: &mut Facts, text: &str, embedder: &Embedder) -> Result<Vector> {
    let is_of_model = |facts: &Facts| -> Result<bool> {
        Ok(vectors::model(facts.connection())? == vectors::model_of(embedder))
    };
    // The built-in vectors are written with their facts; an endpoint's may still be to come.
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

/// Returns a time as the tables have it.
fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Reads the facts; of equally good ones, the later is first. Their rows have another order on each device.
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
        let later = rank::last_touched(&b.fact).cmp(rank::last_touched(&a.fact));
        let by_id = a.fact.fact_id.cmp(&b.fact.fact_id);
        b.score.total_cmp(&a.score).then(later).then(by_id)
    });
    hits.truncate(limit);
    Ok(hits)
}

#[cfg(test)]
mod tests;
