//! Lists past operations, newest first, and reverts them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::error::{At, Error, Result};
use crate::storage::changes::{Change, Changes, changed_since};
use crate::storage::lock::Store;
use crate::storage::record::{APPLIED, DONE, LEFT_ALONE, PENDING, Record, RecordState, WAITING};
use crate::storage::{Storage, boundary, disk, listing, lock, record};
use crate::text::quantity;
use crate::warning::{Parsed, Warning};

/// Maximum number of operations kept.
const MAX_OPERATIONS: usize = 200;

/// Maximum total size of the records, in bytes; the newest record is kept even if it is larger.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum operation number; a file with a greater one is not ours.
const MAX_ID: u64 = u64::MAX / 2;

/// The number of an operation; a later operation has a greater one.
pub type OperationId = u64;

/// The number and the ending of a record's file.
pub(crate) type RecordFile = (u64, &'static str);

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

/// A file changed by an operation.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
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
    pub(crate) storage: Storage,
}

impl History {
    /// Returns the operations, newest first; the records that are not this user's become one warning.
    pub fn list(&self) -> Result<Parsed<Vec<Operation>>> {
        let mut list = Parsed::clean(Vec::new());
        let mut others = 0;
        for state in self.records()? {
            match state? {
                RecordState::Own(record) if record.keep => list.value.push(operation(record)),
                RecordState::Missing | RecordState::Own(..) => {}
                _ => others += 1,
            }
        }
        if others > 0 {
            let message = format!("{}, so not listed", not_ours(others));
            list.warnings.push(Warning::file(&self.storage.records(), message));
        }
        Ok(list)
    }

    /// Returns an operation, or the last one.
    pub fn find(&self, id: Option<OperationId>) -> Result<Operation> {
        self.own(id).map(operation)
    }

    /// Returns the operation that undid another one, unless it was undone itself.
    pub fn undoing(&self, id: OperationId) -> Result<Option<OperationId>> {
        Ok(undoing(&self.list()?.value, id))
    }

    /// Deletes an operation's record, so that it can no longer be undone.
    ///
    /// The changes of an interrupted operation stay half done.
    pub fn forget(&self, id: OperationId) -> Result<()> {
        let files = self.files()?;
        let Some((_, ending)) = files.iter().rfind(|(found, _)| *found == id) else {
            return Err(unknown(id));
        };
        let path = self.path(id, ending);
        if *ending == PENDING && !lock::are_free(&self.storage.locks())? {
            return Err(Error::failed("belongs to an operation in progress").about(&path));
        }
        disk::remove_file(&path).at("remove", &path)
    }

    /// Returns the changes that revert an operation, restoring the exact earlier bytes.
    ///
    /// Refused if a file has changed since the operation, or if all that it would have changed was left alone. Files for
    /// which `is_generated` returns true are left out, because the caller generates them again. Must be called inside
    /// the transaction that applies the changes, with the locks of [`Operation::stores`].
    pub fn undo(&self, id: OperationId, is_generated: impl Fn(&Path) -> bool) -> Result<Changes> {
        let Record { changes: list, marks, .. } = self.own(Some(id))?;
        let root = self.root();
        let mut changes = Changes::new();
        let (mut left, mut is_restored) = (None, false);
        for (change, mark) in list.into_iter().zip(&marks[1..]).rev() {
            let change = change.with_paths(|path| Ok(root.join(path)))?;
            if is_generated(change.path()) {
                continue;
            }
            let mark = if *mark == WAITING { changes.completed(&change)? } else { *mark };
            if mark == LEFT_ALONE {
                left = Some(change.path().to_owned());
                continue;
            }
            is_restored |= !change.is_directory_change() && !change.is_final();
            if mark == APPLIED {
                changes.revert(change)?;
            }
        }
        match left {
            Some(path) if !is_restored => Err(changed_since(&path)),
            _ => Ok(changes),
        }
    }

    /// Returns what `find` finds in the newest content that an operation wrote to a file of the project.
    pub(crate) fn find_written<T>(
        &self,
        path: &Path,
        mut find: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let (root, path) = (self.root(), boundary::real_path(path)?);
        let mut written = self.own_records()?.flat_map(|record| record.changes.into_iter().rev());
        Ok(written.find_map(|change| match change {
            Change::Write { path: written, new, .. } if root.join(&written) == path => find(&new?),
            _ => None,
        }))
    }

    fn root(&self) -> PathBuf {
        let root = self.storage.root();
        boundary::real_path(root).unwrap_or_else(|_| root.to_owned())
    }

    /// Returns the answer to a request, if it has been executed; refused if that was another command.
    pub(crate) fn answer(&self, id: &str, command: &str) -> Result<Option<Value>> {
        let mut answers = self.own_records()?.filter_map(|record| record.request);
        match answers.find(|answered| answered.id == id) {
            Some(other) if other.command != command => {
                let message = format!("the request id `{id}` was used for `{}`", other.command);
                Err(Error::refused(message).hint("use a new id for each write"))
            }
            found => Ok(found.map(|answered| answered.answer)),
        }
    }

    /// Returns the states of the records of operations that are done, newest first.
    fn records(&self) -> Result<impl Iterator<Item = Result<RecordState>>> {
        Ok(self.states(having(self.files()?, DONE)).rev().map(|(_, state)| state))
    }

    /// Returns the states of records with their numbers.
    ///
    /// Beyond the size of a history of ours, the largest ones count as foreign and are not read: of small files, a
    /// repository needs many more to hide one of ours.
    pub(crate) fn states(
        &self,
        files: Vec<RecordFile>,
    ) -> impl DoubleEndedIterator<Item = (u64, Result<RecordState>)> {
        let length = |(id, ending): &RecordFile| {
            fs::symlink_metadata(self.path(*id, ending)).map_or(0, |found| found.len())
        };
        let mut sizes: Vec<(u64, RecordFile)> =
            files.iter().map(|file| (length(file), *file)).collect();
        sizes.sort_unstable();
        let mut bytes = 0;
        let is_beyond = |(length, _): &(u64, RecordFile)| {
            bytes += length;
            bytes > MAX_BYTES + record::MAX_BYTES
        };
        let within = sizes.iter().position(is_beyond).unwrap_or(sizes.len());
        let unread: HashSet<RecordFile> = sizes.drain(within..).map(|(_, file)| file).collect();
        files.into_iter().map(move |file| match file {
            (id, _) if unread.contains(&file) => (id, Ok(RecordState::Foreign)),
            (id, ending) => (id, self.read(id, ending)),
        })
    }

    /// Returns this user's records of operations that are done, newest first.
    fn own_records(&self) -> Result<impl Iterator<Item = Record>> {
        Ok(self.records()?.filter_map(|state| match state {
            Ok(RecordState::Own(record)) => Some(record),
            _ => None,
        }))
    }

    /// Returns the records of operations that are in progress or were interrupted, the oldest first.
    pub(crate) fn pending(&self) -> Result<Vec<RecordFile>> {
        Ok(having(self.files()?, PENDING))
    }

    /// Returns the numbers and the endings of all records, the oldest first.
    pub(crate) fn files(&self) -> Result<Vec<RecordFile>> {
        let folder = self.storage.records();
        if !self.storage.has_records() {
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

    /// Deletes the oldest of these records beyond the limits, after one with this number and length was added.
    pub(crate) fn prune(&self, files: Vec<RecordFile>, added: u64, length: u64) -> Result<()> {
        let mut bytes = length;
        // A later one is foreign, or of an operation that has just ended.
        let earlier = having(files, DONE).into_iter().rev().filter(|(id, _)| *id < added);
        for (kept, (id, _)) in earlier.enumerate() {
            let path = self.path(id, DONE);
            // Records of an average length do not exceed the limit.
            if length > MAX_BYTES / MAX_OPERATIONS as u64 {
                // Another process may have deleted it since it was listed.
                bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            }
            if kept + 1 >= MAX_OPERATIONS || bytes > MAX_BYTES {
                disk::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(())
    }

    /// Returns the number after the newest of these records that this user wrote.
    ///
    /// Foreign records do not count, because a repository could contain one with the maximum number.
    pub(crate) fn next_id(&self, files: &[RecordFile]) -> Result<u64> {
        for (id, state) in self.states(files.to_vec()).rev() {
            if is_ours(&state?) {
                return Ok(id + 1);
            }
        }
        Ok(1)
    }

    /// Returns a record of this user that can be undone, or the last one. On a dry run, an interrupted operation counts as
    /// completed.
    fn own(&self, id: Option<u64>) -> Result<Record> {
        let mut files = self.files()?;
        files.retain(|(_, ending)| *ending == DONE || self.storage.dry_run);
        let mut others = 0;
        self.states(files).rev().find_map(|(_, state)| match state {
            Ok(RecordState::Own(record))
                if record.keep && !record.is_backward() && id.is_none_or(|id| record.id == id) =>
            {
                Some(record)
            }
            Ok(RecordState::Own(..) | RecordState::Missing) | Err(_) => None,
            Ok(_) => {
                others += 1;
                None
            }
        }).ok_or_else(|| match id {
            Some(id) => unknown(id),
            None if others == 0 => Error::not_found("nothing to undo"),
            None => Error::not_found("nothing to undo").hint(format!(
                ".annals/history/ has {}; a copied project needs the file `key` of your data folder, too",
                not_ours(others)
            )),
        })
    }

    pub(crate) fn read(&self, id: u64, ending: &str) -> Result<RecordState> {
        record::read(&self.path(id, ending), id, &self.storage.signer)
    }

    pub(crate) fn path(&self, id: u64, ending: &str) -> PathBuf {
        record::file_path(&self.storage.records(), id, ending)
    }
}

/// Returns the files with an ending.
pub(crate) fn having(mut files: Vec<RecordFile>, ending: &str) -> Vec<RecordFile> {
    files.retain(|(_, found)| *found == ending);
    files
}

/// Returns whether this user wrote a record.
fn is_ours(state: &RecordState) -> bool {
    matches!(state, RecordState::Own(..) | RecordState::OtherVersion(_))
}

/// Parses the number in a record's file name; only accepts the form that we write.
fn id(stem: &str) -> Option<u64> {
    let id: u64 = stem.parse().ok()?;
    (id <= MAX_ID && id.to_string() == stem).then_some(id)
}

/// Returns the operation that a record describes.
fn operation(record: Record) -> Operation {
    let all = record.changes.iter().zip(&record.marks[1..]);
    Operation {
        files: all.filter_map(|(change, mark)| file_change(change, *mark)).collect(),
        id: record.id,
        operation: record.operation,
        time: record.time,
        stores: record.stores,
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

fn undoing(operations: &[Operation], id: OperationId) -> Option<OperationId> {
    let name = format!("undo {id}");
    operations
        .iter()
        .filter(|one| one.id > id && one.operation == name)
        .map(|one| one.id)
        .find(|undo| undoing(operations, *undo).is_none())
}

/// Returns how many records were left aside, and why.
fn not_ours(count: usize) -> String {
    format!("{} not written by you with this version", quantity(count, "file"))
}

fn unknown(id: u64) -> Error {
    Error::not_found(format!("there is no operation {id}"))
        .hint("`annals log` lists the operations that can be undone")
}
