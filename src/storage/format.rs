//! The format of a record: a header line of JSON, the old and new bytes, and one mark per change.
//!
//! ```text
//! {"format":2,"operation":"ship",…,"sha256":"…","changes":[{"do":"write","path":"STATE.md","old":812,"new":790},…]}⏎
//! <the signature of the id and the header, 64 hexadecimal digits>⏎
//! <the bytes of each "old", "new" and "lines", in the order of the changes, as they are>
//! <one byte: ' ' while the changes are applied, '<' while they are reverted>
//! <one byte per change: ' ' not applied yet, '*' being exchanged, '.' applied, '!' left alone, '-' reverted>⏎
//! ```
//!
//! The header has lengths in place of bytes, and their SHA-256; paths are relative to the root, or absolute
//! below one of the user's `linked_roots`. The marks are overwritten in place, which needs no space on a full
//! disk; they are not signed. A file that is shorter than its header specifies is incomplete. Format 1 had
//! neither signature nor SHA-256: it is read only to be shown, and to be signed at the user's request.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::storage::change::Change;
use crate::storage::lock::Store;

/// The format this version writes.
pub(crate) const FORMAT: u32 = 2;

/// The format without signatures.
const UNSIGNED: u32 = 1;

/// Maximum size of the old and new bytes of one operation.
pub(crate) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The direction while changes are applied.
const FORWARD: u8 = b' ';
/// The direction while they are reverted.
pub(crate) const BACKWARD: u8 = b'<';

/// The first line of a record, which describes its operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    pub(crate) operation: String,
    pub(crate) time: String,
    pub(crate) pid: u32,
    pub(crate) stores: Vec<Store>,
    /// Whether the record is kept for undo when the operation is done.
    pub(crate) keep: bool,
    /// The SHA-256 of the bytes, so that a signature of the header also covers them.
    #[serde(default)]
    pub(crate) sha256: String,
    pub(crate) changes: Vec<Change<u64>>,
}

impl Header {
    /// Parses a header; returns `None` if it has none of our formats.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let header: Self = serde_json::from_slice(line).ok()?;
        [UNSIGNED, FORMAT].contains(&header.format).then_some(header)
    }

    /// Returns whether a signature follows the header.
    pub(crate) fn is_signed(&self) -> bool {
        self.format == FORMAT
    }

    /// Returns the header as the line that is signed.
    pub(crate) fn line(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
            .map_err(|error| Error::failed(format!("cannot record the operation: {error}")))
    }

    /// Returns the number of bytes between the header and the marks.
    pub(crate) fn content_length(&self) -> u64 {
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

/// The progress of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not applied yet.
    Waiting,
    /// About to be exchanged with its temporary file, or just exchanged.
    Exchanging,
    /// Applied.
    Applied,
    /// Not applied: the file had neither the expected old content nor the new one.
    LeftAlone,
    /// Applied and reverted.
    Reverted,
}

impl Mark {
    /// Returns the mark's byte in a record.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Waiting => b' ',
            Self::Exchanging => b'*',
            Self::Applied => b'.',
            Self::LeftAlone => b'!',
            Self::Reverted => b'-',
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Waiting, Self::Exchanging, Self::Applied, Self::LeftAlone, Self::Reverted]
            .into_iter()
            .find(|mark| mark.byte() == byte)
    }
}

/// Returns the old and new bytes of all changes, one after another.
pub(crate) fn bytes(changes: &[Change<Vec<u8>>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for change in changes {
        match change {
            Change::Write { old, new, .. } => {
                bytes.extend(old.iter().chain(new).flatten());
            }
            Change::Append { lines, .. } => bytes.extend(lines),
            _ => {}
        }
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::failed("the change is too large to record as one operation")
            .hint(format!("split it: the limit is {} MiB", MAX_BYTES / 1024 / 1024)));
    }
    Ok(bytes)
}

/// Returns the bytes of the direction and the marks.
pub(crate) fn marks(is_backward: bool, marks: &[Mark]) -> Vec<u8> {
    let direction = if is_backward { BACKWARD } else { FORWARD };
    let marks = marks.iter().map(|mark| mark.byte());
    std::iter::once(direction).chain(marks).chain([b'\n']).collect()
}

/// Returns the changes with their bytes, and the offset of the marks.
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

/// Returns whether the operation is being reverted, and the progress of each change.
pub(crate) fn read_marks(tail: &[u8], count: usize) -> Option<(bool, Vec<Mark>)> {
    let (direction, rest) = tail.split_first()?;
    let (end, marks) = rest.split_last()?;
    let marks: Option<Vec<Mark>> = marks.iter().map(|byte| Mark::from_byte(*byte)).collect();
    let marks = marks.filter(|marks| marks.len() == count && *end == b'\n')?;
    Some((*direction == BACKWARD, marks))
}
