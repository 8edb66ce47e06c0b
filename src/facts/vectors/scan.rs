//! Compares a query with every vector of a user.

use rusqlite::Connection;

use crate::embedding::Quantized;
use crate::error::Result;
use crate::facts::vectors::dim;
use crate::facts::{Query, UserId, fact};
use crate::search::QuestionVectors;

/// The similarities of a user's facts, in row order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Scanned {
    /// The rows.
    pub(crate) seqs: Vec<i64>,
    /// The similarity of each row's best passage, from -1 to 1.
    pub(crate) similarity: Vec<f32>,
    /// The similarity of each row to both vectors of the question.
    pub(crate) meaning: Vec<f64>,
    /// Number of the user's retrievable facts, unless a server compared the vectors.
    pub(crate) retrievable: Option<usize>,
    /// Whether every retrievable fact was compared.
    pub(crate) is_complete: bool,
}

impl Scanned {
    /// Returns the rows of the facts that a server returned, if they are the user's and still retrievable.
    pub(crate) fn from_server(
        connection: &Connection,
        user: &UserId,
        near: &[(String, f32)],
    ) -> Result<Self> {
        let sql = "SELECT seq FROM facts WHERE user_id = ?1 AND fact_id = ?2 \
                   AND status IN ('active', 'pending_confirmation')";
        let mut rows: Vec<(i64, f32)> = Vec::new();
        for (fact, similarity) in near {
            let values = (user.as_str(), fact);
            let row = connection.optional_row("read the facts", sql, values, |row| row.get(0))?;
            rows.extend(row.map(|row| (row, *similarity)));
        }
        rows.sort_unstable_by_key(|row| row.0);
        let meaning = rows.iter().map(|(_, similarity)| f64::from(*similarity)).collect();
        let (seqs, similarity) = rows.into_iter().unzip();
        // A server returns only the nearest facts.
        Ok(Self { seqs, similarity, meaning, ..Self::default() })
    }

    /// Keeps only some rows.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(i64) -> bool) {
        let kept: Vec<bool> = self.seqs.iter().map(|seq| keep(*seq)).collect();
        let is_kept = || kept.iter().copied();
        let mut next = is_kept();
        self.seqs.retain(|_| next.next().unwrap_or_default());
        let mut next = is_kept();
        self.similarity.retain(|_| next.next().unwrap_or_default());
        let mut next = is_kept();
        self.meaning.retain(|_| next.next().unwrap_or_default());
    }
}

/// Compares with all vectors of the user from this model; a fact with several scores the highest similarity.
pub(crate) fn scan(
    connection: &Connection,
    user: &UserId,
    model: &str,
    query: &Quantized,
    question: &QuestionVectors,
) -> Result<Scanned> {
    let mut scanned = Scanned::default();
    let length = query.values.len().max(1);
    // A fact has as many vectors as passages.
    let sql = "SELECT seq, scale, vector FROM fact_vectors \
               WHERE user_id = ?1 AND model = ?2 AND dim % ?3 = 0 ORDER BY seq";
    let values = (user.as_str(), model, dim(length));
    connection.each("read the vectors", sql, values, |row| {
        let scale = narrowed(row.get(1)?);
        let blob = row.get_ref(2)?.as_blob()?;
        let vectors = || blob.chunks_exact(length);
        let near = vectors().map(|vector| query.dot_stored(vector, scale));
        scanned.seqs.push(row.get(0)?);
        scanned.meaning.push(question.similarity(vectors().map(|vector| (scale, vector))));
        scanned.similarity.push(near.fold(f32::NEG_INFINITY, f32::max));
        Ok(())
    })?;
    let retrievable = fact::count_retrievable(connection, user)?;
    scanned.retrievable = Some(retrievable);
    scanned.is_complete = retrievable == scanned.seqs.len();
    Ok(scanned)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "SQLite stores f64 only; the value was an f32 originally"
)]
fn narrowed(scale: f64) -> f32 {
    scale as f32
}
