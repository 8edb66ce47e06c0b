//! Receives the operations of other devices, each once and in the order of its device.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::Value;

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::fact::UserId;
use crate::facts::history::{self, Cause};
use crate::facts::replication::device::{Device, cursors};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{
    FactChange, Operation, decode, is_known_line, line_id, read,
};
use crate::facts::replication::tombstone::{self, Tombstone, Tombstones};
use crate::facts::sql::{Query, json};
use crate::facts::{forget, profile};
use crate::secrets;

/// Maximum length of a line, in bytes, as the journal has it.
const MAX_LINE: usize = 8 << 20;

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

/// Receives a batch in the running transaction; known operations are skipped.
pub(crate) fn receive(
    connection: &Connection,
    batch: &[Operation],
    clock: Clock,
) -> Result<Incoming> {
    let known = cursors(connection)?;
    let mut moved: BTreeMap<(String, String), i64> = BTreeMap::new();
    let mut receiver = Receiver::new(connection, clock)?;
    for operation in batch {
        let device = (operation.scope.clone(), operation.device.clone());
        let reached = moved.get(&device).or(known.get(&device)).copied().unwrap_or(0);
        // Duplicates are skipped; after a gap, the rest waits for the next pull.
        if operation.number == reached + 1 {
            receiver.incoming.operations += 1;
            receiver.take(operation)?;
            moved.insert(device, operation.number);
        }
    }
    for ((scope, device), number) in moved {
        let sql = "INSERT INTO share_cursors VALUES (?1, ?2, ?3) \
                   ON CONFLICT (scope, device) DO UPDATE SET number = excluded.number";
        connection.run("write the cursor", sql, params![scope, device, number])?;
    }
    receiver.finish()
}

/// Returns the operations that were set aside.
pub(crate) fn set_aside(connection: &Connection) -> Result<Vec<Operation>> {
    let sql = "SELECT received FROM share_set_aside ORDER BY scope, device, number";
    let rows: Vec<String> = connection.column("read what was set aside", sql, [])?;
    let unread = |error| Error::failed(format!("what was set aside cannot be read: {error}"));
    rows.iter().map(|json| serde_json::from_str(json).map_err(unread)).collect()
}

/// Retries operations that were set aside, which this program may understand by now.
pub(crate) fn retry(
    connection: &Connection,
    operations: &[Operation],
    clock: Clock,
) -> Result<Incoming> {
    let mut receiver = Receiver::new(connection, clock)?;
    for operation in operations {
        drop_set_aside(connection, operation)?;
        receiver.take(operation)?;
    }
    receiver.finish()
}

/// Drops an operation that was set aside.
pub(crate) fn drop_set_aside(connection: &Connection, operation: &Operation) -> Result<()> {
    let sql = "DELETE FROM share_set_aside WHERE scope = ?1 AND device = ?2 AND number = ?3";
    connection.run("take up what was set aside", sql, operation.address())
}

/// Returns the line in a payload: a JSON object with a `content`, without a secret.
fn line(payload: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Line {
        line: String,
    }
    let Line { line } = read(payload)?;
    let fields: Value = serde_json::from_str(&line)
        .map_err(|error| Error::refused(format!("not understood: {error}")))?;
    if !fields.get("content").is_some_and(Value::is_string)
        || line.contains('\n')
        || line.len() > MAX_LINE
    {
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
    device: Device,
    tombstones: Tombstones,
    /// User and key of each fact of this batch, by its id.
    subjects: HashMap<String, (String, String)>,
    /// Users and keys whose rows must be merged.
    touched: BTreeSet<(String, String)>,
    has_forgotten: bool,
    incoming: Incoming,
}

impl<'a> Receiver<'a> {
    fn new(connection: &'a Connection, clock: Clock) -> Result<Self> {
        Ok(Self {
            connection,
            clock,
            device: Device::required(connection)?,
            tombstones: Tombstones::read(connection)?,
            subjects: HashMap::new(),
            touched: BTreeSet::new(),
            has_forgotten: false,
            incoming: Incoming::default(),
        })
    }

    /// Applies an operation, or sets it aside with the reason if it is refused.
    fn take(&mut self, operation: &Operation) -> Result<()> {
        let taken = self.apply(operation);
        let reason = match taken {
            Err(error) if error.kind != ErrorKind::Failed => error.message,
            done => return done,
        };
        self.incoming.set_aside += 1;
        let (scope, device, number) = operation.address();
        let sql =
            "INSERT INTO share_set_aside VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let values =
            params![scope, device, number, json(operation)?, reason, self.clock.timestamp()];
        self.connection.run("set an operation aside", sql, values)
    }

    fn apply(&mut self, operation: &Operation) -> Result<()> {
        if !self.device.observe_clock(operation.clock) {
            return Err(Error::refused("invalid clock"));
        }
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
                self.add(operation, &op_id, None, false)
            }
            "forget" => {
                let tombstone: Tombstone = read(payload?)?;
                self.add(operation, &operation.op_id, None, false)?;
                self.tombstones.add(self.connection, &operation.scope, &tombstone)?;
                let touched = tombstone::apply(self.connection, &operation.scope, &tombstone)?;
                self.touched.extend(touched);
                self.has_forgotten = true;
                Ok(())
            }
            "erased" | "withheld" => self.add(operation, "", None, false),
            kind => Err(Error::refused(format!("unknown kind {kind:?}"))),
        }
    }

    fn fact(&mut self, operation: &Operation, mut change: FactChange) -> Result<()> {
        let subject = (operation.user_id.clone(), change.after.key.clone());
        let born = operation.born.unwrap_or(operation.clock);
        if self.tombstones.covers(&operation.scope, &subject.0, &subject.1, born) {
            return self.add(operation, "", None, true);
        }
        // Rows are merged only after the batch, so its own ids are remembered.
        let id = &change.after.fact_id;
        let in_batch = self.subjects.entry(id.clone()).or_insert_with(|| subject.clone());
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3) \
             UNION ALL SELECT 1 FROM facts_archive WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3))";
        let values = params![id, subject.0, subject.1];
        if *in_batch != subject || self.connection.value("read the facts", sql, values)? {
            return Err(Error::refused("fact_id belongs to another fact"));
        }
        let is_scrubbed = self.tombstones.scrub(operation, &mut change);
        let FactChange { action, reason, turn, at, before, after } = &change;
        let cause = Cause { action, reason, turn, at };
        let device = Some(operation.device.as_str());
        let history = history::record(self.connection, cause, before.as_ref(), after, device)?;
        self.add(operation, &operation.op_id, Some(history), is_scrubbed)?;
        self.touched.insert(subject);
        Ok(())
    }

    /// Records an operation; without an id, as an erased one. If what it said was changed here, the server's copy
    /// must be overwritten.
    fn add(
        &self,
        operation: &Operation,
        op_id: &str,
        history: Option<i64>,
        is_rewritten: bool,
    ) -> Result<()> {
        let kind = if op_id.is_empty() { "erased" } else { operation.kind.as_str() };
        let (scope, device, number) = operation.address();
        let payload = operation.payload.as_ref().filter(|_| kind == "forget");
        self.connection.run(
            "write the operations",
            "INSERT INTO operations \
             (scope, device, number, op_id, clock, kind, history_id, born, payload, noted_at, is_rewritten) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                scope, device, number, op_id, operation.clock, kind, history, operation.born,
                payload, self.clock.timestamp(), is_rewritten
            ],
        )
    }

    fn finish(mut self) -> Result<Incoming> {
        let now = self.clock.timestamp();
        if self.has_forgotten {
            forget::rebuild_indexes(self.connection)?;
            // Erased rows may remain in free pages of the file.
            let sql = "UPDATE share_device SET is_unclean = 1";
            self.connection.run("note what is to be cleaned", sql, [])?;
            let announced = tombstone::announce(self.connection, &mut self.device, self.clock)?;
            self.touched.extend(announced);
        }
        self.device.save(self.connection)?;
        let mut users = BTreeSet::new();
        for (user, key) in self.touched {
            let user = UserId::stored(user);
            merge_key(self.connection, &user, &key, &now)?;
            users.insert(user);
        }
        users.iter().try_for_each(|user| profile::mark_due(self.connection, user, &now))?;
        Ok(self.incoming)
    }
}
