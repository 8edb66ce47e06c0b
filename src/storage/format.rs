//! How a record is written: one line of JSON, the bytes it speaks of, and a mark a change.
//!
//! ```text
//! {"format":1,"operation":"ship",…,"changes":[{"do":"write","path":"STATE.md","old":812,"new":790},…]}⏎
//! <the bytes of each "old", "new" and "lines", in the order of the changes, as they are>
//! <one byte: ' ' while the changes are made, '<' while they are taken back>
//! <one byte a change: ' ' not made yet, '.' made, '!' left alone, '-' taken back>⏎
//! ```
//!
//! The header has lengths in place of bytes; paths are relative to the root. The marks are written over
//! in place, so marking needs no room on a full disk. A text that is shorter than its header says is
//! torn.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::error::Result;
use crate::storage::change::Change;
use crate::storage::lock::Store;

/// The format this version writes, and the only one it reads.
pub(crate) const FORMAT: u32 = 1;

/// The most that one operation may record.
pub(crate) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The direction while changes are made.
const FORWARD: u8 = b' ';
/// The direction while they are taken back.
pub(crate) const BACKWARD: u8 = b'<';

/// What a record says about its operation before the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    pub(crate) operation: String,
    pub(crate) time: String,
    pub(crate) pid: u32,
    pub(crate) stores: Vec<Store>,
    /// Whether the record stays for undo once the operation is done.
    pub(crate) keep: bool,
    pub(crate) changes: Vec<Change<u64>>,
}

impl Header {
    /// Reads a header; fails where it is in no format of ours.
    pub(crate) fn parse(line: &[u8], path: &Path) -> Result<Self> {
        let unreadable = |why: String| {
            Error::failed(format!("is a record that cannot be read: {why}"))
                .at(path, 1)
                .hint("if no newer version of annals wrote it, delete it")
        };
        let header: Self =
            serde_json::from_slice(line).map_err(|error| unreadable(error.to_string()))?;
        if header.format == FORMAT {
            Ok(header)
        } else {
            Err(unreadable(format!("its format is {}", header.format)))
        }
    }

    /// Returns how many bytes come between the header and the marks.
    pub(crate) fn length_of_bytes(&self) -> u64 {
        let mut sum: u64 = 0;
        for change in &self.changes {
            let mut add = |length: u64| {
                sum = sum.saturating_add(length);
                Some(length)
            };
            change.clone().with_bytes(&mut add);
        }
        sum
    }
}

/// How far one change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not made yet.
    Waiting,
    /// Made.
    Made,
    /// Not made: the place held neither what it should hold before nor after.
    LeftAlone,
    /// Made and taken back.
    TakenBack,
}

impl Mark {
    /// Returns the byte that stands for it.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Waiting => b' ',
            Self::Made => b'.',
            Self::LeftAlone => b'!',
            Self::TakenBack => b'-',
        }
    }

    fn of(byte: u8) -> Option<Self> {
        [Self::Waiting, Self::Made, Self::LeftAlone, Self::TakenBack]
            .into_iter()
            .find(|mark| mark.byte() == byte)
    }
}

/// Returns the text of a record, and where its marks begin.
pub(crate) fn encode(header: &Header, changes: &[Change<Vec<u8>>]) -> Result<(Vec<u8>, u64)> {
    let mut text = serde_json::to_vec(header)
        .map_err(|error| Error::failed(format!("cannot record the operation: {error}")))?;
    text.push(b'\n');
    for change in changes {
        match change {
            Change::Write { old, new, .. } => {
                text.extend(old.iter().chain(new).flatten());
            }
            Change::Append { lines, .. } => text.extend(lines),
            _ => {}
        }
    }
    let marks_at = text.len() as u64;
    if marks_at > MAX_BYTES {
        return Err(
            Error::failed("changes more than one operation may record").hint(format!(
                "split it: the limit is {} MiB",
                MAX_BYTES / 1024 / 1024
            )),
        );
    }
    text.push(FORWARD);
    text.extend(changes.iter().map(|_| Mark::Waiting.byte()));
    text.push(b'\n');
    Ok((text, marks_at))
}

/// Returns the changes with their bytes, and where the marks begin.
pub(crate) fn read_bytes(
    header: &Header,
    text: &[u8],
    mut start: usize,
) -> Option<(Vec<Change<Vec<u8>>>, usize)> {
    let mut next = |length: u64| {
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let bytes = text.get(start..end)?.to_vec();
        start = end;
        Some(bytes)
    };
    let mut changes = Vec::with_capacity(header.changes.len());
    for change in &header.changes {
        changes.push(change.clone().with_bytes(&mut next)?);
    }
    Some((changes, start))
}

/// Returns whether the operation is taken back, and how far each change has come.
pub(crate) fn read_marks(tail: &[u8], count: usize) -> Option<(bool, Vec<Mark>)> {
    let (direction, rest) = tail.split_first()?;
    let (end, marks) = rest.split_last()?;
    let marks: Option<Vec<Mark>> = marks.iter().map(|byte| Mark::of(*byte)).collect();
    let marks = marks.filter(|marks| marks.len() == count && *end == b'\n')?;
    Some((*direction == BACKWARD, marks))
}
