//! This database as one of the devices: its clock, the scopes of its facts, and the operations for what it writes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::fact::UserId;
use crate::facts::history::{CHANGE, Change};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{Address, Operation, digest};
use crate::facts::sql::{Sql, row};
use crate::facts::store::Facts;

/// The scope that never leaves this device.
pub(crate) const DEVICE: &str = "device";

/// The scope of the user's own devices, which is the default.
pub(crate) const PRIVATE: &str = "private";

/// Number of clock bits that count the operations within a millisecond; more of them run ahead of time.
const COUNTER_BITS: u32 = 16;

/// Returns the name of this device, if the database is shared.
pub(crate) fn joined(connection: &Connection) -> Result<Option<String>> {
    Ok(connection.column("SELECT device FROM share_device WHERE left_at IS NULL", [])?.pop())
}

/// Returns the name of this device, or an error if the database is not shared.
pub(crate) fn required(connection: &Connection) -> Result<String> {
    joined(connection)?
        .ok_or_else(|| Error::usage("this database is not shared").hint("annals share init"))
}

/// Starts sharing this database: everything in its history becomes operations. Returns the device's name.
///
/// The name is added to the turn ids numbered here, since two machines use the same numbers.
pub(crate) fn join(facts: &mut Facts) -> Result<String> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let new = "INSERT INTO share_device (only, device, clock, joined_at) \
             VALUES (1, lower(hex(randomblob(8))), 0, ?1) ON CONFLICT DO NOTHING";
        if connection.change(new, [&now])? > 0 {
            let erasing = "INSERT INTO erasing SELECT DISTINCT user_id, NULL FROM fact_history";
            connection.run(erasing, [])?;
            let name = format!("{}:", required(connection)?);
            for own in ["annals:stated:", "annals:turn:"] {
                // Within the texts of a JSON object, the quotes would be escaped.
                let field = format!("\"source_turn_id\":\"{own}");
                for (table, column, prefix, is_found) in [
                    ("facts", "source_turn_id", own, "= 1"),
                    ("fact_history", "turn_id", own, "= 1"),
                    ("applied_actions", "turn_id", own, "= 1"),
                    ("turns", "turn_id", own, "= 1"),
                    ("facts_archive", "fact_json", &field, "> 0"),
                    ("fact_history", "before_json", &field, "> 0"),
                    ("fact_history", "after_json", &field, "> 0"),
                ] {
                    let sql = format!(
                        "UPDATE {table} SET {column} = replace({column}, ?1, ?1 || ?2) \
                         WHERE instr({column}, ?1) {is_found}"
                    );
                    connection.run(&sql, [prefix, &name])?;
                }
            }
            connection.run("DELETE FROM erasing", [])?;
        }
        connection.run("UPDATE share_device SET left_at = NULL", [])
    })?;
    required(facts.connection())
}

/// Gives this database a new device name, and moves its operations after these numbers to that device.
///
/// This is needed if the server has operations of this device that are unknown here: the database was
/// restored from an older copy, or was itself copied.
pub(crate) fn renew(facts: &mut Facts, agreed: &[(String, i64)]) -> Result<String> {
    facts.write(|connection| {
        let old = required(connection)?;
        let sql = "UPDATE share_device SET device = lower(hex(randomblob(8))) RETURNING device";
        let new: String = connection.value(sql, [])?;
        for (scope, number) in agreed {
            let sql = "UPDATE operations SET device = ?4, number = number - ?3 \
                       WHERE scope = ?1 AND device = ?2 AND number > ?3";
            connection.run(sql, params![scope, old, number, new])?;
            // From now on, the old name is that of another device.
            set_cursor(connection, scope, &old, *number)?;
            set_cursor(connection, scope, &new, 0)?;
        }
        Ok(new)
    })
}

/// Stops recording operations; keeps the facts and the data about other devices.
pub(crate) fn leave(facts: &mut Facts) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| connection.run("UPDATE share_device SET left_at = ?1", [&now]))
}

/// Records the result of a sync, if the database was ever shared.
pub(crate) fn synced(facts: &mut Facts, failure: Option<&str>) -> Result<()> {
    let now = facts.clock().timestamp();
    let sql = "UPDATE share_device SET last_error = ?2, failed_at = iif(?2 NOT NULL, ?1, NULL), \
               synced_at = iif(?2 NOT NULL, synced_at, ?1)";
    facts.write(|connection| connection.run(sql, params![now, failure]))
}

/// Returns the prefix of generated turn ids.
pub(crate) fn turn_id_prefix(connection: &Connection, kind: &str) -> Result<String> {
    let device: Vec<String> = connection.column("SELECT device || ':' FROM share_device", [])?;
    Ok(format!("annals:{kind}:{}", device.concat()))
}

/// Rules for the scope of a new fact: keys, or prefixes that end in a dot, with the scope of each.
type Scopes = [(String, String)];

/// Returns the scope of a new fact, by the longest rule for its key.
fn scope_of_new<'a>(scopes: &'a Scopes, key: &str) -> &'a str {
    let is_meant = |rule: &&(String, String)| {
        rule.0 == key || rule.0.ends_with('.') && key.starts_with(&rule.0)
    };
    let closest = scopes.iter().filter(is_meant).max_by_key(|rule| rule.0.len());
    closest.map_or(PRIVATE, |rule| &rule.1)
}

/// Returns the scope in which a fact is shared, if it is, and the clock of its first operation.
fn origin(connection: &Connection, user: &UserId, fact: &str) -> Result<Option<(String, i64)>> {
    let sql = "SELECT o.scope, coalesce(o.born, o.clock) AS born FROM fact_history JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND fact_id = ?2 ORDER BY born, o.clock, o.device LIMIT 1";
    connection.optional(sql, [user.as_str(), fact])
}

/// Creates operations for the rows added to the history, in the transaction that adds them, and merges their keys.
///
/// This costs one read if the database is not shared.
pub(crate) fn record(connection: &Connection, scopes: &Scopes, clock: Clock) -> Result<()> {
    let sql = "SELECT noted, last FROM share_device, \
               (SELECT coalesce(max(history_id), 0) AS last FROM fact_history) \
               WHERE left_at IS NULL AND noted < last";
    let Some((noted, last)) = connection.optional::<(i64, i64)>(sql, [])? else {
        return Ok(());
    };
    // Archiving and merging are what each device does for itself.
    let sql = format!(
        "SELECT {CHANGE}, history_id, user_id FROM fact_history AS h \
         WHERE history_id > ?1 AND device IS NULL AND action NOT IN ('archive', 'merge') \
         AND NOT EXISTS (SELECT 1 FROM operations AS o WHERE o.history_id = h.history_id) ORDER BY history_id"
    );
    let mut keys: BTreeSet<(UserId, String)> = BTreeSet::new();
    let mut statement = connection.statement(&sql)?;
    let mut rows = statement.query([noted])?;
    while let Some(row) = rows.next()? {
        let (change, user) = (Change::read(row)?, row.get(10)?);
        add(connection, scopes, &user, &change, row.get(9)?, clock)?;
        keys.insert((user, change.key));
    }
    // Rows of other devices count as recorded too, so that the next write does not read them again.
    connection.run("UPDATE share_device SET noted = ?1", [last])?;
    keys.iter().try_for_each(|(user, key)| merge_key(connection, user, key, &clock.timestamp()))
}

fn add(
    connection: &Connection,
    scopes: &Scopes,
    user: &UserId,
    change: &Change,
    history: i64,
    clock: Clock,
) -> Result<()> {
    // A fact keeps the scope in which it was first written.
    let (scope, born) = origin(connection, user, &change.fact_id)?.unzip();
    let scope = scope.as_deref().unwrap_or_else(|| scope_of_new(scopes, &change.key));
    // Rows written before the database was shared keep their time.
    let time = parse_timestamp(&change.at).map_or(clock.now(), |at| at.min(clock.now()));
    let mut operation = next(connection, scope, "fact", time)?;
    let after = change.after.as_ref();
    let outcome = after
        .map(|fact| format!("{} {}", fact.status.as_str(), fact.value_text))
        .unwrap_or_default();
    // Equal for a turn observed on two devices, but unique for actions without a turn.
    let ticked = operation.clock.to_string();
    let mut parts = vec![
        user.as_str(),
        &change.turn_id,
        &change.key,
        &change.fact_id,
        &change.action,
        &outcome,
    ];
    if change.turn_id.starts_with("annals:") {
        parts.extend([operation.device.as_str(), &ticked]);
    }
    operation.op_id = digest(&parts);
    operation.born = born.or(Some(operation.clock));
    operation.store(connection, Some(history), false, clock)
}

/// Returns the next operation of this device in a scope, with its number and clock: the time, but later than all
/// operations made or seen here.
pub(crate) fn next(
    connection: &Connection,
    scope: &str,
    kind: &str,
    time: DateTime<Utc>,
) -> Result<Operation> {
    let sql = "UPDATE share_device SET clock = max(?1, clock + 1) RETURNING device, clock";
    let time = [time.timestamp_millis() << COUNTER_BITS];
    let device: Option<(String, i64)> = connection.optional(sql, time)?;
    let (device, clock) = device.unwrap_or_default();
    let mut number = 0;
    if scope != DEVICE {
        let sql =
            "SELECT coalesce(max(number), 0) + 1 FROM operations WHERE scope = ?1 AND device = ?2";
        number = connection.value(sql, [scope, &device])?;
        if number == 1 {
            let first = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
            connection.run(first, [scope, &device])?;
        }
    }
    let (scope, kind) = (scope.to_owned(), kind.to_owned());
    Ok(Operation { scope, device, number, clock, kind, ..Operation::default() })
}

/// Sets the last known number of a device in a scope.
pub(crate) fn set_cursor(
    connection: &Connection,
    scope: &str,
    device: &str,
    number: i64,
) -> Result<()> {
    let sql = "INSERT INTO share_cursors VALUES (?1, ?2, ?3) \
               ON CONFLICT (scope, device) DO UPDATE SET number = excluded.number";
    connection.run(sql, params![scope, device, number])
}

/// The last known number by scope and device.
pub(crate) type Cursors = BTreeMap<(String, String), i64>;

/// Returns what is known of each device; of this device's own operations, what the server has.
pub(crate) fn cursors(connection: &Connection) -> Result<Cursors> {
    let rows: Vec<Address> =
        connection.list("SELECT scope, device, number FROM share_cursors", [])?;
    Ok(by_device(rows))
}

/// Returns numbers by scope and device.
pub(crate) fn by_device(rows: Vec<Address>) -> Cursors {
    rows.into_iter().map(|(scope, device, number)| ((scope, device), number)).collect()
}

/// The state of sharing on this device.
#[derive(Debug, Serialize)]
pub struct SharingState {
    /// The device's name.
    pub device: String,
    /// Whether it no longer shares.
    pub has_left: bool,
    /// Number of operations waiting to be sent.
    pub pending: usize,
    /// When the first of them was recorded.
    pub pending_since: Option<String>,
    /// Operations that were not understood, each with the reason.
    pub set_aside: Vec<SetAside>,
    /// Number of operations not sent because they contain what looks like a secret.
    pub withheld: usize,
    /// Whether forgotten data may remain in free pages of the file.
    pub is_unclean: bool,
    /// When this device last synced successfully.
    pub synced_at: Option<String>,
    /// When a sync last failed since then.
    pub failed_at: Option<String>,
    /// The reason of that failure.
    pub last_error: Option<String>,
}

/// An operation that was set aside.
#[derive(Debug, Serialize)]
pub struct SetAside {
    /// The device that made it.
    pub device: String,
    /// Its number on that device.
    pub number: i64,
    /// The reason why it was not understood.
    pub reason: String,
}

row!(SetAside: device, number, reason);

/// SQL for the operations of this device that the server does not have.
const PENDING: &str = "FROM share_device JOIN share_cursors AS c USING (device) \
     JOIN operations AS o ON o.scope = c.scope AND o.device = c.device AND o.number > c.number";

/// Returns the state of sharing, or `None` if this database was never shared.
pub fn sharing(facts: &Facts) -> Result<Option<SharingState>> {
    let connection = facts.connection();
    let aside =
        "SELECT device, number, reason FROM share_set_aside ORDER BY seen_at, device, number";
    let set_aside: Vec<SetAside> = connection.list(aside, [])?;
    let sql = format!(
        "SELECT device, left_at NOT NULL, is_unclean, synced_at, failed_at, last_error, \
         (SELECT count(*) {PENDING}), (SELECT min(o.noted_at) {PENDING}), \
         (SELECT count(*) FROM operations WHERE is_withheld) FROM share_device"
    );
    let mut statement = connection.statement(&sql)?;
    let found = statement.query_row([], |row| {
        Ok(SharingState {
            device: row.get(0)?,
            has_left: row.get(1)?,
            is_unclean: row.get(2)?,
            synced_at: row.get(3)?,
            failed_at: row.get(4)?,
            last_error: row.get(5)?,
            pending: row.get(6)?,
            pending_since: row.get(7)?,
            withheld: row.get(8)?,
            set_aside,
        })
    });
    Ok(found.optional()?)
}

/// Returns the number of operations waiting to be sent.
pub(crate) fn pending_count(connection: &Connection) -> Result<usize> {
    connection.value(&format!("SELECT count(*) {PENDING}"), [])
}
