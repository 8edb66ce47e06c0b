//! Receives the operations of other devices, each once and in the order of its device.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, params};
use serde::Deserialize;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::change::HistoryRow;
use crate::facts::fact::Fact;
use crate::facts::profile;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::{OperationAddress, OperationKind};
use crate::facts::replication::received::{Received, drop_set_aside, set_aside};
use crate::facts::replication::tombstone::Tombstones;
use crate::facts::replication::wire::{FactChange, Unreadable};
use crate::facts::replication::{device, journal_lines, rows, tombstone, wire};
use crate::facts::user::UserId;

/// The outcome of a batch.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Number of new operations.
    pub(crate) operations: usize,
    /// Lines for the journal, each with its device.
    pub(crate) lines: Vec<(String, String)>,
    /// Number of operations that were set aside.
    pub(crate) set_aside: usize,
    /// Whether something was forgotten, so that the file must be rewritten.
    pub(crate) has_forgotten: bool,
}

/// Returns the last known number by scope and device.
pub(crate) fn cursors(connection: &Connection) -> Result<BTreeMap<(String, String), i64>> {
    let rows = connection.rows(
        "read the cursors",
        "SELECT scope, device, number FROM share_cursors",
        [],
        |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// Receives a batch in the running transaction; known operations are skipped.
pub(crate) fn receive(
    connection: &Connection,
    batch: &[Received],
    clock: Clock,
) -> Result<Incoming> {
    let Some(mut device) = Device::joined(connection)? else {
        return Err(Error::refused("this database is not shared").hint("annals share init"));
    };
    let mut receiver = Receiver::new(connection, clock, cursors(connection)?)?;
    for received in batch {
        receiver.receive(received, &mut device)?;
    }
    device.save(connection)?;
    receiver.finish(&mut device)
}

/// Retries operations that were set aside, which this program may understand by now.
pub(crate) fn retry_set_aside(connection: &Connection, clock: Clock) -> Result<Incoming> {
    let mut readable = set_aside(connection)?;
    readable.retain(|received| device::is_sane(received.clock) && is_understood(received));
    if readable.is_empty() {
        return Ok(Incoming::default());
    }
    let Some(mut device) = Device::joined(connection)? else {
        return Ok(Incoming::default());
    };
    let mut receiver = Receiver::new(connection, clock, BTreeMap::new())?;
    for received in &readable {
        drop_set_aside(connection, received)?;
        receiver.dispatch(received)?;
    }
    receiver.finish(&mut device)
}

fn is_understood(received: &Received) -> bool {
    let Some(payload) = &received.payload else {
        return false;
    };
    match OperationKind::from_word(&received.kind) {
        Some(OperationKind::Fact) => wire::decode(payload, &received.user_id).is_ok(),
        Some(OperationKind::Line) => line(payload).is_ok(),
        Some(OperationKind::Forget) => tombstone::decode(payload).is_ok(),
        _ => false,
    }
}

#[derive(Deserialize)]
struct LinePayload {
    line: String,
}

/// Returns the line in a payload: a JSON object with a `content`.
fn line(payload: &str) -> std::result::Result<String, Unreadable> {
    wire::check_version(payload)?;
    let unreadable = |error: serde_json::Error| wire::broken(&error.to_string());
    let payload: LinePayload = serde_json::from_str(payload).map_err(unreadable)?;
    let fields: serde_json::Value = serde_json::from_str(&payload.line).map_err(unreadable)?;
    let is_line = fields.get("content").is_some_and(serde_json::Value::is_string)
        && !payload.line.contains('\n');
    is_line.then_some(payload.line).ok_or_else(|| wire::broken("not a journal record"))
}

struct Receiver<'a> {
    connection: &'a Connection,
    clock: Clock,
    cursors: BTreeMap<(String, String), i64>,
    /// Cursors that this batch advances.
    moved: BTreeSet<(String, String)>,
    tombstones: Tombstones,
    /// User and key of each fact of this batch, by its id.
    subjects: HashMap<String, (String, String)>,
    /// Users and keys whose rows must be merged.
    touched: BTreeSet<(String, String)>,
    incoming: Incoming,
}

impl<'a> Receiver<'a> {
    fn new(
        connection: &'a Connection,
        clock: Clock,
        cursors: BTreeMap<(String, String), i64>,
    ) -> Result<Self> {
        Ok(Self {
            connection,
            clock,
            cursors,
            moved: BTreeSet::new(),
            tombstones: Tombstones::read(connection)?,
            subjects: HashMap::new(),
            touched: BTreeSet::new(),
            incoming: Incoming::default(),
        })
    }

    fn receive(&mut self, received: &Received, device: &mut Device) -> Result<()> {
        let address = (received.scope.clone(), received.device.clone());
        let reached = self.cursors.get(&address).copied().unwrap_or(0);
        // Duplicates are skipped; after a gap, the rest waits for the next pull.
        if received.number != reached + 1 {
            return Ok(());
        }
        self.incoming.operations += 1;
        if device::is_sane(received.clock) {
            device.observe_clock(received.clock);
            self.dispatch(received)?;
        } else {
            self.set_aside(received, "invalid clock")?;
        }
        self.moved.insert(address.clone());
        self.cursors.insert(address, received.number);
        Ok(())
    }

    fn save_cursors(&self) -> Result<()> {
        for address in &self.moved {
            self.connection.run(
                "write the cursor",
                "INSERT INTO share_cursors VALUES (?1, ?2, ?3) \
                     ON CONFLICT (scope, device) DO UPDATE SET number = excluded.number",
                params![address.0, address.1, self.cursors[address]],
            )?;
        }
        Ok(())
    }

    fn dispatch(&mut self, received: &Received) -> Result<()> {
        let Unreadable(reason) = match (OperationKind::from_word(&received.kind), &received.payload)
        {
            (Some(OperationKind::Fact), Some(payload)) => {
                match wire::decode(payload, &received.user_id) {
                    Ok(change) => return self.fact(received, change),
                    Err(unreadable) => unreadable,
                }
            }
            (Some(OperationKind::Line), Some(payload)) => match line(payload) {
                Ok(line) => return self.line(received, line),
                Err(unreadable) => unreadable,
            },
            (Some(OperationKind::Forget), Some(payload)) => match tombstone::decode(payload) {
                Ok(tombstone) => return self.forget(received, &tombstone),
                Err(unreadable) => unreadable,
            },
            (Some(OperationKind::Erased | OperationKind::Withheld), _) => {
                return self.add(received, "", "erased", None);
            }
            (Some(_), None) => wire::broken("it is empty"),
            (None, _) => Unreadable(format!("unknown kind {:?}", received.kind)),
        };
        self.set_aside(received, &reason)
    }

    fn fact(&mut self, received: &Received, mut change: FactChange) -> Result<()> {
        let user = &received.user_id;
        let key = change.after.key.clone();
        let born = received.born.unwrap_or(received.clock);
        if self.tombstones.covers(&received.scope, user, &key, born) {
            self.add(received, "", "erased", None)?;
            return self.rewrite(received);
        }
        if self.is_foreign_id(&change)? {
            return self.set_aside(received, "fact_id belongs to another fact");
        }
        let address = OperationAddress {
            scope: received.scope.clone(),
            device: received.device.clone(),
            number: received.number,
        };
        let is_scrubbed = self.tombstones.scrub(&address, user, &mut change);
        let row = HistoryRow {
            fact_id: change.after.fact_id.clone(),
            user_id: user.clone(),
            key: key.clone(),
            action: change.action,
            before: change.before.as_ref().map(Fact::to_json).transpose()?,
            after: Some(change.after.to_json()?),
            reason: change.reason,
            turn: change.turn,
            at: change.at,
            device: Some(received.device.clone()),
        };
        let history = row.insert(self.connection)?;
        self.add(received, &received.op_id, "fact", Some(history))?;
        if is_scrubbed {
            self.rewrite(received)?;
        }
        self.touched.insert((user.clone(), key));
        Ok(())
    }

    /// Returns whether the id of a fact belongs to another user or key.
    fn is_foreign_id(&mut self, change: &FactChange) -> Result<bool> {
        let fact = &change.after;
        let subject = (fact.user_id.clone(), fact.key.clone());
        let in_batch = self.subjects.entry(fact.fact_id.clone()).or_insert_with(|| subject.clone());
        if *in_batch != subject {
            return Ok(true);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3) \
             UNION ALL SELECT 1 FROM facts_archive WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3))";
        self.connection.row(
            "read the facts",
            sql,
            params![fact.fact_id, fact.user_id, fact.key],
            |row| row.get(0),
        )
    }

    fn line(&mut self, received: &Received, line: String) -> Result<()> {
        let op_id = journal_lines::line_id(&line);
        if !journal_lines::is_known_line(self.connection, &op_id)? {
            self.incoming.lines.push((received.device.clone(), line));
        }
        self.add(received, &op_id, "line", None)
    }

    fn forget(&mut self, received: &Received, tombstone: &tombstone::Tombstone) -> Result<()> {
        self.add(received, &received.op_id, "forget", None)?;
        let scope = &received.scope;
        self.tombstones.add(self.connection, scope, tombstone)?;
        let touched = tombstone::apply(self.connection, scope, tombstone)?;
        self.incoming.has_forgotten = true;
        self.touched.extend(touched);
        Ok(())
    }

    fn set_aside(&mut self, received: &Received, reason: &str) -> Result<()> {
        self.incoming.set_aside += 1;
        let json = serde_json::to_string(received)
            .map_err(|error| Error::failed(format!("cannot set an operation aside: {error}")))?;
        self.connection.run(
            "set an operation aside",
            "INSERT INTO share_set_aside VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            params![
                received.scope,
                received.device,
                received.number,
                json,
                reason,
                self.clock.timestamp()
            ],
        )
    }

    /// Records an operation; `op_id` is empty for an erased one, and derived from the line for a line.
    fn add(
        &self,
        received: &Received,
        op_id: &str,
        kind: &str,
        history: Option<i64>,
    ) -> Result<()> {
        self.connection.run(
            "write the operations",
            "INSERT INTO operations \
                 (scope, device, number, op_id, clock, kind, history_id, born, payload, noted_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                received.scope,
                received.device,
                received.number,
                op_id,
                received.clock,
                kind,
                history,
                received.born,
                received.payload.as_ref().filter(|_| kind == "forget"),
                self.clock.timestamp(),
            ],
        )
    }

    /// Marks an operation to be overwritten on the server.
    fn rewrite(&self, received: &Received) -> Result<()> {
        let sql = "UPDATE operations SET is_rewritten = 1 WHERE scope = ?1 AND device = ?2 AND number = ?3";
        self.connection.run(
            "write the operations",
            sql,
            params![received.scope, received.device, received.number],
        )
    }

    fn finish(mut self, device: &mut Device) -> Result<Incoming> {
        self.save_cursors()?;
        let now = self.clock.timestamp();
        if self.incoming.has_forgotten {
            tombstone::needs_cleaning(self.connection)?;
            self.touched.extend(tombstone::announce(self.connection, device, self.clock)?);
        }
        let mut users = BTreeSet::new();
        for (user, key) in &self.touched {
            let user = UserId::stored(user.clone());
            rows::merge_key(self.connection, &user, key, &now)?;
            users.insert(user);
        }
        for user in users {
            profile::mark_due(self.connection, &user, &now)?;
        }
        Ok(self.incoming)
    }
}
