//! Selects the operations to send to the server, and records what it has.

use rusqlite::{Connection, Params, params};

use crate::error::{Error, Result};
use crate::facts::history;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::{self, FactChange, Operation, encode};
use crate::facts::sql::Query;
use crate::facts::store::Facts;

/// Returns the next operations of this device that the server does not have, ordered by number.
pub(crate) fn pending(connection: &Connection, limit: usize) -> Result<Vec<Operation>> {
    let sql = "SELECT scope, number FROM share_cursors \
               WHERE device = (SELECT device FROM share_device) ORDER BY scope";
    let reached: Vec<(String, i64)> =
        connection.rows("read the cursors", sql, [], |row| row.try_into())?;
    let condition = "o.scope = ?1 AND o.device = (SELECT device FROM share_device) \
                     AND o.number > ?2 ORDER BY o.number LIMIT ?3";
    let mut operations = Vec::new();
    // One query per scope uses the index of numbers, so that operations sent before cost nothing.
    for (scope, number) in reached {
        let values = params![scope, number, sql_limit(limit - operations.len())];
        let found = select(connection, condition, values)?;
        operations.extend(found.into_iter().map(|row| row.1));
    }
    Ok(operations)
}

/// Returns operations that changed since they were sent, each with its row id.
pub(crate) fn rewritten(connection: &Connection, limit: usize) -> Result<Vec<(i64, Operation)>> {
    let condition = "o.is_rewritten AND o.number <= \
         (SELECT number FROM share_cursors AS c WHERE c.scope = o.scope AND c.device = o.device) \
         ORDER BY o.operation LIMIT ?1";
    select(connection, condition, [sql_limit(limit)])
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn select(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<(i64, Operation)>> {
    let sql = format!(
        "SELECT o.operation, o.scope, o.device, o.number, o.op_id, o.clock, o.kind, o.born, o.payload, o.place, \
         o.is_withheld, coalesce(h.user_id, ''), h.action, h.reason, h.turn_id, h.at, h.before_json, h.after_json \
         FROM operations AS o LEFT JOIN fact_history AS h USING (history_id) WHERE {condition}"
    );
    let rows = connection.rows("read the operations", &sql, values, |row| {
        let mut operation = Operation {
            scope: row.get(1)?,
            device: row.get(2)?,
            number: row.get(3)?,
            op_id: row.get(4)?,
            clock: row.get(5)?,
            kind: row.get(6)?,
            born: row.get(7)?,
            payload: row.get(8)?,
            place: row.get(9)?,
            user_id: row.get(11)?,
            ..Operation::default()
        };
        if row.get(10)? {
            operation.withhold("withheld");
        }
        let mut change = None;
        if operation.kind == "fact" {
            change = history::state(row, 17)?.map(|after| (after, history::state(row, 16)));
        }
        let change = change.map(|(after, before)| {
            Ok::<_, rusqlite::Error>(FactChange {
                action: row.get(12)?,
                reason: row.get(13)?,
                turn: row.get(14)?,
                at: row.get(15)?,
                before: before?,
                after,
            })
        });
        Ok((row.get(0)?, operation, change.transpose()?))
    })?;
    let with_payload = |(row, mut operation, change): (i64, Operation, Option<FactChange>)| {
        if operation.kind == "fact" {
            let change = change.ok_or_else(|| Error::failed("an operation left no fact"))?;
            let (user, fact) = (operation.user_id.as_str(), &change.after);
            operation.digests = [
                operation::owner(user),
                operation::subject(user, &fact.key),
                operation::turn(user, &fact.source_turn_id),
            ]
            .map(Some);
            operation.payload = Some(encode(&change)?);
        }
        Ok((row, operation))
    };
    rows.into_iter().map(with_payload).collect()
}

/// Records that the server has the rewritten operations.
pub(crate) fn mark_sent(facts: &mut Facts, operations: &[i64]) -> Result<()> {
    let sql = "UPDATE operations SET is_rewritten = 0 WHERE operation = ?1";
    facts.write(|connection| {
        let mut run = |row| connection.run("write the operations", sql, [row]);
        operations.iter().try_for_each(&mut run)
    })
}

/// Marks operations of which only the number may be sent.
pub(crate) fn withhold(facts: &mut Facts, operations: &[Operation]) -> Result<()> {
    let sql =
        "UPDATE operations SET is_withheld = 1 WHERE scope = ?1 AND device = ?2 AND number = ?3";
    facts.write(|connection| {
        let mut run = |one: &Operation| connection.run("write the operations", sql, one.address());
        operations.iter().try_for_each(&mut run)
    })
}

/// Records the last numbers of this device's operations that the server has, by scope.
pub(crate) fn acknowledge(facts: &mut Facts, reached: &[(String, i64)]) -> Result<()> {
    let sql = "UPDATE share_cursors SET number = ?2 \
               WHERE scope = ?1 AND device = (SELECT device FROM share_device)";
    facts.write(|connection| {
        let mut run = |(scope, number): &(String, i64)| {
            connection.run("write the cursor", sql, params![scope, number])
        };
        reached.iter().try_for_each(&mut run)
    })
}

/// Returns whether the server's operation under a number is the one that this device made; if it was erased
/// here or there, only the clocks are compared.
pub(crate) fn is_unchanged(connection: &Connection, remote: &Operation) -> Result<bool> {
    let sql =
        "SELECT op_id, clock FROM operations WHERE scope = ?1 AND device = ?2 AND number = ?3";
    let local: Option<(String, i64)> =
        connection
            .optional_row("read the operations", sql, remote.address(), |row| row.try_into())?;
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
        let tried = "name the device";
        let Some(device) = Device::find(connection)? else {
            return Ok(());
        };
        let sql = "UPDATE share_device SET device = lower(hex(randomblob(8))) RETURNING device";
        let new: String = connection.value(tried, sql, [])?;
        for (scope, number) in agreed {
            let sql = "UPDATE operations SET device = ?4, number = number - ?3 \
                       WHERE scope = ?1 AND device = ?2 AND number > ?3";
            connection.run(tried, sql, params![scope, device.id, number, new])?;
            // From now on, the old name is that of another device.
            let sql = "UPDATE share_cursors SET number = ?3 WHERE scope = ?1 AND device = ?2";
            connection.run(tried, sql, params![scope, device.id, number])?;
            let sql = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
            connection.run(tried, sql, [scope, &new])?;
        }
        Ok(())
    })
}
