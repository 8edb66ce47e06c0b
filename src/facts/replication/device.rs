//! This database as one of the devices: its clock, the scopes of its facts, and the operations for what it writes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::fact::UserId;
use crate::facts::forget::STATES;
use crate::facts::history::{CHANGE, Change};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{Address, digest};
use crate::facts::sql::{Sql, row};
use crate::facts::store::Facts;

/// The scope that never leaves this device.
pub(crate) const DEVICE: &str = "device";

/// The scope of the user's own devices, which is the default.
pub(crate) const PRIVATE: &str = "private";

/// Number of clock bits that count the operations within a millisecond; more of them run ahead of time.
const COUNTER_BITS: u32 = 16;

/// This database as one of the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its random, unique name.
    pub id: String,
    /// Whether it no longer shares.
    pub has_left: bool,
    /// When it last synced successfully.
    pub synced_at: Option<String>,
    /// When a sync last failed since then.
    pub failed_at: Option<String>,
    /// The reason of that failure.
    pub last_error: Option<String>,
    pub(crate) is_unclean: bool,
    clock: i64,
    noted: i64,
}

row!(Device: id, has_left, synced_at, failed_at, last_error, is_unclean, clock, noted);

impl Device {
    /// Returns the device, if the database was ever shared.
    pub(crate) fn find(connection: &Connection) -> Result<Option<Self>> {
        let sql = "SELECT device, left_at IS NOT NULL, synced_at, failed_at, last_error, is_unclean, clock, noted \
                   FROM share_device";
        connection.optional(sql, [])
    }

    /// Returns the device, if the database is shared now.
    pub(crate) fn joined(connection: &Connection) -> Result<Option<Self>> {
        Ok(Self::find(connection)?.filter(|device| !device.has_left))
    }

    /// Returns the device, or an error if the database is not shared now.
    pub(crate) fn required(connection: &Connection) -> Result<Self> {
        Self::joined(connection)?
            .ok_or_else(|| Error::usage("this database is not shared").hint("annals share init"))
    }

    /// Returns the clock of the next operation: the time, but later than all operations made or seen here.
    pub(crate) fn next_clock(&mut self, now: DateTime<Utc>) -> i64 {
        self.clock = (now.timestamp_millis() << COUNTER_BITS).max(self.clock + 1);
        self.clock
    }

    /// Advances the clock to that of a received operation, unless that is invalid: two thousand years ahead, which
    /// leaves room to count beyond it.
    pub(crate) fn observe_clock(&mut self, clock: i64) -> bool {
        let is_valid = (0..1 << 62).contains(&clock);
        if is_valid {
            self.clock = self.clock.max(clock);
        }
        is_valid
    }

    pub(crate) fn save(&self, connection: &Connection) -> Result<()> {
        let sql = "UPDATE share_device SET clock = ?1, noted = ?2";
        connection.run(sql, params![self.clock, self.noted])
    }
}

/// Starts sharing this database: everything in its history becomes operations.
///
/// The device's name is added to the turn ids numbered here, since two machines use the same numbers.
pub(crate) fn join(facts: &mut Facts) -> Result<Device> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let new = "INSERT INTO share_device (only, device, clock, joined_at) \
             VALUES (1, lower(hex(randomblob(8))), 0, ?1) ON CONFLICT DO NOTHING";
        if connection.change(new, [&now])? > 0 {
            let erasing = "INSERT INTO erasing SELECT DISTINCT user_id, NULL FROM fact_history";
            connection.run(erasing, [])?;
            let device = Device::required(connection)?.id;
            for own in ["annals:stated:", "annals:turn:"] {
                for (table, column) in [
                    ("facts", "source_turn_id"),
                    ("fact_history", "turn_id"),
                    ("applied_actions", "turn_id"),
                    ("turns", "turn_id"),
                ] {
                    let sql = format!(
                        "UPDATE {table} SET {column} = ?1 || ?2 || substr({column}, length(?1) + 1) \
                         WHERE substr({column}, 1, length(?1)) = ?1"
                    );
                    connection.run(&sql, [own, &format!("{device}:")])?;
                }
                // Within the texts of a JSON object, the quotes would be escaped.
                let field = format!("\"source_turn_id\":\"{own}");
                for [table, _, column] in STATES {
                    let sql = format!(
                        "UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1)"
                    );
                    connection.run(&sql, [&field, &format!("{field}{device}:")])?;
                }
            }
            connection.run("DELETE FROM erasing", [])?;
        }
        connection.run("UPDATE share_device SET left_at = NULL", [])
    })?;
    Device::required(facts.connection())
}

/// Gives this database a new device name, and moves its operations after these numbers to that device.
///
/// This is needed if the server has operations of this device that are unknown here: the database was
/// restored from an older copy, or was itself copied.
pub(crate) fn renew(facts: &mut Facts, agreed: &[(String, i64)]) -> Result<()> {
    facts.write(|connection| {
        let Some(Device { id: old, .. }) = Device::find(connection)? else {
            return Ok(());
        };
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
        Ok(())
    })
}

/// Stops recording operations; keeps the facts and the data about other devices.
pub(crate) fn leave(facts: &mut Facts) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| connection.run("UPDATE share_device SET left_at = ?1", [&now]))
}

/// Records the result of a sync.
pub(crate) fn synced(facts: &mut Facts, failure: Option<&str>) -> Result<()> {
    let now = facts.clock().timestamp();
    let sql = "UPDATE share_device SET last_error = ?2, failed_at = iif(?2 NOT NULL, ?1, NULL), \
               synced_at = iif(?2 NOT NULL, synced_at, ?1)";
    facts.write(|connection| connection.run(sql, params![now, failure]))
}

/// Returns the prefix of generated turn ids.
pub(crate) fn turn_id_prefix(connection: &Connection, kind: &str) -> Result<String> {
    let device = Device::find(connection)?;
    let device = device.map(|device| format!("{}:", device.id)).unwrap_or_default();
    Ok(format!("annals:{kind}:{device}"))
}

/// The rules for the scope of a new fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes {
    /// Keys, or prefixes that end in a dot, with the scope of each.
    rules: Vec<(String, String)>,
    /// The scope of all facts of the current write, if one was named.
    pub(crate) named: Option<String>,
}

impl Scopes {
    /// Creates the scopes from rules.
    pub(crate) fn new(rules: &[(String, String)]) -> Self {
        Self { rules: rules.to_vec(), named: None }
    }

    /// Returns the scope of a new fact: the named one, else that of the longest rule for its key.
    fn of_new(&self, key: &str) -> &str {
        let is_meant = |rule: &&(String, String)| {
            rule.0 == key || rule.0.ends_with('.') && key.starts_with(&rule.0)
        };
        let closest = self.rules.iter().filter(is_meant).max_by_key(|rule| rule.0.len());
        let scope = self.named.as_ref().or(closest.map(|rule| &rule.1));
        scope.map_or(PRIVATE, String::as_str)
    }
}

/// Returns the scope in which a fact is shared, if it is.
pub(crate) fn of_fact(connection: &Connection, user: &str, fact: &str) -> Result<Option<String>> {
    let sql = "SELECT o.scope FROM fact_history JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND fact_id = ?2 ORDER BY o.clock, o.device LIMIT 1";
    Ok(connection.column(sql, [user, fact])?.pop())
}

/// Creates operations for the rows added to the history, in the transaction that adds them, and merges their keys.
///
/// This costs one read if the database is not shared.
pub(crate) fn record(connection: &Connection, scopes: &Scopes, clock: Clock) -> Result<()> {
    let Some(mut device) = Device::joined(connection)? else {
        return Ok(());
    };
    let last = connection.value("SELECT coalesce(max(history_id), 0) FROM fact_history", [])?;
    if last <= device.noted {
        return Ok(());
    }
    // Archiving and merging are what each device does for itself.
    let sql = format!(
        "SELECT {CHANGE}, history_id, user_id FROM fact_history AS h \
         WHERE history_id > ?1 AND device IS NULL AND action NOT IN ('archive', 'merge') \
         AND NOT EXISTS (SELECT 1 FROM operations AS o WHERE o.history_id = h.history_id) ORDER BY history_id"
    );
    let mut keys: BTreeSet<(UserId, String)> = BTreeSet::new();
    let mut statement = connection.statement(&sql)?;
    let mut rows = statement.query([device.noted])?;
    while let Some(row) = rows.next()? {
        let (change, user) = (Change::read(row)?, row.get(10)?);
        add(connection, scopes, &mut device, (&user, &change, row.get(9)?), clock)?;
        keys.insert((user, change.key));
    }
    // Rows of other devices count as recorded too, so that the next write does not read them again.
    device.noted = last;
    device.save(connection)?;
    keys.iter().try_for_each(|(user, key)| merge_key(connection, user, key, &clock.timestamp()))
}

fn add(
    connection: &Connection,
    scopes: &Scopes,
    device: &mut Device,
    (user, change, history): (&UserId, &Change, i64),
    clock: Clock,
) -> Result<()> {
    let user = user.as_str();
    // A fact keeps the scope in which it was first written.
    let scope = of_fact(connection, user, &change.fact_id)?;
    let scope = scope.unwrap_or_else(|| scopes.of_new(&change.key).to_owned());
    // Rows written before the database was shared keep their time.
    let time = parse_timestamp(&change.at).unwrap_or_else(|| clock.now());
    let ticked = device.next_clock(time.min(clock.now()));
    let number = match scope.as_str() {
        DEVICE => None,
        _ => Some(next_number(connection, &scope, &device.id)?),
    };
    let sql = "SELECT min(o.born) FROM fact_history JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND fact_id = ?2";
    let born: Option<i64> = connection.value(sql, [user, &change.fact_id])?;
    let (status, value) = change
        .after
        .as_ref()
        .map_or(("", ""), |fact| (fact.status.as_str(), fact.value_text.as_str()));
    // Equal for a turn observed on two devices, but unique for actions without a turn.
    let (outcome, clock_text) = (format!("{status} {value}"), ticked.to_string());
    let mut parts =
        vec![user, &change.turn_id, &change.key, &change.fact_id, &change.action, &outcome];
    if change.turn_id.starts_with("annals:") {
        parts.extend([device.id.as_str(), &clock_text]);
    }
    connection.run(
        "INSERT INTO operations (scope, device, number, op_id, clock, kind, history_id, born, noted_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'fact', ?6, ?7, ?8)",
        params![
            scope, device.id, number, digest(&parts), ticked, history, born.unwrap_or(ticked),
            clock.timestamp()
        ],
    )
}

/// Returns the number of a device's next operation in a scope.
pub(crate) fn next_number(connection: &Connection, scope: &str, device: &str) -> Result<i64> {
    let sql =
        "SELECT coalesce(max(number), 0) + 1 FROM operations WHERE scope = ?1 AND device = ?2";
    let number = connection.value(sql, [scope, device])?;
    if number == 1 {
        let first = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
        connection.run(first, [scope, device])?;
    }
    Ok(number)
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

/// Returns the last known number by scope and device; of this device's own, the last that the server has.
pub(crate) fn cursors(connection: &Connection) -> Result<BTreeMap<(String, String), i64>> {
    let rows: Vec<Address> =
        connection.list("SELECT scope, device, number FROM share_cursors", [])?;
    Ok(rows.into_iter().map(|(scope, device, number)| ((scope, device), number)).collect())
}

/// The state of sharing on this device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharingState {
    /// The device's name.
    pub device: String,
    /// Whether it no longer shares.
    pub has_left: bool,
    /// Number of operations waiting to be sent.
    pub pending: usize,
    /// When the first of them was recorded.
    pub pending_since: Option<String>,
    /// Number of operations received from other devices.
    pub received: usize,
    /// Operations that were not understood, each with the reason.
    pub set_aside: Vec<SetAside>,
    /// Number of operations not sent because they contain what looks like a secret.
    pub withheld: usize,
    /// Number of changes that never leave this device.
    pub kept_here: usize,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
const PENDING: &str = "FROM share_device AS d JOIN share_cursors AS c ON c.device = d.device \
     JOIN operations AS o ON o.scope = c.scope AND o.device = c.device AND o.number > c.number";

/// Returns the state of sharing, or `None` if this database was never shared.
pub fn sharing(facts: &Facts) -> Result<Option<SharingState>> {
    let connection = facts.connection();
    let Some(device) = Device::find(connection)? else {
        return Ok(None);
    };
    let count =
        |of: &str| connection.value(&format!("SELECT count(*) FROM operations WHERE {of}"), []);
    let aside =
        "SELECT device, number, reason FROM share_set_aside ORDER BY seen_at, device, number";
    Ok(Some(SharingState {
        pending: pending_count(connection)?,
        pending_since: connection.value(&format!("SELECT min(o.noted_at) {PENDING}"), [])?,
        received: count("device <> (SELECT device FROM share_device) AND number IS NOT NULL")?,
        set_aside: connection.list(aside, [])?,
        withheld: count("is_withheld")?,
        // Lines of other devices that were found before they were received have no number either.
        kept_here: count("number IS NULL AND kind <> 'line'")?,
        device: device.id,
        has_left: device.has_left,
        is_unclean: device.is_unclean,
        synced_at: device.synced_at,
        failed_at: device.failed_at,
        last_error: device.last_error,
    }))
}

/// Returns the number of operations waiting to be sent.
pub(crate) fn pending_count(connection: &Connection) -> Result<usize> {
    connection.value(&format!("SELECT count(*) {PENDING}"), [])
}
