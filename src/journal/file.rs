//! The journal's file: its path, its lines from either end, the records on a line, and the JSON of a record.
//!
//! A record of another device is the original line with an additional field at its end:
//!
//! ```text
//! {"ts":"…","type":"note","content":"…","tags":null,"meta":null,"device":"0123456789abcdef"}
//! ```

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memchr::{memchr, memmem, memrchr};
use regex::{Captures, Regex};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::clock::parse_timestamp;
use crate::error::{At, Error, Result};
use crate::project::Environment;
use crate::storage::read;
use crate::text::{
    Pattern, is_invisible, is_joiner_or_selector, sanitized, strip_controls,
    without_byte_order_mark,
};

/// Maximum length of a line that is written or read, in bytes; longer lines are skipped.
pub const MAX_LINE: usize = 8 * 1024 * 1024;

/// Number of bytes read at once: few enough to stay in a core's own cache while they are searched.
const BLOCK: usize = 256 * 1024;

/// Returns the journal's path: `MEMORY_FILE`, else `.codex/memory.jsonl` in the home directory.
pub fn default_path(environment: &Environment) -> Result<PathBuf> {
    let home = environment.home();
    if let Some(named) = environment.get("MEMORY_FILE") {
        // The variable is often set in files that no shell reads, so the tilde is not expanded there.
        return Ok(match (named.strip_prefix("~/"), home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(named),
        });
    }
    let home = home.ok_or_else(|| {
        Error::failed("there is no home directory to keep the journal in")
            .hint("set MEMORY_FILE to the file to use")
    })?;
    Ok(home.join(".codex/memory.jsonl"))
}

/// Opens the journal and returns it with its current length, or `None` if it does not exist.
pub(crate) fn open(path: &Path) -> Result<Option<(File, u64)>> {
    // A device such as /dev/null has no content.
    #[cfg(unix)]
    if std::fs::metadata(path).is_ok_and(|found| FileTypeExt::is_char_device(&found.file_type())) {
        return Ok(None);
    }
    let Some(file) = read::users_file(path)? else { return Ok(None) };
    let length = read::length(&file, path)?;
    Ok(Some((file, length)))
}

/// A region of the file that consists of whole lines.
pub(crate) struct Region<'a> {
    /// The lines, in file order; each ends in a newline, except possibly the last of the file.
    pub(crate) lines: &'a [u8],
    /// Byte offset of the lines in the file.
    offset: u64,
    /// Number of lines after them that were too long and were discarded.
    pub(crate) dropped: usize,
}

/// A reader of the file from its end to its beginning, within bounded memory.
pub(crate) struct BackwardReader<'f> {
    file: &'f File,
    /// Offset of the end of the part that is not read yet.
    unread: u64,
    region: Vec<u8>,
    /// The end of a line whose start is not read yet.
    rest: Vec<u8>,
    /// Whether the line is too long, so that its bytes are discarded.
    is_dropping: bool,
}

impl<'f> BackwardReader<'f> {
    pub(crate) fn new(file: &'f File, length: u64) -> Self {
        let (region, rest) = (Vec::with_capacity(BLOCK), Vec::new());
        Self { file, unread: length, region, rest, is_dropping: false }
    }

    /// Returns the preceding region, or `None` at the beginning of the file.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Region<'_>>> {
        let mut dropped = 0;
        while self.unread > 0 {
            let length = usize::try_from(self.unread).map_or(BLOCK, |left| left.min(BLOCK));
            self.unread -= length as u64;
            self.region.resize(length, 0);
            read_at(self.file, &mut self.region, self.unread)?;
            if self.is_dropping {
                let kept = memrchr(b'\n', &self.region).map_or(0, |newline| newline + 1);
                self.region.truncate(kept);
                self.is_dropping = kept == 0;
            }
            self.region.append(&mut self.rest);
            // Only the last line can be longer than a block.
            let body = self.region.strip_suffix(b"\n").unwrap_or(&self.region);
            let last = memrchr(b'\n', body).map_or(0, |newline| newline + 1);
            if self.region.len() - last > MAX_LINE {
                self.region.truncate(last);
                self.is_dropping = last == 0;
                dropped += 1;
            }
            // The start of the first line is unread unless the file starts here.
            let start = match self.unread {
                0 => 0,
                _ => memchr(b'\n', &self.region).map_or(self.region.len(), |end| end + 1),
            };
            self.rest.extend_from_slice(&self.region[..start]);
            // A region without a line, which only counts what was dropped, is at the file's start.
            if start < self.region.len() || self.unread == 0 && dropped > 0 {
                let (lines, offset) = (&self.region[start..], self.unread + start as u64);
                return Ok(Some(Region { lines, offset, dropped }));
            }
        }
        Ok(None)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// A line as it was read: its offset, and its bytes with the newline, or `None` if it was too long.
type ReadLine<'a> = (u64, Option<&'a [u8]>);

/// A reader of lines from an offset to the end of the file, within bounded memory.
pub(crate) struct ForwardReader {
    file: BufReader<File>,
    offset: u64,
    line: Vec<u8>,
}

impl ForwardReader {
    pub(crate) fn new(mut file: File, offset: u64) -> std::io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { file: BufReader::with_capacity(BLOCK, file), offset, line: Vec::new() })
    }

    /// Returns the next line, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<ReadLine<'_>>> {
        self.line.clear();
        let start = self.offset;
        let mut length =
            (&mut self.file).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.line)?;
        let is_dropped = length > MAX_LINE;
        if is_dropped && !self.line.ends_with(b"\n") {
            length += self.file.skip_until(b'\n')?;
        }
        self.offset += length as u64;
        Ok((length > 0).then_some((start, (!is_dropped).then_some(&self.line[..]))))
    }
}

/// A JSON object on a line, whichever program wrote it.
pub(crate) struct JournalRecord {
    pub(crate) fields: Map<String, Value>,
}

impl JournalRecord {
    /// Returns a field if it is a string.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
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
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let fields = ["content", "type", "tags", "meta"].into_iter();
        fields.filter_map(|field| self.fields.get(field)).flat_map(strings)
    }
}

/// Returns the strings in a JSON value, at any depth, without the names of fields.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns the records on a line, each with its place, and whether there is nothing else on it.
///
/// A program that ends no line leaves several on one, and one that was interrupted leaves a torn one before the next.
pub(crate) fn records(line: &[u8]) -> (Vec<(Range<usize>, JournalRecord)>, bool) {
    let text = trimmed(line);
    let mut from = text.as_ptr() as usize - line.as_ptr() as usize;
    let end = from + text.len();
    let (mut found, mut is_whole) = (Vec::new(), true);
    loop {
        let text = &line[from..end];
        let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
        let broken = loop {
            let start = stream.byte_offset();
            match stream.next() {
                None => return (found, is_whole),
                Some(Ok(Value::Object(fields))) => {
                    let gap = text[start..].len() - text[start..].trim_ascii_start().len();
                    found.push((
                        from + start + gap..from + stream.byte_offset(),
                        JournalRecord { fields },
                    ));
                }
                Some(_) => break start,
            }
        };
        is_whole = false;
        // In a string these quotes would be escaped.
        let next = memmem::find_iter(&text[broken..], b"{\"ts\"").find(|at| *at > 0);
        let Some(next) = next else { return (found, false) };
        from += broken + next;
    }
}

/// Returns a line without its newline, surrounding white space, and the byte order mark that the first line of a
/// file can have.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    without_byte_order_mark(line).trim_ascii()
}

/// A string of a JSON text.
static STRING: Pattern<Regex> = Pattern::new(r#""(?:[^"\\]|\\.)*""#);

/// Returns a record's text as it is displayed: with hidden characters escaped, and each string as an agent may read it.
pub(crate) fn displayed(json: &[u8]) -> Result<Box<RawValue>> {
    let text = String::from_utf8_lossy(json);
    // Parsing the whole record would change large numbers and the escapes of other strings.
    let shown = STRING.replace_all(&text, |string: &Captures| {
        let content: String = serde_json::from_str(&string[0]).unwrap_or_default();
        let safe = sanitized(&content);
        if safe == strip_controls(&content) {
            string[0].to_owned()
        } else {
            json!(safe).to_string()
        }
    });
    RawValue::from_string(visible(&shown).into_owned()).map_err(Error::cannot("show a line"))
}

/// Passes each line from an offset to the end, with its offset, to `take`, which returns whether to continue. A line
/// that is too long is `None`; a missing file has no lines.
pub(crate) fn each_line(
    path: &Path,
    offset: u64,
    mut take: impl FnMut(u64, Option<&[u8]>) -> Result<bool>,
) -> Result<()> {
    let Some((file, _)) = open(path)? else {
        return Ok(());
    };
    let mut reader = ForwardReader::new(file, offset).at("read", path)?;
    while let Some((start, line)) = reader.next().at("read", path)? {
        if !take(start, line)? {
            break;
        }
    }
    Ok(())
}

/// Returns the offset at which the last `most` records start.
fn last(path: &Path, most: usize) -> Result<u64> {
    let Some((file, length)) = open(path)? else {
        return Ok(0);
    };
    let (mut found, mut at) = (0, length);
    let mut reader = BackwardReader::new(&file, length);
    while found < most
        && let Some(region) = reader.next().at("read", path)?
    {
        let mut end = region.lines.len();
        for line in region.lines.split_inclusive(|byte| *byte == b'\n').rev() {
            end -= line.len();
            for (range, _) in records(line).0.iter().rev().take(most - found) {
                found += 1;
                at = region.offset + (end + range.start) as u64;
            }
        }
    }
    Ok(at)
}

/// Reads the last `most` records in order, and passes each to `take`, which returns whether to continue.
pub fn read_last(
    path: &Path,
    most: usize,
    mut take: impl FnMut(Box<RawValue>) -> bool,
) -> Result<()> {
    each_line(path, last(path, most)?, |_, line| {
        let line = line.unwrap_or_default();
        for (range, _) in records(line).0 {
            if !take(displayed(&line[range])?) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Maximum number of skipped lines that are named.
const MAX_NAMED: usize = 20;

/// The numbers of lines of the journal.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Number of records.
    pub records: usize,
    /// Number of lines that are not JSON objects, or are too long to be read.
    pub skipped: usize,
    /// The line numbers of the first skipped lines, from 1.
    pub skipped_lines: Vec<usize>,
}

/// Counts the lines of the journal; a missing one has none.
pub fn statistics(path: &Path) -> Result<Statistics> {
    let (mut statistics, mut number) = (Statistics::default(), 0);
    each_line(path, 0, |_, line| {
        number += 1;
        let (found, is_whole) = records(line.unwrap_or(b"-"));
        statistics.records += found.len();
        if !is_whole {
            statistics.skipped += 1;
            if statistics.skipped <= MAX_NAMED {
                statistics.skipped_lines.push(number);
            }
        }
        Ok(true)
    })?;
    Ok(statistics)
}

/// The text between the original line and the id of its device.
const MARK: &str = ",\"device\":\"";

/// Number of digits of a device id.
const DIGITS: usize = 16;

/// A line that can be shared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SharedLine {
    /// Byte offset of the line.
    pub(crate) offset: u64,
    /// The line as its device wrote it, without its newline.
    pub(crate) line: String,
    /// The device that wrote the line, if it is not this one.
    pub(crate) device: Option<String>,
}

/// Reads whole lines from an offset, and passes each record with content to `take`, which returns whether to
/// continue.
pub(crate) fn lines_from(
    path: &Path,
    offset: u64,
    mut take: impl FnMut(SharedLine) -> Result<bool>,
) -> Result<()> {
    each_line(path, offset, |start, line| {
        // A last line without its newline may still be incomplete.
        let line = line.filter(|line| line.ends_with(b"\n")).unwrap_or_default();
        for (range, record) in records(line).0 {
            let Ok(text) = String::from_utf8(line[range.clone()].to_vec()) else {
                continue;
            };
            let (line, device) = unmarked(text);
            let offset = start + range.start as u64;
            if record.text("content").is_some() && !take(SharedLine { offset, line, device })? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Returns the line that starts at an offset.
pub(crate) fn line_at(path: &Path, offset: u64) -> Result<Option<SharedLine>> {
    let mut found = None;
    lines_from(path, offset, |line| {
        found = Some(line).filter(|line| line.offset == offset);
        Ok(false)
    })?;
    Ok(found)
}

/// Returns a line of another device as it is stored here, including its newline.
pub(crate) fn marked(line: &str, device: &str) -> String {
    let open = line.strip_suffix('}').unwrap_or(line);
    format!("{open}{MARK}{device}\"}}\n")
}

fn unmarked(line: String) -> (String, Option<String>) {
    let marked = line.strip_suffix("\"}").and_then(|line| line.rsplit_once(MARK));
    match marked {
        Some((before, device))
            if device.len() == DIGITS && device.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            let device = Some(device.to_owned());
            (format!("{before}}}"), device)
        }
        _ => (line, None),
    }
}

/// Returns a JSON text in which all line separators and invisible characters are escaped.
///
/// JSON itself requires escapes only for the control characters below U+0020. This also escapes U+007F to
/// U+009F, the line separators at which many programs split, and the invisible characters that are removed
/// from all output, as `\u…`. They occur only inside strings, so the meaning is unchanged.
pub(crate) fn visible(json: &str) -> Cow<'_, str> {
    if !json.bytes().any(may_begin)
        || !json.chars().any(|c| is_hidden(c) || is_joiner_or_selector(c))
    {
        return Cow::Borrowed(json);
    }
    let text = with_escapes(json, is_hidden);
    // Joiners and variation selectors are removed where they join or style nothing.
    if strip_controls(&text) == text {
        return Cow::Owned(text);
    }
    Cow::Owned(with_escapes(&text, is_joiner_or_selector))
}

fn with_escapes(json: &str, is_escaped: fn(char) -> bool) -> String {
    json.chars().map(|c| if is_escaped(c) { escaped(c) } else { c.to_string() }).collect()
}

/// Returns a JSON text without the white space between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        text.push(c);
    }
    text
}

/// Returns a character in escaped form.
pub(crate) fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') || is_invisible(c)
}

/// Returns whether the UTF-8 encoding of a hidden character may start with this byte.
fn may_begin(byte: u8) -> bool {
    byte == 0x7f || byte >= 0xc2
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::storage;

    fn backwards(text: &[u8]) -> (Vec<u8>, usize) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let mut reader = BackwardReader::new(&file, text.len() as u64);
        let (mut regions, mut dropped) = (Vec::new(), 0);
        while let Some(region) = reader.next().unwrap() {
            let at = usize::try_from(region.offset).unwrap();
            assert!(at == 0 || text[at - 1] == b'\n', "a region starts with a line");
            dropped += region.dropped;
            regions.push(region.lines.to_vec());
        }
        (regions.into_iter().rev().flatten().collect(), dropped)
    }

    #[test]
    fn a_file_read_backwards_is_the_file_without_lines_that_are_too_long() {
        let long = "y".repeat(MAX_LINE + 1);
        let lines: String = (0..40_000).map(|number| format!("line {number}\n")).collect();
        for text in ["", "\n", "one", "one\n\ntwo\n", &lines, &lines[..lines.len() - 1]] {
            assert_eq!(backwards(text.as_bytes()), (text.as_bytes().to_vec(), 0));
        }
        for (text, kept, dropped) in [
            (long.clone(), String::new(), 1),
            (format!("one\n{long}\ntwo\n{long}\n{long}\nthree"), "one\ntwo\nthree".to_owned(), 3),
            (format!("{long}\n{lines}"), lines.clone(), 1),
        ] {
            let (found, count) = backwards(text.as_bytes());
            assert!(found == kept.as_bytes(), "{} bytes, not {}", found.len(), kept.len());
            assert_eq!(count, dropped);
        }
    }

    #[test]
    fn several_objects_on_a_line_are_several_records() {
        let places = |line: &str| {
            let (found, is_whole) = records(line.as_bytes());
            let texts = found.iter().map(|(range, _)| line[range.clone()].to_owned());
            (texts.collect::<Vec<_>>(), is_whole)
        };
        let two = vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()];
        assert_eq!(places("{\"a\":1}{\"b\":2}\n"), (two.clone(), true));
        assert_eq!(places(" {\"a\":1}  {\"b\":2} {\"torn"), (two, false));
        let good = "{\"ts\":\"1\"}";
        for torn in ["{\"ts\":\"0\",\"content\":\"on", "\0\0", "{\"ts\":", "[1] ", "\u{fffd}, "] {
            let one = vec![good.to_owned()];
            assert_eq!(places(&format!("{torn}{good}\n")), (one, false), "{torn}");
        }
        assert_eq!(places("[1]"), (vec![], false));
        assert_eq!(places(" \n"), (vec![], true));
    }

    fn contents(path: &Path, most: usize) -> Vec<String> {
        let mut contents = Vec::new();
        read_last(path, most, |entry| {
            contents.push(entry.get().to_owned());
            true
        })
        .unwrap();
        contents
    }

    #[test]
    fn the_last_records_come_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        assert_eq!(contents(&path, 3), Vec::<String>::new());
        for line in ["\u{feff}{\"a\":1}", "torn", "", "{\"b\":1}", "{\"c\":1}"] {
            let mut log = storage::Log::lock(&path).unwrap();
            log.append(format!("{line}\n").as_bytes()).unwrap();
        }
        let all = ["{\"a\":1}", "{\"b\":1}", "{\"c\":1}"];
        assert_eq!(contents(&path, 2), all[1..]);
        assert_eq!(contents(&path, 9), all);
        assert_eq!(contents(&path, 0), all[3..]);
        let counted = statistics(&path).unwrap();
        assert_eq!((counted.records, counted.skipped_lines), (3, vec![2]));
    }

    #[test]
    fn a_line_of_another_device_is_known_and_comes_back_as_it_was() {
        let line = "{\"content\":\"é \\\"}\"}";
        let marked = marked(line, "0123456789abcdef");
        let (back, device) = unmarked(marked.trim_end().to_owned());
        assert_eq!((back.as_str(), device.as_deref()), (line, Some("0123456789abcdef")));
        for own in
            ["{\"content\":\"c\"}", "{\"content\":\"c\",\"device\":\"laptop\"}", "{}", "é\"}"]
        {
            assert_eq!(unmarked(own.to_owned()), (own.to_owned(), None));
        }
    }

    #[test]
    fn lines_come_with_their_offsets_and_what_is_no_record_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        let text =
            "{\"content\":\"a\"}\ntorn\n{\"content\":5}\n{\"content\":\"b\"}\n{\"content\":\"half";
        let mut log = storage::Log::lock(&path).unwrap();
        log.append(text.as_bytes()).unwrap();
        drop(log);
        let mut found = Vec::new();
        lines_from(&path, 0, |line| {
            found.push((line.offset, line.line));
            Ok(true)
        })
        .unwrap();
        let expected = [(0, "{\"content\":\"a\"}"), (35, "{\"content\":\"b\"}")];
        let expected: Vec<(u64, String)> = expected.map(|(at, line)| (at, line.to_owned())).into();
        assert_eq!(found.get(..2), Some(&expected[..]));
        assert_eq!(line_at(&path, 35).unwrap().unwrap().line, expected[1].1);
        assert_eq!(line_at(&path, 16).unwrap(), None);
    }

    #[test]
    fn what_is_hidden_is_escaped_and_means_the_same() {
        let text = "\u{200b}\u{ad}\u{feff}\u{61c}a\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\u{2066}\u{e0041}é日\n\"\\";
        let json = serde_json::to_string(text).unwrap();
        let shown = visible(&json);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        let stray = visible("\"x\u{200d}y v\u{fe0f}\"");
        assert_eq!(stray, "\"x\\u200dy v\\ufe0f\"");
        let family = "\"\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}\"";
        assert_eq!(visible(family), family);
        assert!(shown.contains("\\u2028\\u2029"), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert!(matches!(visible("\"é – 日\""), Cow::Borrowed(_)));
    }

    #[test]
    fn white_space_goes_outside_of_strings_only() {
        assert_eq!(
            compact("{ \"a \\\" b\" :\n [1, 2.50 ,\"c\\\\\" ] }\r\n"),
            "{\"a \\\" b\":[1,2.50,\"c\\\\\"]}"
        );
    }
}
