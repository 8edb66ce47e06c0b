//! Compares a query with the vectors of a user, in the file or on a server.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::facts::search::FactQuery;
use crate::facts::vectors::{Chroma, IndexLocation, dim, model, refresh};
use crate::facts::{Facts, Sql, UserId};
use crate::search::{Embedder, Vector};

/// Number of vectors requested from a server per requested fact, and at least.
const OVERFETCH: usize = 4;
const MIN_CANDIDATES: usize = 100;

/// The vector of a query.
pub(crate) struct QueryVector {
    pub(crate) vector: Vector,
    /// The nearest facts, if the vectors are on a server.
    near: Option<Vec<(String, f32)>>,
}

/// The similarities of rows, from -1 to 1.
pub(crate) type Similarities = HashMap<i64, f32>;

/// Returns the vector of a query, after ensuring that all vectors in the index are of its model.
pub(crate) fn of_query(
    facts: &mut Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<QueryVector> {
    if facts.vector_server().is_some() {
        return on_server(facts, user, query, embedder);
    }
    let is_of_model =
        |facts: &Facts| -> Result<bool> { Ok(model(facts.connection())? == embedder.model()) };
    // The built-in vectors are written with their facts; an endpoint's may be missing.
    if !embedder.is_built_in() || !is_of_model(facts)? {
        refresh(facts, embedder)?;
    }
    if !is_of_model(facts)? {
        let model = embedder.model();
        return Err(Error::failed(format!("the vectors are not those of {model}"))
            .hint("a dry run creates no new ones"));
    }
    Ok(QueryVector { vector: embedder.vector(&query.text)?, near: None })
}

fn on_server(
    facts: &Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<QueryVector> {
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
        server.nearest(user, query.project.as_deref(), &vector, most)?
    };
    Ok(QueryVector { vector, near: Some(near) })
}

/// Compares the vectors of a user; a query with a zero vector resembles none.
pub(crate) fn compare(
    connection: &Connection,
    user: &UserId,
    model: &str,
    query: &QueryVector,
) -> Result<Similarities> {
    let mut similarities = Similarities::new();
    if query.vector.is_zero() {
        return Ok(similarities);
    }
    if let Some(near) = &query.near {
        let sql = "SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2";
        for (fact, similarity) in near {
            let values = (user.as_str(), fact);
            let found: Vec<i64> = connection.column(sql, values)?;
            similarities.extend(found.into_iter().map(|row| (row, *similarity)));
        }
        return Ok(similarities);
    }
    let query = query.vector.quantized();
    let sql = "SELECT seq, scale, vector FROM fact_vectors \
               WHERE user_id = ?1 AND model = ?2 AND dim = ?3";
    let mut statement = connection.statement(sql)?;
    let mut rows = statement.query((user.as_str(), model, dim(query.values.len())))?;
    while let Some(row) = rows.next()? {
        let vector = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        similarities.insert(row.get(0)?, query.dot(vector, narrowed(row.get(1)?)));
    }
    Ok(similarities)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "SQLite stores f64 only; the value was an f32 originally"
)]
fn narrowed(scale: f64) -> f32 {
    scale as f32
}
