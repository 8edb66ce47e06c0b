//! Receives the operations of other devices, each once and in the order of its device.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::Value;

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::fact::UserId;
use crate::facts::history::{self, Cause, Change};
use crate::facts::replication::device::{cursors, required, set_cursor};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{
    Operation, broken, decode, is_known_line, line_id, read,
};
use crate::facts::replication::tombstone::{Subject, Tombstones, announce};
use crate::facts::sql::Sql;
use crate::facts::{forget, profile};
use crate::secrets;

/// Maximum length of a line, in bytes, as the journal has it.
const MAX_LINE: usize = 8 << 20;

/// Clocks from here on are invalid: two thousand years ahead, which leaves room to count beyond them.
const MAX_CLOCK: i64 = 1 << 62;

/// The outcome of a batch.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Number of new operations.
    pub(crate) operations: usize,
    /// Lines for the journal, each with its device.
    pub(crate) lines: Vec<(String, String)>,
    /// Number of operations that were set aside.
    pub(crate) set_aside: usize,
}

/// Receives a batch in the running transaction; known operations are skipped. Those that were set aside are retried:
/// this program may understand them by now.
pub(crate) fn receive(
    connection: &Connection,
    batch: &[Operation],
    is_retry: bool,
    clock: Clock,
) -> Result<Incoming> {
    let mut known = cursors(connection)?;
    let mut moved = BTreeSet::new();
    let mut receiver = Receiver::new(connection, clock)?;
    for operation in batch {
        if is_retry {
            drop_set_aside(connection, operation)?;
            receiver.take(operation)?;
            continue;
        }
        let device = (operation.scope.clone(), operation.device.clone());
        let reached = known.get(&device).copied().unwrap_or(0);
        // Duplicates are skipped; after a gap, the rest waits for the next pull.
        if operation.number == reached + 1 {
            receiver.incoming.operations += 1;
            receiver.take(operation)?;
            known.insert(device.clone(), operation.number);
            moved.insert(device);
        }
    }
    for device in moved {
        set_cursor(connection, &device.0, &device.1, known[&device])?;
    }
    receiver.finish()
}

/// Returns the operations that were set aside.
pub(crate) fn set_aside(connection: &Connection) -> Result<Vec<Operation>> {
    connection.column("SELECT received FROM share_set_aside ORDER BY scope, device, number", [])
}

/// Drops an operation that was set aside.
pub(crate) fn drop_set_aside(connection: &Connection, operation: &Operation) -> Result<()> {
    let sql = "DELETE FROM share_set_aside WHERE scope = ?1 AND device = ?2 AND number = ?3";
    connection.run(sql, operation.address())
}

/// Returns the line in a payload: a JSON object with a `content`, without a secret.
fn line(payload: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Line {
        line: String,
    }
    let Line { line } = read(payload)?;
    let fields: Value = serde_json::from_str(&line).map_err(broken)?;
    let is_record = fields.get("content").is_some_and(Value::is_string);
    if !is_record || line.contains('\n') || line.len() > MAX_LINE {
        return Err(Error::refused("not understood: not a journal record"));
    }
    match secrets::first_rule_in_json(&fields) {
        Some(rule) => Err(Error::refused(format!("it looks like a secret ({rule})"))),
        None => Ok(line),
    }
}

struct Receiver<'a> {
    connection: &'a Connection,
    clock: Clock,
    latest: i64,
    tombstones: Tombstones,
    /// User and key of each fact of this batch, by its id.
    subjects: HashMap<String, Subject>,
    /// Users and keys whose rows must be merged.
    touched: BTreeSet<Subject>,
    has_forgotten: bool,
    incoming: Incoming,
}

impl<'a> Receiver<'a> {
    fn new(connection: &'a Connection, clock: Clock) -> Result<Self> {
        required(connection)?;
        Ok(Self {
            connection,
            clock,
            latest: 0,
            tombstones: Tombstones::read(connection)?,
            subjects: HashMap::new(),
            touched: BTreeSet::new(),
            has_forgotten: false,
            incoming: Incoming::default(),
        })
    }

    /// Applies an operation, or sets it aside with the reason if it is refused.
    fn take(&mut self, operation: &Operation) -> Result<()> {
        let reason = match self.apply(operation) {
            Err(error) if error.kind != ErrorKind::Failed => error.message,
            done => return done,
        };
        self.incoming.set_aside += 1;
        let (scope, device, number) = operation.address();
        let sql =
            "INSERT INTO share_set_aside VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let values = params![scope, device, number, operation, reason, self.clock.timestamp()];
        self.connection.run(sql, values)
    }

    fn apply(&mut self, operation: &Operation) -> Result<()> {
        if !(0..MAX_CLOCK).contains(&operation.clock) {
            return Err(Error::refused("invalid clock"));
        }
        self.latest = self.latest.max(operation.clock);
        let payload = operation.payload.as_deref();
        let payload = payload.ok_or_else(|| Error::refused("not understood: it is empty"));
        match operation.kind.as_str() {
            "fact" => self.fact(operation, decode(payload?, &operation.user_id)?),
            "line" => {
                let line = line(payload?)?;
                let op_id = line_id(&line);
                if !is_known_line(self.connection, &op_id)? {
                    self.incoming.lines.push((operation.device.clone(), line));
                }
                self.store(&Operation { op_id, payload: None, ..operation.clone() })
            }
            "forget" => {
                let tombstone = read(payload?)?;
                self.store(operation)?;
                self.touched
                    .extend(self.tombstones.add(self.connection, &operation.scope, tombstone)?);
                self.has_forgotten = true;
                Ok(())
            }
            "erased" | "withheld" => self.store_erased(operation, false),
            kind => Err(Error::refused(format!("unknown kind {kind:?}"))),
        }
    }

    fn store(&self, operation: &Operation) -> Result<()> {
        operation.store(self.connection, None, false, self.clock)
    }

    fn store_erased(&self, operation: &Operation, is_rewritten: bool) -> Result<()> {
        let mut erased = operation.clone();
        erased.withhold("erased");
        erased.store(self.connection, None, is_rewritten, self.clock)
    }

    fn fact(&mut self, operation: &Operation, mut change: Change) -> Result<()> {
        let subject = (operation.user_id.clone(), change.key.clone());
        let born = operation.born.unwrap_or(operation.clock);
        if self.tombstones.covers(&operation.scope, &subject, born) {
            return self.store_erased(operation, true);
        }
        // Rows are merged only after the batch, so its own ids are remembered.
        let id = &change.fact_id;
        let in_batch = self.subjects.entry(id.clone()).or_insert_with(|| subject.clone());
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3) \
             UNION ALL SELECT 1 FROM facts_archive WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3))";
        if *in_batch != subject || self.connection.value(sql, params![id, subject.0, subject.1])? {
            return Err(Error::refused("fact_id belongs to another fact"));
        }
        let is_scrubbed = self.tombstones.scrub(operation, &mut change);
        let Change { action, reason, turn_id: turn, at, before, after: Some(after), .. } = &change
        else {
            return Ok(());
        };
        let cause = Cause { action, reason, turn, at };
        let device = Some(operation.device.as_str());
        let history = history::record(self.connection, cause, before.as_ref(), after, device)?;
        let born = Some(born);
        let stored = Operation { born, payload: None, ..operation.clone() };
        stored.store(self.connection, Some(history), is_scrubbed, self.clock)?;
        self.touched.insert(subject);
        Ok(())
    }

    fn finish(mut self) -> Result<Incoming> {
        let now = self.clock.timestamp();
        let sql = "UPDATE share_device SET clock = max(clock, ?1), is_unclean = is_unclean OR ?2";
        // Erased rows may remain in free pages of the file.
        self.connection.run(sql, params![self.latest, self.has_forgotten])?;
        if self.has_forgotten {
            forget::rebuild_index(self.connection)?;
            self.touched.extend(announce(self.connection, self.clock)?);
        }
        let mut users = BTreeSet::new();
        for (user, key) in self.touched {
            let user = UserId::stored(user);
            merge_key(self.connection, &user, &key, &now)?;
            users.insert(user);
        }
        let due = |user| profile::add_turns(self.connection, user, &now, u32::MAX);
        users.iter().try_for_each(due)?;
        Ok(self.incoming)
    }
}
