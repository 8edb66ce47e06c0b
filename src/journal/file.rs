//! The journal's file: its path, its lines from either end, and the records on a line.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memchr::{memchr, memrchr};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::clock::parse_timestamp;
use crate::error::{At, Error, Result};
use crate::journal::escape;
use crate::project::Environment;
use crate::storage::read;
use crate::text::without_byte_order_mark;

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
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
pub(crate) fn open(path: &Path) -> Result<Option<(File, u64)>> {
    let metadata = match std::fs::metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(None),
        metadata => metadata.at("read", path)?,
    };
    if metadata.is_dir() {
        return Err(Error::failed("is a directory, a file was expected").at(path, None));
    }
    // A device such as /dev/null has no content, and opening a pipe would block until it has a writer.
    if !metadata.is_file() {
        return Ok(None);
    }
    // It may have been deleted in the meantime.
    let file = match File::open(path) {
        Err(error) if read::is_absent(&error) => return Ok(None),
        file => file.at("read", path)?,
    };
    let length = file.metadata().at("read", path)?.len();
    Ok(Some((file, length)))
}

/// A region of the file that consists of whole lines.
pub(crate) struct Region<'a> {
    /// The lines, in file order; each ends in a newline, except possibly the last of the file.
    pub(crate) lines: &'a [u8],
    /// Byte offset of the lines in the file.
    pub(crate) offset: u64,
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
            // The line that the rest ends may be too long now that its start is known.
            if let Some(newline) = memrchr(b'\n', &self.region)
                && self.region.len() - (newline + 1) + self.rest.len() > MAX_LINE
            {
                self.region.truncate(newline + 1);
                self.rest.clear();
                dropped += 1;
            }
            self.region.append(&mut self.rest);
            // The first line, whose start is unread unless the file starts here.
            let end = memchr(b'\n', &self.region).map_or(self.region.len(), |end| end + 1);
            let is_too_long = end > MAX_LINE;
            let start = if self.unread == 0 && !is_too_long { 0 } else { end };
            if is_too_long {
                self.is_dropping = true;
                dropped += 1;
            } else if self.unread > 0 {
                self.rest.extend_from_slice(&self.region[..start]);
            }
            if start < self.region.len() || self.unread == 0 && dropped > 0 {
                // A region without a line, which only counts what was dropped, is at the file's start.
                let is_empty = start == self.region.len();
                let offset = if is_empty { 0 } else { self.unread + start as u64 };
                return Ok(Some(Region { lines: &self.region[start..], offset, dropped }));
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
pub(crate) type ReadLine<'a> = (u64, Option<&'a [u8]>);

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

    /// Opens a journal at an offset; `None` if it does not exist.
    pub(crate) fn open(path: &Path, offset: u64) -> Result<Option<Self>> {
        let opened = open(path)?;
        opened.map(|(file, _)| Self::new(file, offset).at("read", path)).transpose()
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
#[derive(Clone, Debug, PartialEq)]
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
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns the records on a line, each with its place, and whether there is nothing else on it.
///
/// A program that ends no line leaves several on one.
pub(crate) fn records(line: &[u8]) -> (Vec<(Range<usize>, JournalRecord)>, bool) {
    let text = trimmed(line);
    let from = text.as_ptr() as usize - line.as_ptr() as usize;
    let mut found = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    loop {
        let start = stream.byte_offset();
        match stream.next() {
            None => return (found, true),
            Some(Ok(Value::Object(fields))) => {
                let gap = text[start..].len() - text[start..].trim_ascii_start().len();
                found.push((
                    from + start + gap..from + stream.byte_offset(),
                    JournalRecord { fields },
                ));
            }
            Some(_) => return (found, false),
        }
    }
}

/// Returns a line without its newline, surrounding white space, and the byte order mark that the first line of a
/// file can have.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    without_byte_order_mark(line).trim_ascii()
}

/// Returns a record's text as it is displayed.
pub(crate) fn displayed(json: &[u8]) -> Result<Box<RawValue>> {
    let text = String::from_utf8_lossy(json);
    let text = match escape::visible(&text) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    };
    RawValue::from_string(text)
        .map_err(|error| Error::failed(format!("cannot show a line: {error}")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

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
        assert_eq!(places("[1]"), (vec![], false));
        assert_eq!(places(" \n"), (vec![], true));
    }
}
