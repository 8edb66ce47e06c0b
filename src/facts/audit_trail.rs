//! Reads the history of facts: who changed what, how, and why.

use rusqlite::{Connection, Params, Row, params};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// A change of a fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The fact.
    pub fact_id: String,
    /// Its key.
    pub key: String,
    /// The action.
    pub action: String,
    /// The fact as it was, or `None` if it was new.
    pub before: Option<Fact>,
    /// The fact after the change, or `None` if it was removed.
    pub after: Option<Fact>,
    /// The reason.
    pub reason: String,
    /// The turn that caused it.
    pub turn_id: String,
    /// When it was changed.
    pub at: String,
    /// The device that made the change, if it was another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// Returns the changes of a user's facts, oldest first; only those of one fact or key if `of` names it.
pub fn history(facts: &Facts, user: &UserId, of: Option<&str>) -> Result<Vec<Change>> {
    let sql = "SELECT fact_id, key, action, reason, turn_id, at, device, before_json, after_json FROM fact_history \
               WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2 OR substr(fact_id, 1, length(?2)) = ?2) \
               ORDER BY history_id";
    let read = |row: &Row<'_>| {
        let change = Change {
            fact_id: row.get(0)?,
            key: row.get(1)?,
            action: row.get(2)?,
            reason: row.get(3)?,
            turn_id: row.get(4)?,
            at: row.get(5)?,
            device: row.get(6)?,
            before: None,
            after: None,
        };
        let states: (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
        Ok((change, states))
    };
    let values = params![user.as_str(), of];
    let rows = facts.connection().rows("read the history", sql, values, read)?;
    let mut changes = Vec::new();
    for (mut change, (before, after)) in rows {
        change.before = before.as_deref().map(fact).transpose()?;
        change.after = after.as_deref().map(fact).transpose()?;
        changes.push(change);
    }
    Ok(changes)
}

/// Returns the facts that a statement selects as JSON.
pub(crate) fn facts(
    connection: &Connection,
    tried: &str,
    sql: &str,
    values: impl Params,
) -> Result<Vec<Fact>> {
    let rows: Vec<String> = connection.rows(tried, sql, values, |row| row.get(0))?;
    rows.iter().map(|json| fact(json)).collect()
}

pub(crate) fn fact(json: &str) -> Result<Fact> {
    serde_json::from_str(json)
        .map_err(|error| Error::failed(format!("the history contains an invalid fact: {error}")))
}
