//! Reads records, and determines whether they are from this user.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::Digest;
use sha2::Sha256;

use crate::error::At;
use crate::error::Result;
use crate::storage::disk;
use crate::storage::format;
use crate::storage::format::Header;
use crate::storage::format::Mark;
use crate::storage::record::OperationProgress;
use crate::storage::record::Record;
use crate::storage::record::Unverified;
use crate::storage::record::file_name;
use crate::storage::signature;
use crate::storage::signature::SignatureKind;
use crate::storage::signature::Signer;
use crate::text::hexadecimal;

/// Maximum length of a header line, enough for thousands of changes.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

/// The file found where a record is expected.
#[derive(Debug)]
pub(crate) enum RecordState<T> {
    /// Nothing: another process may end its operation at any time.
    Nothing,
    /// A record that is not whole, so that its operation never began.
    Torn,
    /// Not written by this user on this machine: from a clone or an older version, a link, a folder.
    Foreign,
    /// A record of this user's.
    Own(T),
}

#[cfg(test)]
impl<T> RecordState<T> {
    /// Returns the record if it is this user's and whole.
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
        extension: &str,
        signer: &Signer,
    ) -> Result<RecordState<Self>> {
        let path = file_name(folder, id, extension);
        let file = match open_existing(disk::open_to_write(&path), &path)? {
            RecordState::Own(file) => file,
            RecordState::Nothing => return Ok(RecordState::Nothing),
            RecordState::Torn | RecordState::Foreign => return Ok(RecordState::Foreign),
        };
        let text = read_all(&file, &path)?;
        let (header, start) = match parse_head(&text, id, signer) {
            RecordState::Own(head) => head,
            RecordState::Nothing | RecordState::Torn => return Ok(RecordState::Torn),
            RecordState::Foreign => return Ok(RecordState::Foreign),
        };
        let Some((said, marks_at)) = parse_body(header, &text, start) else {
            return Ok(RecordState::Torn);
        };
        let bytes = &text[start..marks_at];
        if said.header.sha256 != hexadecimal(&Sha256::digest(bytes)) {
            return Ok(RecordState::Torn);
        }
        Ok(RecordState::Own(Self {
            id,
            header: said.header,
            changes: said.changes,
            progress: OperationProgress {
                marks: said.marks,
                is_backward: said.is_backward,
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
    extension: &str,
    signer: &Signer,
) -> Result<RecordState<(Header, Vec<Mark>)>> {
    let path = file_name(folder, id, extension);
    let mut file = match open_existing(disk::open_to_read(&path), &path)? {
        RecordState::Own(file) => BufReader::new(file),
        RecordState::Nothing => return Ok(RecordState::Nothing),
        RecordState::Torn | RecordState::Foreign => return Ok(RecordState::Foreign),
    };
    let mut text = Vec::new();
    for most in [MAX_HEADER, signature::DIGITS as u64 + 1] {
        file.by_ref()
            .take(most)
            .read_until(b'\n', &mut text)
            .at("read", &path)?;
    }
    let (header, start) = match parse_head(&text, id, signer) {
        RecordState::Own(head) => head,
        RecordState::Nothing | RecordState::Torn => return Ok(RecordState::Torn),
        RecordState::Foreign => return Ok(RecordState::Foreign),
    };
    let marks_at = (start as u64).saturating_add(header.length_of_bytes());
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(
        marks_at.min(format::MAX_BYTES + 2 * MAX_HEADER),
    ))
    .at("read", &path)?;
    file.take(MAX_HEADER)
        .read_to_end(&mut tail)
        .at("read", &path)?;
    Ok(match format::read_marks(&tail, header.changes.len()) {
        Some((_, marks)) => RecordState::Own((header, marks)),
        None => RecordState::Torn,
    })
}

/// Reads a record that may be foreign; returns `None` if it is not a complete record of any format.
pub(crate) fn read_unverified(path: &Path) -> Result<Option<Unverified>> {
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
    let signature = if header.is_signed() {
        signature::DIGITS + 1
    } else {
        0
    };
    let body = parse_body(header, &text, end + 1 + signature);
    Ok(body.map(|(said, _)| said))
}

/// Returns the header of a record of this user's, and where its bytes begin.
fn parse_head(text: &[u8], id: u64, signer: &Signer) -> RecordState<(Header, usize)> {
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return RecordState::Torn;
    };
    let Some(header) = Header::parse(&text[..end]).filter(Header::is_signed) else {
        return RecordState::Foreign;
    };
    let start = end + 1 + signature::DIGITS + 1;
    let Some((b'\n', signature)) = text.get(end + 1..start).and_then(|line| line.split_last())
    else {
        return RecordState::Torn;
    };
    let is_own = signer.existing().is_some_and(|key| {
        let parts = [&text[..end]];
        key.has_signed(SignatureKind::Record, &id.to_string(), &parts, signature)
    });
    if is_own {
        RecordState::Own((header, start))
    } else {
        RecordState::Foreign
    }
}

/// Returns what follows the head, and where the marks begin.
fn parse_body(header: Header, text: &[u8], start: usize) -> Option<(Unverified, usize)> {
    let (changes, marks_at) = format::read_bytes(&header, text, start)?;
    let (is_backward, marks) = format::read_marks(text.get(marks_at..)?, changes.len())?;
    let said = Unverified {
        header,
        changes,
        marks,
        is_backward,
    };
    Some((said, marks_at))
}

fn read_all(file: &File, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(format::MAX_BYTES + 2 * MAX_HEADER)
        .read_to_end(&mut text)
        .at("read", path)?;
    Ok(text)
}

/// Judges a record that was opened; a link or a pipe in its place, which a repository can bring, is foreign.
fn open_existing(opened: io::Result<File>, path: &Path) -> Result<RecordState<File>> {
    match opened {
        Ok(file) => Ok(RecordState::Own(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(RecordState::Nothing),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::IsADirectory
            ) =>
        {
            Ok(RecordState::Foreign)
        }
        Err(error) => Err(error).at("open", path),
    }
}
