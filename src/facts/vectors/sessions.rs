//! Reads the order of facts within their sessions.

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::{Query, UserId};

/// A fact that belongs to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionRow {
    /// Its row.
    pub(crate) row: i64,
    /// Whether it is the first of its session.
    pub(crate) is_first: bool,
}

/// Returns the user's facts that belong to a session, by session and in order.
pub(crate) fn turns(connection: &Connection, user: &UserId) -> Result<Vec<SessionRow>> {
    // One pass over a covering index of the sessions.
    let sql = "SELECT seq, session_id FROM facts INDEXED BY facts_session \
               WHERE user_id = ?1 AND session_id IS NOT NULL ORDER BY session_id, turn_seq, seq";
    let mut session: Option<Vec<u8>> = None;
    connection.rows("read the sessions", sql, [user.as_str()], |row| {
        let of = row.get_ref(1)?.as_str()?.as_bytes();
        let is_first = session.as_deref() != Some(of);
        if is_first {
            session = Some(of.to_vec());
        }
        let row = row.get(0)?;
        Ok(SessionRow { row, is_first })
    })
}
