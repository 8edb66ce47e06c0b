//! Reads the history of facts: who changed what, how, and why.

use rusqlite::params;
use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
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

/// Returns the changes of a user's facts, oldest first: of one fact or key, or of all.
pub fn history(facts: &Facts, user: &UserId, of: Option<&str>) -> Result<Vec<Change>> {
    let mut statement = facts
        .connection()
        .prepare(
            "SELECT fact_id, key, action, before_json, after_json, reason, turn_id, at, device FROM fact_history \
             WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2 OR substr(fact_id, 1, length(?2)) = ?2) \
             ORDER BY history_id",
        )
        .stored("read the history")?;
    let rows = statement
        .query_map(params![user.as_str(), of], |row| {
            let change = Change {
                fact_id: row.get(0)?,
                key: row.get(1)?,
                action: row.get(2)?,
                before: None,
                after: None,
                reason: row.get(5)?,
                turn_id: row.get(6)?,
                at: row.get(7)?,
                device: row.get(8)?,
            };
            let before: Option<String> = row.get(3)?;
            let after: Option<String> = row.get(4)?;
            Ok((change, before, after))
        })
        .stored("read the history")?;
    let mut changes = Vec::new();
    for row in rows {
        let (mut change, before, after) = row.stored("read the history")?;
        change.before = before.as_deref().map(fact).transpose()?;
        change.after = after.as_deref().map(fact).transpose()?;
        changes.push(change);
    }
    Ok(changes)
}

pub(crate) fn fact(json: &str) -> Result<Fact> {
    serde_json::from_str(json).map_err(|error| {
        Error::failed(format!(
            "the history holds something that is not a fact: {error}"
        ))
    })
}
