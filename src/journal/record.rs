//! Parses a line of the journal, whichever program wrote it.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::clock::parse_timestamp;
use crate::text::without_byte_order_mark;

/// A line that is a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JournalRecord {
    fields: Map<String, Value>,
}

impl JournalRecord {
    /// Parses a line; returns `None` if it is not a JSON object.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        match serde_json::from_slice(line) {
            Ok(Value::Object(fields)) => Some(Self { fields }),
            _ => None,
        }
    }

    /// Returns a field if it is a string.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    /// Returns the type of the record.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    /// Returns the time of the record.
    pub(crate) fn time(&self) -> Option<DateTime<Utc>> {
        self.text("ts").and_then(parse_timestamp)
    }

    /// Returns the tags; a single string counts as one tag.
    pub(crate) fn tags(&self) -> Vec<&str> {
        self.fields.get("tags").map(strings).unwrap_or_default()
    }

    /// Returns all texts that are searched in decoded form.
    pub(crate) fn texts(&self) -> Vec<&str> {
        ["content", "type", "tags", "meta"]
            .iter()
            .filter_map(|field| self.fields.get(*field))
            .flat_map(strings)
            .collect()
    }
}

/// Returns the strings in a JSON value, at any depth, without object keys.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns a line without its newline, surrounding white space, and the byte order mark that the first line of
/// a file can have.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    without_byte_order_mark(line).trim_ascii()
}

/// Returns a line as text; invalid UTF-8 is replaced.
pub(crate) fn lossy(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(trimmed(line))
}
