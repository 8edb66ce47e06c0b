//! Reads records in the order in which they were written: the latest, those that follow, their statistics, and those
//! that are shared between devices.
//!
//! A record of another device is the original line with an additional field at its end:
//!
//! ```text
//! {"ts":"…","type":"note","content":"…","tags":null,"meta":null,"device":"0123456789abcdef"}
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{At, Result};
use crate::journal::file::{
    BackwardReader, ForwardReader, JournalRecord, displayed, open, records,
};

/// A record, both as the raw line and parsed.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct JournalEntry {
    /// The raw line.
    pub json: Box<RawValue>,
    #[serde(skip)]
    record: JournalRecord,
}

impl JournalEntry {
    /// Returns the content.
    pub fn content(&self) -> &str {
        self.record.text("content").unwrap_or_default()
    }
}

/// The state after reading up to the end of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailState {
    /// Byte offset of the next line.
    pub at: u64,
    /// Number of lines read that are not JSON objects, or are too long.
    pub skipped: usize,
    /// Whether the callback stopped the reading.
    pub stopped: bool,
}

/// Returns the offset at which the last `most` records start.
pub fn last(path: &Path, most: usize) -> Result<u64> {
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

/// How to treat a last line without a newline, which may still be incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenLine {
    /// It is read.
    Read,
    /// It is left for the next read.
    Left,
}

/// Reads records from an offset to the end, and passes each to `take`, which returns whether to continue.
///
/// A last line without its newline may still be incomplete: `open_line` says whether it is read. A journal that
/// became shorter is read from its beginning.
pub fn read_from(
    path: &Path,
    at: u64,
    open_line: OpenLine,
    mut take: impl FnMut(&JournalEntry) -> bool,
) -> Result<TailState> {
    let Some((file, length)) = open(path)? else {
        return Ok(TailState::default());
    };
    let mut reached = TailState { at: if length < at { 0 } else { at }, ..TailState::default() };
    let mut reader = ForwardReader::new(file, reached.at).at("read", path)?;
    while let Some((start, line)) = reader.next().at("read", path)? {
        let line = line.unwrap_or(b"-");
        if open_line == OpenLine::Left && !line.ends_with(b"\n") && line != b"-" {
            break;
        }
        let (found, is_whole) = records(line);
        reached.skipped += usize::from(!is_whole);
        for (range, record) in found {
            reached.at = start + range.end as u64;
            let json = displayed(&line[range])?;
            if !take(&JournalEntry { json, record }) {
                reached.stopped = true;
                return Ok(reached);
            }
        }
        reached.at = reader.offset();
    }
    Ok(reached)
}

/// Maximum number of names that are reported, and of skipped lines.
const MAX_REPORTED: usize = 20;

/// Statistics of the journal.
#[derive(Debug, Default, Serialize)]
pub struct Statistics {
    /// The journal.
    pub file: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of lines that are records.
    pub records: usize,
    /// Number of lines that are not JSON objects, or are too long to be read.
    pub skipped: usize,
    /// The line numbers of the first skipped lines, from 1.
    #[serde(skip)]
    pub skipped_lines: Vec<usize>,
    /// The time of its earliest record.
    pub first: Option<String>,
    /// The time of its latest record.
    pub last: Option<String>,
    /// The most frequent types with their numbers of records.
    pub types: Vec<Frequency>,
    /// The most frequent tags with their numbers of records.
    pub tags: Vec<Frequency>,
}

/// A name with the number of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// The type or tag.
    pub name: String,
    /// Number of records with it.
    pub records: usize,
}

/// Computes the statistics of the journal; those of a missing one are empty.
pub fn statistics(path: &Path) -> Result<Statistics> {
    let mut statistics = Statistics { file: path.to_owned(), ..Statistics::default() };
    let Some((file, length)) = open(path)? else {
        return Ok(statistics);
    };
    statistics.bytes = length;
    let (mut types, mut tags) = (HashMap::new(), HashMap::new());
    let mut span: Option<(DateTime<Utc>, DateTime<Utc>)> = None;
    let mut reader = ForwardReader::new(file, 0).at("read", path)?;
    let mut number = 0;
    while let Some((_, line)) = reader.next().at("read", path)? {
        number += 1;
        let (found, is_whole) = records(line.unwrap_or(b"-"));
        if !is_whole {
            statistics.skipped += 1;
            if statistics.skipped <= MAX_REPORTED {
                statistics.skipped_lines.push(number);
            }
        }
        for (_, record) in found {
            statistics.records += 1;
            count(record.text("type").unwrap_or("-"), &mut types);
            record.tags().iter().for_each(|tag| count(tag, &mut tags));
            if let Some(time) = record.time() {
                let (first, last) = span.unwrap_or((time, time));
                span = Some((first.min(time), last.max(time)));
            }
        }
    }
    let text = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::AutoSi, false);
    (statistics.first, statistics.last) =
        (span.map(|span| text(span.0)), span.map(|span| text(span.1)));
    (statistics.types, statistics.tags) = (most_frequent(types), most_frequent(tags));
    Ok(statistics)
}

fn count(name: &str, counts: &mut HashMap<String, usize>) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

fn most_frequent(counts: HashMap<String, usize>) -> Vec<Frequency> {
    let mut all: Vec<Frequency> =
        counts.into_iter().map(|(name, records)| Frequency { name, records }).collect();
    all.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.name.cmp(&b.name)));
    all.truncate(MAX_REPORTED);
    all
}

/// The text between the original line and the id of its device.
const MARK: &str = ",\"device\":\"";

/// Number of digits of a device id.
const DIGITS: usize = 16;

/// A line that can be shared.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    let Some(mut reader) = ForwardReader::open(path, offset)? else {
        return Ok(());
    };
    while let Some((start, line)) = reader.next().at("read", path)? {
        // A last line without its newline may still be incomplete.
        let Some(line) = line.filter(|line| line.ends_with(b"\n")) else {
            continue;
        };
        for (range, record) in records(line).0 {
            let Ok(text) = String::from_utf8(line[range.clone()].to_vec()) else {
                continue;
            };
            let (line, device) = unmarked(text);
            let offset = start + range.start as u64;
            if record.text("content").is_some() && !take(SharedLine { offset, line, device })? {
                return Ok(());
            }
        }
    }
    Ok(())
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
    let marked = line
        .strip_suffix("\"}")
        .and_then(|line| line.split_at_checked(line.len().checked_sub(DIGITS)?))
        .and_then(|(before, device)| Some((before.strip_suffix(MARK)?, device)));
    match marked {
        Some((before, device)) if device.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let device = Some(device.to_owned());
            (format!("{before}}}"), device)
        }
        _ => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage;

    fn contents(path: &Path, at: u64, open_line: OpenLine) -> (Vec<String>, TailState) {
        let mut contents = Vec::new();
        let reached = read_from(path, at, open_line, |entry| {
            contents.push(entry.content().to_owned());
            true
        });
        (contents, reached.unwrap())
    }

    #[test]
    fn the_last_records_come_in_order_and_the_rest_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        assert_eq!(last(&path, 3).unwrap(), 0);
        assert_eq!(contents(&path, 0, OpenLine::Read), (Vec::new(), TailState::default()));
        for line in
            ["{\"content\":\"a\"}", "torn", "", "{\"content\":\"b\"}", "{\"content\":\"c\"}"]
        {
            storage::append(&path, format!("{line}\n").as_bytes()).unwrap();
        }
        let (found, reached) = contents(&path, last(&path, 2).unwrap(), OpenLine::Read);
        assert_eq!((found, reached.skipped), (vec!["b".to_owned(), "c".to_owned()], 0));
        let (found, reached) = contents(&path, last(&path, 9).unwrap(), OpenLine::Read);
        assert_eq!((found.len(), reached.skipped), (3, 1));
        assert_eq!(
            contents(&path, last(&path, 0).unwrap(), OpenLine::Read).0,
            Vec::<String>::new()
        );
        storage::append(&path, b"{\"content\":\"d\"}").unwrap();
        assert_eq!(contents(&path, reached.at, OpenLine::Left).0, ["d"]);
    }

    #[test]
    fn an_unfinished_line_waits_and_a_shorter_journal_starts_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        storage::append(&path, b"{\"content\":\"a\"}").unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(15).unwrap();
        assert_eq!(contents(&path, 0, OpenLine::Left).0, Vec::<String>::new());
        let (found, reached) = contents(&path, 0, OpenLine::Read);
        assert_eq!((found, reached.at), (vec!["a".to_owned()], 15));
        assert_eq!(contents(&path, 4000, OpenLine::Read).0, ["a"]);
    }

    #[test]
    fn a_byte_order_mark_hides_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        storage::append(&path, "\u{feff}{\"content\":\"a\"}\n".as_bytes()).unwrap();
        let (found, reached) = contents(&path, 0, OpenLine::Read);
        assert_eq!((found, reached.skipped), (vec!["a".to_owned()], 0));
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
        storage::append(&path, b"").unwrap();
        let mut log = storage::Log::lock(&path, storage::Visibility::Private).unwrap();
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
}
