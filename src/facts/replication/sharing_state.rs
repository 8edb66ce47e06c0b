//! Summarises the state of sharing, as far as this database knows.

use rusqlite::Connection;
use rusqlite::types::FromSql;
use serde::Serialize;

use crate::error::Result;
use crate::facts::columns::row;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::store::Facts;

/// The state of sharing on this device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharingState {
    /// The device's name.
    pub device: String,
    /// Whether it no longer shares.
    pub has_left: bool,
    /// Number of operations waiting to be sent.
    pub pending: u64,
    /// When the first of them was recorded.
    pub pending_since: Option<String>,
    /// Number of operations received from other devices.
    pub received: u64,
    /// Operations that were not understood, each with the reason.
    pub set_aside: Vec<SetAside>,
    /// Number of operations not sent because they contain what looks like a secret.
    pub withheld: u64,
    /// Number of changes that never leave this device.
    pub kept_here: u64,
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
    summary(facts.connection())
}

fn summary(connection: &Connection) -> Result<Option<SharingState>> {
    let Some(device) = Device::find(connection)? else {
        return Ok(None);
    };
    Ok(Some(SharingState {
        device: device.id,
        has_left: device.has_left,
        pending: count(connection, PENDING)?,
        pending_since: first(connection, &format!("SELECT min(o.noted_at) {PENDING}"))?,
        received: count(
            connection,
            "FROM operations WHERE device <> (SELECT device FROM share_device) AND number IS NOT NULL",
        )?,
        set_aside: set_aside(connection)?,
        withheld: count(connection, "FROM operations WHERE is_withheld")?,
        // Lines of other devices that were found before they were received have no number either.
        kept_here: count(connection, "FROM operations WHERE number IS NULL AND kind <> 'line'")?,
        is_unclean: device.is_unclean,
        synced_at: device.synced_at,
        failed_at: device.failed_at,
        last_error: device.last_error,
    }))
}

/// Returns the number of operations waiting to be sent.
pub(crate) fn pending_count(connection: &Connection) -> Result<usize> {
    count(connection, PENDING)
}

fn count<T: FromSql>(connection: &Connection, of: &str) -> Result<T> {
    connection.value("count the operations", &format!("SELECT count(*) {of}"), [])
}

fn first(connection: &Connection, sql: &str) -> Result<Option<String>> {
    let found = connection.optional_row("read the operations", sql, [], |row| row.get(0))?;
    Ok(found.flatten())
}

fn set_aside(connection: &Connection) -> Result<Vec<SetAside>> {
    connection.rows(
        "read what was set aside",
        "SELECT device, number, reason FROM share_set_aside ORDER BY seen_at, device, number",
        [],
        SetAside::read,
    )
}
