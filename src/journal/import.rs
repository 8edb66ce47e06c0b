//! Adds the records of another journal that are not in this one yet.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::clock::parse_timestamp;
use crate::error::{At, Error, Result};
use crate::journal::file::{ForwardReader, JournalRecord, records};
use crate::journal::write::{RecordDraft, WriteOptions, added_lines};
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};

/// The outcome of an import.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// The journal.
    pub file: PathBuf,
    /// Number of records added.
    pub imported: usize,
    /// Number of records that were already in the journal, or appeared earlier in the same file.
    pub duplicates: usize,
    /// Number of lines that are not records.
    pub skipped: usize,
    /// On a dry run, the lines that would be added.
    pub diff: Option<String>,
}

/// Adds the records of another file that are not in the journal yet, in their order: all of them or none.
///
/// Records are the same if content and time are equal; if one has no time, if the content is equal. A file that contains
/// a secret is refused.
pub fn import(path: &Path, from: &Path, options: &WriteOptions) -> Result<Imported> {
    let missing = || Error::not_found("there is no such file").at(from, None);
    let mut reader = ForwardReader::open(from, 0)?.ok_or_else(missing)?;
    let mut log = match options.dry_run {
        true => None,
        false => Some(Log::lock(path, Visibility::Private)?),
    };
    let mut known = known(path)?;
    let mut report = Imported { file: path.to_owned(), ..Imported::default() };
    let (mut added, mut number) = (String::new(), 0);
    while let Some((_, line)) = reader.next().at("read", from)? {
        number += 1;
        let (found, is_whole) = records(line.unwrap_or(b"-"));
        report.skipped += usize::from(!is_whole);
        for (_, record) in found {
            let Some((draft, time)) = foreign(record) else {
                report.skipped += 1;
                continue;
            };
            if let Some(rule) = draft.secret().filter(|_| options.secrets == SecretPolicy::Refuse) {
                let message = format!("contains what looks like a secret ({rule})");
                let hint =
                    "agents read the journal back; remove the secret, or pass --allow-secret";
                return Err(Error::refused(message).at(from, number).hint(hint));
            }
            if !known.insert(identity(draft.content(), time)) {
                report.duplicates += 1;
                continue;
            }
            report.imported += 1;
            let time = time.unwrap_or(options.clock.now());
            added += &draft.line(&time.to_rfc3339_opts(SecondsFormat::AutoSi, false))?;
        }
    }
    if let Some(log) = log.as_mut().filter(|_| !added.is_empty()) {
        log.append(added.as_bytes())?;
        log.flush()?;
    }
    report.diff = options.dry_run.then(|| added_lines(path, &added));
    Ok(report)
}

/// Returns the identities of the records in the journal, with and without their times.
fn known(path: &Path) -> Result<HashSet<[u8; 32]>> {
    let mut known = HashSet::new();
    let Some(mut reader) = ForwardReader::open(path, 0)? else {
        return Ok(known);
    };
    while let Some((_, line)) = reader.next().at("read", path)? {
        for (_, record) in records(line.unwrap_or_default()).0 {
            if let Some(content) = record.text("content") {
                let time = record.text("ts").and_then(parse_timestamp);
                known.insert(identity(content, time));
                known.insert(identity(content, None));
            }
        }
    }
    Ok(known)
}

/// Returns a digest of the content and time of a record.
fn identity(content: &str, time: Option<DateTime<Utc>>) -> [u8; 32] {
    let mut sum = Sha256::new();
    sum.update(content);
    if let Some(time) = time {
        sum.update([0]);
        sum.update(time.timestamp_millis().to_le_bytes());
    }
    sum.finalize().into()
}

/// The fields of a record; what is not one of ours becomes part of its `meta`.
#[derive(Deserialize)]
struct Foreign {
    ts: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    content: String,
    tags: Option<Vec<String>>,
    meta: Option<Map<String, Value>>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// Returns a record without its time, and the time; `None` if a field is not of its type.
fn foreign(record: JournalRecord) -> Option<(RecordDraft, Option<DateTime<Utc>>)> {
    let found: Foreign = serde_json::from_value(Value::Object(record.fields)).ok()?;
    let time = match found.ts {
        Some(ts) => Some(parse_timestamp(&ts)?),
        None => None,
    };
    let mut meta = found.meta.unwrap_or_default();
    for (name, value) in found.more {
        meta.entry(name).or_insert(value);
    }
    let meta = (!meta.is_empty()).then(|| Value::Object(meta).to_string());
    let draft = RecordDraft::new(found.kind, found.content, found.tags, meta.as_deref()).ok()?;
    Some((draft, time))
}
