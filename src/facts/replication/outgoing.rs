//! Selects the operations to send to the server.

use rusqlite::{Connection, Params, Row, params};

use crate::error::{Error, Result};
use crate::facts::audit_trail;
use crate::facts::failure::SqliteResultExt;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::{DeviceOperation, OperationAddress, OperationKind};
use crate::facts::replication::received::Received;
use crate::facts::replication::wire::FactChange;
use crate::facts::replication::{operation, wire};
use crate::facts::store::Facts;

const COLUMNS: &str = "o.operation, o.scope, o.device, o.number, o.op_id, o.clock, o.kind, o.born, o.payload, \
     o.place, o.is_withheld, h.user_id, h.key, h.action, h.reason, h.turn_id, h.at, h.before_json, h.after_json";

/// Returns the next operations of this device that the server does not have, ordered by number.
pub(crate) fn pending(connection: &Connection, limit: usize) -> Result<Vec<DeviceOperation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM operations AS o LEFT JOIN fact_history AS h USING (history_id) \
         WHERE o.scope = ?1 AND o.device = ?2 AND o.number > ?3 ORDER BY o.number LIMIT ?4"
    );
    let mut operations = Vec::new();
    // One query per scope uses the index of numbers, so that operations sent before cost nothing.
    for last in reached(connection)? {
        let most = sql_limit(limit - operations.len());
        let found =
            read_all(connection, &sql, params![last.scope, last.device, last.number, most])?;
        operations.extend(found.into_iter().map(|row| row.1));
    }
    Ok(operations)
}

/// Returns the last of this device's operations that the server has, by scope.
fn reached(connection: &Connection) -> Result<Vec<OperationAddress>> {
    let sql = "SELECT scope, device, number FROM share_cursors \
         WHERE device = (SELECT device FROM share_device) ORDER BY scope";
    connection
        .rows("read the cursors", sql, [], |row| Ok(<(String, String, i64)>::try_from(row)?.into()))
}

/// Returns operations that changed since they were sent, each with its row id.
pub(crate) fn rewritten(
    connection: &Connection,
    limit: usize,
) -> Result<Vec<(i64, DeviceOperation)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM operations AS o LEFT JOIN fact_history AS h USING (history_id) \
         WHERE o.is_rewritten AND o.number <= \
           (SELECT number FROM share_cursors AS c WHERE c.scope = o.scope AND c.device = o.device) \
         ORDER BY o.operation LIMIT ?1"
    );
    read_all(connection, &sql, [sql_limit(limit)])
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Records that the server has the rewritten operations.
pub(crate) fn mark_sent(connection: &Connection, operations: &[i64]) -> Result<()> {
    for operation in operations {
        connection.run(
            "write the operations",
            "UPDATE operations SET is_rewritten = 0 WHERE operation = ?1",
            [operation],
        )?;
    }
    Ok(())
}

fn read_all(
    connection: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Vec<(i64, DeviceOperation)>> {
    let rows = connection.rows("read the operations", sql, values, |row| Ok(read(row)))?;
    rows.into_iter().collect()
}

fn read(row: &Row<'_>) -> Result<(i64, DeviceOperation)> {
    let operation = || -> rusqlite::Result<DeviceOperation> {
        Ok(DeviceOperation {
            scope: row.get(1)?,
            device: row.get(2)?,
            number: row.get(3)?,
            op_id: row.get(4)?,
            user_id: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
            clock: row.get(5)?,
            kind: row.get(6)?,
            born: row.get(7)?,
            owner: None,
            subject: None,
            turn: None,
            payload: row.get(8)?,
            offset: row.get(9)?,
        })
    };
    let mut operation = operation().context("read the operations")?;
    if row.get(10).context("read the operations")? {
        operation.withhold();
    }
    if operation.kind == OperationKind::Fact {
        let (key, change) = fact_change(row)?;
        operation.owner = Some(operation::owner(&operation.user_id));
        operation.subject = Some(operation::subject(&operation.user_id, &key));
        operation.turn = Some(operation::turn(&operation.user_id, &change.after.source_turn_id));
        operation.payload = Some(wire::encode(&change)?);
    }
    Ok((row.get(0).context("read the operations")?, operation))
}

fn fact_change(row: &Row<'_>) -> Result<(String, FactChange)> {
    let texts = || -> rusqlite::Result<_> {
        let what: [String; 5] =
            [row.get(12)?, row.get(13)?, row.get(14)?, row.get(15)?, row.get(16)?];
        let states: (Option<String>, Option<String>) = (row.get(17)?, row.get(18)?);
        Ok((what, states))
    };
    let ([key, action, reason, turn, at], (before, after)) =
        texts().context("read the operations")?;
    let after = after.ok_or_else(|| Error::failed("an operation left no fact"))?;
    let change = FactChange {
        action,
        reason,
        turn,
        at,
        before: before.as_deref().map(audit_trail::fact).transpose()?,
        after: audit_trail::fact(&after)?,
    };
    Ok((key, change))
}

/// Marks operations of which only the number may be sent.
pub(crate) fn withhold(facts: &mut Facts, operations: &[DeviceOperation]) -> Result<()> {
    facts.write(|connection| {
        for operation in operations {
            let sql = "UPDATE operations SET is_withheld = 1 WHERE scope = ?1 AND device = ?2 AND number = ?3";
            connection.run("write the operations", sql, params![operation.scope, operation.device, operation.number])?;
        }
        Ok(())
    })
}

/// Records the last numbers of this device's operations that the server has.
pub(crate) fn acknowledge(facts: &mut Facts, reached: &[(String, i64)]) -> Result<()> {
    facts.write(|connection| {
        for (scope, number) in reached {
            let sql = "UPDATE share_cursors SET number = ?2 \
                 WHERE scope = ?1 AND device = (SELECT device FROM share_device)";
            connection.run("write the cursor", sql, params![scope, number])?;
        }
        Ok(())
    })
}

/// Returns whether the server's operation under a number is the one that this device made; if it was erased
/// here or there, only the clocks are compared.
pub(crate) fn is_unchanged(connection: &Connection, remote: &Received) -> Result<bool> {
    let sql =
        "SELECT op_id, clock FROM operations WHERE scope = ?1 AND device = ?2 AND number = ?3";
    let read = |row: &Row<'_>| <(String, i64)>::try_from(row);
    let values = params![remote.scope, remote.device, remote.number];
    let local = connection.optional_row("read the operations", sql, values, read)?;
    Ok(local.is_some_and(|(op_id, clock)| {
        let is_erased = op_id.is_empty() || remote.op_id.is_empty();
        clock == remote.clock && (op_id == remote.op_id || is_erased)
    }))
}

/// Gives this database a new device name, and moves its operations after these numbers to that device.
///
/// This is needed if the server has operations of this device that are unknown here: the database was
/// restored from an older copy, or was itself copied.
pub(crate) fn renew(facts: &mut Facts, agreed: &[(String, i64)]) -> Result<()> {
    facts.write(|connection| {
        let Some(device) = Device::find(connection)? else {
            return Ok(());
        };
        let new: String = connection.value(
            "name the device",
            "UPDATE share_device SET device = lower(hex(randomblob(8))) RETURNING device",
            [],
        )?;
        for (scope, number) in agreed {
            connection.run(
                "name the device",
                "UPDATE operations SET device = ?4, number = number - ?3 \
                 WHERE scope = ?1 AND device = ?2 AND number > ?3",
                params![scope, device.id, number, new],
            )?;
            // From now on, the old name is that of another device.
            let sql = "UPDATE share_cursors SET number = ?3 WHERE scope = ?1 AND device = ?2";
            connection.run("name the device", sql, params![scope, device.id, number])?;
            let sql = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
            connection.run("name the device", sql, [scope, &new])?;
        }
        Ok(())
    })
}
