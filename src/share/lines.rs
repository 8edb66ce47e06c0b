//! Syncs the journal between devices: its lines become operations, and lines of other devices are appended to
//! it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::json;

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::replication::{DEVICE, Operation, VERSION, is_known_line, line_id, next};
use crate::facts::{Facts, Sql};
use crate::journal::{self, SharedLine};
use crate::storage::Log;

/// Number of lines that become operations in one transaction.
pub(crate) const PORTION: usize = 10_000;

/// Creates operations in a scope for a portion of the lines added to a journal; returns the number of lines read.
pub(crate) fn catch_up(
    connection: &Connection,
    path: &Path,
    scope: &str,
    clock: Clock,
) -> Result<usize> {
    let name = path.to_string_lossy();
    // The offset of the last line read, and its digest. A journal that was replaced is read from its beginning;
    // known lines are skipped.
    let sql = "SELECT reached, last_line FROM share_journal WHERE path = ?1";
    let known = match connection.optional::<(u64, String)>(sql, [&name])? {
        Some((reached, last_line)) => {
            let line = journal::line_at(path, reached)?;
            line.is_some_and(|line| line_id(&line.line) == last_line).then_some(reached)
        }
        None => None,
    };
    let (mut read, mut reached) = (0, None);
    journal::lines_from(path, known.unwrap_or(0), |line| {
        let op_id = line_id(&line.line);
        reached = Some((line.offset, op_id.clone()));
        if Some(line.offset) != known {
            read += 1;
            note(connection, &line, op_id, scope, clock)?;
        }
        Ok(read < PORTION)
    })?;
    if let Some((offset, last_line)) = reached {
        let sql = "INSERT INTO share_journal VALUES (?1, ?2, ?3) ON CONFLICT (path) DO UPDATE \
                   SET reached = excluded.reached, last_line = excluded.last_line";
        connection.run(sql, params![name, offset, last_line])?;
    }
    Ok(read)
}

/// Creates an operation for a line, unless there is one.
fn note(
    connection: &Connection,
    line: &SharedLine,
    op_id: String,
    scope: &str,
    clock: Clock,
) -> Result<()> {
    if line.device.is_none() && scope == DEVICE || is_known_line(connection, &op_id)? {
        return Ok(());
    }
    let operation = match line.device.clone() {
        None => {
            let place = Some(line.offset);
            Operation { op_id, place, ..next(connection, scope, "line", clock.now())? }
        }
        // It was appended by a run that stopped before recording it.
        Some(device) => {
            let (scope, kind) = (DEVICE.to_owned(), "line".to_owned());
            Operation { scope, device, op_id, kind, ..Operation::default() }
        }
    };
    operation.store(connection, None, false, clock)
}

/// Sets the payload of each operation to its line. Of a line that is in no journal any more, only the number is
/// left; returns how many there are.
pub(crate) fn load_payloads(
    facts: &mut Facts,
    own: Option<&Path>,
    batch: &mut [Operation],
) -> Result<usize> {
    let lines = batch.iter_mut().filter(|one| one.kind == "line");
    let mut wanted: HashMap<String, &mut Operation> =
        lines.map(|one| (one.op_id.clone(), one)).collect();
    // The lines of a batch usually follow one another; if they do not, each journal is read whole: that of this run
    // first, then all that were ever read.
    let first = wanted.values().filter_map(|one| one.place).min();
    let known =
        facts.connection().column::<String>("SELECT path FROM share_journal ORDER BY path", [])?;
    let known = known.into_iter().map(PathBuf::from);
    let journals: Vec<PathBuf> = own.map(Path::to_owned).into_iter().chain(known).collect();
    let mut places: Vec<(&PathBuf, u64)> = journals.iter().map(|journal| (journal, 0)).collect();
    places.splice(0..0, journals.first().zip(first));
    let mut read = HashSet::new();
    for place in places {
        if wanted.is_empty() || !read.insert(place) {
            continue;
        }
        journal::lines_from(place.0, place.1, |line| {
            if let Some(operation) = wanted.remove(&line_id(&line.line)) {
                operation.payload = Some(json!({"v": VERSION, "line": line.line}).to_string());
            }
            Ok(!wanted.is_empty())
        })?;
    }
    let mut missing = Vec::new();
    for operation in wanted.into_values() {
        missing.push(operation.address());
        operation.withhold("erased");
    }
    if !missing.is_empty() {
        facts.write(|connection| {
            for address in &missing {
                let sql = "UPDATE operations SET kind = 'erased', op_id = '', place = NULL \
                           WHERE scope = ?1 AND device = ?2 AND number = ?3";
                connection.run(sql, address.clone())?;
            }
            // If a journal comes back, it is read again from its beginning.
            for journal in journals.iter().filter(|journal| !journal.exists()) {
                let sql = "DELETE FROM share_journal WHERE path = ?1";
                connection.run(sql, [journal.to_string_lossy()])?;
            }
            Ok(())
        })?;
    }
    Ok(missing.len())
}

/// Appends lines to a locked journal, each with its device.
pub(crate) fn append(log: &mut Log, lines: &[(String, String)]) -> Result<()> {
    let lines: String = lines.iter().map(|(device, line)| journal::marked(line, device)).collect();
    log.append(lines.as_bytes())?;
    log.flush()
}
