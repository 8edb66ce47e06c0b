//! Adds the records of other files and tools that are not in the journal yet.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{At, Error, Result};
use crate::journal::file::{ForwardReader, MAX_LINE, open, records, strings, trimmed};
use crate::journal::write::{RecordDraft, WriteOptions};
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};
use crate::warning::Warning;

/// Size at which buffered lines are written, in bytes.
const PORTION: usize = 1024 * 1024;

/// Maximum number of lines reported as not understood.
const MAX_WARNINGS: usize = 20;

/// Size at which the diff of a dry run ends, in bytes.
const SHOWN: usize = 64 * 1024;

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
    /// The first lines that were not understood, or whose time was not.
    pub warnings: Vec<Warning>,
    /// On a dry run, the first lines that would be added.
    pub diff: Option<String>,
}

/// Adds the records of another file that are not in the journal yet, in their order.
///
/// Records are the same if content and time are equal; if a line has no time, if the content is equal.
pub fn import(path: &Path, from: &Path, options: &WriteOptions) -> Result<Imported> {
    let (lines, mut wanted) = survey(from, options)?;
    let mut report = Imported { file: path.to_owned(), ..Imported::default() };
    let mut target = ImportTarget::open(path, options)?;
    remove_known(path, &mut wanted)?;
    let mut number = 0;
    let mut watched = options.progress.track("Importing", 0..lines);
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        watched.next();
        match foreign(line.1) {
            Ok(None) => {}
            Ok(Some(one)) if wanted.remove(&one.record.identity()) => {
                report.imported += 1;
                target.add(&one.record.line(options.clock.now())?)?;
                if let Some(field) = one.unread_time
                    && report.warnings.len() < MAX_WARNINGS
                {
                    let message = format!(
                        "the number in {field} is not a plausible time; the record has the time of its import"
                    );
                    report.warnings.push(Warning::at(from, number, message));
                }
            }
            Ok(Some(_)) => report.duplicates += 1,
            Err(reason) => {
                report.skipped += 1;
                if report.warnings.len() < MAX_WARNINGS {
                    let warning = Warning::at(from, number, reason.to_string());
                    report.warnings.push(warning);
                }
            }
        }
    }
    target.end(options.sync)?;
    report.diff = options.dry_run.then(|| target.diff(path, report.imported));
    Ok(report)
}

/// The target of the lines: the log, or only the diff of a dry run.
struct ImportTarget {
    log: Option<Log>,
    portion: String,
    shown: String,
}

impl ImportTarget {
    /// Locks the journal, except on a dry run.
    fn open(path: &Path, options: &WriteOptions) -> Result<Self> {
        let log = if options.dry_run { None } else { Some(Log::lock(path, Visibility::Private)?) };
        Ok(Self { log, portion: String::new(), shown: String::new() })
    }

    /// Adds a line, which includes its newline.
    fn add(&mut self, line: &str) -> Result<()> {
        if self.log.is_some() {
            self.portion.push_str(line);
            if self.portion.len() >= PORTION {
                self.write()?;
            }
        } else if self.shown.len() < SHOWN {
            self.shown.push('+');
            self.shown.push_str(line);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        if let Some(log) = &mut self.log {
            log.append(self.portion.as_bytes())?;
        }
        self.portion.clear();
        Ok(())
    }

    /// Writes the remaining lines.
    fn end(&mut self, sync: bool) -> Result<()> {
        self.write()?;
        match &mut self.log {
            Some(log) if sync => log.flush(),
            _ => Ok(()),
        }
    }

    /// Returns the diff; `lines` is the total number of added lines, of which it shows the first.
    fn diff(&self, path: &Path, lines: usize) -> String {
        if lines == 0 {
            return String::new();
        }
        let (file, shown) = (path.display(), &self.shown);
        format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{lines} @@\n{shown}")
    }
}

/// Reads the file once before anything is written, and returns the number of lines and the identities of the
/// records; refuses a file that contains a secret.
fn survey(from: &Path, options: &WriteOptions) -> Result<(usize, HashSet<RecordIdentity>)> {
    let mut found = HashSet::new();
    let mut number = 0;
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        let Ok(Some(one)) = foreign(line.1) else {
            continue;
        };
        if options.secrets == SecretPolicy::Refuse
            && let Some(rule) = one.record.draft.secret()
        {
            let message = format!("contains what looks like a secret ({rule})");
            return Err(Error::refused(message)
                .at(from, number)
                .hint("agents read the journal back; remove the secret, or pass --allow-secret"));
        }
        found.insert(one.record.identity());
    }
    Ok((number, found))
}

/// Removes the records that are already in the journal from the set.
fn remove_known(path: &Path, wanted: &mut HashSet<RecordIdentity>) -> Result<()> {
    let Some(mut reader) = ForwardReader::open(path, 0)? else {
        return Ok(());
    };
    while let Some((_, line)) = reader.next().at("read", path)? {
        for (_, record) in records(line.unwrap_or_default()).0 {
            if let Some(content) = record.text("content") {
                wanted.remove(&identity(content, record.time()));
                wanted.remove(&identity(content, None));
            }
        }
    }
    Ok(())
}

fn reader(from: &Path) -> Result<ForwardReader> {
    match open(from)? {
        Some((file, _)) => ForwardReader::new(file, 0).at("read", from),
        None if from.exists() => Err(Error::failed("is not a regular file").at(from, None)),
        None => Err(Error::not_found("there is no such file").at(from, None)),
    }
}

/// Parses a line; returns `None` if it is blank, or why it is not understood.
fn foreign(line: Option<&[u8]>) -> std::result::Result<Option<Foreign>, Fault> {
    match line {
        Some(line) if trimmed(line).is_empty() => Ok(None),
        Some(line) => Foreign::parse(trimmed(line)).map(Some),
        None => Err(Fault::TooLong),
    }
}

/// A digest of the content and time of a record: records with the same identity are duplicates.
type RecordIdentity = [u8; 16];

/// A record with its time.
#[derive(Clone, Debug)]
struct DatedRecord {
    /// The record without its time.
    draft: RecordDraft,
    /// The time of the record, or `None` if unknown.
    time: Option<DateTime<Utc>>,
}

impl DatedRecord {
    /// Returns the line of the record; `now` is its time if that is unknown.
    fn line(&self, now: DateTime<Utc>) -> Result<String> {
        let time = self.time.unwrap_or(now);
        let time = time.to_rfc3339_opts(SecondsFormat::AutoSi, false);
        self.draft.line(&time)
    }

    /// Returns the identity of the record.
    fn identity(&self) -> RecordIdentity {
        identity(self.draft.content(), self.time)
    }
}

/// Returns the identity of a record.
fn identity(content: &str, time: Option<DateTime<Utc>>) -> RecordIdentity {
    let mut sum = Sha256::new();
    sum.update(content);
    if let Some(time) = time {
        sum.update([0]);
        sum.update(time.timestamp_millis().to_le_bytes());
    }
    let sum = sum.finalize();
    let mut identity = RecordIdentity::default();
    identity.copy_from_slice(&sum[..size_of::<RecordIdentity>()]);
    identity
}

/// Field names for the content, most reliable first; the same applies to the lists below.
const CONTENT: &[&str] = &[
    "content", "text", "memory", "fact", "note", "message", "observation", "body", "value",
    "summary",
];
const KIND: &[&str] = &["type", "kind", "category"];
const TIME: &[&str] = &["ts", "timestamp", "time", "created_at", "createdAt", "date", "updated_at"];
const TAGS: &[&str] = &["tags", "labels", "topics", "keywords"];
const META: &[&str] = &["meta", "metadata"];

/// Units in which times are given, as fractions of a second, each with the largest number taken as a count of
/// that unit since 1970.
const UNITS: &[(i64, i64)] = &[
    (1, 100_000_000_000),
    (1_000, 100_000_000_000_000),
    (1_000_000, 100_000_000_000_000_000),
    (1_000_000_000, i64::MAX),
];

/// The year 2200 in seconds since 1970; a later time is taken as implausible.
const MAX_SECONDS: i64 = 7_258_118_400;

/// A line of another tool's file, converted to a record.
#[derive(Debug)]
struct Foreign {
    /// The record, with the time that the line states.
    record: DatedRecord,
    /// The field whose number is not a plausible time, if the line states no other time.
    unread_time: Option<&'static str>,
}

/// Why a line is not understood; only the first few are ever shown.
#[derive(Debug)]
enum Fault {
    /// It is longer than a line of the journal may be.
    TooLong,
    /// It is JSON, but no object.
    NotObject,
    /// It is not JSON.
    Syntax(serde_json::Error),
    /// No field holds a text.
    NoText,
    /// It cannot be a record, for this reason.
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(to, "is longer than {} MiB", MAX_LINE / 1024 / 1024),
            Self::NotObject => to.write_str("is not a JSON object"),
            Self::Syntax(error) => write!(to, "is not a JSON object: {error}"),
            Self::NoText => write!(to, "has no text in any of {}", CONTENT.join(", ")),
            Self::Refused(reason) => to.write_str(reason),
        }
    }
}

impl Foreign {
    /// Converts a line, or returns why it is not understood.
    fn parse(line: &[u8]) -> std::result::Result<Self, Fault> {
        let mut fields = match serde_json::from_slice(line) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::String(content)) => Map::from_iter([("content".to_owned(), content.into())]),
            Ok(_) => return Err(Fault::NotObject),
            Err(error) => return Err(Fault::Syntax(error)),
        };
        let time = remove_first(&mut fields, TIME, time);
        let is_number = |name: &&&str| fields.get(**name).is_some_and(Value::is_number);
        let unread_time = TIME.iter().find(is_number).filter(|_| time.is_none()).copied();
        let tags = remove_first(&mut fields, TAGS, tag_list);
        let graph = graph(&mut fields);
        let kind = remove_first(&mut fields, KIND, text);
        let content = graph
            .or_else(|| remove_first(&mut fields, CONTENT, message_text))
            .ok_or(Fault::NoText)?;
        let draft = RecordDraft::new(kind, content, tags, remaining_fields(fields).as_deref());
        let draft = draft.map_err(|error| Fault::Refused(error.message))?;
        Ok(Self { record: DatedRecord { draft, time }, unread_time })
    }
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
    let text = value.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
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

fn time(value: &Value) -> Option<DateTime<Utc>> {
    if let Some(text) = value.as_str() {
        let day = || Some(parse_date(text)?.and_hms_opt(0, 0, 0)?.and_utc());
        return parse_timestamp(text).or_else(day);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float out of range saturates to a number that is not a valid time"
    )]
    let number = value
        .as_i64()
        .or_else(|| value.as_f64().map(|number| number as i64))
        .filter(|number| *number >= 0 && *number < i64::MAX)?;
    let (fractions, _) = UNITS.iter().find(|(_, last)| number <= *last)?;
    let nanoseconds = number % fractions * (1_000_000_000 / fractions);
    let seconds = Some(number / fractions).filter(|seconds| *seconds < MAX_SECONDS)?;
    DateTime::from_timestamp(seconds, u32::try_from(nanoseconds).ok()?)
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

/// Returns the content of a knowledge-graph line: an entity with its observations, or a relation.
fn graph(fields: &mut Map<String, Value>) -> Option<String> {
    let of = |name: &str| fields.get(name).and_then(text);
    if let (Some(name), Some(Value::Array(_))) = (of("name"), fields.get("observations")) {
        let kind = of("entityType").map_or(String::new(), |kind| format!(" ({kind})"));
        let observed = fields.shift_remove("observations").unwrap_or_default();
        let observed = strings(&observed).join("\n- ");
        return Some(if observed.is_empty() {
            format!("{name}{kind}")
        } else {
            format!("{name}{kind}\n- {observed}")
        });
    }
    let (from, relation, to) = (of("from")?, of("relationType")?, of("to")?);
    Some(format!("{from} {relation} {to}"))
}

/// Returns the remaining fields as the record's `meta`, so that nothing is lost.
fn remaining_fields(mut fields: Map<String, Value>) -> Option<String> {
    let object = |value: &Value| value.as_object().cloned();
    let mut meta = remove_first(&mut fields, META, object).unwrap_or_default();
    for (name, value) in fields {
        if !value.is_null() {
            meta.entry(name).or_insert(value);
        }
    }
    (!meta.is_empty()).then(|| Value::Object(meta).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::storage;

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_reported_as_missing() {
        let message = |path: &str| reader(Path::new(path)).err().unwrap().message;
        assert_eq!(message("/dev/null"), "is not a regular file");
        assert_eq!(message("/nowhere/at/all"), "there is no such file");
    }

    #[test]
    fn an_implausible_time_causes_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from.jsonl");
        let lines = b"{\"text\":\"a\",\"time\":-5}\n{\"text\":\"b\",\"time\":1700000000}\n";
        storage::append(&from, lines).unwrap();
        let options = WriteOptions::new(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap());
        let report = import(&folder.path().join("memory.jsonl"), &from, &options).unwrap();
        assert_eq!((report.imported, report.skipped), (2, 0));
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(report.warnings[0].place.line, Some(1));
    }

    fn line(json: &str) -> String {
        let foreign = Foreign::parse(json.as_bytes()).unwrap();
        let now = DateTime::from_timestamp(0, 0).unwrap();
        let line = foreign.record.line(now).unwrap();
        line.trim_end().to_owned()
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
                r#"{"time":1771323072125,"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},"b"]}"#,
                r#"{"ts":"2026-02-17T10:11:12.125+00:00","type":"note","content":"a\nb","tags":null,"meta":{"role":"user"}}"#,
            ),
            (
                r#"{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea","uses vim"]}"#,
                r#"{"ts":"1970-01-01T00:00:00+00:00","type":"entity","content":"Ada (person)\n- likes tea\n- uses vim","tags":null,"meta":{"name":"Ada","entityType":"person"}}"#,
            ),
            (
                r#"{"type":"relation","from":"Ada","to":"larder","relationType":"owns"}"#,
                r#"{"ts":"1970-01-01T00:00:00+00:00","type":"relation","content":"Ada owns larder","tags":null,"meta":{"from":"Ada","to":"larder","relationType":"owns"}}"#,
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
    fn a_number_is_a_time_in_seconds_or_fractions_of_one() {
        let of = |number: &str| {
            let json = format!("{{\"text\":\"c\",\"time\":{number}}}");
            let foreign = Foreign::parse(json.as_bytes()).unwrap();
            (foreign.record.time.map(|time| time.to_rfc3339()), foreign.unread_time)
        };
        for (number, time) in [
            ("0", "1970-01-01T00:00:00+00:00"),
            ("1700000000", "2023-11-14T22:13:20+00:00"),
            ("1700000000.5", "2023-11-14T22:13:20+00:00"),
            ("1700000000125", "2023-11-14T22:13:20.125+00:00"),
            ("1700000000000125", "2023-11-14T22:13:20.000125+00:00"),
            ("1700000000000000125", "2023-11-14T22:13:20.000000125+00:00"),
        ] {
            assert_eq!(of(number), (Some(time.to_owned()), None), "{number}");
        }
        for number in ["-1", "50000000000", "9223372036854775807", "1e300"] {
            assert_eq!(of(number), (None, Some("time")), "{number}");
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let fault = |json: &str| Foreign::parse(json.as_bytes()).unwrap_err().to_string();
        assert!(fault("{\"torn").starts_with("is not a JSON object: "));
        assert_eq!(fault("[1]"), "is not a JSON object");
        assert!(fault("{\"id\":1}").starts_with("has no text in any of content, "));
    }
}
