//! Compares a query with every vector of one user.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::embedding::Quantized;
use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::user::UserId;
use crate::facts::vectors::contiguous;
use crate::facts::vectors::dim;
use crate::facts::vectors::sessions::Turn;

/// From so many vectors on, they are kept in a file of their own too.
const MANY: usize = if cfg!(test) { 30 } else { 50_000 };

/// How near each of a user's facts is, in the order of their rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Scanned {
    /// The rows.
    pub(crate) seqs: Vec<i64>,
    /// How near each is, from -1 to 1.
    pub(crate) nearness: Vec<f32>,
    /// The order of the sessions, where it was there to be read along.
    pub(crate) turns: Option<Vec<Turn>>,
    /// Whether every fact that may be found was compared.
    pub(crate) is_complete: bool,
}

impl Scanned {
    /// Returns the rows of facts that a server found near, where they are the user's and may still be found.
    pub(crate) fn of(
        connection: &Connection,
        user: &UserId,
        near: &[(String, f32)],
    ) -> Result<Self> {
        let sql = "SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2 \
                   AND status IN ('active', 'pending_confirmation')";
        let mut statement = connection.prepare_cached(sql).stored("read the facts")?;
        let mut rows: Vec<(i64, f32)> = Vec::new();
        for (fact, nearness) in near {
            let row = statement
                .query_row((user.as_str(), fact), |row| row.get(0))
                .optional()
                .stored("read the facts")?;
            rows.extend(row.map(|row| (row, *nearness)));
        }
        rows.sort_unstable_by_key(|row| row.0);
        let (seqs, nearness) = rows.into_iter().unzip();
        // A server is asked for the nearest alone.
        Ok(Self {
            seqs,
            nearness,
            ..Self::default()
        })
    }

    /// Keeps only some rows.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(i64) -> bool) {
        let seqs = std::mem::take(&mut self.seqs).into_iter();
        let nearness = std::mem::take(&mut self.nearness);
        (self.seqs, self.nearness) = seqs.zip(nearness).filter(|(seq, _)| keep(*seq)).unzip();
    }
}

/// Compares with all vectors of the user that this model made; `derives` says whether files may be written.
pub(crate) fn scan(
    connection: &Connection,
    user: &UserId,
    model: &str,
    query: &Quantized,
    derives: bool,
) -> Result<Scanned> {
    if let Some(scanned) = contiguous::scanned(connection, user, model, query)? {
        return Ok(scanned);
    }
    let scanned = by_rows(connection, user, model, query)?;
    if derives && scanned.seqs.len() >= MANY {
        contiguous::write(connection, user, model, query.values.len())?;
    }
    Ok(scanned)
}

/// Compares with the vectors as they are in the table.
pub(crate) fn by_rows(
    connection: &Connection,
    user: &UserId,
    model: &str,
    query: &Quantized,
) -> Result<Scanned> {
    let mut scanned = Scanned::default();
    let dim = query.values.len();
    each(connection, user, model, dim, |seq, scale, vector| {
        scanned.seqs.push(seq);
        scanned.nearness.push(query.dot_stored(vector, scale));
    })?;
    scanned.is_complete = is_complete(connection, user, scanned.seqs.len())?;
    Ok(scanned)
}

/// The vectors of a user as they are stored, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) seqs: Vec<i64>,
    pub(crate) scales: Vec<f32>,
    pub(crate) vectors: Vec<u8>,
}

/// Returns all vectors of the user that this model made.
pub(crate) fn rows(
    connection: &Connection,
    user: &UserId,
    model: &str,
    dim: usize,
) -> Result<Rows> {
    let mut rows = Rows::default();
    each(connection, user, model, dim, |seq, scale, vector| {
        rows.seqs.push(seq);
        rows.scales.push(scale);
        rows.vectors.extend_from_slice(vector);
    })?;
    Ok(rows)
}

/// Tells whether so many vectors are all that the user's facts can have.
pub(crate) fn is_complete(connection: &Connection, user: &UserId, vectors: usize) -> Result<bool> {
    let sql = "SELECT count(*) FROM facts INDEXED BY facts_status \
               WHERE user_id = ?1 AND status IN ('active', 'pending_confirmation')";
    let facts: i64 = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([user.as_str()], |row| row.get(0)))
        .stored("count the facts")?;
    Ok(usize::try_from(facts).is_ok_and(|facts| facts == vectors))
}

fn each(
    connection: &Connection,
    user: &UserId,
    model: &str,
    length: usize,
    mut take: impl FnMut(i64, f32, &[u8]),
) -> Result<()> {
    let sql = "SELECT seq, scale, vector FROM fact_vectors \
               WHERE user_id = ?1 AND model = ?2 AND dim = ?3 ORDER BY seq";
    let mut read = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((user.as_str(), model, dim(length)))?;
        while let Some(row) = rows.next()? {
            let scale: f64 = row.get(1)?;
            take(row.get(0)?, narrowed(scale), row.get_ref(2)?.as_blob()?);
        }
        Ok(())
    };
    read().stored("read the vectors")
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it was an f32 before SQLite, which knows only f64, kept it"
)]
fn narrowed(scale: f64) -> f32 {
    scale as f32
}
