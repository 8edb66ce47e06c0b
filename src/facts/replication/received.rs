//! Operations as received from the server, and those set aside until this program understands them.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::facts::query::Query;

/// An operation as received from the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Received {
    pub(crate) scope: String,
    pub(crate) device: String,
    pub(crate) number: i64,
    pub(crate) op_id: String,
    pub(crate) user_id: String,
    pub(crate) clock: i64,
    pub(crate) kind: String,
    pub(crate) born: Option<i64>,
    pub(crate) payload: Option<String>,
}

/// Returns whether lines of a journal were set aside.
pub(crate) fn has_lines_set_aside(connection: &Connection) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM share_set_aside WHERE received ->> 'kind' = 'line')";
    connection.value("read what was set aside", sql, [])
}

/// Returns the operations that were set aside.
pub(crate) fn set_aside(connection: &Connection) -> Result<Vec<Received>> {
    let rows: Vec<String> = connection.rows(
        "read what was set aside",
        "SELECT received FROM share_set_aside ORDER BY scope, device, number",
        [],
        |row| row.get(0),
    )?;
    let read = rows.iter().map(|json| serde_json::from_str(json));
    let read: std::result::Result<Vec<Received>, _> = read.collect();
    read.map_err(|error| Error::failed(format!("what was set aside cannot be read: {error}")))
}

/// Drops an operation that was set aside.
pub(crate) fn drop_set_aside(connection: &Connection, received: &Received) -> Result<()> {
    connection.run(
        "take up what was set aside",
        "DELETE FROM share_set_aside WHERE scope = ?1 AND device = ?2 AND number = ?3",
        params![received.scope, received.device, received.number],
    )
}
