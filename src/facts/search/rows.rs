//! The facts that a search may return, and their neighbours in a session.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::{Sql, UserId};

/// The retrievable rows of a user in the selected projects, in the order of their ids: it is the same on every device, so
/// that equal scores are ordered alike.
#[derive(Default)]
pub(crate) struct Rows {
    /// The rows.
    pub(crate) seqs: Vec<i64>,
    index_of: HashMap<i64, usize>,
    /// The index of the row before each one in its session.
    pub(crate) before: Vec<Option<usize>>,
    /// The index of the row after each one.
    pub(crate) after: Vec<Option<usize>>,
}

impl Rows {
    /// Reads the rows that hold at a time.
    pub(crate) fn searchable(
        connection: &Connection,
        user: &UserId,
        project: Option<&str>,
        now: &str,
    ) -> Result<Self> {
        let sql = "SELECT seq, session_id, turn_seq FROM facts WHERE user_id = ?1 \
                   AND status IN ('active', 'pending_confirmation') \
                   AND (valid_to IS NULL OR valid_to > ?2) \
                   AND (project IS NULL OR project = ?3) ORDER BY fact_id";
        let values = params![user.as_str(), now, project];
        let mut seqs = Vec::new();
        let mut turns: Vec<(String, Option<i64>, usize)> = Vec::new();
        let found: Vec<(i64, Option<String>, Option<i64>)> = connection.list(sql, values)?;
        for (seq, session, turn) in found {
            turns.extend(session.map(|session| (session, turn, seqs.len())));
            seqs.push(seq);
        }
        turns.sort_unstable();
        let index_of = seqs.iter().enumerate().map(|(index, seq)| (*seq, index)).collect();
        let none = vec![None; seqs.len()];
        let mut rows = Self { before: none.clone(), after: none, index_of, seqs };
        for pair in turns.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            rows.after[pair[0].2] = Some(pair[1].2);
            rows.before[pair[1].2] = Some(pair[0].2);
        }
        Ok(rows)
    }

    /// Returns the index of a row, if a search may return it.
    pub(crate) fn index(&self, seq: i64) -> Option<usize> {
        self.index_of.get(&seq).copied()
    }
}
