//! Encodes a change of a fact for transfer: the new state, and the fields that were different before.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::facts::fact::Fact;
use crate::secrets;

/// Version of the format; operations of a later version are set aside until this program is updated.
pub(crate) const VERSION: u32 = 1;

/// Field with the structured value, sent as text: the server would not keep the key order and all digits.
const STRUCTURED: &str = "value_json";

/// Field with the id in the vector index, which is local to the device.
const LOCAL: &str = "embedding_id";

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

/// The reason why an operation is set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

/// Encodes a change as a JSON object, replacing NUL, which PostgreSQL cannot store.
pub(crate) fn encode(change: &FactChange) -> Result<String> {
    let after = fields(&change.after)?;
    let was = match &change.before {
        None => None,
        Some(before) => {
            let before = fields(before)?.into_iter();
            Some(before.filter(|(name, value)| after.get(name) != Some(value)).collect())
        }
    };
    let payload = FactPayload {
        v: VERSION,
        action: change.action.clone(),
        reason: change.reason.clone(),
        turn: change.turn.clone(),
        at: change.at.clone(),
        fact: after,
        was,
    };
    let mut value = serde_json::to_value(payload).map_err(|error| unwritable(&error))?;
    replace_nul(&mut value);
    serde_json::to_string(&value).map_err(|error| unwritable(&error))
}

fn unwritable(error: &serde_json::Error) -> Error {
    Error::failed(format!("cannot write an operation: {error}"))
}

fn fields(fact: &Fact) -> Result<Map<String, Value>> {
    let Value::Object(mut fields) =
        serde_json::to_value(fact).map_err(|error| unwritable(&error))?
    else {
        return Err(Error::failed("a fact is not an object"));
    };
    fields.shift_remove(LOCAL);
    if let Some(value) = fields.get_mut(STRUCTURED)
        && !value.is_null()
    {
        *value = Value::String(value.to_string());
    }
    Ok(fields)
}

fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(replace_nul),
        Value::Object(fields) => fields.values_mut().for_each(replace_nul),
        _ => {}
    }
}

/// Decodes a change of one of this user's facts.
pub(crate) fn decode(text: &str, user: &str) -> std::result::Result<FactChange, Unreadable> {
    check_version(text)?;
    let payload: FactPayload =
        serde_json::from_str(text).map_err(|error| broken(&error.to_string()))?;
    let before = match payload.was {
        None => None,
        Some(was) => {
            let mut before = payload.fact.clone();
            before.extend(was);
            Some(fact(before, user)?)
        }
    };
    Ok(FactChange {
        action: payload.action,
        reason: payload.reason,
        turn: payload.turn,
        at: payload.at,
        before,
        after: fact(payload.fact, user)?,
    })
}

#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

/// Returns the reason for setting a payload aside if its format is newer than this program's.
pub(crate) fn check_version(text: &str) -> std::result::Result<(), Unreadable> {
    let Versioned { v } = serde_json::from_str(text).map_err(|error| broken(&error.to_string()))?;
    if v > VERSION {
        let reason = format!("needs a newer annals (format {v}, this one knows {VERSION})");
        return Err(Unreadable(reason));
    }
    Ok(())
}

/// Returns the reason for setting aside a payload that is not understood.
pub(crate) fn broken(why: &str) -> Unreadable {
    Unreadable(format!("not understood: {why}"))
}

/// Decodes a received fact, with the same checks as an import.
fn fact(mut fields: Map<String, Value>, user: &str) -> std::result::Result<Fact, Unreadable> {
    if let Some(Value::String(text)) = fields.get(STRUCTURED) {
        let value = serde_json::from_str(text).map_err(|error| broken(&error.to_string()))?;
        fields.insert(STRUCTURED.to_owned(), value);
    }
    fields.insert(LOCAL.to_owned(), Value::Null);
    let fact: Fact = serde_json::from_value(Value::Object(fields))
        .map_err(|error| broken(&error.to_string()))?;
    if fact.user_id != user {
        return Err(broken("a fact of another user"));
    }
    fact.check().map_err(|error| broken(&error.message))?;
    Ok(fact)
}

/// Returns the rule that matches a secret in one of the strings of a JSON document.
pub(crate) fn secret(json: &str) -> Option<&'static str> {
    let value: Value = serde_json::from_str(json).ok()?;
    secrets::first_rule_in_json(&value)
}
