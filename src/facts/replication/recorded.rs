//! Creates operations for new rows of the history, in the transaction that writes them.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::columns::row;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::digest;
use crate::facts::replication::rows;
use crate::facts::replication::scope::{DEVICE, Scopes};
use crate::facts::user::UserId;

/// Actions that each device performs for itself, and that are not sent.
const LOCAL: &[&str] = &["archive", "merge"];

/// A row of the history without an operation.
struct Unrecorded {
    history: i64,
    fact: String,
    user: String,
    key: String,
    action: String,
    turn: String,
    /// The resulting status and value.
    outcome: String,
    /// When it was written.
    at: String,
}

row!(Unrecorded: history, fact, user, key, action, turn, at, outcome);

/// Creates operations for the rows added to the history, and merges their keys.
///
/// This costs one read if the database is not shared.
pub(crate) fn record(connection: &Connection, scopes: &Scopes, clock: Clock) -> Result<()> {
    let Some(mut device) = Device::joined(connection)? else {
        return Ok(());
    };
    let last = last_change(connection)?;
    if last <= device.noted {
        return Ok(());
    }
    let mut keys = BTreeSet::new();
    for change in &unrecorded(connection, device.noted)? {
        if LOCAL.contains(&change.action.as_str()) {
            continue;
        }
        add(connection, scopes, &mut device, change, clock)?;
        keys.insert((change.user.clone(), change.key.clone()));
    }
    // Rows of other devices count as recorded too, so that the next write does not read them again.
    device.noted = last;
    device.save(connection)?;
    for (user, key) in keys {
        rows::merge_key(connection, &UserId::stored(user), &key, &clock.timestamp())?;
    }
    Ok(())
}

/// Returns the id of the last row of the history.
fn last_change(connection: &Connection) -> Result<i64> {
    connection.value(
        "read the history",
        "SELECT coalesce(max(history_id), 0) FROM fact_history",
        [],
    )
}

fn unrecorded(connection: &Connection, after: i64) -> Result<Vec<Unrecorded>> {
    let sql = "SELECT history_id, fact_id, user_id, key, action, turn_id, at, \
               coalesce(after_json ->> 'status', '') || ' ' || coalesce(after_json ->> 'value_text', '') \
               FROM fact_history AS h WHERE history_id > ?1 AND device IS NULL \
               AND NOT EXISTS (SELECT 1 FROM operations AS o WHERE o.history_id = h.history_id) ORDER BY history_id";
    connection.rows("read the history", sql, [after], Unrecorded::read)
}

fn add(
    connection: &Connection,
    scopes: &Scopes,
    device: &mut Device,
    change: &Unrecorded,
    clock: Clock,
) -> Result<()> {
    let scope = scopes.scope_for(connection, &change.user, &change.fact, &change.key)?;
    // Rows written before the database was shared keep their time.
    let time = crate::clock::parse_timestamp(&change.at).unwrap_or_else(|| clock.now());
    let ticked = device.next_clock(time.min(clock.now()));
    let number = match scope.as_str() {
        DEVICE => None,
        _ => Some(next_number(connection, &scope, &device.id)?),
    };
    let born = birth(connection, &change.user, &change.fact)?.unwrap_or(ticked);
    let id = op_id(change, &device.id, ticked);
    let noted_at = clock.timestamp();
    connection.run(
        "write the operations",
        "INSERT INTO operations (scope, device, number, op_id, clock, kind, history_id, born, noted_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'fact', ?6, ?7, ?8)",
        params![scope, device.id, number, id, ticked, change.history, born, noted_at],
    )
}

/// Returns the number of a device's next operation in a scope.
pub(crate) fn next_number(connection: &Connection, scope: &str, device: &str) -> Result<i64> {
    let number = connection.value(
        "read the operations",
        "SELECT coalesce(max(number), 0) + 1 FROM operations WHERE scope = ?1 AND device = ?2",
        [scope, device],
    )?;
    if number == 1 {
        let first = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
        connection.run("write the operations", first, [scope, device])?;
    }
    Ok(number)
}

fn birth(connection: &Connection, user: &str, fact: &str) -> Result<Option<i64>> {
    connection
        .optional_row(
            "read the operations",
            "SELECT min(o.born) FROM fact_history AS h JOIN operations AS o USING (history_id) \
             WHERE h.user_id = ?1 AND h.fact_id = ?2",
            [user, fact],
            |row| row.get(0),
        )
        .map(Option::flatten)
}

/// Returns an id that is equal for a turn observed on two devices, but unique for actions without a turn.
fn op_id(change: &Unrecorded, device: &str, clock: i64) -> String {
    let parts =
        [&change.user, &change.turn, &change.key, &change.fact, &change.action, &change.outcome];
    let mut parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    let clock = clock.to_string();
    if change.turn.starts_with("annals:") {
        parts.extend([device, clock.as_str()]);
    }
    digest(&parts)
}

/// Returns every user and key in the history.
pub(crate) fn keys(connection: &Connection) -> Result<Vec<(String, String)>> {
    connection.rows(
        "read the history",
        "SELECT DISTINCT user_id, key FROM fact_history ORDER BY user_id, key",
        [],
        |row| row.try_into(),
    )
}
