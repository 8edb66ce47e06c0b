//! Changes a fact: updates its row, its history and the derived data together.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::store::crash_point;
use crate::facts::{fact, vectors};

/// The cause of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause<'a> {
    /// The action, as recorded in the history.
    pub(crate) action: &'a str,
    /// The reason in words.
    pub(crate) reason: &'a str,
    /// The turn that caused it.
    pub(crate) turn: &'a str,
    /// The time of the change.
    pub(crate) at: &'a str,
}

/// Writes a new state of a fact, and records the change in the history.
pub(crate) fn write(
    connection: &Connection,
    cause: Cause<'_>,
    before: Option<&Fact>,
    after: &Fact,
) -> Result<()> {
    crash_point();
    record(connection, cause, before, Some(after))?;
    after.upsert(connection)?;
    vectors::update_index(connection, [after])
}

/// Writes new facts, and records each in the history.
pub(crate) fn write_new<'a>(
    connection: &Connection,
    facts: &'a [Fact],
    cause: impl Fn(&'a Fact) -> Cause<'a>,
) -> Result<()> {
    crash_point();
    for fact in facts {
        record(connection, cause(fact), None, Some(fact))?;
    }
    fact::upsert_all(connection, facts)?;
    vectors::update_index(connection, facts)
}

/// Appends a row to the history.
pub(crate) fn record(
    connection: &Connection,
    cause: Cause<'_>,
    before: Option<&Fact>,
    after: Option<&Fact>,
) -> Result<()> {
    let Some(fact) = after.or(before) else {
        return Ok(());
    };
    let row = HistoryRow {
        fact_id: fact.fact_id.clone(),
        user_id: fact.user_id.clone(),
        key: fact.key.clone(),
        action: cause.action.to_owned(),
        before: before.map(Fact::to_json).transpose()?,
        after: after.map(Fact::to_json).transpose()?,
        reason: cause.reason.to_owned(),
        turn: cause.turn.to_owned(),
        at: cause.at.to_owned(),
        device: None,
    };
    row.insert(connection).map(|_| ())
}

/// A row of the history.
pub(crate) struct HistoryRow {
    pub(crate) fact_id: String,
    pub(crate) user_id: String,
    pub(crate) key: String,
    pub(crate) action: String,
    /// The fact as it was, in JSON.
    pub(crate) before: Option<String>,
    /// The fact after the change, in JSON.
    pub(crate) after: Option<String>,
    pub(crate) reason: String,
    pub(crate) turn: String,
    pub(crate) at: String,
    /// The device that made the change, if it was another one.
    pub(crate) device: Option<String>,
}

impl HistoryRow {
    /// Appends the row, and returns its id.
    pub(crate) fn insert(&self, connection: &Connection) -> Result<i64> {
        connection.run(
            "write the history",
            "INSERT INTO fact_history \
             (fact_id, user_id, key, action, before_json, after_json, reason, turn_id, at, device) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.fact_id, self.user_id, self.key, self.action, self.before, self.after,
                self.reason, self.turn, self.at, self.device,
            ],
        )?;
        Ok(connection.last_insert_rowid())
    }
}
