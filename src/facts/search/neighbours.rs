//! Which facts stand before and after a fact in its session.

use std::collections::BTreeSet;
use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::user::UserId;

/// The rows before and after a row, where there are any.
pub(crate) type Sides = [Option<i64>; 2];

/// Tells whether any fact of the user is of a session.
pub(crate) fn are_any(connection: &Connection, user: &UserId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE user_id = ?1 AND session_id IS NOT NULL)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([user.as_str()], |row| row.get(0)))
        .stored("read the sessions")
}

/// Returns the neighbours of every fact in the sessions of these rows; what may not be found stands in none.
pub(crate) fn in_sessions_of(
    connection: &Connection,
    user: &UserId,
    rows: &[i64],
    may_be_found: impl Fn(i64) -> bool,
) -> Result<HashMap<i64, Sides>> {
    let mut sides = HashMap::new();
    for session in sessions(connection, rows).stored("read the sessions")? {
        let turns = turns(connection, user, &session).stored("read the sessions")?;
        let turns: Vec<i64> = turns.into_iter().filter(|row| may_be_found(*row)).collect();
        for (place, row) in turns.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|place| turns.get(place));
            let after = turns.get(place + 1);
            sides.insert(*row, [before.copied(), after.copied()]);
        }
    }
    Ok(sides)
}

fn sessions(connection: &Connection, rows: &[i64]) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT session_id FROM facts WHERE seq = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut sessions = BTreeSet::new();
    for row in rows {
        let session: Option<String> = statement.query_row([row], |row| row.get(0))?;
        sessions.extend(session);
    }
    Ok(sessions)
}

fn turns(connection: &Connection, user: &UserId, session: &str) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT seq FROM facts WHERE user_id = ?1 AND session_id = ?2 ORDER BY turn_seq, seq";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((user.as_str(), session), |row| row.get(0))?;
    rows.collect()
}
