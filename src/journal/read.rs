//! Reads records in the order in which they were written: the latest, their number, and those that are shared between
//! devices.
//!
//! A record of another device is the original line with an additional field at its end:
//!
//! ```text
//! {"ts":"…","type":"note","content":"…","tags":null,"meta":null,"device":"0123456789abcdef"}
//! ```

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{At, Result};
use crate::journal::file::{BackwardReader, ForwardReader, displayed, open, records};

/// A record as it is in the file.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct JournalEntry {
    /// The raw line.
    pub json: Box<RawValue>,
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

/// Reads records from an offset to the end, and passes each to `take`, which returns whether to continue.
pub fn read_from(path: &Path, at: u64, mut take: impl FnMut(&JournalEntry) -> bool) -> Result<()> {
    let Some(mut reader) = ForwardReader::open(path, at)? else {
        return Ok(());
    };
    while let Some((_, line)) = reader.next().at("read", path)? {
        let line = line.unwrap_or_default();
        for (range, _) in records(line).0 {
            let json = displayed(&line[range])?;
            if !take(&JournalEntry { json }) {
                return Ok(());
            }
        }
    }
    Ok(())
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
    let mut statistics = Statistics::default();
    let Some(mut reader) = ForwardReader::open(path, 0)? else {
        return Ok(statistics);
    };
    let mut number = 0;
    while let Some((_, line)) = reader.next().at("read", path)? {
        number += 1;
        let (found, is_whole) = records(line.unwrap_or(b"-"));
        statistics.records += found.len();
        if !is_whole {
            statistics.skipped += 1;
            if statistics.skipped <= MAX_NAMED {
                statistics.skipped_lines.push(number);
            }
        }
    }
    Ok(statistics)
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

    fn contents(path: &Path, at: u64) -> Vec<String> {
        let mut contents = Vec::new();
        read_from(path, at, |entry| {
            contents.push(entry.json.get().to_owned());
            true
        })
        .unwrap();
        contents
    }

    #[test]
    fn the_last_records_come_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        assert_eq!(last(&path, 3).unwrap(), 0);
        assert_eq!(contents(&path, 0), Vec::<String>::new());
        for line in ["\u{feff}{\"a\":1}", "torn", "", "{\"b\":1}", "{\"c\":1}"] {
            storage::append(&path, format!("{line}\n").as_bytes()).unwrap();
        }
        let all = ["{\"a\":1}", "{\"b\":1}", "{\"c\":1}"];
        assert_eq!(contents(&path, last(&path, 2).unwrap()), all[1..]);
        assert_eq!(contents(&path, last(&path, 9).unwrap()), all);
        assert_eq!(contents(&path, last(&path, 0).unwrap()), all[3..]);
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
