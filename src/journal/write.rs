//! Appends records to the journal: all of a call or none, acknowledged only after they are written.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use chrono::SecondsFormat;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal::file::MAX_LINE;
use crate::journal::requests::{Request, RequestState};
use crate::journal::{escape, requests};
use crate::secrets;
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};
use crate::text::{clip, without_byte_order_mark};

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
        requests::check(id)?;
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
    let Some(earlier) = requests::find(path, id)? else {
        let request = Request::new(id, log.next_line()?, &time, lines.as_bytes());
        requests::remember(path, &request)?;
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
pub(crate) fn added_lines(path: &Path, lines: &str) -> String {
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

    /// Returns the content of the record.
    pub(crate) fn content(&self) -> &str {
        &self.content
    }

    /// Returns the draft as a line of the journal, including its newline.
    pub(crate) fn line(&self, time: &str) -> Result<String> {
        let tags = self.tags.as_ref().map_or(Ok("null".to_owned()), json)?;
        let line = format!(
            "{{\"ts\":{},\"type\":{},\"content\":{},\"tags\":{tags},\"meta\":{}}}\n",
            json(&time)?,
            json(&self.kind)?,
            json(&self.content)?,
            self.meta.as_deref().unwrap_or("null"),
        );
        let line = match escape::visible(&line) {
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
    pub(crate) fn secret(&self) -> Option<&'static str> {
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
        Ok(Value::Object(_)) => Ok(escape::compact(json)),
        Ok(_) => Err(Error::failed("meta must be a JSON object")),
        Err(error) => Err(Error::failed(format!("meta must be a JSON object: {error}"))),
    }
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::failed(format!("cannot write it: {error}")))
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
}
