//! Operations: how a change of a fact is encoded in one, as the new state and the fields that differed before, and
//! which of them the server lacks.

use rusqlite::{Connection, Params, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::fact::{Fact, check_text};
use crate::facts::history::{CHANGE, Change};
use crate::facts::sql::{Sql, json, row, stored_as_json};
use crate::facts::store::Facts;
use crate::secrets::SecretPolicy;
use crate::text::hexadecimal;

/// Version of the format; operations of a later version are set aside until this program is updated.
pub(crate) const VERSION: u32 = 1;

/// Field with the structured value, sent as text: the server would not keep the key order and all digits.
const STRUCTURED: &str = "value_json";

/// Field with the id in the vector index, which is local to the device.
const LOCAL: &str = "embedding_id";

/// The scope, device and number of an operation.
pub(crate) type Address = (String, String, i64);

/// An operation as it is sent, and as it was received: what this program does not understand is set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) scope: String,
    pub(crate) device: String,
    /// 0 if it is never sent.
    pub(crate) number: i64,
    pub(crate) op_id: String,
    pub(crate) user_id: String,
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

stored_as_json!(Operation);
row!(
    Operation: scope, device, number, op_id, user_id, clock, kind, born, payload, owner, subject, turn, place
);

impl Operation {
    /// Removes everything but the number.
    pub(crate) fn withhold(&mut self, kind: &str) {
        kind.clone_into(&mut self.kind);
        self.user_id.clear();
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
        connection: &Connection,
        history: Option<i64>,
        is_rewritten: bool,
        clock: Clock,
    ) -> Result<()> {
        let payload = self.payload.as_ref().filter(|_| self.kind == "forget");
        connection.run(
            "INSERT INTO operations (scope, device, number, op_id, clock, kind, history_id, born, place, payload, \
             noted_at, is_rewritten) VALUES (?1, ?2, nullif(?3, 0), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                self.scope, self.device, self.number, self.op_id, self.clock, self.kind, history, self.born,
                self.place, payload, clock.timestamp(), is_rewritten
            ],
        )
    }
}

/// Returns the digest of several texts.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part.as_bytes());
        sum.update([0]);
    }
    let mut digits = hexadecimal(&sum.finalize());
    digits.truncate(32);
    digits
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
pub(crate) fn is_known_line(connection: &Connection, op_id: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM operations WHERE op_id = ?1 AND kind = 'line')";
    connection.value(sql, [op_id])
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
fn encode(change: Change, after: &Fact) -> Result<String> {
    let fact = fields(after)?;
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
pub(crate) fn decode(text: &str, user: &str) -> Result<Change> {
    let FactPayload { action, reason, turn: turn_id, at, fact, was, .. } = read(text)?;
    for text in [&action, &reason, &turn_id, &at] {
        check_text(text, SecretPolicy::Refuse)?;
    }
    let before = was.map(|was| accepted(fact.clone().into_iter().chain(was).collect(), user));
    let (before, after) = (before.transpose()?, accepted(fact, user)?);
    let (fact_id, key) = (after.fact_id.clone(), after.key.clone());
    Ok(Change {
        fact_id,
        key,
        action,
        before,
        after: Some(after),
        reason,
        turn_id,
        at,
        device: None,
    })
}

fn accepted(mut fields: Map<String, Value>, user: &str) -> Result<Fact> {
    if let Some(Value::String(text)) = fields.get(STRUCTURED) {
        let value = serde_json::from_str(text).map_err(broken)?;
        fields.insert(STRUCTURED.to_owned(), value);
    }
    fields.insert(LOCAL.to_owned(), Value::Null);
    let mut fact: Fact = serde_json::from_value(Value::Object(fields)).map_err(broken)?;
    if fact.user_id != user {
        return Err(Error::refused("a fact of another user"));
    }
    fact.accept(SecretPolicy::Refuse)?;
    let further = [&fact.session_id, &fact.project, &fact.event_time, &fact.contests];
    for text in further.into_iter().flatten().chain([&fact.source_turn_id]) {
        check_text(text, SecretPolicy::Refuse)?;
    }
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
pub(crate) fn pending(connection: &Connection, limit: usize) -> Result<Vec<Operation>> {
    let sql = "SELECT c.scope, c.device, c.number FROM share_device JOIN share_cursors AS c USING (device) \
               WHERE EXISTS (SELECT 1 FROM operations AS o WHERE o.scope = c.scope AND o.device = c.device \
               AND o.number > c.number) ORDER BY c.scope LIMIT 1";
    let Some((scope, device, number)) = connection.optional::<Address>(sql, [])? else {
        return Ok(Vec::new());
    };
    let condition = "o.scope = ?1 AND o.device = ?2 AND o.number > ?3 ORDER BY o.number LIMIT ?4";
    let values = params![scope, device, number, limit];
    Ok(select(connection, condition, values)?.into_iter().map(|row| row.1).collect())
}

/// Returns operations that changed since they were sent, each with its row id.
pub(crate) fn rewritten(connection: &Connection, limit: usize) -> Result<Vec<(i64, Operation)>> {
    let condition = "o.is_rewritten AND o.number <= \
         (SELECT number FROM share_cursors AS c WHERE c.scope = o.scope AND c.device = o.device) \
         ORDER BY o.operation LIMIT ?1";
    select(connection, condition, [limit])
}

fn select(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<(i64, Operation)>> {
    let sql = format!(
        "SELECT o.scope, o.device, o.number, o.op_id, coalesce(h.user_id, ''), o.clock, o.kind, o.born, o.payload, \
         NULL, NULL, NULL, o.place, o.operation, o.is_withheld, {CHANGE} \
         FROM operations AS o LEFT JOIN fact_history AS h USING (history_id) WHERE {condition}"
    );
    let mut statement = connection.statement(&sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut operation = Operation::read(row)?;
        if row.get(14)? {
            operation.withhold("withheld");
        } else if operation.kind == "fact" {
            let mut change = Change::read_from(row, 15)?;
            let after = change.after.take();
            let after = after.ok_or_else(|| Error::failed("an operation left no fact"))?;
            let user = operation.user_id.as_str();
            operation.owner = Some(owner(user));
            operation.subject = Some(subject(user, &after.key));
            operation.turn = Some(turn(user, &after.source_turn_id));
            operation.payload = Some(encode(change, &after)?);
        }
        found.push((row.get(13)?, operation));
    }
    Ok(found)
}

/// Records that the server has the rewritten operations.
pub(crate) fn mark_sent(facts: &mut Facts, operations: &[i64]) -> Result<()> {
    let sql = "UPDATE operations SET is_rewritten = 0 \
               WHERE operation IN (SELECT value FROM json_each(?1))";
    let operations = json(&operations)?;
    facts.write(|connection| connection.run(sql, [operations]))
}

/// Marks operations of which only the number may be sent.
pub(crate) fn withhold(facts: &mut Facts, operations: &[Address]) -> Result<()> {
    let sql =
        "UPDATE operations SET is_withheld = 1 WHERE scope = ?1 AND device = ?2 AND number = ?3";
    facts.write(|connection| {
        operations.iter().try_for_each(|address| connection.run(sql, address.clone()))
    })
}

/// Records the last number of this device's operations in a scope that the server has.
pub(crate) fn acknowledge(facts: &mut Facts, scope: &str, number: i64) -> Result<()> {
    let sql = "UPDATE share_cursors SET number = ?2 \
               WHERE scope = ?1 AND device = (SELECT device FROM share_device)";
    facts.write(|connection| connection.run(sql, params![scope, number]))
}

/// Returns whether the server's operation under a number is the one that this device made; if it was erased
/// here or there, only the clocks are compared.
pub(crate) fn is_unchanged(connection: &Connection, remote: &Operation) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM operations WHERE scope = ?1 AND device = ?2 AND number = ?3 \
               AND clock = ?4 AND (op_id IN (?5, '') OR ?5 = ''))";
    let (scope, device, number) = remote.address();
    connection.value(sql, params![scope, device, number, remote.clock, remote.op_id])
}
