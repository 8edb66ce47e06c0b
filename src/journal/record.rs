//! One line of the journal, whoever wrote it.

use std::borrow::Cow;

use chrono::DateTime;
use chrono::Utc;
use serde_json::Map;
use serde_json::Value;

use crate::clock::parse_timestamp;

/// A line that is one JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    fields: Map<String, Value>,
}

impl Record {
    /// Returns the record that a line holds, or `None` if it is not a JSON object.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        match serde_json::from_slice(line) {
            Ok(Value::Object(fields)) => Some(Self { fields }),
            _ => None,
        }
    }

    /// Returns a field that is a text.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    /// Returns what kind of record it is.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    /// Returns when it was written.
    pub(crate) fn time(&self) -> Option<DateTime<Utc>> {
        self.text("ts").and_then(parse_timestamp)
    }

    /// Returns the tags; a single text counts as one.
    pub(crate) fn tags(&self) -> Vec<&str> {
        self.fields.get("tags").map(strings).unwrap_or_default()
    }

    /// Returns every text that a search for decoded text looks at.
    pub(crate) fn texts(&self) -> Vec<&str> {
        ["content", "type", "tags", "meta"]
            .iter()
            .filter_map(|field| self.fields.get(*field))
            .flat_map(strings)
            .collect()
    }
}

/// Returns the strings in a JSON value, at any depth, without the keys.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns a line without what ends it and the white space around it.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Returns a line as text; what is no UTF-8 is replaced.
pub(crate) fn lossy(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(trimmed(line))
}
