//! Reads the database of claude-mem: observations of sessions, and directives.
//!
//! Tables and columns differ between versions, so each column is read only if it exists: `observations` and
//! `session_summaries`; in older versions `memories` and `overviews`; in newer ones `directives`.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::clock::parse_timestamp;
use crate::error::Result;
use crate::exchange::Format;
use crate::exchange::database::{Database, DatabaseRow, MAX_ROWS, number, text};
use crate::exchange::kind::kind_of;
use crate::exchange::note::{MAX_TAGS, item, tag, unique};
use crate::exchange::source::{DatedItem, ImportSource, Note, title};
use crate::journal::{DatedRecord, RecordDraft};
use crate::knowledge::{Confidence, ImportItem};
use crate::warning::Warning;

/// Tables whose rows are records, with the default record type for rows without one.
const RECORDS: [(&str, &str); 4] = [
    ("observations", "observation"),
    ("session_summaries", "session-summary"),
    ("memories", "memory"),
    ("overviews", "session-summary"),
];

/// Columns with a text of the record, and the label that precedes it.
const TEXTS: [(&str, &str); 11] = [
    ("subtitle", ""),
    ("narrative", ""),
    ("text", ""),
    ("content", ""),
    ("request", "Request: "),
    ("investigated", "Investigated: "),
    ("learned", "Learned: "),
    ("completed", "Completed: "),
    ("next_steps", "Next: "),
    ("notes", "Notes: "),
    ("summary", ""),
];

/// Columns that are copied to the record's `meta`.
const META: [&str; 9] = [
    "id", "project", "memory_session_id", "sdk_session_id", "session_id", "prompt_number",
    "files_read", "files_modified", "files_edited",
];

/// Other columns that are read.
const OTHERS: [&str; 8] =
    ["title", "type", "concepts", "facts", "created_at", "created_at_epoch", "source", "status"];

/// Internal tables of the tool, which contain no memories.
const HOUSEKEEPING: [&str; 9] = [
    "schema_versions", "schema_migrations", "sdk_sessions", "sessions", "streaming_sessions",
    "pending_messages", "observation_feedback", "observation_queue", "diagnostics",
];

/// Largest number that is taken as seconds since 1970; a larger one is taken as milliseconds.
const LAST_SECOND: i64 = 100_000_000_000;

/// Reads a database file, or the one in a folder.
pub(crate) fn read(path: &Path) -> Result<ImportSource> {
    let inside = path.join("claude-mem.db");
    let path = if path.is_dir() { &inside } else { path };
    let database = Database::open(path)?;
    let mut source = ImportSource::default();
    let texts = TEXTS.iter().map(|(column, _)| *column);
    let columns: Vec<&str> = texts.chain(META).chain(OTHERS).collect();
    let log = with_end(path, "-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let warning = "contains changes that are not in the database yet, and was not read; \
                       stop claude-mem, then import again";
        source.unknown.push(Warning::file(&log, warning));
    }
    for table in database.tables()? {
        let count = database.count(&table)?;
        let kind = RECORDS.iter().find(|(name, _)| *name == table);
        if count > MAX_ROWS && (kind.is_some() || table == "directives") {
            let warning = format!(
                "only the first {MAX_ROWS} of the {count} rows of the table {table} are read"
            );
            source.unknown.push(Warning::file(path, warning));
        }
        if let Some((_, kind)) = kind {
            database.each_row(&table, &columns, |row| {
                record(path, &table, kind, row, &mut source);
            })?;
        } else if table == "directives" {
            database.each_row(&table, &columns, |row| directive(path, row, &mut source))?;
        } else if table == "user_prompts" && count > 0 {
            let reason = "prompts are not imported";
            source.skip(item(path, &format!("user_prompts ({count} rows)")), reason);
        } else if !HOUSEKEEPING.contains(&table.as_str()) && !table.contains("_fts") && count > 0 {
            let warning = format!("the table {table} ({count} rows) is not known");
            source.unknown.push(Warning::file(path, warning));
        }
    }
    Ok(source)
}

fn record(path: &Path, table: &str, kind: &str, row: &DatabaseRow, source: &mut ImportSource) {
    let item = item(path, &row_name(table, row));
    let content = content(row);
    if content.is_empty() {
        return source.skip(item, "is empty");
    }
    let Some(time) = time(row) else {
        let warning = format!("{}: has no valid time", item.name);
        return source.unknown.push(Warning::file(path, warning));
    };
    let concepts = list(row, "concepts");
    let mut tags = unique(concepts.iter().filter_map(|word| tag(word)));
    if tags.len() > MAX_TAGS {
        tags.truncate(MAX_TAGS);
        let warning = format!("{}: has more than {MAX_TAGS} tags; the rest is left out", item.name);
        source.unknown.push(Warning::file(path, warning));
    }
    let kind = text(row, "type").unwrap_or(kind).to_owned();
    let tags = (!tags.is_empty()).then_some(tags);
    match RecordDraft::new(Some(kind), content, tags, Some(&meta(row))) {
        Ok(draft) => source
            .dated_items
            .push(DatedItem { item, record: DatedRecord { draft, time: Some(time) } }),
        Err(error) => {
            let warning = format!("{}: {}", item.name, error.message);
            source.unknown.push(Warning::file(path, warning));
        }
    }
}

/// Reads a directive, a rule that the user wants followed.
fn directive(path: &Path, row: &DatabaseRow, source: &mut ImportSource) {
    let name = row_name("directives", row);
    let item = item(path, &name);
    let Some(content) = text(row, "content") else {
        return source.skip(item, "is empty");
    };
    if let Some(status) = text(row, "status").filter(|status| *status != "active") {
        return source.skip(item, format!("is {status}, no longer active"));
    }
    let said_by_the_user = text(row, "source") == Some("manual");
    source.notes.push(Note {
        item,
        parts: Vec::new(),
        statements: vec![content.to_owned()],
        piece: ImportItem {
            origin: (Format::ClaudeMem.as_str(), name),
            names: Vec::new(),
            title: title(content.lines().next().unwrap_or_default(), "Directive"),
            kind: kind_of(&["convention"]),
            confidence: if said_by_the_user { Confidence::High } else { Confidence::Low },
            tags: text(row, "project").and_then(tag).into_iter().collect(),
            body: content.to_owned(),
        },
    });
}

fn content(row: &DatabaseRow) -> String {
    let mut parts: Vec<String> = text(row, "title").map(str::to_owned).into_iter().collect();
    for (column, before) in TEXTS {
        parts.extend(text(row, column).map(|text| format!("{before}{text}")));
    }
    let facts = list(row, "facts");
    if !facts.is_empty() {
        parts.push(format!("- {}", facts.join("\n- ")));
    }
    parts.join("\n")
}

/// Returns the texts of a column: a JSON list, or else lines for `facts` and comma-separated words otherwise.
fn list(row: &DatabaseRow, column: &str) -> Vec<String> {
    let Some(text) = text(row, column) else {
        return Vec::new();
    };
    let parts = serde_json::from_str::<Vec<Value>>(text).map(|all| {
        let texts = all.into_iter().filter_map(|one| match one {
            Value::String(text) => Some(text),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    });
    let parts = parts.unwrap_or_else(|_| match column {
        "facts" => text.lines().map(str::to_owned).collect(),
        _ => text.split(',').map(str::to_owned).collect(),
    });
    let trimmed = parts.iter().map(|part| part.trim().to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

fn meta(row: &DatabaseRow) -> String {
    let mut fields = Map::new();
    fields.insert("source".to_owned(), Format::ClaudeMem.as_str().into());
    for column in META {
        let value = match number(row, column) {
            Some(number) => Value::from(number),
            None => match text(row, column) {
                Some(_) if column.starts_with("files") => Value::from(list(row, column)),
                Some(text) => Value::from(text),
                None => continue,
            },
        };
        fields.insert(column.to_owned(), value);
    }
    Value::Object(fields).to_string()
}

fn time(row: &DatabaseRow) -> Option<DateTime<Utc>> {
    let counted = number(row, "created_at_epoch").or_else(|| number(row, "created_at"));
    let counted = counted.and_then(|time| {
        if time > LAST_SECOND {
            DateTime::from_timestamp_millis(time)
        } else {
            DateTime::from_timestamp(time, 0)
        }
    });
    counted.or_else(|| parse_timestamp(text(row, "created_at")?))
}

fn row_name(table: &str, row: &DatabaseRow) -> String {
    match number(row, "id") {
        Some(id) => format!("{table} {id}"),
        None => table.to_owned(),
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
