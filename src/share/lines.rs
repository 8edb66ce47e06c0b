//! Syncs the journal between devices: its lines become operations, and lines of other devices are appended to
//! it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::json;

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::replication::{DEVICE, Operation, VERSION, is_known_line, line_id, next_number};
use crate::facts::{Device, Facts, Sql};
use crate::journal::{self, SharedLine};
use crate::storage::{Log, Visibility};

/// Number of lines that become operations in one transaction.
const PORTION: usize = 10_000;

/// The journal, and the scope of its lines.
pub(crate) struct Lines<'a> {
    pub(crate) path: &'a Path,
    pub(crate) scope: &'a str,
}

impl Lines<'_> {
    /// Creates operations for the lines added since the last time; `goes_on` is checked between portions.
    pub(crate) fn note(&self, facts: &mut Facts, goes_on: impl Fn() -> bool) -> Result<()> {
        let clock = facts.clock();
        while facts.write(|connection| self.catch_up(connection, clock))? == PORTION && goes_on() {}
        Ok(())
    }

    /// Reads a portion of the lines added to the journal, and returns their number.
    pub(crate) fn catch_up(&self, connection: &Connection, clock: Clock) -> Result<usize> {
        let name = self.path.to_string_lossy();
        // The offset of the last line read, and its digest.
        let sql = "SELECT reached, last_line FROM share_journal WHERE path = ?1";
        let cursor: Option<(u64, String)> = connection.optional(sql, [&name])?;
        let mut is_as_left = false;
        if let Some((reached, last_line)) = &cursor {
            let line = journal::line_at(self.path, *reached)?;
            is_as_left = line.is_some_and(|line| line_id(&line.line) == *last_line);
        }
        // A journal that was replaced is read from its beginning; known lines are skipped.
        let from = cursor.as_ref().filter(|_| is_as_left).map_or(0, |cursor| cursor.0);
        let (mut read, mut reached) = (0, None);
        journal::lines_from(self.path, from, |line| {
            if !(is_as_left && line.offset == from) {
                read += 1;
                self.note_line(connection, &line, clock)?;
            }
            reached = Some((line.offset, line_id(&line.line)));
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
    fn note_line(&self, connection: &Connection, line: &SharedLine, clock: Clock) -> Result<()> {
        let op_id = line_id(&line.line);
        let is_kept_here = line.device.is_none() && self.scope == DEVICE;
        if is_kept_here || is_known_line(connection, &op_id)? {
            return Ok(());
        }
        let mut device = Device::required(connection)?;
        let (mut scope, mut of, mut number, mut ticked) = (DEVICE, line.device.clone(), None, 0);
        // A line of another device was appended by a run that stopped before recording it.
        if of.is_none() {
            scope = self.scope;
            ticked = device.next_clock(clock.now());
            number = Some(next_number(connection, scope, &device.id)?);
            of = Some(device.id.clone());
            device.save(connection)?;
        }
        let place = number.map(|_| line.offset);
        let sql = "INSERT INTO operations (scope, device, number, op_id, clock, kind, place, noted_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, 'line', ?6, ?7)";
        let values = params![scope, of, number, op_id, ticked, place, clock.timestamp()];
        connection.run(sql, values)
    }

    /// Locks the journal, so that lines of other devices are appended in the transaction that receives them.
    pub(crate) fn lock(&self) -> Result<Log> {
        Log::lock(self.path, Visibility::Private)
    }
}

/// Sets the payload of each operation to its line. Of a line that is in no journal any more, only the number is
/// left; returns how many there are.
pub(crate) fn load_payloads(
    facts: &mut Facts,
    own: Option<&Path>,
    batch: &mut [Operation],
) -> Result<usize> {
    // The journal of this run first, then all that were ever read.
    let sql = "SELECT path FROM share_journal ORDER BY path";
    let known: Vec<String> = facts.connection().column(sql, [])?;
    let mut journals: Vec<PathBuf> = own.map(Path::to_owned).into_iter().collect();
    journals
        .extend(known.into_iter().map(PathBuf::from).filter(|path| Some(path.as_path()) != own));
    let lines = batch.iter_mut().filter(|one| one.kind == "line");
    let mut wanted: HashMap<String, &mut Operation> =
        lines.map(|one| (one.op_id.clone(), one)).collect();
    // The lines of a batch usually follow one another; if they do not, each journal is read whole.
    let first = wanted.values().filter_map(|one| one.place).min();
    let from_first = journals.first().zip(first);
    for (journal, from) in from_first.into_iter().chain(journals.iter().map(|one| (one, 0))) {
        if wanted.is_empty() {
            break;
        }
        journal::lines_from(journal, from, |line| {
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
