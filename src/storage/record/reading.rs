//! Reads records and verifies their signatures.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{At, Result};
use crate::storage::format::{Header, Mark};
use crate::storage::record::{OperationProgress, Record, RecordFile, UnverifiedRecord, file_path};
use crate::storage::signature::{SignatureKind, Signer};
use crate::storage::{disk, format, signature};
use crate::text::hexadecimal;

/// Maximum length of a header line, enough for thousands of changes.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

/// The state of a record's file.
#[derive(Debug)]
pub(crate) enum RecordState<T> {
    /// It does not exist; another process may end its operation at any time.
    Missing,
    /// It is an incomplete record, whose operation never began.
    Incomplete,
    /// It was not written by this user on this machine, but comes from a clone or an older version, or is a
    /// link or a folder.
    Foreign,
    /// It is a record of this user.
    Own(T),
}

#[cfg(test)]
impl<T> RecordState<T> {
    /// Returns the record if it is this user's and complete.
    pub(crate) fn own(self) -> Option<T> {
        match self {
            Self::Own(record) => Some(record),
            _ => None,
        }
    }
}

impl Record {
    /// Reads a record.
    pub(crate) fn open(
        folder: &Path,
        id: u64,
        file: RecordFile,
        signer: &Signer,
    ) -> Result<RecordState<Self>> {
        let path = file_path(folder, id, file);
        let file = match open_existing(disk::open_to_write(&path), &path)? {
            RecordState::Own(file) => file,
            RecordState::Missing => return Ok(RecordState::Missing),
            RecordState::Incomplete | RecordState::Foreign => return Ok(RecordState::Foreign),
        };
        let text = read_all(&file, &path)?;
        let (header, start) = match parse_head(&text, id, signer) {
            RecordState::Own(head) => head,
            RecordState::Missing | RecordState::Incomplete => return Ok(RecordState::Incomplete),
            RecordState::Foreign => return Ok(RecordState::Foreign),
        };
        let Some((content, marks_at)) = parse_body(header, &text, start) else {
            return Ok(RecordState::Incomplete);
        };
        let bytes = &text[start..marks_at];
        if content.header.sha256 != hexadecimal(&Sha256::digest(bytes)) {
            return Ok(RecordState::Incomplete);
        }
        Ok(RecordState::Own(Self {
            id,
            header: content.header,
            changes: content.changes,
            progress: OperationProgress {
                marks: content.marks,
                is_backward: content.is_backward,
                path,
                file,
                marks_at: marks_at as u64,
            },
        }))
    }
}

/// Reads a record without its bytes.
pub(crate) fn read_outline(
    folder: &Path,
    id: u64,
    file: RecordFile,
    signer: &Signer,
) -> Result<RecordState<(Header, Vec<Mark>)>> {
    let path = file_path(folder, id, file);
    let mut file = match open_existing(disk::open_to_read(&path), &path)? {
        RecordState::Own(file) => BufReader::new(file),
        RecordState::Missing => return Ok(RecordState::Missing),
        RecordState::Incomplete | RecordState::Foreign => return Ok(RecordState::Foreign),
    };
    let mut text = Vec::new();
    for most in [MAX_HEADER, signature::DIGITS as u64 + 1] {
        file.by_ref().take(most).read_until(b'\n', &mut text).at("read", &path)?;
    }
    let (header, start) = match parse_head(&text, id, signer) {
        RecordState::Own(head) => head,
        RecordState::Missing | RecordState::Incomplete => return Ok(RecordState::Incomplete),
        RecordState::Foreign => return Ok(RecordState::Foreign),
    };
    let marks_at = (start as u64).saturating_add(header.content_length());
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(marks_at.min(format::MAX_BYTES + 2 * MAX_HEADER)))
        .at("read", &path)?;
    file.take(MAX_HEADER).read_to_end(&mut tail).at("read", &path)?;
    Ok(match format::read_marks(&tail, header.changes.len()) {
        Some((_, marks)) => RecordState::Own((header, marks)),
        None => RecordState::Incomplete,
    })
}

/// Reads a record that may be foreign; returns `None` if it is not a complete record of any format.
pub(crate) fn read_unverified(path: &Path) -> Result<Option<UnverifiedRecord>> {
    let RecordState::Own(file) = open_existing(disk::open_to_read(path), path)? else {
        return Ok(None);
    };
    let text = read_all(&file, path)?;
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let Some(header) = Header::parse(&text[..end]) else {
        return Ok(None);
    };
    let signature = if header.is_signed() { signature::DIGITS + 1 } else { 0 };
    let body = parse_body(header, &text, end + 1 + signature);
    Ok(body.map(|(record, _)| record))
}

/// Returns the header of a record of this user, and the offset of its content.
fn parse_head(text: &[u8], id: u64, signer: &Signer) -> RecordState<(Header, usize)> {
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return RecordState::Incomplete;
    };
    let Some(header) = Header::parse(&text[..end]).filter(Header::is_signed) else {
        return RecordState::Foreign;
    };
    let start = end + 1 + signature::DIGITS + 1;
    let Some((b'\n', signature)) = text.get(end + 1..start).and_then(|line| line.split_last())
    else {
        return RecordState::Incomplete;
    };
    let is_own = signer.existing().is_some_and(|key| {
        let parts = [&text[..end]];
        key.has_signed(SignatureKind::Record, &id.to_string(), &parts, signature)
    });
    if is_own { RecordState::Own((header, start)) } else { RecordState::Foreign }
}

/// Returns the content of a record after its head, and the offset of the marks.
fn parse_body(header: Header, text: &[u8], start: usize) -> Option<(UnverifiedRecord, usize)> {
    let (changes, marks_at) = format::read_bytes(&header, text, start)?;
    let (is_backward, marks) = format::read_marks(text.get(marks_at..)?, changes.len())?;
    let content = UnverifiedRecord { header, changes, marks, is_backward };
    Some((content, marks_at))
}

fn read_all(file: &File, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(format::MAX_BYTES + 2 * MAX_HEADER).read_to_end(&mut text).at("read", path)?;
    Ok(text)
}

/// Returns the state of a record whose file was opened; a link or a pipe, from a clone, is foreign.
fn open_existing(opened: io::Result<File>, path: &Path) -> Result<RecordState<File>> {
    match opened {
        Ok(file) => Ok(RecordState::Own(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(RecordState::Missing),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory) => {
            Ok(RecordState::Foreign)
        }
        Err(error) => Err(error).at("open", path),
    }
}
