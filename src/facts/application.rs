//! Applies the actions of a turn, each of them once.

use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::action::{Action, ActionOutcome};
use crate::facts::arbitration::{ActionEffect, Arbiter};
use crate::facts::query::Query;
use crate::facts::user::UserId;

/// The outcome of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionResult {
    /// The key.
    pub key: String,
    /// The outcome.
    pub outcome: ActionOutcome,
    /// The affected fact.
    pub fact_id: Option<String>,
}

/// Applies all actions in order; if any does not fit the facts, the error lists all such actions.
pub(crate) fn apply(arbiter: &Arbiter<'_>, actions: &[Action]) -> Result<Vec<ActionResult>> {
    let mut applied = Vec::new();
    let mut problems = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        match once(arbiter, action) {
            Ok(done) => applied.push(done),
            Err(error) if error.kind == ErrorKind::Refused => {
                problems.push(format!("actions[{index}]: {}", error.message));
            }
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() {
        return Ok(applied);
    }
    Err(Error::refused(format!("the actions do not fit the facts: {}", problems.join("; ")))
        .hint("`annals facts turns --prompt` shows the facts as they are now"))
}

fn once(arbiter: &Arbiter<'_>, action: &Action) -> Result<ActionResult> {
    let hash = action.hash(arbiter.user);
    let turn = arbiter.source.turn_id.as_str();
    let key = action.key.as_str();
    let earlier = arbiter.connection.optional_row(
        "read the applied actions",
        "SELECT key, outcome, fact_id FROM applied_actions \
             WHERE user_id = ?1 AND turn_id = ?2 AND key = ?3 AND action_hash = ?4",
        params![arbiter.user.as_str(), turn, key, hash],
        read,
    )?;
    if let Some(earlier) = earlier {
        return Ok(earlier);
    }
    let ActionEffect { outcome, fact } = arbiter.decide(action)?;
    let applied =
        ActionResult { key: key.to_owned(), outcome, fact_id: fact.map(|fact| fact.fact_id) };
    arbiter.connection.run(
        "write the applied actions",
        "INSERT INTO applied_actions \
             (turn_id, user_id, key, action_hash, outcome, fact_id, applied_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            turn,
            arbiter.user.as_str(),
            key,
            hash,
            outcome.as_str(),
            applied.fact_id,
            arbiter.now
        ],
    )?;
    Ok(applied)
}

/// Returns the results of the actions applied for a turn, in order.
pub(crate) fn of_turn(
    connection: &Connection,
    user: &UserId,
    turn: &str,
) -> Result<Vec<ActionResult>> {
    connection.rows(
        "read the applied actions",
        "SELECT key, outcome, fact_id FROM applied_actions \
             WHERE user_id = ?1 AND turn_id = ?2 ORDER BY action_id",
        params![user.as_str(), turn],
        read,
    )
}

/// Returns the hashes of the actions applied for a turn.
pub(crate) fn hashes(connection: &Connection, user: &UserId, turn: &str) -> Result<Vec<String>> {
    connection.rows(
        "read the applied actions",
        "SELECT action_hash FROM applied_actions WHERE user_id = ?1 AND turn_id = ?2",
        params![user.as_str(), turn],
        |row| row.get(0),
    )
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<ActionResult> {
    let outcome: String = row.get(1)?;
    Ok(ActionResult {
        key: row.get(0)?,
        outcome: ActionOutcome::from_word(&outcome).unwrap_or(ActionOutcome::Nothing),
        fact_id: row.get(2)?,
    })
}
