//! This database as one of the devices, with its clock.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use crate::error::{Error, Result};
use crate::facts::columns::row;
use crate::facts::query::Query;
use crate::facts::store::Facts;

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
    pub(crate) clock: i64,
    pub(crate) noted: i64,
    pub(crate) is_unclean: bool,
}

row!(Device: id, has_left, synced_at, failed_at, last_error, clock, noted, is_unclean);

impl Device {
    /// Returns the device, if the database was ever shared.
    pub(crate) fn find(connection: &Connection) -> Result<Option<Self>> {
        let sql = "SELECT device, left_at IS NOT NULL, synced_at, failed_at, last_error, clock, noted, is_unclean \
                   FROM share_device";
        connection.optional_row("read the device", sql, [], Self::read)
    }

    /// Returns the device, if the database is shared now.
    pub(crate) fn joined(connection: &Connection) -> Result<Option<Self>> {
        Ok(Self::find(connection)?.filter(|device| !device.has_left))
    }

    /// Returns the clock of the next operation: the time, but later than all operations made or seen here.
    pub(crate) fn next_clock(&mut self, now: DateTime<Utc>) -> i64 {
        self.clock = of_time(now).max(self.clock + 1);
        self.clock
    }

    /// Advances the clock to that of a received operation.
    pub(crate) fn observe_clock(&mut self, clock: i64) {
        self.clock = self.clock.max(clock);
    }

    pub(crate) fn save(&self, connection: &Connection) -> Result<()> {
        connection.run(
            "write the device",
            "UPDATE share_device SET clock = ?1, noted = ?2",
            params![self.clock, self.noted],
        )
    }
}

/// Exclusive maximum of a valid clock, some two thousand years ahead, which leaves room to count beyond it.
const LATEST: i64 = 1 << 62;

/// Returns whether a clock is valid for an operation.
pub(crate) fn is_sane(clock: i64) -> bool {
    (0..LATEST).contains(&clock)
}

/// Returns the clock of a time: its milliseconds, followed by the bits that count within each.
pub(crate) fn of_time(time: DateTime<Utc>) -> i64 {
    time.timestamp_millis() << COUNTER_BITS
}

/// Starts sharing this database: everything in its history becomes operations.
///
/// The device's name is added to the turn ids numbered here, since two machines use the same numbers.
pub(crate) fn join(facts: &mut Facts) -> Result<Device> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let new = "INSERT INTO share_device (only, device, clock, joined_at) \
             VALUES (1, lower(hex(randomblob(8))), 0, ?1) ON CONFLICT DO NOTHING";
        if connection.run_counted("join the devices", new, [&now])? > 0 {
            add_device_to_turn_ids(connection)?;
        }
        connection.run("join the devices", "UPDATE share_device SET left_at = NULL", [])
    })?;
    Device::find(facts.connection())?.ok_or_else(|| Error::failed("the device is gone"))
}

/// Stops recording operations; keeps the facts and the data about other devices.
pub(crate) fn leave(facts: &mut Facts) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        connection.run("leave the devices", "UPDATE share_device SET left_at = ?1", [&now])
    })
}

/// Records the result of a sync.
pub(crate) fn synced(facts: &mut Facts, failure: Option<&str>) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let sql = match failure {
            Some(_) => "UPDATE share_device SET failed_at = ?1, last_error = ?2",
            None => "UPDATE share_device SET synced_at = ?1, failed_at = NULL, last_error = ?2",
        };
        connection.run("write the device", sql, params![now, failure])
    })
}

/// Prefixes of the turn ids that this program generates.
const OWN_TURNS: &[&str] = &["annals:stated:", "annals:turn:"];

/// Returns the prefix of generated turn ids.
pub(crate) fn turn_id_prefix(connection: &Connection, kind: &str) -> Result<String> {
    Ok(match Device::find(connection)? {
        Some(device) => format!("annals:{kind}:{}:", device.id),
        None => format!("annals:{kind}:"),
    })
}

/// Inserts the device's name into all turn ids that were generated here.
fn add_device_to_turn_ids(connection: &Connection) -> Result<()> {
    let run = |sql: &str| connection.run("name the turns", sql, []);
    run("INSERT INTO erasing SELECT DISTINCT user_id, NULL FROM fact_history")?;
    for prefix in OWN_TURNS {
        let named = |column: &str| {
            let (from, kept) = (prefix.len() + 1, prefix.len());
            format!(
                "substr({column}, 1, {kept}) || (SELECT device FROM share_device) || ':' || substr({column}, {from})"
            )
        };
        let is_meant = |column: &str| format!("substr({column}, 1, {}) = '{prefix}'", prefix.len());
        for (table, column) in [
            ("facts", "source_turn_id"),
            ("fact_history", "turn_id"),
            ("applied_actions", "turn_id"),
            ("turns", "turn_id"),
        ] {
            let (named, is_meant) = (named(column), is_meant(column));
            run(&format!("UPDATE {table} SET {column} = {named} WHERE {is_meant}"))?;
        }
        for (table, column) in [
            ("facts_archive", "fact_json"),
            ("fact_history", "before_json"),
            ("fact_history", "after_json"),
        ] {
            let field = format!("json_extract({column}, '$.source_turn_id')");
            let (named, is_meant) = (named(&field), is_meant(&field));
            run(&format!(
                "UPDATE {table} SET {column} = json_set({column}, '$.source_turn_id', {named}) \
                 WHERE {column} IS NOT NULL AND {is_meant}"
            ))?;
        }
    }
    run("DELETE FROM erasing")
}
