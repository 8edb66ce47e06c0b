//! Lists past operations, newest first, and reverts them.

use std::io::{BufRead, BufReader, Read};
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{At, Error, Result};
use crate::storage::changes::{Change, Changes};
use crate::storage::disk::{Access, Create};
use crate::storage::folder::StoreFolder;
use crate::storage::lock::Store;
use crate::storage::record::{APPLIED, DONE, LEFT_ALONE, PENDING, Record, RecordState};
use crate::storage::signature::Signer;
use crate::storage::stat::PathKind;
use crate::storage::transaction::WriteRequest;
use crate::storage::{disk, listing, lock, record, root};
use crate::text::quantity;
use crate::warning::{Parsed, Warning};

/// Maximum number of operations kept.
const MAX_OPERATIONS: usize = 200;

/// Maximum total size of the records, in bytes; the newest record is kept even if it is larger.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum operation number; a file with a greater one is not ours.
const MAX_ID: u64 = u64::MAX / 2;

/// Maximum length of the start of a file that tells whether it is a record of an operation.
const MAX_HEAD: u64 = 16 * 1024 * 1024;

/// The number of an operation; a later operation has a greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct OperationId(pub(crate) u64);

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OperationId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was created.
    Created,
    /// Its content was changed.
    Edited,
    /// Lines were appended, which `undo` does not remove.
    Appended,
    /// It was moved, with its content.
    Moved,
    /// It was deleted.
    Deleted,
    /// It was not changed, because its content was not as expected.
    LeftAlone,
}

impl ChangeKind {
    /// Returns the word for it, as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Edited => "edited",
            Self::Appended => "appended to",
            Self::Moved => "moved",
            Self::Deleted => "deleted",
            Self::LeftAlone => "left alone",
        }
    }
}

/// A file changed by an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The file, relative to the project.
    pub path: PathBuf,
    /// The kind of change.
    pub happened: ChangeKind,
    /// Its previous path; only present if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
}

/// An operation of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Its number, which `undo` takes.
    pub id: OperationId,
    /// The command that was run.
    pub operation: String,
    /// When it began, as RFC 3339.
    pub time: String,
    /// The stores it wrote to.
    pub stores: Vec<Store>,
    /// The files it changed, in order.
    pub files: Vec<FileChange>,
}

/// The past operations of one project, as far back as records are kept.
#[derive(Clone, Debug)]
pub struct History {
    folder: StoreFolder,
    root: PathBuf,
    signer: Signer,
}

impl History {
    pub(crate) fn new(folder: StoreFolder, root: &Path, signer: Signer) -> Self {
        let root = root::real_path(root).unwrap_or_else(|_| root.to_owned());
        Self { folder, root, signer }
    }

    /// Returns the operations, newest first; the records that are not this user's become one warning.
    pub fn list(&self) -> Result<Parsed<Vec<Operation>>> {
        let mut list = Parsed::clean(Vec::new());
        let mut others = 0;
        let mut bytes = 0;
        for id in self.ids(DONE)?.into_iter().rev() {
            bytes += fs::metadata(self.path(id, DONE)).map_or(0, |metadata| metadata.len());
            // More than this is not ours, since older records are deleted.
            if bytes > 2 * MAX_BYTES && !list.value.is_empty() {
                break;
            }
            match self.read(id, DONE)? {
                RecordState::Own(record, marks) if record.keep => {
                    list.value.push(operation(&record, &marks));
                }
                RecordState::Missing | RecordState::Own(..) => {}
                _ => others += 1,
            }
        }
        if others > 0 {
            let what = quantity(others, "file");
            let message = format!("{what} not written by you with this version, so not listed");
            list.warnings.push(Warning::file(&self.folder.history(), message));
        }
        Ok(list)
    }

    /// Returns an operation, or the last one.
    pub fn find(&self, id: Option<OperationId>) -> Result<Operation> {
        if let Some(OperationId(id)) = id {
            return self.own(id).map(|(record, marks)| operation(&record, &marks));
        }
        for id in self.ids(DONE)?.into_iter().rev() {
            if let Ok((record, marks)) = self.own(id) {
                return Ok(operation(&record, &marks));
            }
        }
        Err(Error::not_found("nothing to undo"))
    }

    /// Deletes an operation's record, so that it can no longer be undone.
    ///
    /// The changes of an interrupted operation stay half done.
    pub fn forget(&self, id: OperationId) -> Result<()> {
        let done = self.path(id.0, DONE);
        if !self.folder.has_history() {
            return Err(unknown(id.0));
        }
        if done.symlink_metadata().is_ok() {
            return disk::remove_file(&done).at("remove", &done);
        }
        let pending = self.path(id.0, PENDING);
        if pending.symlink_metadata().is_err() {
            return Err(unknown(id.0));
        }
        if !lock::are_free(&self.folder.locks())? {
            return Err(Error::failed("belongs to an operation in progress").at(&pending, None));
        }
        disk::remove_file(&pending).at("remove", &pending)
    }

    /// Deletes every record of an operation, whoever wrote it; returns their number.
    pub(crate) fn erase(&self, operation: &str) -> Result<usize> {
        /// What the first line of a record of any version has.
        #[derive(Deserialize)]
        struct Head {
            operation: String,
        }

        let mut erased = 0;
        if !self.folder.has_history() {
            return Ok(erased);
        }
        // Version 0.2 moved the records of other users to a folder of their own.
        for folder in [self.folder.history(), self.folder.history().join("unverified")] {
            for (name, kind) in listing::entries(&folder).at("list", &folder)? {
                let path = folder.join(name);
                if kind != PathKind::File {
                    continue;
                }
                let mut line = Vec::new();
                let file = disk::open(&path, Access::Read, Create::Never).at("open", &path)?;
                BufReader::new(file.take(MAX_HEAD))
                    .read_until(b'\n', &mut line)
                    .at("read", &path)?;
                let head = serde_json::from_slice::<Head>(&line);
                if head.is_ok_and(|head| head.operation == operation) {
                    disk::remove_file(&path).at("remove", &path)?;
                    erased += 1;
                }
            }
        }
        Ok(erased)
    }

    /// Returns the changes that revert an operation, restoring the exact earlier bytes.
    ///
    /// Refused if a file has changed since the operation. Files for which `is_generated` returns true are left
    /// out, because the caller generates them again. Must be called inside the transaction that applies the
    /// changes, with the locks of [`Operation::stores`].
    pub fn undo(&self, id: OperationId, is_generated: impl Fn(&Path) -> bool) -> Result<Changes> {
        let (record, marks) = self.own(id.0)?;
        let mut changes = Changes::new();
        for (change, mark) in record.changes.into_iter().zip(&marks[1..]).rev() {
            if *mark != APPLIED || is_generated(&self.root.join(change.path())) {
                continue;
            }
            changes.revert(change.with_paths(|path| Ok(self.root.join(path)))?)?;
        }
        Ok(changes)
    }

    /// Returns the newest content that an operation wrote to a file of the project and `is_wanted` accepts.
    pub(crate) fn find_written(
        &self,
        path: &Path,
        mut is_wanted: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>> {
        let path = root::real_path(path)?;
        for id in self.ids(DONE)?.into_iter().rev() {
            let Ok((record, _)) = self.own(id) else {
                continue;
            };
            for change in record.changes.into_iter().rev() {
                if let Change::Write { path: written, new: Some(bytes), .. } = change
                    && self.root.join(written) == path
                    && is_wanted(&bytes)
                {
                    return Ok(Some(bytes));
                }
            }
        }
        Ok(None)
    }

    /// Returns the answer to a request, if it has been executed; refused if that was another command.
    pub(crate) fn answer(&self, request: &WriteRequest) -> Result<Option<Value>> {
        for id in self.ids(DONE)?.into_iter().rev() {
            let RecordState::Own(record, _) = self.read(id, DONE)? else {
                continue;
            };
            let Some(answered) = record.request.filter(|answered| answered.id == request.id) else {
                continue;
            };
            if answered.command != request.command {
                let (id, command) = (&request.id, answered.command);
                let message = format!("the request id `{id}` was used for `{command}`");
                return Err(Error::refused(message).hint("use a new id for each write"));
            }
            return Ok(Some(answered.answer));
        }
        Ok(None)
    }

    /// Returns the numbers of the records with an ending, the oldest first.
    pub(crate) fn ids(&self, ending: &str) -> Result<Vec<u64>> {
        let files = self.files()?.into_iter();
        Ok(files.filter(|(_, found)| *found == ending).map(|(id, _)| id).collect())
    }

    /// Returns the numbers and the endings of all records, the oldest first.
    fn files(&self) -> Result<Vec<(u64, &'static str)>> {
        let folder = self.folder.history();
        if !self.folder.has_history() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for (name, _) in listing::entries(&folder).at("list", &folder)? {
            let Some((stem, ending)) = name.split_once('.') else {
                continue;
            };
            let ending = [DONE, PENDING].into_iter().find(|known| *known == ending);
            files.extend(id(stem).zip(ending));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Deletes the oldest records beyond the limits, after one of this length was added.
    pub(crate) fn prune(&self, added: u64) -> Result<()> {
        let ids = self.ids(DONE)?;
        let mut bytes = 0;
        for (kept, id) in ids.into_iter().rev().enumerate() {
            let path = self.path(id, DONE);
            // Records of an average length do not exceed the limit.
            if added > MAX_BYTES / MAX_OPERATIONS as u64 {
                // Another process may have deleted it since it was listed.
                bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            }
            if kept >= MAX_OPERATIONS || (bytes > MAX_BYTES && kept > 0) {
                disk::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(())
    }

    /// Returns the number after this user's newest record.
    ///
    /// Foreign records do not count, because a repository could contain one with the maximum number.
    pub(crate) fn next_id(&self) -> Result<u64> {
        for (id, ending) in self.files()?.into_iter().rev() {
            let state = self.read(id, ending)?;
            if matches!(state, RecordState::Own(..) | RecordState::OtherVersion(_)) {
                return Ok(id + 1);
            }
        }
        Ok(1)
    }

    /// Returns a record of this user that can be undone.
    fn own(&self, id: u64) -> Result<(Record, Vec<u8>)> {
        match self.read(id, DONE)? {
            RecordState::Own(record, marks) if record.keep => Ok((record, marks)),
            RecordState::Missing | RecordState::Own(..) => Err(unknown(id)),
            RecordState::OtherVersion(_) => Err(Error::refused("was written by another version")
                .at(&self.path(id, DONE), None)
                .hint("undo it with that version")),
            RecordState::Foreign | RecordState::Incomplete => {
                Err(Error::refused("is not a record that you wrote on this machine")
                    .at(&self.path(id, DONE), None))
            }
        }
    }

    pub(crate) fn read(&self, id: u64, ending: &str) -> Result<RecordState> {
        record::read(&self.path(id, ending), id, &self.signer)
    }

    pub(crate) fn path(&self, id: u64, ending: &str) -> PathBuf {
        record::file_path(&self.folder.history(), id, ending)
    }
}

/// Parses the number in a record's file name; only accepts the form that we write.
fn id(stem: &str) -> Option<u64> {
    let id: u64 = stem.parse().ok()?;
    (id <= MAX_ID && id.to_string() == stem).then_some(id)
}

/// Returns the operation that a record describes; the marks begin with the direction.
pub(crate) fn operation(record: &Record, marks: &[u8]) -> Operation {
    let all = record.changes.iter().zip(&marks[1..]);
    Operation {
        id: OperationId(record.id),
        operation: record.operation.clone(),
        time: record.time.clone(),
        stores: record.stores.clone(),
        files: all.filter_map(|(change, mark)| file_change(change, *mark)).collect(),
    }
}

fn file_change(change: &Change, mark: u8) -> Option<FileChange> {
    let happened = match change {
        _ if change.is_directory_change() => return None,
        _ if mark == LEFT_ALONE => ChangeKind::LeftAlone,
        Change::Write { old: None, .. } => ChangeKind::Created,
        Change::Write { new: None, .. } => ChangeKind::Deleted,
        Change::Append { .. } => ChangeKind::Appended,
        Change::Move { .. } => ChangeKind::Moved,
        _ => ChangeKind::Edited,
    };
    Some(FileChange {
        path: change.path().to_owned(),
        happened,
        from: change.source().map(Path::to_owned),
    })
}

fn unknown(id: u64) -> Error {
    Error::not_found(format!("there is no operation {id}"))
        .hint("`annals log` lists the operations that can be undone")
}
