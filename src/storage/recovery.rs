//! Completes operations of this user that were interrupted by a killed process.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::{At, Error, Result};
use crate::storage::folder::StoreFolder;
use crate::storage::format::Header;
use crate::storage::history::{History, Operation};
use crate::storage::lock::{Locks, Store};
use crate::storage::record::{Record, RecordFile, RecordState};
use crate::storage::root::Root;
use crate::storage::signature::Signer;
use crate::storage::{apply, disk, foreign, history, lock, record};
use crate::warning::{Parsed, Warning};

/// Returns the interrupted operations, the oldest first.
pub(crate) fn interrupted(
    folder: &StoreFolder,
    history: &History,
) -> Result<Parsed<Vec<Operation>>> {
    let mut found = Parsed::clean(Vec::new());
    for id in history.ids(RecordFile::Pending)? {
        let path = record::file_path(&folder.history(), id, RecordFile::Pending);
        match history.outline(id, RecordFile::Pending)? {
            RecordState::Own((header, marks)) => {
                let is_dead = lock::are_free(&folder.locks(), &stores(&header))?;
                // It may have been finished after its record was read and before its locks were checked.
                if is_dead && path.exists() {
                    let operation = history::operation(id, &header, &marks);
                    found.value.push(operation);
                }
            }
            RecordState::Foreign => found.warnings.push(Warning::file(
                &path,
                "is not a record that you wrote on this machine, so it is not acted on",
            )),
            RecordState::Missing | RecordState::Incomplete => {}
        }
    }
    Ok(found)
}

/// Returns the stores that must be locked to complete the interrupted operations on any of the given stores.
pub(crate) fn stores_involved(
    history: &History,
    named: &BTreeSet<Store>,
) -> Result<BTreeSet<Store>> {
    let mut involved = named.clone();
    for id in history.ids(RecordFile::Pending)? {
        // An incomplete record is being written, or its operation never began.
        if let RecordState::Own((header, _)) = history.outline(id, RecordFile::Pending)? {
            let own = stores(&header);
            if !own.is_disjoint(named) {
                involved.extend(own);
            }
        }
    }
    Ok(involved)
}

/// The context for completing interrupted operations.
pub(crate) struct Recovery<'a> {
    pub(crate) root: &'a Root,
    pub(crate) folder: &'a StoreFolder,
    pub(crate) signer: &'a Signer,
    pub(crate) locked: &'a BTreeSet<Store>,
    pub(crate) locks: &'a Locks,
}

impl Recovery<'_> {
    /// Completes every interrupted operation whose stores are all locked here, and returns warnings.
    pub(crate) fn run(&self, history: &History) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let mut foreign = Vec::new();
        for id in history.ids(RecordFile::Pending)? {
            match self.open(id)? {
                RecordState::Own(record) if stores(&record.header).is_subset(self.locked) => {
                    let name = name(&record);
                    let hint = format!("`annals log --forget {id}` discards it");
                    warnings.extend(finish(self.root, record).map_err(|error| {
                        Error::failed(format!("cannot finish {name}: {error}")).hint(hint)
                    })?);
                }
                RecordState::Own(_) | RecordState::Missing => {}
                RecordState::Incomplete | RecordState::Foreign => {
                    foreign.extend(self.abandoned(id)?);
                }
            }
        }
        warnings.extend(foreign::set_aside(self.folder, &foreign)?);
        Ok(warnings)
    }

    fn open(&self, id: u64) -> Result<RecordState<Record>> {
        Record::open(&self.folder.history(), id, RecordFile::Pending, self.signer)
    }

    /// Deletes an incomplete record; returns the path of a foreign one.
    ///
    /// Does nothing while any store is locked, because that process may be writing the record.
    fn abandoned(&self, id: u64) -> Result<Option<PathBuf>> {
        let Some(_locks) = self.locks.try_all(&self.folder.locks())? else {
            return Ok(None);
        };
        let path = record::file_path(&self.folder.history(), id, RecordFile::Pending);
        match self.open(id)? {
            RecordState::Incomplete => {
                disk::remove_file(&path).at("remove", &path)?;
                Ok(None)
            }
            RecordState::Foreign => Ok(Some(path)),
            RecordState::Missing | RecordState::Own(_) => Ok(None),
        }
    }
}

fn finish(root: &Root, mut record: Record) -> Result<Vec<Warning>> {
    let name = name(&record);
    let path = record.path().to_owned();
    let (skipped, outcome) = if record.progress.is_backward() {
        (apply::roll_back(root, &mut record)?, "rolled back")
    } else {
        (apply::complete(root, &mut record)?, "completed")
    };
    record.close()?;
    let mut warnings = vec![Warning::file(
        &path,
        format!("{name} had been interrupted and has now been {outcome}"),
    )];
    warnings.extend(skipped);
    Ok(warnings)
}

fn name(record: &Record) -> String {
    format!("`{}` (operation {})", record.header.operation, record.id)
}

fn stores(header: &Header) -> BTreeSet<Store> {
    header.stores.iter().copied().collect()
}
