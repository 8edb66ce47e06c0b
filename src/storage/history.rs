//! Lists past operations, newest first, and reverts them.

use std::collections::BTreeSet;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

use serde::Serialize;

use crate::error::{At, Error, Result};
use crate::storage::change::Change;
use crate::storage::changes::Changes;
use crate::storage::folder::StoreFolder;
use crate::storage::format::{Header, Mark};
use crate::storage::lock::Store;
use crate::storage::record::{Record, RecordFile, RecordState, UnverifiedRecord};
use crate::storage::signature::Signer;
use crate::storage::stat::PathKind;
use crate::storage::{diff, disk, folder, foreign, listing, lock, read, record};
use crate::warning::{Parsed, Warning};

/// Maximum number of operations kept.
const MAX_OPERATIONS: usize = 200;

/// Maximum total size of the records, in bytes; the newest record is kept even if it is larger.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum operation number; a file with a greater one is not ours.
const MAX_ID: u64 = u64::MAX / 2;

const NOT_WHOLE: &str = "is an incomplete record";

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
    pub(crate) fn new(folder: StoreFolder, root: PathBuf, signer: Signer) -> Self {
        Self { folder, root, signer }
    }

    /// Returns the operations, newest first; all records that are not this user's become one warning.
    pub fn list(&self) -> Result<Parsed<Vec<Operation>>> {
        let mut list = Parsed::clean(Vec::new());
        let mut foreign = Vec::new();
        for id in self.ids(RecordFile::Done)?.into_iter().rev() {
            match self.outline(id, RecordFile::Done)? {
                RecordState::Own((header, marks)) => {
                    list.value.push(operation(id, &header, &marks));
                }
                RecordState::Missing => {}
                RecordState::Foreign => foreign.push(id),
                RecordState::Incomplete => {
                    let path = self.path(id, RecordFile::Done);
                    list.warnings.push(Warning::file(&path, NOT_WHOLE));
                }
            }
        }
        if let (Some(newest), Some(oldest)) = (foreign.first(), foreign.last()) {
            let count = foreign.len();
            list.warnings.push(Warning::file(
                &self.folder.history(),
                format!(
                    "{count} records, {oldest} to {newest}, are not yours and not listed; `annals log --adopt ID` shows one and signs it"
                ),
            ));
        }
        Ok(list)
    }

    /// Returns an operation, or the last one.
    pub fn find(&self, id: Option<OperationId>) -> Result<Operation> {
        if let Some(OperationId(id)) = id {
            return self.operation(id);
        }
        for id in self.ids(RecordFile::Done)?.into_iter().rev() {
            if let RecordState::Own((header, marks)) = self.outline(id, RecordFile::Done)? {
                return Ok(operation(id, &header, &marks));
            }
        }
        Err(Error::not_found("nothing to undo"))
    }

    /// Returns the operation and the diff of a record that is not this user's, to be shown.
    pub fn unverified(&self, id: OperationId) -> Result<(Operation, String)> {
        let (_, record) = self.unverified_record(id.0)?;
        let operation = operation(id.0, &record.header, &record.marks);
        Ok((operation, diff::unified(&record.changes, Path::new(""))))
    }

    /// Signs a record that is not this user's, so that it counts as their own; returns its number.
    ///
    /// If its operation was interrupted, the next transaction completes it.
    pub fn adopt(&self, id: OperationId) -> Result<OperationId> {
        let (path, record) = self.unverified_record(id.0)?;
        let is_done = path.extension().is_some_and(|found| found == RecordFile::Done.extension());
        let key = self.signer.key()?;
        if path.parent() == Some(&self.folder.history()) {
            // Its number is in use until the file is moved.
            foreign::set_aside(&self.folder, std::slice::from_ref(&path))?;
        }
        let adopted = Record::write(&self.folder.history(), id.0, key, record)?;
        let id = adopted.id;
        if is_done {
            let pending = adopted.path();
            disk::rename(pending, &pending.with_extension(RecordFile::Done.extension()))
                .at("close", pending)?;
        }
        let aside = self.folder.unverified().join(path.file_name().unwrap_or_default());
        disk::remove_file(&aside).at("remove", &aside)?;
        Ok(OperationId(id))
    }

    /// Returns the path and the content of a record that is not this user's.
    fn unverified_record(&self, id: u64) -> Result<(PathBuf, UnverifiedRecord)> {
        for folder in [self.folder.unverified(), self.folder.history()] {
            for file in [RecordFile::Done, RecordFile::Pending] {
                let path = record::file_path(&folder, id, file);
                let is_in_history = folder == self.folder.history();
                if is_in_history && !matches!(self.outline(id, file)?, RecordState::Foreign) {
                    continue;
                }
                if let Some(record) = record::read_unverified(&path)? {
                    return Ok((path, record));
                }
            }
        }
        Err(Error::not_found(format!("there is no unsigned record {id}")))
    }

    /// Deletes an operation's record, so that it can no longer be undone.
    ///
    /// The changes of an interrupted operation stay half done.
    pub fn forget(&self, id: OperationId) -> Result<()> {
        let done = self.path(id.0, RecordFile::Done);
        if !self.is_own_folder() {
            return Err(unknown(id.0));
        }
        if done.symlink_metadata().is_ok() {
            return disk::remove_file(&done).at("remove", &done);
        }
        let pending = self.path(id.0, RecordFile::Pending);
        if pending.symlink_metadata().is_err() {
            return Err(unknown(id.0));
        }
        if !lock::are_free(&self.folder.locks(), &Store::ALL.into())? {
            return Err(Error::failed("belongs to an operation in progress").at(&pending, None));
        }
        disk::remove_file(&pending).at("remove", &pending)
    }

    /// Deletes every record of an operation, including foreign ones set aside; returns their number.
    pub(crate) fn erase(&self, operation: &str) -> Result<usize> {
        let mut erased = 0;
        if !self.is_own_folder() {
            return Ok(erased);
        }
        for folder in [self.folder.history(), self.folder.unverified()] {
            for (name, kind) in listing::entries(&folder).at("list", &folder)? {
                let path = folder.join(name);
                if kind != PathKind::File {
                    continue;
                }
                let record = record::read_unverified(&path)?;
                if record.is_some_and(|record| record.header.operation == operation) {
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
        let folder = self.folder.history();
        let record = match Record::open(&folder, id.0, RecordFile::Done, &self.signer)? {
            RecordState::Own(record) => record,
            other => return Err(self.missing(id.0, &other)),
        };
        let mut changes = Changes::new();
        for (change, mark) in record.changes.iter().zip(record.progress.marks()).rev() {
            if *mark != Mark::Applied || is_generated(&self.root.join(change.path())) {
                continue;
            }
            let absolute = |path: &Path| Ok(self.root.join(path));
            changes.revert(change.clone().with_paths(absolute)?)?;
        }
        Ok(changes)
    }

    /// Returns the newest content that an operation wrote to a file of the project and `is_wanted` accepts.
    pub(crate) fn find_written(
        &self,
        path: &Path,
        mut is_wanted: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>> {
        let Ok(named) = path.strip_prefix(&self.root) else {
            return Ok(None);
        };
        for id in self.ids(RecordFile::Done)?.into_iter().rev() {
            let RecordState::Own((header, _)) = self.outline(id, RecordFile::Done)? else {
                continue;
            };
            if header.changes.iter().all(|change| change.path() != named) {
                continue;
            }
            let folder = self.folder.history();
            let RecordState::Own(record) =
                Record::open(&folder, id, RecordFile::Done, &self.signer)?
            else {
                continue;
            };
            for change in record.changes.into_iter().rev() {
                if let Change::Write { path, new: Some(bytes), .. } = change
                    && path == named
                    && is_wanted(&bytes)
                {
                    return Ok(Some(bytes));
                }
            }
        }
        Ok(None)
    }

    /// Returns the numbers of the records of a kind, the oldest first.
    pub(crate) fn ids(&self, file: RecordFile) -> Result<Vec<u64>> {
        let folder = self.folder.history();
        if !self.is_own_folder() {
            return Ok(Vec::new());
        }
        let entries = match fs::read_dir(&folder) {
            Err(error) if read::is_absent(&error) => return Ok(Vec::new()),
            entries => entries.at("list", &folder)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.at("list", &folder)?.file_name();
            let name = Path::new(&name);
            if name.extension().is_some_and(|found| found == file.extension())
                && let Some(id) = name.file_stem().and_then(|stem| id(stem.to_str()?))
            {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Deletes the oldest records beyond the limits.
    pub(crate) fn prune(&self) -> Result<()> {
        let mut kept = 0;
        let mut bytes = 0;
        for id in self.ids(RecordFile::Done)?.into_iter().rev() {
            let path = self.path(id, RecordFile::Done);
            // Another process may have deleted it since it was listed.
            bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            kept += 1;
            if kept > MAX_OPERATIONS || (bytes > MAX_BYTES && kept > 1) {
                disk::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(())
    }

    /// Returns the number after this user's newest record, and the foreign records with greater numbers.
    ///
    /// Numbers only increase, so records older than our newest one are not checked. Foreign records do not
    /// count, because a repository could contain one with the maximum number.
    pub(crate) fn next_id(&self) -> Result<(u64, Vec<PathBuf>)> {
        let mut foreign = Vec::new();
        let mut last = 0;
        for id in self.ids(RecordFile::Pending)? {
            if matches!(self.outline(id, RecordFile::Pending)?, RecordState::Own(_)) {
                last = id;
            }
        }
        for id in self.ids(RecordFile::Done)?.into_iter().rev() {
            match self.outline(id, RecordFile::Done)? {
                RecordState::Foreign => foreign.push(self.path(id, RecordFile::Done)),
                RecordState::Own(_) => {
                    last = last.max(id);
                    break;
                }
                // Removed by another process since it was listed, or incomplete.
                RecordState::Missing | RecordState::Incomplete => {}
            }
        }
        foreign.reverse();
        Ok((last + 1, foreign))
    }

    fn operation(&self, id: u64) -> Result<Operation> {
        match self.outline(id, RecordFile::Done)? {
            RecordState::Own((header, marks)) => Ok(operation(id, &header, &marks)),
            other => Err(self.missing(id, &other)),
        }
    }

    pub(crate) fn outline(
        &self,
        id: u64,
        file: RecordFile,
    ) -> Result<RecordState<(Header, Vec<Mark>)>> {
        record::read_outline(&self.folder.history(), id, file, &self.signer)
    }

    fn missing<T>(&self, id: u64, found: &RecordState<T>) -> Error {
        let path = self.path(id, RecordFile::Done);
        match found {
            RecordState::Incomplete => Error::failed(NOT_WHOLE).at(&path, None),
            RecordState::Foreign => {
                Error::refused("is not a record that you wrote on this machine")
                    .at(&path, None)
                    .hint(format!("`annals log --adopt {id}` shows it and signs it"))
            }
            RecordState::Missing | RecordState::Own(_) => unknown(id),
        }
    }

    /// Returns whether the folder is not a link, which could lead to the records of another project.
    fn is_own_folder(&self) -> bool {
        let history = fs::symlink_metadata(self.folder.history());
        self.folder.is_own() && history.is_ok_and(|found| found.is_dir())
    }

    fn path(&self, id: u64, file: RecordFile) -> PathBuf {
        record::file_path(&self.folder.history(), id, file)
    }
}

/// Parses the number in a record's file name; only accepts the form that we write.
fn id(stem: &str) -> Option<u64> {
    let id: u64 = stem.parse().ok()?;
    (id <= MAX_ID && id.to_string() == stem).then_some(id)
}

/// Returns the operation that a record's header describes.
pub(crate) fn operation(id: u64, header: &Header, marks: &[Mark]) -> Operation {
    let stores: BTreeSet<Store> = header.stores.iter().copied().collect();
    let all = header.changes.iter().enumerate();
    Operation {
        id: OperationId(id),
        operation: header.operation.clone(),
        time: header.time.clone(),
        stores: stores.into_iter().collect(),
        files: all.filter_map(|(index, change)| file_change(change, marks.get(index))).collect(),
    }
}

fn file_change(change: &Change<u64>, mark: Option<&Mark>) -> Option<FileChange> {
    let happened = match change {
        // Our own files are not files of the project.
        _ if change.path().starts_with(folder::NAME) => return None,
        _ if mark == Some(&Mark::LeftAlone) => ChangeKind::LeftAlone,
        Change::Write { old: None, .. } => ChangeKind::Created,
        Change::Write { new: None, .. } => ChangeKind::Deleted,
        Change::Write { .. } => ChangeKind::Edited,
        Change::Append { .. } => ChangeKind::Appended,
        Change::Move { .. } => ChangeKind::Moved,
        Change::CreateDirectory { .. } | Change::RemoveDirectory { .. } => return None,
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
