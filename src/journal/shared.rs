//! Reads and formats journal lines for sharing between devices: each with its offset, and foreign lines with
//! their device.
//!
//! A line of another device is the original line with an additional field at its end:
//!
//! ```text
//! {"ts":"…","type":"note","content":"…","tags":null,"meta":null,"device":"0123456789abcdef"}
//! ```

use std::path::Path;

use crate::error::{At, Result};
use crate::journal::MAX_LINE;
use crate::journal::forwards::{JournalLine, LineReader};
use crate::journal::record::{JournalRecord, trimmed};
use crate::journal::search::open;

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
/// continue; returns the offset of the last line read.
pub(crate) fn lines_from(
    path: &Path,
    offset: u64,
    mut take: impl FnMut(SharedLine) -> Result<bool>,
) -> Result<Option<u64>> {
    let Some((file, length)) = open(path)? else {
        return Ok(None);
    };
    let mut last = None;
    if length <= offset {
        return Ok(last);
    }
    let mut reader = LineReader::new(file, offset, MAX_LINE).at("read", path)?;
    loop {
        let offset = reader.offset();
        let line = match reader.next().at("read", path)? {
            // A last line without its newline may still be incomplete.
            None => return Ok(last),
            Some(JournalLine::Whole(line)) if !line.ends_with(b"\n") => return Ok(last),
            Some(JournalLine::Dropped) => continue,
            Some(JournalLine::Whole(line)) => record(line),
        };
        last = Some(offset);
        if let Some(line) = line {
            let (line, device) = unmarked(line);
            if !take(SharedLine { offset, line, device })? {
                return Ok(last);
            }
        }
    }
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

/// Returns the text of a line that is a record with content.
fn record(line: &[u8]) -> Option<String> {
    let line = trimmed(line);
    let record = JournalRecord::parse(line)?;
    record.text("content")?;
    String::from_utf8(line.to_vec()).ok()
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
