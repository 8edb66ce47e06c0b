//! Appends records to the journal: all of a call or none, acknowledged only after they are written.
//!
//! The requests that wrote are recorded, so that a repeated one writes nothing again. Their file is next to the
//! journal, one line per request, and is flushed before the journal is written:
//!
//! ```text
//! {"id":"turn-17","at":5120,"bytes":131,"ts":"2026-03-01T12:00:00+00:00","sha256":"…"}
//! ```
//!
//! `at` is the byte offset of the request's lines in the journal, `bytes` their total length. Written and
//! looked up under the journal's lock. Two files of at most 256 KiB contain the latest several thousand
//! requests.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use memchr::memchr;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{At, Error, Result};
use crate::journal::file;
use crate::journal::file::{ForwardReader, JournalRecord, MAX_LINE, records};
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility, read};
use crate::text::{clip, hexadecimal, without_byte_order_mark};
use crate::{secrets, storage};

/// The parameters of a write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The source of the records' time.
    pub clock: Clock,
    /// Whether text that looks like a secret is written anyway.
    pub secrets: SecretPolicy,
    /// The caller's request id: a repeated write with the same id writes nothing again.
    pub request: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

impl WriteOptions {
    /// Creates the default parameters: without secrets, without a request id.
    pub fn new(clock: Clock) -> Self {
        Self { clock, secrets: SecretPolicy::Refuse, request: None, dry_run: false }
    }
}

/// The outcome of a write.
#[derive(Debug)]
pub struct JournalWriteReport {
    /// The journal.
    pub file: PathBuf,
    /// The lines as they are in the journal.
    lines: String,
}

impl JournalWriteReport {
    /// Returns the written lines as a diff.
    pub fn diff(&self) -> String {
        added_lines(&self.file, &self.lines)
    }

    /// Returns the only entry, as the document of a single write shows it.
    pub fn entry(&self) -> Result<Acknowledged<'_>> {
        let line = self.lines.lines().next().unwrap_or("null");
        let entry = serde_json::from_str(line)
            .map_err(|error| Error::failed(format!("cannot show the entry: {error}")))?;
        Ok(Acknowledged { ok: true, file: &self.file, entry })
    }
}

/// The answer to a write of one record.
#[derive(Debug, Serialize)]
pub struct Acknowledged<'a> {
    ok: bool,
    file: &'a Path,
    entry: &'a RawValue,
}

/// Appends records to the journal under one lock, with one write and one flush.
pub fn write(
    path: &Path,
    drafts: &[RecordDraft],
    options: &WriteOptions,
) -> Result<JournalWriteReport> {
    refuse_secrets(drafts, options)?;
    if let Some(id) = &options.request {
        check_id(id)?;
    }
    let time = options.clock.now().to_rfc3339_opts(SecondsFormat::Secs, false);
    let lines = lines(drafts, &time)?;
    if options.dry_run || lines.is_empty() {
        return Ok(written(path, lines));
    }
    let mut log = Log::lock(path, Visibility::Private)?;
    let Some(id) = &options.request else {
        add(&mut log, &lines)?;
        return Ok(written(path, lines));
    };
    let Some(earlier) = find_request(path, id)? else {
        let request = Request::new(id, log.next_line()?, &time, lines.as_bytes());
        remember(path, &request)?;
        add(&mut log, &lines)?;
        return Ok(written(path, lines));
    };
    let same = self::lines(drafts, &earlier.ts)?;
    match earlier.state(path, same.as_bytes())? {
        RequestState::Written(there) => {
            let there = String::from_utf8_lossy(&there).into_owned();
            Ok(written(path, there))
        }
        RequestState::Missing { there } => {
            add(&mut log, &same[there..])?;
            Ok(written(path, same))
        }
    }
}

fn add(log: &mut Log, lines: &str) -> Result<()> {
    log.append(lines.as_bytes())?;
    log.flush()
}

/// Returns lines that would be added as a diff.
fn added_lines(path: &Path, lines: &str) -> String {
    let (file, count) = (path.display(), lines.lines().count());
    let lines: String = lines.lines().map(|line| format!("+{line}\n")).collect();
    if count == 0 {
        lines
    } else {
        format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{count} @@\n{lines}")
    }
}

fn written(path: &Path, lines: String) -> JournalWriteReport {
    JournalWriteReport { file: path.to_owned(), lines }
}

fn lines(drafts: &[RecordDraft], time: &str) -> Result<String> {
    let mut all = String::new();
    for draft in drafts {
        all.push_str(&draft.line(time)?);
    }
    Ok(all)
}

fn refuse_secrets(drafts: &[RecordDraft], options: &WriteOptions) -> Result<()> {
    if options.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    let found = drafts.iter().enumerate().find_map(|(index, draft)| Some((index, draft.secret()?)));
    let Some((index, rule)) = found else {
        return Ok(());
    };
    Err(Error::refused(format!("entry {} contains what looks like a secret ({rule})", index + 1))
        .hint("agents read the journal back; leave the secret out, or pass --allow-secret"))
}

/// Default type of a record.
const DEFAULT_TYPE: &str = "note";

/// Maximum length of a parser's error message that is passed on, in characters.
const MAX_FAULT_CHARS: usize = 200;

/// A record without its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordDraft {
    kind: String,
    content: String,
    tags: Option<Vec<String>>,
    /// A compact JSON object as text, so that its numbers keep all their digits.
    meta: Option<String>,
}

/// The fields of a record as a caller writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    content: String,
    tags: Option<Vec<String>>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

impl RecordDraft {
    /// Creates a draft; `meta` is the text of a JSON object.
    pub fn new(
        kind: Option<String>,
        content: String,
        tags: Option<Vec<String>>,
        meta: Option<&str>,
    ) -> Result<Self> {
        let kind = kind.unwrap_or_else(|| DEFAULT_TYPE.to_owned());
        if kind.trim().is_empty() {
            return Err(Error::failed("type must not be empty"));
        }
        if content.is_empty() {
            return Err(Error::failed("content must not be empty"));
        }
        let meta = meta.map(object).transpose()?;
        Ok(Self { kind, content, tags, meta })
    }

    /// Parses a draft from a JSON object `{type, content, tags?, meta?}`.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let Fields { kind, content, tags, meta } = input(json)?;
        Self::new(kind, content, tags, meta.map(RawValue::get))
    }

    /// Returns the draft as a line of the journal, including its newline.
    fn line(&self, time: &str) -> Result<String> {
        let tags = self.tags.as_ref().map_or(Ok("null".to_owned()), json)?;
        let line = format!(
            "{{\"ts\":{},\"type\":{},\"content\":{},\"tags\":{tags},\"meta\":{}}}\n",
            json(&time)?,
            json(&self.kind)?,
            json(&self.content)?,
            self.meta.as_deref().unwrap_or("null"),
        );
        let line = match file::visible(&line) {
            Cow::Borrowed(_) => line,
            Cow::Owned(escaped) => escaped,
        };
        // Escaped, since a longer line would be written but never read.
        if line.len() > MAX_LINE {
            let most = MAX_LINE / 1024 / 1024;
            return Err(Error::failed(format!("the entry is larger than {most} MiB")));
        }
        Ok(line)
    }

    /// Returns the name of the rule that detects a secret in the draft.
    fn secret(&self) -> Option<&'static str> {
        let tags = self.tags.iter().flatten().map(String::as_str);
        let mut texts = [self.content.as_str(), &self.kind].into_iter().chain(tags);
        let meta = || {
            let meta: Value = serde_json::from_str(self.meta.as_deref()?).ok()?;
            secrets::first_rule_in_json(&meta)
        };
        texts.find_map(secrets::first_rule).or_else(meta)
    }
}

/// Parses the input as a single JSON object.
pub(crate) fn input<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T> {
    let json = without_byte_order_mark(json);
    match json.trim_ascii_start().first() {
        None => Err(Error::failed("the input is empty, a JSON object was expected")),
        // Serde would accept an array as the values of a struct in order.
        Some(b'[') => Err(Error::failed("the input must be a JSON object, not an array")),
        Some(first) => serde_json::from_slice(json).map_err(|error| {
            if error.is_data() && *first != b'{' {
                return Error::failed("the input must be a JSON object");
            }
            Error::failed(format!("invalid input: {}", clip(&error.to_string(), MAX_FAULT_CHARS)))
        }),
    }
}

/// Returns the compact text of a JSON object.
fn object(json: &str) -> Result<String> {
    // Parsed completely, because text that is passed on unparsed may contain lone surrogates.
    match serde_json::from_str::<Value>(json) {
        Ok(Value::Object(_)) => Ok(file::compact(json)),
        Ok(_) => Err(Error::failed("meta must be a JSON object")),
        Err(error) => Err(Error::failed(format!("meta must be a JSON object: {error}"))),
    }
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::failed(format!("cannot write it: {error}")))
}

/// Size at which the file is rotated, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// Maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 200;

/// A recorded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Request {
    id: String,
    at: u64,
    bytes: u64,
    /// The time of the lines.
    ts: String,
    sha256: String,
}

/// How many of a request's lines are in the journal.
#[derive(Debug, PartialEq, Eq)]
enum RequestState {
    /// All of them, as they are in the journal.
    Written(Vec<u8>),
    /// Only the first lines, or none.
    Missing {
        /// Their length in bytes.
        there: usize,
    },
}

impl Request {
    /// Creates the record of a request whose lines will start at this offset.
    pub(crate) fn new(id: &str, at: u64, ts: &str, lines: &[u8]) -> Self {
        Self {
            id: id.to_owned(),
            at,
            bytes: lines.len() as u64,
            ts: ts.to_owned(),
            sha256: sum(lines),
        }
    }

    /// Returns whether these are the lines of the request.
    fn is_of(&self, lines: &[u8]) -> bool {
        self.bytes == lines.len() as u64 && self.sha256 == sum(lines)
    }

    /// Searches the journal for the lines of the request; `lines` is what it would write today.
    #[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
    fn state(&self, journal: &Path, lines: &[u8]) -> Result<RequestState> {
        let mut file = File::open(journal).at("read", journal)?;
        let there = read_at(&mut file, self.at, self.bytes).at("read", journal)?;
        if self.is_of(&there) {
            return Ok(RequestState::Written(there));
        }
        if !self.is_of(lines) {
            let message = format!("request id {:?} was already used with different input", self.id);
            return Err(Error::refused(message).hint("use a new id for each request"));
        }
        let length = file.metadata().at("read", journal)?.len();
        // A file that became shorter was replaced, and may contain the lines anywhere.
        let from = if self.at <= length { self.at } else { 0 };
        let there = length_present(file, from, lines).at("read", journal)?;
        Ok(if there == lines.len() {
            RequestState::Written(lines.to_vec())
        } else {
            RequestState::Missing { there }
        })
    }
}

/// Fails if a text is not a valid request id.
fn check_id(id: &str) -> Result<()> {
    if id.trim().is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        return Err(Error::failed(format!("a request id is a line of 1 to {MAX_ID_BYTES} bytes")));
    }
    Ok(())
}

/// Returns the latest request with this id.
fn find_request(journal: &Path, id: &str) -> Result<Option<Request>> {
    let latest = requests_path(journal);
    for path in [latest.clone(), storage::rotated(&latest)] {
        let bytes = read::users_bytes(&path)?.unwrap_or_default();
        // A truncated line belongs to a request that never reached the journal.
        let requests = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Request>(line).ok());
        if let Some(request) = requests.rev().find(|request| request.id == id) {
            return Ok(Some(request));
        }
    }
    Ok(None)
}

/// Records a request, and returns after it was flushed to disk.
fn remember(journal: &Path, request: &Request) -> Result<()> {
    let path = requests_path(journal);
    storage::rotate(&path, MAX_FILE_BYTES)?;
    let line = serde_json::to_vec(request)
        .map_err(|error| Error::failed(format!("cannot write the request: {error}")))?;
    let mut log = Log::lock(&path, Visibility::Private)?;
    log.append(&line)?;
    log.flush()
}

fn requests_path(journal: &Path) -> PathBuf {
    journal.with_added_extension("requests")
}

fn sum(lines: &[u8]) -> String {
    hexadecimal(&Sha256::digest(lines))
}

fn read_at(file: &mut File, at: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut found = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(bytes).read_to_end(&mut found)?;
    Ok(found)
}

/// Returns the length of the leading lines that the file contains, in their order.
///
/// Other lines may be interleaved, and a truncated line may precede its complete copy.
fn length_present(file: File, from: u64, lines: &[u8]) -> std::io::Result<usize> {
    let mut reader = ForwardReader::new(file, from)?;
    let mut there = 0;
    while there < lines.len() {
        let wanted = memchr(b'\n', &lines[there..]).map_or(lines.len(), |end| there + end + 1);
        match reader.next()? {
            Some((_, Some(line))) if line == &lines[there..wanted] => there = wanted,
            Some(_) => {}
            None => break,
        }
    }
    Ok(there)
}

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
            if !known.insert(identity(&draft.content, time)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        RecordDraft::parse(json.as_bytes()).unwrap().line("T").unwrap()
    }

    fn fault(json: &str) -> String {
        RecordDraft::parse(json.as_bytes()).unwrap_err().message
    }

    #[test]
    fn keys_have_one_order_and_what_is_absent_is_null() {
        assert_eq!(
            line(r#"{"content":"c"}"#),
            "{\"ts\":\"T\",\"type\":\"note\",\"content\":\"c\",\"tags\":null,\"meta\":null}\n"
        );
        assert_eq!(
            line(
                r#"{"meta":{"b": 12345678901234567890.10, "a":null},"tags":[],"content":"c","type":"fact"}"#
            ),
            "{\"ts\":\"T\",\"type\":\"fact\",\"content\":\"c\",\"tags\":[],\"meta\":{\"b\":12345678901234567890.10,\"a\":null}}\n"
        );
        assert!(
            line(r#"{"content":"c","type":null,"tags":null,"meta":null}"#).contains("\"note\"")
        );
    }

    #[test]
    fn every_content_is_one_line() {
        let content = "a\nb\r\t\"\\\u{0}\u{1b}\u{2028}\u{85}é\u{1f600}";
        let json = serde_json::json!({ "content": content }).to_string();
        let line = line(&json);
        assert_eq!(line.lines().count(), 1);
        assert!(!line.trim_end().chars().any(|c| c.is_control() || c == '\u{2028}'));
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["content"], content);
    }

    #[test]
    fn a_fault_is_named() {
        for (json, expected) in [
            ("", "the input is empty"),
            ("  \n", "the input is empty"),
            ("[\"note\",\"c\"]", "not an array"),
            ("null", "the input must be a JSON object"),
            ("\"c\"", "the input must be a JSON object"),
            ("7", "the input must be a JSON object"),
            ("{\"content\":\"c\"", "invalid input: EOF"),
            ("{\"content\":\"c\"}{}", "trailing characters"),
            ("{}", "missing field `content`"),
            ("{\"content\":null}", "expected a string at line 1"),
            ("{\"content\":\"\"}", "content must not be empty"),
            ("{\"content\":5}", "invalid type: integer `5`, expected a string"),
            ("{\"content\":\"c\",\"type\":\"\"}", "type must not be empty"),
            ("{\"content\":\"c\",\"type\":1}", "expected a string at line 1"),
            ("{\"content\":\"c\",\"tags\":\"t\"}", "expected a sequence"),
            ("{\"content\":\"c\",\"tags\":[1]}", "expected a string"),
            ("{\"content\":\"c\",\"meta\":[]}", "meta must be a JSON object"),
            ("{\"content\":\"c\",\"ts\":\"now\"}", "unknown field `ts`"),
            ("{\"content\":\"c\",\"content\":\"d\"}", "duplicate field `content`"),
            ("{\"content\":\"\\ud800\"}", "invalid input: "),
            ("{\"content\":\"c\",\"meta\":{\"a\":\"\\ud800\"}}", "meta must be a JSON object: "),
        ] {
            let fault = fault(json);
            assert!(fault.contains(expected), "{json}: {fault}");
        }
        let invalid = RecordDraft::parse(b"{\"content\":\"\xff\"}").unwrap_err();
        assert!(invalid.message.contains("invalid"), "{invalid}");
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands() {
        let key = ["AK", "IAQ7ZT2LMX9VKC4RBW"].concat();
        for json in [
            format!("{{\"content\":\"use {key}\"}}"),
            format!("{{\"content\":\"c\",\"tags\":[\"{key}\"]}}"),
            format!("{{\"content\":\"c\",\"meta\":{{\"a\":[{{\"b\":\"x\\n{key}\"}}]}}}}"),
        ] {
            let draft = RecordDraft::parse(json.as_bytes()).unwrap();
            assert!(draft.secret().is_some(), "{json}");
        }
        assert_eq!(RecordDraft::parse(br#"{"content":"plain"}"#).unwrap().secret(), None);
    }

    #[test]
    fn a_line_that_is_too_long_once_it_is_escaped_is_refused() {
        let text = "\u{85}".repeat(MAX_LINE / 4);
        let draft = RecordDraft::new(None, text, None, None).unwrap();
        let error = draft.line("2026-03-01T00:00:00+00:00").unwrap_err();
        assert!(error.message.contains("larger than"), "{error}");
    }

    const LINES: &[u8] = b"{\"a\":1}\n{\"b\":2}\n";

    fn state(journal: &[u8], at: u64, lines: &[u8]) -> Result<RequestState> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        storage::append(&path, b"x").unwrap();
        let mut log = Log::lock(&path, Visibility::Private).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        drop(log);
        log = Log::lock(&path, Visibility::Private).unwrap();
        if !journal.is_empty() {
            log.append(journal).unwrap();
            file.set_len(journal.len() as u64).unwrap();
        }
        Request::new("one", at, "T", LINES).state(&path, lines)
    }

    #[test]
    fn what_stands_in_the_journal_is_found_wherever_it_came_to_stand() {
        let written = RequestState::Written(LINES.to_vec());
        let with = |before: &str| [before.as_bytes(), LINES].concat();
        assert_eq!(state(&with(""), 0, LINES).unwrap(), written);
        assert_eq!(state(&with("{}\n"), 3, b"other").unwrap(), written);
        assert_eq!(state(&with("{}\n{}\n"), 3, LINES).unwrap(), written);
        assert_eq!(state(&with("{}\n"), 5000, LINES).unwrap(), written);
        let apart = b"{\"a\":1}\n{\"b\"\nother\n{\"b\":2}\n";
        assert_eq!(state(apart, 0, LINES).unwrap(), written);
    }

    #[test]
    fn what_is_missing_is_told_by_whole_lines() {
        let there = |journal: &[u8], at| match state(journal, at, LINES).unwrap() {
            RequestState::Missing { there } => Some(there),
            RequestState::Written(_) => None,
        };
        assert_eq!(there(b"", 0), Some(0));
        assert_eq!(there(&LINES[..12], 0), Some(8));
        assert_eq!(there(&LINES[..8], 0), Some(8));
        assert_eq!(there(&LINES[..7], 0), Some(0));
        assert_eq!(there(b"{\"x\":1}\n", 0), Some(0));
        assert_eq!(there(&[b"x".as_slice(), LINES].concat(), 0), Some(0));
    }

    #[test]
    fn another_input_under_the_same_id_is_refused() {
        let error = state(b"", 0, b"{\"c\":3}\n").unwrap_err();
        assert!(error.to_string().contains("with different input"), "{error}");
    }

    #[test]
    fn the_latest_requests_are_remembered_and_the_files_stay_small() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("memory.jsonl");
        let made: Vec<Request> = (0..9000)
            .map(|number| Request::new(&format!("request {number}"), number, "T", LINES))
            .collect();
        let lines: Vec<String> =
            made.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
        for (part, one) in lines.chunks(1000).zip(made.chunks(1000)) {
            remember(&journal, &one[0]).unwrap();
            storage::append(&requests_path(&journal), part.join("\n").as_bytes()).unwrap();
        }
        assert_eq!(find_request(&journal, "request 8999").unwrap().as_ref(), made.last());
        assert_eq!(find_request(&journal, "request 4100").unwrap().as_ref(), made.get(4100));
        assert_eq!(find_request(&journal, "request 10").unwrap(), None);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}
