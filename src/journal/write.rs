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
use crate::storage::{Log, read};
use crate::text::{clip, is_line, sha256, without_byte_order_mark};
use crate::{secrets, storage};

/// The parameters of a write.
#[derive(Debug)]
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
    /// On a dry run, the lines that would be added.
    pub diff: Option<String>,
}

impl JournalWriteReport {
    /// Returns the only entry, as the document of a single write shows it.
    pub fn entry(&self) -> Result<Acknowledged<'_>> {
        let line = self.lines.lines().next().unwrap_or("null");
        let entry = serde_json::from_str(line).map_err(Error::cannot("show the entry"))?;
        Ok(Acknowledged { ok: true, file: &self.file, entry, diff: self.diff.as_deref() })
    }
}

/// The answer to a write of one record.
#[derive(Debug, Serialize)]
pub struct Acknowledged<'a> {
    ok: bool,
    file: &'a Path,
    entry: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
}

/// Appends records to the journal under one lock, with one write and one flush.
pub fn write(
    path: &Path,
    drafts: &[RecordDraft],
    options: &WriteOptions,
) -> Result<JournalWriteReport> {
    for (index, draft) in drafts.iter().enumerate() {
        refuse_secret(draft, options).map_err(|mut error| {
            error.message = format!("entry {} {}", index + 1, error.message);
            error
        })?;
    }
    if options.request.as_deref().is_some_and(|id| !is_line(id)) {
        return Err(Error::failed("a request id is one line of text"));
    }
    let time = options.clock.now().to_rfc3339_opts(SecondsFormat::Secs, false);
    let (mut lines, mut there) = (lines(drafts, &time)?, 0);
    if !options.dry_run && !lines.is_empty() {
        let mut log = Log::lock(path)?;
        if let Some(id) = &options.request {
            match find_request(path, id)? {
                Some(earlier) => {
                    (lines, there) = earlier.found(path, self::lines(drafts, &earlier.ts)?)?;
                }
                None => remember(path, &Request::new(id, log.next_line()?, &time, &lines))?,
            }
        }
        log.append(&lines.as_bytes()[there..])?;
    }
    let diff = options.dry_run.then(|| added_lines(path, &lines));
    Ok(JournalWriteReport { file: path.to_owned(), lines, diff })
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

fn lines(drafts: &[RecordDraft], time: &str) -> Result<String> {
    drafts.iter().map(|draft| draft.line(time)).collect()
}

fn refuse_secret(draft: &RecordDraft, options: &WriteOptions) -> Result<()> {
    match draft.secret().filter(|_| options.secrets == SecretPolicy::Refuse) {
        None => Ok(()),
        Some(rule) => Err(Error::refused(format!("contains what looks like a secret ({rule})"))
            .hint(secrets::INSTEAD)),
    }
}

/// Default type of a record.
const DEFAULT_TYPE: &str = "note";

/// Maximum length of a parser's error message that is passed on, in characters.
const MAX_FAULT_CHARS: usize = 200;

/// A record without its time, with the fields in the order of its JSON.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordDraft {
    #[serde(rename = "type")]
    kind: Option<String>,
    content: String,
    tags: Option<Vec<String>>,
    /// A compact JSON object as text, so that its numbers keep all their digits.
    meta: Option<Box<RawValue>>,
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
        Ok(Self { kind: Some(kind), content, tags, meta })
    }

    /// Parses a draft from a JSON object `{type, content, tags?, meta?}`.
    pub fn parse(json: &[u8]) -> Result<Self> {
        input::<Self>(json)?.checked()
    }

    /// Returns a draft that was read elsewhere with its default type, or the fault of a field.
    pub(crate) fn checked(self) -> Result<Self> {
        let Self { kind, content, tags, meta } = self;
        Self::new(kind, content, tags, meta.as_deref().map(RawValue::get))
    }

    /// Returns the draft as a line of the journal, including its newline.
    fn line(&self, time: &str) -> Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            ts: &'a str,
            #[serde(flatten)]
            draft: &'a RecordDraft,
        }
        let line = json(&Line { ts: time, draft: self })? + "\n";
        let line = file::visible(&line).into_owned();
        // Escaped, since a longer line would be written but never read.
        if line.len() > MAX_LINE {
            let most = MAX_LINE / 1024 / 1024;
            return Err(Error::failed(format!("the entry is larger than {most} MiB")));
        }
        Ok(line)
    }

    /// Returns the name of the rule that detects a secret in the draft.
    fn secret(&self) -> Option<&'static str> {
        let mut texts =
            [&self.content].into_iter().chain(&self.kind).chain(self.tags.iter().flatten());
        let meta = || {
            let meta: Value = serde_json::from_str(self.meta.as_ref()?.get()).ok()?;
            secrets::first_rule(&meta.to_string())
        };
        texts.find_map(|text| secrets::first_rule(text)).or_else(meta)
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

/// Returns a JSON object in compact form.
fn object(json: &str) -> Result<Box<RawValue>> {
    let failed = |error| Error::failed(format!("meta must be a JSON object: {error}"));
    // Parsed completely, because text that is passed on unparsed may contain lone surrogates.
    match serde_json::from_str::<Value>(json).map_err(failed)? {
        Value::Object(_) => RawValue::from_string(file::compact(json)).map_err(failed),
        _ => Err(Error::failed("meta must be a JSON object")),
    }
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(Error::cannot("write it"))
}

/// Size at which the file is rotated, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// A recorded request.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Request {
    id: String,
    at: u64,
    bytes: u64,
    /// The time of the lines.
    ts: String,
    sha256: String,
}

impl Request {
    /// Creates the record of a request whose lines will start at this offset.
    fn new(id: &str, at: u64, ts: &str, lines: &str) -> Self {
        Self {
            id: id.to_owned(),
            at,
            bytes: lines.len() as u64,
            ts: ts.to_owned(),
            sha256: sha256(lines),
        }
    }

    /// Returns whether these are the lines of the request.
    fn is_of(&self, lines: &[u8]) -> bool {
        self.bytes == lines.len() as u64 && self.sha256 == sha256(lines)
    }

    /// Returns the lines of the request, and the length of those that are in the journal; `lines` is what it would
    /// write today.
    #[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
    fn found(&self, journal: &Path, lines: String) -> Result<(String, usize)> {
        let mut file = File::open(journal).at("read", journal)?;
        let there = read_at(&mut file, self.at, self.bytes).at("read", journal)?;
        if self.is_of(&there) {
            let there = String::from_utf8_lossy(&there).into_owned();
            let length = there.len();
            return Ok((there, length));
        }
        if !self.is_of(lines.as_bytes()) {
            return Err(Error::refused(format!(
                "request id {:?} was already used with different input",
                self.id
            ))
            .hint("use a new id for each request"));
        }
        let length = file.metadata().at("read", journal)?.len();
        // A file that became shorter was replaced, and may contain the lines anywhere.
        let from = if self.at <= length { self.at } else { 0 };
        let length = length_present(file, from, lines.as_bytes()).at("read", journal)?;
        Ok((lines, length))
    }
}

/// Returns the latest request with this id.
fn find_request(journal: &Path, id: &str) -> Result<Option<Request>> {
    let latest = requests_path(journal);
    for path in [latest.clone(), storage::rotated(&latest)] {
        let bytes = read::users_bytes(&path)?.unwrap_or_default();
        // A truncated line belongs to a request that never reached the journal.
        if let Some(request) = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Request>(line).ok())
            .rev()
            .find(|request| request.id == id)
        {
            return Ok(Some(request));
        }
    }
    Ok(None)
}

/// Records a request, and returns after it was flushed to disk.
fn remember(journal: &Path, request: &Request) -> Result<()> {
    let path = requests_path(journal);
    storage::rotate(&path, MAX_FILE_BYTES)?;
    Log::lock(&path)?.append(json(request)?.as_bytes())
}

fn requests_path(journal: &Path) -> PathBuf {
    journal.with_added_extension("requests")
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
    file::open(from)?.ok_or_else(|| Error::not_found("there is no such file").at(from, None))?;
    let mut log = (!options.dry_run).then(|| Log::lock(path)).transpose()?;
    let mut known = known(path)?;
    let mut report = Imported { file: path.to_owned(), ..Imported::default() };
    let (mut added, mut number) = (String::new(), 0);
    file::each_line(from, 0, |_, line| {
        number += 1;
        let (found, is_whole) = records(line.unwrap_or(b"-"));
        report.skipped += usize::from(!is_whole);
        for (_, record) in found {
            let Some((draft, time)) = foreign(record) else {
                report.skipped += 1;
                continue;
            };
            refuse_secret(&draft, options).map_err(|error| error.at(from, number))?;
            if !known.insert(identity(&draft.content, time)) {
                report.duplicates += 1;
                continue;
            }
            report.imported += 1;
            added += &draft.line(
                &time.unwrap_or(options.clock.now()).to_rfc3339_opts(SecondsFormat::AutoSi, false),
            )?;
        }
        Ok(true)
    })?;
    if let Some(log) = &mut log {
        log.append(added.as_bytes())?;
    }
    report.diff = options.dry_run.then(|| added_lines(path, &added));
    Ok(report)
}

/// Returns the identities of the records in the journal, with and without their times.
fn known(path: &Path) -> Result<HashSet<[u8; 32]>> {
    let mut known = HashSet::new();
    file::each_line(path, 0, |_, line| {
        for (_, record) in records(line.unwrap_or_default()).0 {
            if let Some(content) = record.text("content") {
                known.insert(identity(content, record.time()));
                known.insert(identity(content, None));
            }
        }
        Ok(true)
    })?;
    Ok(known)
}

/// Returns a digest of the content and time of a record.
fn identity(content: &str, time: Option<DateTime<Utc>>) -> [u8; 32] {
    let time = time.map(|time| format!("\0{}", time.timestamp_millis()));
    Sha256::digest(content.to_owned() + &time.unwrap_or_default()).into()
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
        let text = "\u{85}".repeat(MAX_LINE / 6);
        let draft = RecordDraft::new(None, text, None, None).unwrap();
        let error = draft.line("2026-03-01T00:00:00+00:00").unwrap_err();
        assert!(error.message.contains("larger than"), "{error}");
    }

    const LINES: &str = "{\"a\":1}\n{\"b\":2}\n";

    fn found(journal: &[u8], at: u64, lines: &str) -> Result<(String, usize)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        Log::lock(&path).unwrap().append(b"x").unwrap();
        let mut log = Log::lock(&path).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        drop(log);
        log = Log::lock(&path).unwrap();
        if !journal.is_empty() {
            log.append(journal).unwrap();
            file.set_len(journal.len() as u64).unwrap();
        }
        Request::new("one", at, "T", LINES).found(&path, lines.to_owned())
    }

    #[test]
    fn what_stands_in_the_journal_is_found_wherever_it_came_to_stand() {
        let written = (LINES.to_owned(), LINES.len());
        let with = |before: &str| [before, LINES].concat().into_bytes();
        assert_eq!(found(&with(""), 0, LINES).unwrap(), written);
        assert_eq!(found(&with("{}\n"), 3, "other").unwrap(), written);
        assert_eq!(found(&with("{}\n{}\n"), 3, LINES).unwrap(), written);
        assert_eq!(found(&with("{}\n"), 5000, LINES).unwrap(), written);
        let apart = b"{\"a\":1}\n{\"b\"\nother\n{\"b\":2}\n";
        assert_eq!(found(apart, 0, LINES).unwrap(), written);
    }

    #[test]
    fn what_is_missing_is_told_by_whole_lines() {
        let there = |journal: &[u8], at| found(journal, at, LINES).unwrap().1;
        let lines = LINES.as_bytes();
        assert_eq!(there(b"", 0), 0);
        assert_eq!(there(&lines[..12], 0), 8);
        assert_eq!(there(&lines[..8], 0), 8);
        assert_eq!(there(&lines[..7], 0), 0);
        assert_eq!(there(b"{\"x\":1}\n", 0), 0);
        assert_eq!(there(&[b"x", lines].concat(), 0), 0);
    }

    #[test]
    fn another_input_under_the_same_id_is_refused() {
        let error = found(b"", 0, "{\"c\":3}\n").unwrap_err();
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
            let mut log = Log::lock(&requests_path(&journal)).unwrap();
            log.append(part.join("\n").as_bytes()).unwrap();
        }
        assert_eq!(find_request(&journal, "request 8999").unwrap().as_ref(), made.last());
        assert_eq!(find_request(&journal, "request 4100").unwrap().as_ref(), made.get(4100));
        assert_eq!(find_request(&journal, "request 10").unwrap(), None);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}
