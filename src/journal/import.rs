//! Adds the records of other tools' files that are not in the journal yet.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{At, Error, Result};
use crate::journal::file::{ForwardReader, MAX_LINE, open, records, trimmed};
use crate::journal::write::{RecordDraft, WriteOptions};
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};
use crate::text::first_chars;
use crate::warning::Warning;

/// Maximum number of lines reported as not understood.
const MAX_WARNINGS: usize = 20;
/// Number of characters at which the diff of a dry run ends.
const SHOWN: usize = 64 * 1024;

/// Field names for the content, most reliable first; the same applies to the lists below.
const CONTENT: &[&str] = &[
    "content", "text", "memory", "fact", "note", "message", "observation", "body", "value",
    "summary",
];
const KIND: &[&str] = &["type", "kind", "category"];
const TIME: &[&str] = &["ts", "timestamp", "time", "created_at", "createdAt", "date", "updated_at"];
const TAGS: &[&str] = &["tags", "labels", "topics", "keywords"];
const META: &[&str] = &["meta", "metadata"];

/// The outcome of an import.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// The journal.
    pub file: PathBuf,
    /// Number of records added.
    pub imported: usize,
    /// Number of lines that were already in the journal, or appeared earlier in the same file.
    pub duplicates: usize,
    /// Number of lines that were not understood.
    pub skipped: usize,
    /// The first lines that were not understood.
    pub warnings: Vec<Warning>,
    /// On a dry run, the first lines that would be added.
    pub diff: Option<String>,
}

/// A record of another file, and its time.
type Foreign = (RecordDraft, Option<DateTime<Utc>>);

/// Adds the records of another file that are not in the journal yet, in their order: all of them or none.
///
/// Records are the same if content and time are equal; if a line has no time, if the content is equal.
pub fn import(path: &Path, from: &Path, options: &WriteOptions) -> Result<Imported> {
    let mut report = Imported { file: path.to_owned(), ..Imported::default() };
    let found = read(from, options.secrets, &mut report)?;
    let mut log = match options.dry_run {
        true => None,
        false => Some(Log::lock(path, Visibility::Private)?),
    };
    let mut known = known(path)?;
    let mut added = String::new();
    for (draft, time) in found {
        if !known.insert(identity(draft.content(), time)) {
            report.duplicates += 1;
            continue;
        }
        report.imported += 1;
        let time = time.unwrap_or(options.clock.now());
        added += &draft.line(&time.to_rfc3339_opts(SecondsFormat::AutoSi, false))?;
    }
    if let Some(log) = log.as_mut().filter(|_| !added.is_empty()) {
        log.append(added.as_bytes())?;
        if options.sync {
            log.flush()?;
        }
    }
    report.diff = options.dry_run.then(|| diff(path, &added, report.imported));
    Ok(report)
}

/// Reads the records of a file, and counts what is not understood; refuses a file that contains a secret.
fn read(from: &Path, secrets: SecretPolicy, report: &mut Imported) -> Result<Vec<Foreign>> {
    let mut reader = match open(from)? {
        Some((file, _)) => ForwardReader::new(file, 0).at("read", from)?,
        None if from.exists() => {
            return Err(Error::failed("is not a regular file").at(from, None));
        }
        None => return Err(Error::not_found("there is no such file").at(from, None)),
    };
    let (mut found, mut number) = (Vec::new(), 0);
    while let Some((_, line)) = reader.next().at("read", from)? {
        number += 1;
        let too_long = || Err(format!("is longer than {} MiB", MAX_LINE / 1024 / 1024));
        match line.map_or_else(too_long, |line| foreign(trimmed(line))) {
            Ok(None) => {}
            Ok(Some((draft, time))) => {
                let rule = draft.secret().filter(|_| secrets == SecretPolicy::Refuse);
                if let Some(rule) = rule {
                    let message = format!("contains what looks like a secret ({rule})");
                    let hint =
                        "agents read the journal back; remove the secret, or pass --allow-secret";
                    return Err(Error::refused(message).at(from, number).hint(hint));
                }
                found.push((draft, time));
            }
            Err(reason) => {
                report.skipped += 1;
                if report.warnings.len() < MAX_WARNINGS {
                    report.warnings.push(Warning::at(from, number, reason));
                }
            }
        }
    }
    Ok(found)
}

/// Returns the first lines that would be added as a diff.
fn diff(path: &Path, added: &str, count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let file = path.display();
    let lines = first_chars(added, SHOWN).lines().map(|line| format!("+{line}\n"));
    format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{count} @@\n{}", lines.collect::<String>())
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
                known.insert(identity(content, record.time()));
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

/// Converts a line to a record and its time; returns `None` if it is blank, or why it is not understood.
fn foreign(line: &[u8]) -> std::result::Result<Option<Foreign>, String> {
    if line.is_empty() {
        return Ok(None);
    }
    let mut fields = match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::String(content)) => Map::from_iter([("content".to_owned(), content.into())]),
        Ok(_) => return Err("is not a JSON object".to_owned()),
        Err(error) => return Err(format!("is not a JSON object: {error}")),
    };
    let time = remove_first(&mut fields, TIME, time);
    let tags = remove_first(&mut fields, TAGS, tag_list);
    let kind = remove_first(&mut fields, KIND, text);
    let content = remove_first(&mut fields, CONTENT, message_text)
        .ok_or_else(|| format!("has no text in any of {}", CONTENT.join(", ")))?;
    // The remaining fields become the record's `meta`, so that nothing is lost.
    let object = |value: &Value| value.as_object().cloned();
    let mut meta = remove_first(&mut fields, META, object).unwrap_or_default();
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        meta.entry(name).or_insert(value);
    }
    let meta = (!meta.is_empty()).then(|| Value::Object(meta).to_string());
    let draft = RecordDraft::new(kind, content, tags, meta.as_deref());
    Ok(Some((draft.map_err(|error| error.message)?, time)))
}

/// Removes and returns the first field of these names that `read` accepts.
fn remove_first<T>(
    fields: &mut Map<String, Value>,
    names: &[&str],
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let found = names.iter().find_map(|name| Some((*name, read(fields.get(*name)?)?)));
    let (name, value) = found?;
    fields.shift_remove(name);
    Some(value)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// Returns the content: a single text, or the texts of the parts of a message.
fn message_text(value: &Value) -> Option<String> {
    let Value::Array(parts) = value else {
        return text(value);
    };
    let part = |part: &Value| text(part).or_else(|| text(part.get("text")?));
    let texts: Vec<String> = parts.iter().filter_map(part).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns a time that is written out, or counted since 1970 in seconds, or in thousandths of them, and so on.
fn time(value: &Value) -> Option<DateTime<Utc>> {
    if let Some(text) = value.as_str() {
        let day = || Some(parse_date(text)?.and_hms_opt(0, 0, 0)?.and_utc());
        return parse_timestamp(text).or_else(day);
    }
    let Some(number) = value.as_i64().filter(|number| *number >= 0) else {
        let seconds = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
        return DateTime::UNIX_EPOCH.checked_add_signed(TimeDelta::from_std(seconds).ok()?);
    };
    let mut per_second = 1;
    while number / per_second > 100_000_000_000 {
        per_second *= 1000;
    }
    let nanoseconds = number % per_second * (1_000_000_000 / per_second);
    DateTime::from_timestamp(number / per_second, u32::try_from(nanoseconds).ok()?)
}

fn tag_list(value: &Value) -> Option<Vec<String>> {
    let tags: Vec<String> = match value {
        Value::String(list) => list.split(',').map(|tag| tag.trim().to_owned()).collect(),
        Value::Array(tags) => {
            tags.iter().map(|tag| tag.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(tags.into_iter().filter(|tag| !tag.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        let (draft, time) = foreign(json.as_bytes()).unwrap().unwrap();
        let time = time.unwrap_or_default().to_rfc3339_opts(SecondsFormat::AutoSi, false);
        draft.line(&time).unwrap().trim_end().to_owned()
    }

    #[test]
    fn our_own_lines_stay_as_they_are() {
        let own = r#"{"ts":"2026-02-17T10:11:12+00:00","type":"note","content":"c","tags":["t"],"meta":{"a":1}}"#;
        assert_eq!(line(own), own);
    }

    #[test]
    fn other_shapes_are_understood_and_nothing_is_lost() {
        for (json, expected) in [
            (
                r#"{"timestamp":1771323072,"text":"c","labels":"a, b","source":"chat","metadata":{"x":1}}"#,
                r#"{"ts":"2026-02-17T10:11:12+00:00","type":"note","content":"c","tags":["a","b"],"meta":{"x":1,"source":"chat"}}"#,
            ),
            (
                r#"{"created_at":"2026-02-17T12:11:12.5+02:00","memory":"c","category":"fact"}"#,
                r#"{"ts":"2026-02-17T10:11:12.500+00:00","type":"fact","content":"c","tags":null,"meta":null}"#,
            ),
            (
                r#"{"time":1771323072123,"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},"b"]}"#,
                r#"{"ts":"2026-02-17T10:11:12.123+00:00","type":"note","content":"a\nb","tags":null,"meta":{"role":"user"}}"#,
            ),
            (
                r#"{"time":1771323072123456789,"text":"a"}"#,
                r#"{"ts":"2026-02-17T10:11:12.123456789+00:00","type":"note","content":"a","tags":null,"meta":null}"#,
            ),
            (
                r#"{"time":-1,"text":"a"}"#,
                r#"{"ts":"1970-01-01T00:00:00+00:00","type":"note","content":"a","tags":null,"meta":{"time":-1}}"#,
            ),
            (
                r#""only text""#,
                r#"{"ts":"1970-01-01T00:00:00+00:00","type":"note","content":"only text","tags":null,"meta":null}"#,
            ),
        ] {
            assert_eq!(line(json), expected, "{json}");
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let fault = |json: &str| foreign(json.as_bytes()).unwrap_err();
        assert!(fault("{\"torn").starts_with("is not a JSON object: "));
        assert_eq!(fault("[1]"), "is not a JSON object");
        assert!(fault("{\"id\":1}").starts_with("has no text in any of content, "));
    }
}
