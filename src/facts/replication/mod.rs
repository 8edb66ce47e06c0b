//! Replicates facts between devices as operations, whose merge determines the rows.
//!
//! Arbitration runs once, where something was said, and only its results are sent: each row of `fact_history`
//! written on this device becomes an operation, in the transaction that writes it. In a shared database, the
//! facts of a key are always the merge of its operations, so that equal operations give equal rows, in
//! whatever order they arrive. The rules are in `docs/share.md`.
//!
//! Here are the operations themselves: the device that makes them, which is this database; how each encodes a change of
//! a fact, as the new state and the earlier values of the changed fields; and which of them the server lacks.

mod incoming;
mod merge;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rusqlite::{Params, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::parse_timestamp;
use crate::error::{Error, Result};
use crate::facts::fact::{Fact, UserId, check_text};
use crate::facts::history::{CHANGE, Change};
use crate::facts::replication::merge::merge_key;
use crate::facts::store::{Facts, row, stored_as_json};
use crate::secrets::SecretPolicy;
use crate::text::sha256;

pub(crate) use incoming::{Incoming, clean_file, receive, record_tombstone, set_aside};

/// Version of the format; operations of a later version are set aside until this program is updated.
pub(crate) const VERSION: u32 = 1;

/// Field with the structured value, sent as text: the server would not keep the key order and all digits.
const STRUCTURED: &str = "value_json";

/// Field with the id in the vector index, which is local to the device.
const LOCAL: &str = "embedding_id";

/// The scope, device and number of an operation.
pub(crate) type Address = (String, String, i64);

row! {
    /// An operation as it is sent, and as it was received: what this program does not understand is set aside.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) struct Operation {
        pub(crate) scope: String,
        pub(crate) device: String,
        /// 0 if it is never sent.
        pub(crate) number: i64,
        pub(crate) op_id: String,
        pub(crate) user_id: UserId,
        pub(crate) clock: i64,
        /// `fact`, `line`, `forget`, or, with nothing but its number, `erased` or `withheld`.
        pub(crate) kind: String,
        /// Clock of the fact's first operation.
        pub(crate) born: Option<i64>,
        /// A JSON object; that of a line of the journal is read together with the journal.
        pub(crate) payload: Option<String>,
        /// Digests of the user, of user and key, and of user and turn, by which the server erases; never received.
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub(crate) owner: Option<String>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub(crate) subject: Option<String>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub(crate) turn: Option<String>,
        /// Byte offset of the line in the journal of this device.
        #[serde(skip)]
        pub(crate) place: Option<u64>,
    }
}

stored_as_json!(Operation);

impl Operation {
    /// Removes everything but the number.
    pub(crate) fn withhold(&mut self, kind: &str) {
        kind.clone_into(&mut self.kind);
        self.user_id = UserId::default();
        (self.payload, self.owner, self.subject, self.turn) = (None, None, None, None);
        if kind == "erased" {
            self.op_id.clear();
        }
    }

    pub(crate) fn address(&self) -> Address {
        (self.scope.clone(), self.device.clone(), self.number)
    }

    /// Adds the operation to those known here, with the change that it made. If what it said was changed here, the
    /// server's copy must be overwritten.
    pub(crate) fn store(
        &self,
        facts: &Facts,
        history: Option<i64>,
        is_rewritten: bool,
    ) -> Result<()> {
        let payload = self.payload.as_ref().filter(|_| self.kind == "forget");
        facts.run(
            "INSERT INTO operations (scope, device, number, op_id, clock, kind, history_id, born, place, payload, \
             noted_at, is_rewritten) VALUES (?1, ?2, nullif(?3, 0), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                self.scope, self.device, self.number, self.op_id, self.clock, self.kind, history, self.born,
                self.place, payload, facts.now(), is_rewritten
            ],
        )
    }
}

/// Returns the digest of several texts.
pub(crate) fn digest(parts: &[&str]) -> String {
    sha256(parts.join("\0") + "\0")[..32].to_owned()
}

/// Returns the digest of a user, used in tombstones.
pub(crate) fn owner(user: &str) -> String {
    digest(&["user", user])
}

/// Returns the digest of a user's key.
pub(crate) fn subject(user: &str, key: &str) -> String {
    digest(&["key", user, key])
}

/// Returns the digest of a user's turn.
pub(crate) fn turn(user: &str, turn: &str) -> String {
    digest(&["turn", user, turn])
}

/// Returns the id of a line, on any device: lines that are equal, to the second, are the same line.
pub(crate) fn line_id(line: &str) -> String {
    digest(&["line", line])
}

/// Returns whether an operation exists for a line.
pub(crate) fn is_known_line(facts: &Facts, op_id: &str) -> Result<bool> {
    facts.exists("SELECT 1 FROM operations WHERE op_id = ?1 AND kind = 'line'", [op_id])
}

/// The payload of a change of a fact.
#[derive(Deserialize, Serialize)]
struct FactPayload {
    v: u32,
    action: String,
    reason: String,
    turn: String,
    at: String,
    fact: Map<String, Value>,
    /// Previous values of the changed fields, or `None` if the fact is new.
    was: Option<Map<String, Value>>,
}

/// Encodes a change as a JSON object, replacing NUL, which PostgreSQL cannot store.
fn encode(change: Change) -> Result<String> {
    let fact = fields(&change.after)?;
    let mut was = change.before.as_ref().map(fields).transpose()?;
    if let Some(was) = &mut was {
        was.retain(|name, value| fact.get(name) != Some(value));
    }
    let Change { action, reason, turn_id: turn, at, .. } = change;
    let payload = FactPayload { v: VERSION, action, reason, turn, at, fact, was };
    let mut payload = serde_json::to_value(payload).unwrap_or_default();
    replace_nul(&mut payload);
    Ok(payload.to_string())
}

fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Object(fields) => fields.values_mut().for_each(replace_nul),
        _ => {}
    }
}

fn fields(fact: &Fact) -> Result<Map<String, Value>> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(fact) else {
        return Err(Error::failed("cannot write an operation"));
    };
    fields.shift_remove(LOCAL);
    if let Some(value) = fields.get_mut(STRUCTURED).filter(|value| !value.is_null()) {
        *value = Value::String(value.to_string());
    }
    Ok(fields)
}

/// Decodes a change of one of this user's facts, which has to keep the limits of a stated one.
pub(crate) fn decode(text: &str, user: &UserId) -> Result<Change> {
    let FactPayload { action, reason, turn: turn_id, at, fact, was, .. } = read(text)?;
    for text in [&action, &reason, &turn_id, &at] {
        check_text(text, SecretPolicy::Refuse)?;
    }
    let before = was.map(|was| accepted(fact.clone().into_iter().chain(was).collect(), user));
    let (before, after) = (before.transpose()?, accepted(fact, user)?);
    let (fact_id, key) = (after.fact_id.clone(), after.key.clone());
    Ok(Change { fact_id, key, action, before, after, reason, turn_id, at, device: None })
}

fn accepted(mut fields: Map<String, Value>, user: &UserId) -> Result<Fact> {
    if let Some(Value::String(text)) = fields.get(STRUCTURED) {
        let value = serde_json::from_str(text).map_err(broken)?;
        fields.insert(STRUCTURED.to_owned(), value);
    }
    let mut fact: Fact = serde_json::from_value(Value::Object(fields)).map_err(broken)?;
    fact.accept(user, SecretPolicy::Refuse)?;
    Ok(fact)
}

#[expect(clippy::needless_pass_by_value, reason = "it maps the error of a result")]
pub(crate) fn broken(error: serde_json::Error) -> Error {
    Error::refused(format!("not understood: {error}"))
}

/// Reads a payload, unless its format is newer than this program's.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let payload: Value = serde_json::from_str(text).map_err(broken)?;
    if let Some(v) = payload["v"].as_u64().filter(|v| *v > VERSION.into()) {
        return Err(Error::refused(format!(
            "needs a newer annals (format {v}, this one knows {VERSION})"
        )));
    }
    serde_json::from_value(payload).map_err(broken)
}

/// Returns the next operations of this device in one scope that the server does not have, ordered by number.
pub(crate) fn pending(facts: &Facts, limit: usize) -> Result<Vec<Operation>> {
    let sql = format!("SELECT c.scope, c.device, c.number {PENDING} ORDER BY c.scope LIMIT 1");
    let Some((scope, device, number)) = facts.optional::<Address>(&sql, [])? else {
        return Ok(Vec::new());
    };
    let condition = "o.scope = ?1 AND o.device = ?2 AND o.number > ?3 ORDER BY o.number LIMIT ?4";
    let values = params![scope, device, number, limit];
    select(facts, condition, values)
}

/// Returns operations that changed since they were sent.
pub(crate) fn rewritten(facts: &Facts, limit: usize) -> Result<Vec<Operation>> {
    let condition = "o.is_rewritten AND o.number <= \
         (SELECT number FROM share_cursors AS c WHERE c.scope = o.scope AND c.device = o.device) \
         ORDER BY o.operation LIMIT ?1";
    select(facts, condition, [limit])
}

fn select(facts: &Facts, condition: &str, values: impl Params) -> Result<Vec<Operation>> {
    let sql = format!(
        "SELECT o.scope, o.device, o.number, o.op_id, coalesce(h.user_id, ''), o.clock, o.kind, o.born, o.payload, \
         NULL, NULL, NULL, o.place, o.is_withheld, {CHANGE} \
         FROM operations AS o LEFT JOIN fact_history AS h USING (history_id) WHERE {condition}"
    );
    let mut statement = facts.statement(&sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut operation = Operation::try_from(row)?;
        if row.get(13)? {
            operation.withhold("withheld");
        } else if operation.kind == "fact" {
            let change = Change::read_from(row, 14)?;
            let user = operation.user_id.as_str();
            operation.owner = Some(owner(user));
            operation.subject = Some(subject(user, &change.key));
            operation.turn = Some(turn(user, &change.after.source_turn_id));
            operation.payload = Some(encode(change)?);
        }
        found.push(operation);
    }
    Ok(found)
}

/// Changes what is recorded of operations; `change` is code, never input.
pub(crate) fn mark(facts: &Facts, change: &str, operations: &[Address]) -> Result<()> {
    let sql =
        format!("UPDATE operations SET {change} WHERE scope = ?1 AND device = ?2 AND number = ?3");
    operations.iter().try_for_each(|one| facts.run(&sql, one.clone()))
}

/// Records the last number of this device's operations in a scope that the server has.
pub(crate) fn acknowledge(facts: &Facts, scope: &str, number: i64) -> Result<()> {
    let sql = "UPDATE share_cursors SET number = ?2 \
               WHERE scope = ?1 AND device = (SELECT device FROM share_device)";
    facts.write(|| facts.run(sql, params![scope, number]))
}

/// Returns whether the server's operation under a number is the one that this device made; if it was erased
/// here or there, only the clocks are compared.
pub(crate) fn is_unchanged(facts: &Facts, remote: &Operation) -> Result<bool> {
    let sql = "SELECT 1 FROM operations WHERE scope = ?1 AND device = ?2 AND number = ?3 \
               AND clock = ?4 AND (op_id IN (?5, '') OR ?5 = '')";
    let Operation { scope, device, number, clock, op_id, .. } = remote;
    facts.exists(sql, params![scope, device, number, clock, op_id])
}

/// The scope that never leaves this device.
pub(crate) const DEVICE: &str = "device";

/// The scope of the user's own devices, which is the default.
pub(crate) const PRIVATE: &str = "private";

/// Number of clock bits that count the operations within a millisecond; more of them run ahead of time.
const COUNTER_BITS: u32 = 16;

/// Returns the name of this device, if the database is shared.
pub(crate) fn joined(facts: &Facts) -> Result<Option<String>> {
    Ok(facts.column("SELECT device FROM share_device WHERE left_at IS NULL", [])?.pop())
}

/// Returns the name of this device, or an error if the database is not shared.
pub(crate) fn required(facts: &Facts) -> Result<String> {
    joined(facts)?
        .ok_or_else(|| Error::usage("this database is not shared").hint("annals share init"))
}

/// Starts sharing this database: everything in its history becomes operations. Returns the device's name.
///
/// The name is added to the turn ids numbered here, since two machines use the same numbers.
pub(crate) fn join(facts: &Facts) -> Result<String> {
    facts.write(|| {
        let new = "INSERT INTO share_device (only, device, clock, joined_at) \
             VALUES (1, lower(hex(randomblob(8))), 0, ?1) ON CONFLICT DO NOTHING";
        if facts.change(new, [facts.now()])? > 0 {
            let erasing = "INSERT INTO erasing SELECT DISTINCT user_id, NULL FROM fact_history";
            facts.run(erasing, [])?;
            let name = format!("{}:", required(facts)?);
            for own in ["annals:stated:", "annals:turn:"] {
                // Within the texts of a JSON object, the quotes would be escaped.
                let field = format!("\"source_turn_id\":\"{own}");
                for (table, column, prefix, is_found) in [
                    ("facts", "source_turn_id", own, "= 1"),
                    ("fact_history", "turn_id", own, "= 1"),
                    ("applied_actions", "turn_id", own, "= 1"),
                    ("turns", "turn_id", own, "= 1"),
                    ("facts_archive", "fact_json", &field, "> 0"),
                    ("fact_history", "before_json", &field, "> 0"),
                    ("fact_history", "after_json", &field, "> 0"),
                ] {
                    let sql = format!(
                        "UPDATE {table} SET {column} = replace({column}, ?1, ?1 || ?2) \
                         WHERE instr({column}, ?1) {is_found}"
                    );
                    facts.run(&sql, [prefix, &name])?;
                }
            }
            facts.run("DELETE FROM erasing", [])?;
        }
        facts.run("UPDATE share_device SET left_at = NULL", [])
    })?;
    required(facts)
}

/// Gives this database a new device name, and moves its operations after these numbers to that device.
///
/// This is needed if the server has operations of this device that are unknown here: the database was
/// restored from an older copy, or was itself copied.
pub(crate) fn renew(facts: &Facts, agreed: &[(String, i64)]) -> Result<String> {
    facts.write(|| {
        let old = required(facts)?;
        let sql = "UPDATE share_device SET device = lower(hex(randomblob(8))) RETURNING device";
        let new: String = facts.value(sql, [])?;
        for (scope, number) in agreed {
            let sql = "UPDATE operations SET device = ?4, number = number - ?3 \
                       WHERE scope = ?1 AND device = ?2 AND number > ?3";
            facts.run(sql, params![scope, old, number, new])?;
            // From now on, the old name is that of another device.
            set_cursor(facts, scope, &old, *number)?;
            set_cursor(facts, scope, &new, 0)?;
        }
        Ok(new)
    })
}

/// Stops recording operations; keeps the facts and the data about other devices.
pub(crate) fn leave(facts: &Facts) -> Result<()> {
    facts.write(|| facts.run("UPDATE share_device SET left_at = ?1", [facts.now()]))
}

/// Records the result of a sync, if the database was ever shared.
pub(crate) fn synced(facts: &Facts, failure: Option<&str>) -> Result<()> {
    let sql = "UPDATE share_device SET last_error = ?2, failed_at = iif(?2 NOT NULL, ?1, NULL), \
               synced_at = iif(?2 NOT NULL, synced_at, ?1)";
    facts.write(|| facts.run(sql, params![facts.now(), failure]))
}

/// Returns the prefix of generated turn ids.
pub(crate) fn turn_id_prefix(facts: &Facts, kind: &str) -> Result<String> {
    let device: Vec<String> = facts.column("SELECT device || ':' FROM share_device", [])?;
    Ok(format!("annals:{kind}:{}", device.concat()))
}

/// Returns the scope of a new fact, by the longest rule for its key: a key, or a prefix that ends in a dot.
fn scope_of_new<'a>(scopes: &'a [(String, String)], key: &str) -> &'a str {
    let is_meant = |rule: &&(String, String)| {
        rule.0 == key || rule.0.ends_with('.') && key.starts_with(&rule.0)
    };
    let closest = scopes.iter().filter(is_meant).max_by_key(|rule| rule.0.len());
    closest.map_or(PRIVATE, |rule| &rule.1)
}

/// Creates operations for the rows added to the history, in the transaction that adds them, and merges their keys.
///
/// This costs one read if the database is not shared.
pub(crate) fn record(facts: &Facts) -> Result<()> {
    let sql = "SELECT noted, last FROM share_device, \
               (SELECT coalesce(max(history_id), 0) AS last FROM fact_history) \
               WHERE left_at IS NULL AND noted < last";
    let Some((noted, last)) = facts.optional::<(i64, i64)>(sql, [])? else {
        return Ok(());
    };
    // Archiving and merging are what each device does for itself.
    let sql = format!(
        "SELECT {CHANGE}, history_id, user_id FROM fact_history AS h \
         WHERE history_id > ?1 AND device IS NULL AND action NOT IN ('archive', 'merge') \
         AND NOT EXISTS (SELECT 1 FROM operations AS o WHERE o.history_id = h.history_id) ORDER BY history_id"
    );
    let mut keys: BTreeSet<(UserId, String)> = BTreeSet::new();
    let mut statement = facts.statement(&sql)?;
    let mut rows = statement.query([noted])?;
    while let Some(row) = rows.next()? {
        let (change, user) = (Change::try_from(row)?, row.get(10)?);
        add(facts, &user, &change, row.get(9)?)?;
        keys.insert((user, change.key));
    }
    // Rows of other devices count as recorded too, so that the next write does not read them again.
    facts.run("UPDATE share_device SET noted = ?1", [last])?;
    keys.iter().try_for_each(|(user, key)| merge_key(facts, user, key))
}

fn add(facts: &Facts, user: &UserId, change: &Change, history: i64) -> Result<()> {
    // A fact keeps the scope in which it was first written.
    let sql = "SELECT o.scope, coalesce(o.born, o.clock) AS born FROM fact_history JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND fact_id = ?2 ORDER BY born, o.clock, o.device LIMIT 1";
    let origin: Option<(String, i64)> = facts.optional(sql, [user.as_str(), &change.fact_id])?;
    let (scope, born) = origin.unzip();
    let scope = scope.as_deref().unwrap_or_else(|| scope_of_new(&facts.scopes, &change.key));
    // Rows written before the database was shared keep their time.
    let now = facts.clock.now();
    let time = parse_timestamp(&change.at).map_or(now, |at| at.min(now));
    let mut operation = next(facts, scope, "fact", time)?;
    let outcome = format!("{} {}", change.after.status.as_str(), change.after.value_text);
    // Equal for a turn observed on two devices, but unique for actions without a turn.
    let ticked = operation.clock.to_string();
    let mut parts = vec![
        user.as_str(),
        &change.turn_id,
        &change.key,
        &change.fact_id,
        &change.action,
        &outcome,
    ];
    if change.turn_id.starts_with("annals:") {
        parts.extend([operation.device.as_str(), &ticked]);
    }
    operation.op_id = digest(&parts);
    operation.born = born.or(Some(operation.clock));
    operation.store(facts, Some(history), false)
}

/// Returns the next operation of this device in a scope, with its number and clock: the time, but later than all
/// operations made or seen here.
pub(crate) fn next(
    facts: &Facts,
    scope: &str,
    kind: &str,
    time: DateTime<Utc>,
) -> Result<Operation> {
    let sql = "UPDATE share_device SET clock = max(?1, clock + 1) RETURNING device, clock";
    let time = [time.timestamp_millis() << COUNTER_BITS];
    let (device, clock): (String, i64) = facts.optional(sql, time)?.unwrap_or_default();
    let mut number = 0;
    if scope != DEVICE {
        let sql =
            "SELECT coalesce(max(number), 0) + 1 FROM operations WHERE scope = ?1 AND device = ?2";
        number = facts.value(sql, [scope, &device])?;
        if number == 1 {
            let first = "INSERT INTO share_cursors VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING";
            facts.run(first, [scope, &device])?;
        }
    }
    let (scope, kind) = (scope.to_owned(), kind.to_owned());
    Ok(Operation { scope, device, number, clock, kind, ..Operation::default() })
}

/// Sets the last known number of a device in a scope.
pub(crate) fn set_cursor(facts: &Facts, scope: &str, device: &str, number: i64) -> Result<()> {
    let sql = "INSERT INTO share_cursors VALUES (?1, ?2, ?3) \
               ON CONFLICT (scope, device) DO UPDATE SET number = excluded.number";
    facts.run(sql, params![scope, device, number])
}

/// The last known number by scope and device.
pub(crate) type Cursors = BTreeMap<(String, String), i64>;

/// Returns what is known of each device; of this device's own operations, what the server has.
pub(crate) fn cursors(facts: &Facts) -> Result<Cursors> {
    let rows: Vec<Address> = facts.list("SELECT scope, device, number FROM share_cursors", [])?;
    Ok(by_device(rows))
}

/// Returns numbers by scope and device.
pub(crate) fn by_device(rows: Vec<Address>) -> Cursors {
    rows.into_iter().map(|(scope, device, number)| ((scope, device), number)).collect()
}

row! {
    /// The state of sharing on this device.
    #[derive(Debug, Serialize)]
    pub struct SharingState {
        /// The device's name.
        pub device: String,
        /// Whether it no longer shares.
        pub has_left: bool,
        /// Number of operations waiting to be sent.
        pub pending: usize,
        /// When the first of them was recorded.
        pub pending_since: Option<String>,
        /// Operations that were not understood, each with the reason.
        pub set_aside: SetAsides,
        /// Number of operations not sent because they contain what looks like a secret.
        pub withheld: usize,
        /// Whether forgotten data may remain in free pages of the file.
        pub is_unclean: bool,
        /// When this device last synced successfully.
        pub synced_at: Option<String>,
        /// When a sync last failed since then.
        pub failed_at: Option<String>,
        /// The reason of that failure.
        pub last_error: Option<String>,
    }
}

/// The operations that were set aside.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetAsides(pub Vec<SetAside>);

stored_as_json!(SetAsides);

/// An operation that was set aside.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetAside {
    /// The device that made it.
    pub device: String,
    /// Its number on that device.
    pub number: i64,
    /// The reason why it was not understood.
    pub reason: String,
}

/// SQL for the operations of this device that the server does not have.
const PENDING: &str = "FROM share_device JOIN share_cursors AS c USING (device) \
     JOIN operations AS o ON o.scope = c.scope AND o.device = c.device AND o.number > c.number";

/// Returns the state of sharing, or `None` if this database was never shared.
pub fn sharing(facts: &Facts) -> Result<Option<SharingState>> {
    let sql = format!(
        "SELECT device, left_at NOT NULL, (SELECT count(*) {PENDING}), (SELECT min(o.noted_at) {PENDING}), \
         (SELECT json_group_array(json_object('device', device, 'number', number, 'reason', reason)) \
         FROM (SELECT * FROM share_set_aside ORDER BY seen_at, device, number)), \
         (SELECT count(*) FROM operations WHERE is_withheld), is_unclean, synced_at, failed_at, last_error \
         FROM share_device"
    );
    facts.optional(&sql, [])
}

/// Returns the number of operations waiting to be sent.
pub(crate) fn pending_count(facts: &Facts) -> Result<usize> {
    facts.value(&format!("SELECT count(*) {PENDING}"), [])
}

#[cfg(test)]
mod tests;
