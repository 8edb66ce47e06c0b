//! Changes a fact: updates its row, its history and the derived data together.

use rusqlite::Connection;
use rusqlite::params;

use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::store::crash_point;
use crate::facts::vectors;

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
    vectors::update_index(connection, after)
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
    connection.run(
        "write the history",
        "INSERT INTO fact_history \
         (fact_id, user_id, key, action, before_json, after_json, reason, turn_id, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            fact.fact_id,
            fact.user_id,
            fact.key,
            cause.action,
            before.map(json).transpose()?,
            after.map(json).transpose()?,
            cause.reason,
            cause.turn,
            cause.at,
        ],
    )
}

fn json(fact: &Fact) -> Result<String> {
    serde_json::to_string(fact)
        .map_err(|error| Error::failed(format!("cannot write a fact: {error}")))
}
