//! What was done, newest first, and how to take it back.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use crate::error::At;
use crate::error::Error;
use crate::error::Kind;
use crate::error::Result;
use crate::storage::change::Change;
use crate::storage::changes::Changes;
use crate::storage::disk;
use crate::storage::folder;
use crate::storage::folder::Folder;
use crate::storage::format::Header;
use crate::storage::format::Mark;
use crate::storage::lock;
use crate::storage::lock::Store;
use crate::storage::read;
use crate::storage::record;
use crate::storage::record::Record;
use crate::warning::Parsed;
use crate::warning::Warning;

/// How many operations are kept.
const MAX_OPERATIONS: usize = 200;

/// How many bytes of records are kept; a larger one is kept while it is the newest.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Far beyond what anybody reaches; a file that says more is none of ours.
const MAX_ID: u64 = u64::MAX / 2;

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

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// It was created.
    Created,
    /// Its content was changed.
    Edited,
    /// Lines were added at its end, which stay.
    Appended,
    /// It got another path, with all that is in it.
    Moved,
    /// It was deleted.
    Deleted,
    /// It should have been changed, but something else had been written there.
    LeftAlone,
}

impl Happened {
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

/// A file, and what an operation did to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The file, relative to the project.
    pub path: PathBuf,
    /// What happened to it.
    pub happened: Happened,
    /// Where it was before; only present when it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
}

/// An operation of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Its number, which `undo` takes.
    pub id: OperationId,
    /// What was done, in the words of the command.
    pub operation: String,
    /// When it began, as RFC 3339.
    pub time: String,
    /// The stores it wrote to.
    pub stores: Vec<Store>,
    /// The files it changed, in order.
    pub files: Vec<FileChange>,
}

/// The operations done in one project, as far back as they are kept.
#[derive(Clone, Debug)]
pub struct History {
    folder: Folder,
    root: PathBuf,
}

impl History {
    pub(crate) fn new(folder: Folder, root: PathBuf) -> Self {
        Self { folder, root }
    }

    /// Returns the operations, newest first; a record that cannot be read becomes a warning.
    pub fn list(&self) -> Result<Parsed<Vec<Operation>>> {
        let mut list = Parsed::clean(Vec::new());
        for id in self.ids("record")?.into_iter().rev() {
            let path = self.path(id, "record");
            match self.operation(id) {
                Ok(operation) => list.value.push(operation),
                Err(error) if error.kind == Kind::NotFound => {}
                Err(error) => list.warnings.push(Warning::file(&path, error.message)),
            }
        }
        Ok(list)
    }

    /// Returns an operation, or the last one.
    pub fn find(&self, id: Option<OperationId>) -> Result<Operation> {
        match id {
            Some(OperationId(id)) => self.operation(id),
            None => match self.ids("record")?.last() {
                Some(id) => self.operation(*id),
                None => Err(Error::not_found("there is no operation to take back")),
            },
        }
    }

    /// Removes an operation's record with all bytes in it; it can never be taken back after that.
    ///
    /// An interrupted operation is forgotten too: then its changes stay half made.
    pub fn forget(&self, id: OperationId) -> Result<()> {
        let done = self.path(id.0, "record");
        if done.exists() {
            return disk::remove_file(&done).at("remove", &done);
        }
        let pending = self.path(id.0, "pending");
        if !pending.exists() {
            return Err(unknown(id.0));
        }
        if !lock::are_free(&self.folder.locks(), &Store::ALL.into())? {
            return Err(Error::failed("belongs to an operation at work").at(&pending, None));
        }
        disk::remove_file(&pending).at("remove", &pending)
    }

    /// Returns the changes that take an operation back: the exact bytes from before it.
    ///
    /// Refused where a file no longer holds what the operation wrote. Files for which `is_generated`
    /// says so are left out: the caller makes them anew. Call it inside the transaction that applies
    /// the changes, with the locks of [`Operation::stores`].
    pub fn undo(&self, id: OperationId, is_generated: impl Fn(&Path) -> bool) -> Result<Changes> {
        let Some(record) = Record::open(&self.folder.history(), id.0, "record")? else {
            return Err(self.missing(id.0));
        };
        let mut changes = Changes::new();
        for (change, mark) in record.changes.iter().zip(record.marks()).rev() {
            if *mark != Mark::Made || is_generated(&self.root.join(change.path())) {
                continue;
            }
            let absolute = |path: &Path| Ok(self.root.join(path));
            changes.take_back(change.clone().with_paths(absolute)?)?;
        }
        Ok(changes)
    }

    /// Returns the numbers of the records with an extension, the oldest first.
    pub(crate) fn ids(&self, extension: &str) -> Result<Vec<u64>> {
        let folder = self.folder.history();
        let entries = match fs::read_dir(&folder) {
            Err(error) if read::is_absent(&error) => return Ok(Vec::new()),
            entries => entries.at("list", &folder)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.at("list", &folder)?.file_name();
            let name = Path::new(&name);
            if name.extension().is_some_and(|found| found == extension)
                && let Some(id) = name
                    .file_stem()
                    .and_then(|stem| stem.to_str()?.parse().ok())
                && id <= MAX_ID
            {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Drops the oldest records beyond what is kept.
    pub(crate) fn prune(&self) -> Result<()> {
        let mut kept = 0;
        let mut bytes = 0;
        for id in self.ids("record")?.into_iter().rev() {
            let path = self.path(id, "record");
            // Another process may have dropped it since it was listed.
            bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            kept += 1;
            if kept > MAX_OPERATIONS || (bytes > MAX_BYTES && kept > 1) {
                disk::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(())
    }

    /// Returns a number greater than every one in use.
    pub(crate) fn next_id(&self) -> Result<u64> {
        let done = self.ids("record")?.last().copied();
        let pending = self.ids("pending")?.last().copied();
        Ok(done.max(pending).map_or(1, |last| last + 1))
    }

    fn operation(&self, id: u64) -> Result<Operation> {
        match record::read_outline(&self.path(id, "record"))? {
            Some((header, marks)) => Ok(operation(id, &header, &marks)),
            None => Err(self.missing(id)),
        }
    }

    fn missing(&self, id: u64) -> Error {
        let path = self.path(id, "record");
        if path.exists() {
            Error::failed("is a record that is not whole").at(&path, None)
        } else {
            unknown(id)
        }
    }

    fn path(&self, id: u64, extension: &str) -> PathBuf {
        record::file_name(&self.folder.history(), id, extension)
    }
}

/// Returns what a record's header tells.
pub(crate) fn operation(id: u64, header: &Header, marks: &[Mark]) -> Operation {
    let stores: BTreeSet<Store> = header.stores.iter().copied().collect();
    let all = header.changes.iter().enumerate();
    Operation {
        id: OperationId(id),
        operation: header.operation.clone(),
        time: header.time.clone(),
        stores: stores.into_iter().collect(),
        files: all
            .filter_map(|(index, change)| file_change(change, marks.get(index)))
            .collect(),
    }
}

fn file_change(change: &Change<u64>, mark: Option<&Mark>) -> Option<FileChange> {
    let happened = match change {
        // What we remember for ourselves is no file of the project.
        _ if change.path().starts_with(folder::NAME) => return None,
        _ if mark == Some(&Mark::LeftAlone) => Happened::LeftAlone,
        Change::Write { old: None, .. } => Happened::Created,
        Change::Write { new: None, .. } => Happened::Deleted,
        Change::Write { .. } => Happened::Edited,
        Change::Append { .. } => Happened::Appended,
        Change::Move { .. } => Happened::Moved,
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
        .hint("`annals log` lists what can be taken back")
}
