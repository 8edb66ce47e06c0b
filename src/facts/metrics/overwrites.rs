//! Counts overwrites, undone overwrites, and pending and resolved facts, each on the day on which it began.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::columns::row;
use crate::facts::fact::Fact;
use crate::facts::metrics::tally::{Figure, Tally};
use crate::facts::query::Query;
use crate::facts::user::UserId;

/// A row of the history.
struct PastChange {
    id: i64,
    action: String,
    turn: String,
    at: String,
}

row!(PastChange: id, action, turn, at);

/// Counts a pending fact that takes effect or is dropped; called before the change is written.
pub(crate) fn note_resolution(connection: &Connection, user: &UserId, fact: &Fact) -> Result<()> {
    let is_pending = "action = 'mark_pending_confirmation'";
    match last(connection, user, fact, is_pending)? {
        Some(change) => {
            Tally::for_day(connection, user, &change.at).add(Figure::PendingResolved, 1)
        }
        // Facts imported as pending were not counted as such.
        None => Ok(()),
    }
}

/// Counts an overwrite as wrong if the user confirms the old value; called before the change is written.
pub(crate) fn note_restoration(connection: &Connection, user: &UserId, old: &Fact) -> Result<()> {
    let Some(change) = last(connection, user, old, "action = 'supersede'")? else {
        return Ok(());
    };
    if is_counted(connection, user, &old.key, change.id)? {
        return Ok(());
    }
    Tally::for_day(connection, user, &change.at).add(Figure::WrongOverwrites, 1)
}

/// Counts an overwrite as wrong if the user rejects the new value; called before the change is written.
pub(crate) fn note_rejection(connection: &Connection, user: &UserId, new: &Fact) -> Result<()> {
    let began = "action IN ('insert', 'activate', 'restore')";
    let Some(began) = last(connection, user, new, began)? else {
        return Ok(());
    };
    // A restored value already counted when it was restored.
    if began.action == "restore" {
        return Ok(());
    }
    let sql = "SELECT at FROM fact_history WHERE user_id = ?1 AND key = ?2 AND turn_id = ?3 \
               AND history_id < ?4 AND action = 'supersede' ORDER BY history_id DESC LIMIT 1";
    let values = params![user.as_str(), new.key, began.turn, began.id];
    let at: Option<String> =
        connection.optional_row("read the history", sql, values, |row| row.get(0))?;
    match at {
        Some(at) => Tally::for_day(connection, user, &at).add(Figure::WrongOverwrites, 1),
        None => Ok(()),
    }
}

/// Returns whether the rejection of a later value was already counted.
fn is_counted(connection: &Connection, user: &UserId, key: &str, since: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM fact_history WHERE user_id = ?1 AND key = ?2 \
               AND history_id > ?3 AND action = 'reject' \
               AND json_extract(before_json, '$.status') = 'active')";
    connection.value("read the history", sql, params![user.as_str(), key, since])
}

fn last(
    connection: &Connection,
    user: &UserId,
    fact: &Fact,
    condition: &str,
) -> Result<Option<PastChange>> {
    let sql = format!(
        "SELECT history_id, action, turn_id, at FROM fact_history \
         WHERE user_id = ?1 AND fact_id = ?2 AND {condition} ORDER BY history_id DESC LIMIT 1"
    );
    connection.optional_row(
        "read the history",
        &sql,
        params![user.as_str(), fact.fact_id],
        PastChange::read,
    )
}
