//! Lines of the journal as operations: which are known, and how far the file was read.

use std::path::PathBuf;

use rusqlite::{Connection, params};

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::columns::row;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::digest;
use crate::facts::replication::recorded::next_number;
use crate::facts::replication::scope::DEVICE;
use crate::facts::store::Facts;

/// The position up to which a journal was read for lines of this device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalCursor {
    /// Byte offset of the next line.
    pub(crate) reached: u64,
    /// Digest of the previous line; empty if there is none.
    pub(crate) last_line: String,
}

row!(JournalCursor: reached, last_line);

/// Returns the id of a line, on any device: lines that are equal, to the second, are the same line.
pub(crate) fn line_id(line: &str) -> String {
    digest(&["line", line])
}

/// Returns the position up to which a journal was read.
pub(crate) fn journal_cursor(connection: &Connection, path: &str) -> Result<JournalCursor> {
    let sql = "SELECT reached, last_line FROM share_journal WHERE path = ?1";
    let found =
        connection.optional_row("read the journal's cursor", sql, [path], JournalCursor::read);
    found.map(Option::unwrap_or_default)
}

/// Stores the position up to which a journal was read.
pub(crate) fn set_journal_cursor(
    connection: &Connection,
    path: &str,
    cursor: &JournalCursor,
) -> Result<()> {
    connection.run(
        "write the journal's cursor",
        "INSERT INTO share_journal VALUES (?1, ?2, ?3) ON CONFLICT (path) DO UPDATE \
             SET reached = excluded.reached, last_line = excluded.last_line",
        params![path, cursor.reached, cursor.last_line],
    )
}

/// Returns the paths of all journals that were read.
pub(crate) fn journals(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT path FROM share_journal ORDER BY path";
    connection.rows("read the journal's cursor", sql, [], |row| row.get(0))
}

/// Drops lines of this device, given by scope and number, that are gone, and the cursors of journals that are.
pub(crate) fn drop_missing_lines(
    facts: &mut Facts,
    lines: &[(String, i64)],
    journals: &[PathBuf],
) -> Result<()> {
    facts.write(|connection| {
        for line in lines {
            let sql = "UPDATE operations SET kind = 'erased', op_id = '', place = NULL \
                 WHERE scope = ?1 AND device = (SELECT device FROM share_device) AND number = ?2";
            connection.run("write the operations", sql, params![line.0, line.1])?;
        }
        for journal in journals {
            let sql = "DELETE FROM share_journal WHERE path = ?1";
            connection.run("write the journal's cursor", sql, [journal.to_string_lossy()])?;
        }
        Ok(())
    })
}

/// Returns whether an operation exists for a line.
pub(crate) fn is_known_line(connection: &Connection, op_id: &str) -> Result<bool> {
    connection.value(
        "read the operations",
        "SELECT EXISTS (SELECT 1 FROM operations WHERE op_id = ?1 AND kind = 'line')",
        [op_id],
    )
}

/// Creates an operation for a line of this device, unless there is one; returns whether it did.
pub(crate) fn note_line(
    connection: &Connection,
    scope: &str,
    line: &str,
    offset: u64,
    clock: Clock,
) -> Result<bool> {
    let op_id = line_id(line);
    if is_known_line(connection, &op_id)? {
        return Ok(false);
    }
    let Some(mut device) = Device::joined(connection)? else {
        return Ok(false);
    };
    let ticked = device.next_clock(clock.now());
    let number = next_number(connection, scope, &device.id)?;
    connection.run(
        "write the operations",
        "INSERT INTO operations (scope, device, number, op_id, clock, kind, place, noted_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'line', ?6, ?7)",
        params![scope, device.id, number, op_id, ticked, offset, clock.timestamp()],
    )?;
    device.save(connection)?;
    Ok(true)
}

/// Records a line of another device that is in the journal before its operation was received.
pub(crate) fn note_foreign_line(
    connection: &Connection,
    device: &str,
    op_id: &str,
    clock: Clock,
) -> Result<()> {
    if is_known_line(connection, op_id)? {
        return Ok(());
    }
    let sql = "INSERT INTO operations (scope, device, op_id, clock, kind, noted_at) VALUES (?1, ?2, ?3, 0, 'line', ?4)";
    connection.run("write the operations", sql, params![DEVICE, device, op_id, clock.timestamp()])
}
