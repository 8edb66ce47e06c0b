//! Syncs the journal between devices: its lines become operations, and lines of other devices are appended to
//! it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::facts::replication::{
    DEVICE, DeviceOperation, JournalCursor, OperationKind, VERSION, journal_cursor, line_id,
    note_foreign_line, note_line, set_journal_cursor,
};
use crate::journal;
use crate::journal::SharedLine;
use crate::storage::{Log, Visibility};

/// Number of lines that become operations in one transaction.
const PORTION: usize = 10_000;

/// The journal, and the scope of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) path: &'a Path,
    pub(crate) scope: &'a str,
}

impl Lines<'_> {
    /// Creates operations for the lines added since the last time; `goes_on` is checked between portions.
    pub(crate) fn note(&self, facts: &mut Facts, goes_on: impl Fn() -> bool) -> Result<()> {
        let clock = facts.clock();
        loop {
            let read = facts.write(|connection| self.catch_up(connection, clock))?;
            if read < PORTION || facts.is_dry_run() || !goes_on() {
                return Ok(());
            }
        }
    }

    /// Reads a portion of the lines added to the journal, and returns their number.
    pub(crate) fn catch_up(&self, connection: &Connection, clock: Clock) -> Result<usize> {
        let name = self.path.to_string_lossy();
        let cursor = journal_cursor(connection, &name)?;
        let is_as_left = !cursor.last_line.is_empty()
            && journal::line_at(self.path, cursor.reached)?
                .is_some_and(|line| line_id(&line.line) == cursor.last_line);
        // A journal that was replaced is read from its beginning; known lines are skipped.
        let from = if is_as_left { cursor.reached } else { 0 };
        let mut read = 0;
        let mut reached = None;
        journal::lines_from(self.path, from, |line| {
            let is_new = !(is_as_left && line.offset == from);
            if is_new {
                read += 1;
                self.note_line(connection, &line, clock)?;
            }
            reached = Some(JournalCursor { reached: line.offset, last_line: line_id(&line.line) });
            Ok(read < PORTION)
        })?;
        if let Some(reached) = reached.filter(|reached| *reached != cursor) {
            set_journal_cursor(connection, &name, &reached)?;
        }
        Ok(read)
    }

    fn note_line(&self, connection: &Connection, line: &SharedLine, clock: Clock) -> Result<()> {
        match &line.device {
            // The line was appended by a run that stopped before recording it.
            Some(device) => note_foreign_line(connection, device, &line_id(&line.line), clock),
            None if self.scope == DEVICE => Ok(()),
            None => note_line(connection, self.scope, &line.line, line.offset, clock).map(|_| ()),
        }
    }

    /// Locks the journal, so that lines of other devices are appended in the transaction that receives them.
    pub(crate) fn lock(&self) -> Result<Log> {
        Log::lock(self.path, Visibility::Private)
    }
}

/// Sets the payload of each operation to its line; `None` if none of the journals contains the line any more.
pub(crate) fn load_payloads(journals: &[PathBuf], batch: &mut [DeviceOperation]) -> Result<()> {
    let mut all: Option<HashMap<String, SharedLine>> = None;
    for operation in batch.iter_mut().filter(|one| one.kind == OperationKind::Line) {
        let line = if let Some(line) = at_its_offset(journals, operation)? {
            Some(line)
        } else {
            if all.is_none() {
                all = Some(all_lines(journals)?);
            }
            all.as_ref().and_then(|all| all.get(&operation.op_id).cloned())
        };
        operation.payload = line.map(|line| payload(&line.line)).transpose()?;
    }
    Ok(())
}

/// Returns the line of an operation if a journal still has it at the same offset.
fn at_its_offset(journals: &[PathBuf], operation: &DeviceOperation) -> Result<Option<SharedLine>> {
    let Some(offset) = operation.offset else {
        return Ok(None);
    };
    for journal in journals {
        let line = journal::line_at(journal, offset)?;
        if let Some(line) = line.filter(|line| line_id(&line.line) == operation.op_id) {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

fn all_lines(journals: &[PathBuf]) -> Result<HashMap<String, SharedLine>> {
    let mut all = HashMap::new();
    for journal in journals {
        journal::lines_from(journal, 0, |line| {
            all.insert(line_id(&line.line), line);
            Ok(true)
        })?;
    }
    Ok(all)
}

/// Appends lines to a locked journal, each with its device.
pub(crate) fn append(log: &mut Log, lines: &[(String, String)]) -> Result<()> {
    let lines: String = lines.iter().map(|(device, line)| journal::marked(line, device)).collect();
    log.append(lines.as_bytes())?;
    log.flush()
}

fn payload(line: &str) -> Result<String> {
    let payload = serde_json::to_string(&LinePayload { v: VERSION, line });
    payload.map_err(|error| Error::failed(format!("cannot write an operation: {error}")))
}

#[derive(serde::Serialize)]
struct LinePayload<'a> {
    v: u32,
    line: &'a str,
}
