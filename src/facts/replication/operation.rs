//! Operations, and how a change of a fact is encoded in one: the new state, and the fields that differed before.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::facts::fact::{Fact, check_text};
use crate::facts::sql::Query;
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
    /// Digests of the user, of user and key, and of user and turn, by which the server erases.
    #[serde(skip)]
    pub(crate) digests: [Option<String>; 3],
    /// Byte offset of the line in the journal of this device.
    #[serde(skip)]
    pub(crate) place: Option<u64>,
}

impl Operation {
    /// Removes everything but the number.
    pub(crate) fn withhold(&mut self, kind: &str) {
        kind.clone_into(&mut self.kind);
        self.user_id.clear();
        self.digests = [const { None }; 3];
        self.payload = None;
        if kind == "erased" {
            self.op_id.clear();
        }
    }

    pub(crate) fn address(&self) -> Address {
        (self.scope.clone(), self.device.clone(), self.number)
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
    connection.value("read the operations", sql, [op_id])
}

/// A change of a fact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FactChange {
    pub(crate) action: String,
    pub(crate) reason: String,
    pub(crate) turn: String,
    pub(crate) at: String,
    pub(crate) before: Option<Fact>,
    pub(crate) after: Fact,
}

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
pub(crate) fn encode(change: &FactChange) -> Result<String> {
    let fact = fields(&change.after)?;
    let was = match &change.before {
        None => None,
        Some(before) => {
            let mut was = fields(before)?;
            was.retain(|name, value| fact.get(name) != Some(value));
            Some(was)
        }
    };
    let payload = FactPayload {
        v: VERSION,
        action: change.action.clone(),
        reason: change.reason.clone(),
        turn: change.turn.clone(),
        at: change.at.clone(),
        fact,
        was,
    };
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
pub(crate) fn decode(text: &str, user: &str) -> Result<FactChange> {
    let payload: FactPayload = read(text)?;
    let before = payload.was.map(|was| {
        let mut before = payload.fact.clone();
        before.extend(was);
        fact(before, user)
    });
    for text in [&payload.action, &payload.reason, &payload.turn, &payload.at] {
        check_text(text, SecretPolicy::Refuse)?;
    }
    Ok(FactChange {
        action: payload.action,
        reason: payload.reason,
        turn: payload.turn,
        at: payload.at,
        before: before.transpose()?,
        after: fact(payload.fact, user)?,
    })
}

fn broken(error: &serde_json::Error) -> Error {
    Error::refused(format!("not understood: {error}"))
}

fn fact(mut fields: Map<String, Value>, user: &str) -> Result<Fact> {
    if let Some(Value::String(text)) = fields.get(STRUCTURED) {
        let value = serde_json::from_str(text).map_err(|error| broken(&error))?;
        fields.insert(STRUCTURED.to_owned(), value);
    }
    fields.insert(LOCAL.to_owned(), Value::Null);
    let mut fact: Fact =
        serde_json::from_value(Value::Object(fields)).map_err(|error| broken(&error))?;
    if fact.user_id != user {
        return Err(Error::refused("a fact of another user"));
    }
    fact.accept(SecretPolicy::Refuse)?;
    Ok(fact)
}

/// Reads a payload, unless its format is newer than this program's.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let Versioned { v } = serde_json::from_str(text).map_err(|error| broken(&error))?;
    if v > VERSION {
        return Err(Error::refused(format!(
            "needs a newer annals (format {v}, this one knows {VERSION})"
        )));
    }
    serde_json::from_str(text).map_err(|error| broken(&error))
}
