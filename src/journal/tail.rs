//! Reads the latest records in the order in which they were written, and follows new ones.

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{At, Result};
use crate::journal::MAX_LINE;
use crate::journal::backwards::ReverseLineReader;
use crate::journal::forwards::{JournalLine, LineReader};
use crate::journal::record::{JournalRecord, trimmed};
use crate::journal::search::{display_line, open};

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
    /// Returns the time that the record states.
    pub fn time(&self) -> &str {
        self.record.text("ts").unwrap_or("-")
    }

    /// Returns the type of the record.
    pub fn kind(&self) -> &str {
        self.record.kind().unwrap_or("-")
    }

    /// Returns the content.
    pub fn content(&self) -> &str {
        self.record.text("content").unwrap_or_default()
    }

    /// Returns its tags.
    pub fn tags(&self) -> Vec<&str> {
        self.record.tags()
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

/// Returns the offset at which the last `records` records start.
pub fn last(path: &Path, records: usize) -> Result<u64> {
    let Some((file, length)) = open(path)? else {
        return Ok(0);
    };
    if records == 0 {
        return Ok(length);
    }
    let mut reader = ReverseLineReader::new(&file, 0..length, MAX_LINE);
    let mut found = 0;
    let mut at = length;
    while let Some(region) = reader.next().at("read", path)? {
        let mut end = region.lines.len();
        for line in region.lines.split_inclusive(|byte| *byte == b'\n').rev() {
            end -= line.len();
            if JournalRecord::parse(trimmed(line)).is_some() {
                found += 1;
                at = region.offset + end as u64;
            }
            if found == records {
                return Ok(at);
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
    let mut reached = TailState { at, ..TailState::default() };
    let Some((file, length)) = open(path)? else {
        return Ok(TailState::default());
    };
    if length < at {
        reached.at = 0;
    }
    if length == at {
        return Ok(reached);
    }
    let mut reader = LineReader::new(file, reached.at, MAX_LINE).at("read", path)?;
    while let Some(line) = reader.next().at("read", path)? {
        let line = match line {
            JournalLine::Whole(line) if !line.ends_with(b"\n") && open_line == OpenLine::Left => {
                return Ok(reached);
            }
            JournalLine::Whole(line) => trimmed(line),
            JournalLine::Dropped => b"-",
        };
        if let Some(record) = JournalRecord::parse(line) {
            let json = display_line(line)?;
            reached.stopped = !take(&JournalEntry { json, record });
        } else if !line.is_empty() {
            reached.skipped += 1;
        }
        reached.at = reader.offset();
        if reached.stopped {
            break;
        }
    }
    Ok(reached)
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
}
