//! The record of one operation, written before its first change; the basis for recovery and undo.
//!
//! It is the file `<id>.pending` in `.annals/history/` until the operation is done, and `<id>.record` after
//! that. `format.rs` describes its content and `signature.rs` its signature: a record that this user did not
//! sign is never executed. The operation of an incomplete pending file never began, because no change is
//! applied before its record is completely on disk.

mod reading;

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) use reading::{RecordState, read_outline, read_unverified};
use sha2::{Digest, Sha256};

use crate::error::{At, Result};
use crate::storage::change::Change;
use crate::storage::format::{Header, Mark};
use crate::storage::signature::{SignatureKind, SigningKey};
use crate::storage::{disk, format};
use crate::text::hexadecimal;

/// The file of a record, by the state of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordFile {
    /// The operation is done.
    Done,
    /// The operation is in progress or was interrupted.
    Pending,
}

impl RecordFile {
    /// Returns the extension of the file's name.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Done => "record",
            Self::Pending => "pending",
        }
    }
}

/// The progress of the changes of an operation, on disk and in memory.
#[derive(Debug)]
pub(crate) struct OperationProgress {
    marks: Vec<Mark>,
    is_backward: bool,
    path: PathBuf,
    file: File,
    marks_at: u64,
}

impl OperationProgress {
    /// Returns the progress of each change.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Returns whether the operation is being reverted.
    pub(crate) fn is_backward(&self) -> bool {
        self.is_backward
    }

    /// Stores the progress of a change.
    pub(crate) fn mark(&mut self, index: usize, mark: Mark) -> Result<()> {
        disk::write_at(&self.file, self.marks_at + 1 + index as u64, &[mark.byte()])
            .at("write", &self.path)?;
        self.marks[index] = mark;
        Ok(())
    }

    /// Stores that the operation is being reverted.
    pub(crate) fn mark_backward(&mut self) -> Result<()> {
        disk::write_at(&self.file, self.marks_at, &[format::BACKWARD]).at("write", &self.path)?;
        self.is_backward = true;
        Ok(())
    }
}

/// A complete record, with its path.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: u64,
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change<Vec<u8>>>,
    pub(crate) progress: OperationProgress,
}

/// The content of a record that may be foreign: it may be shown, but not executed.
#[derive(Debug)]
pub(crate) struct UnverifiedRecord {
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change<Vec<u8>>>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) is_backward: bool,
}

impl Record {
    /// Writes the record of an operation that is about to begin, with the first free id from `id` on.
    pub(crate) fn create(
        folder: &Path,
        id: u64,
        key: &SigningKey,
        header: Header,
        changes: Vec<Change<Vec<u8>>>,
    ) -> Result<Self> {
        let marks = vec![Mark::Waiting; changes.len()];
        let record = UnverifiedRecord { header, changes, marks, is_backward: false };
        Self::write(folder, id, key, record)
    }

    /// Writes and signs a pending record, with the first free id from `id` on.
    pub(crate) fn write(
        folder: &Path,
        id: u64,
        key: &SigningKey,
        record: UnverifiedRecord,
    ) -> Result<Self> {
        let UnverifiedRecord { mut header, changes, marks, is_backward } = record;
        let lengths = |bytes: Vec<u8>| Some(bytes.len() as u64);
        let bytes = format::bytes(&changes)?;
        header.format = format::FORMAT;
        header.sha256 = hexadecimal(&Sha256::digest(&bytes));
        header.changes =
            changes.iter().filter_map(|change| change.clone().with_bytes(lengths)).collect();
        let (id, path, file) = reserve(folder, id)?;
        let mut text = header.line()?;
        let signature = key.sign(SignatureKind::Record, &id.to_string(), &[&text])?;
        text.push(b'\n');
        text.extend(signature.as_bytes());
        text.push(b'\n');
        text.extend(bytes);
        let marks_at = text.len() as u64;
        text.extend(format::marks(is_backward, &marks));
        let written = disk::write(&file, &text).and_then(|()| disk::sync(&file));
        if let Err(error) = written {
            disk::remove_file(&path).at("remove", &path)?;
            return Err(error).at("record the operation in", &path);
        }
        Ok(Self {
            id,
            header,
            changes,
            progress: OperationProgress { marks, is_backward, path, file, marks_at },
        })
    }

    /// Returns the path of the record.
    pub(crate) fn path(&self) -> &Path {
        &self.progress.path
    }

    /// Ends the operation: the record is renamed to stay in the history, or deleted if it must not be kept.
    pub(crate) fn close(self) -> Result<()> {
        let path = &self.progress.path;
        if self.header.keep && !self.progress.is_backward {
            disk::rename(path, &path.with_extension(RecordFile::Done.extension())).at("close", path)
        } else {
            disk::remove_file(path).at("remove", path)
        }
    }

    /// Returns the name of the temporary file of a change, which identifies its operation after a crash.
    pub(crate) fn temporary_name(&self, index: usize) -> String {
        temporary_name(self.id, self.header.pid, index)
    }
}

/// Returns the name of a temporary file; the id is 0 if there is no record.
pub(crate) fn temporary_name(id: u64, pid: u32, index: usize) -> String {
    format!(".annals-{id}-{pid}-{index}.tmp")
}

/// Returns the path of a record.
pub(crate) fn file_path(folder: &Path, id: u64, file: RecordFile) -> PathBuf {
    folder.join(format!("{id}.{}", file.extension()))
}

/// Creates the pending file with an id that no other process uses or has used.
fn reserve(folder: &Path, mut id: u64) -> Result<(u64, PathBuf, File)> {
    loop {
        let path = file_path(folder, id, RecordFile::Pending);
        match disk::create_new(&path) {
            Ok(file)
                if path
                    .with_extension(RecordFile::Done.extension())
                    .symlink_metadata()
                    .is_err() =>
            {
                return Ok((id, path, file));
            }
            // Another process has used this id since the folder was listed.
            Ok(_) => disk::remove_file(&path).at("remove", &path)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).at("record the operation in", &path),
        }
        id += 1;
    }
}

#[cfg(test)]
mod tests;
