//! Completes operations of this user that were interrupted when a process was killed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::apply;
use crate::storage::disk;
use crate::storage::folder::StoreFolder;
use crate::storage::foreign;
use crate::storage::format::Header;
use crate::storage::history;
use crate::storage::history::History;
use crate::storage::history::Operation;
use crate::storage::lock;
use crate::storage::lock::Locks;
use crate::storage::lock::Store;
use crate::storage::record;
use crate::storage::record::Record;
use crate::storage::record::RecordState;
use crate::storage::root::Root;
use crate::storage::signature::Signer;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Returns the operations that began and whose process is gone, the oldest first.
pub(crate) fn interrupted(
    folder: &StoreFolder,
    history: &History,
) -> Result<Parsed<Vec<Operation>>> {
    let mut found = Parsed::clean(Vec::new());
    for id in history.ids("pending")? {
        let path = record::file_name(&folder.history(), id, "pending");
        match history.outline(id, "pending")? {
            RecordState::Own((header, marks)) => {
                let is_dead = lock::are_free(&folder.locks(), &stores(&header))?;
                // It may have been finished between the look at it and at its locks.
                if is_dead && path.exists() {
                    let operation = history::operation(id, &header, &marks);
                    found.value.push(operation);
                }
            }
            RecordState::Foreign => found.warnings.push(Warning::file(
                &path,
                "is not a record that you wrote on this machine, so it is not acted on",
            )),
            RecordState::Nothing | RecordState::Torn => {}
        }
    }
    Ok(found)
}

/// Returns the stores that must be locked to finish what was begun in any of those named.
pub(crate) fn stores_involved(
    history: &History,
    named: &BTreeSet<Store>,
) -> Result<BTreeSet<Store>> {
    let mut involved = named.clone();
    for id in history.ids("pending")? {
        // One that is torn is being written, or was never begun.
        if let RecordState::Own((header, _)) = history.outline(id, "pending")? {
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
        for id in history.ids("pending")? {
            match self.open(id)? {
                RecordState::Own(record) if stores(&record.header).is_subset(self.locked) => {
                    let name = name(&record);
                    let hint = format!("`annals log --forget {id}` discards it");
                    let told = finish(self.root, record).map_err(|error| {
                        Error::failed(format!("cannot finish {name}: {error}")).hint(hint)
                    })?;
                    warnings.extend(told);
                }
                RecordState::Own(_) | RecordState::Nothing => {}
                RecordState::Torn | RecordState::Foreign => foreign.extend(self.abandoned(id)?),
            }
        }
        warnings.extend(foreign::set_aside(self.folder, &foreign)?);
        Ok(warnings)
    }

    fn open(&self, id: u64) -> Result<RecordState<Record>> {
        Record::open(&self.folder.history(), id, "pending", self.signer)
    }

    /// Removes a record that never began; returns one that is not ours. Neither while anybody is at work:
    /// its process may be writing it right now, under locks that it does not tell yet.
    fn abandoned(&self, id: u64) -> Result<Option<PathBuf>> {
        let Some(_rest) = self.locks.try_all(&self.folder.locks())? else {
            return Ok(None);
        };
        let path = record::file_name(&self.folder.history(), id, "pending");
        match self.open(id)? {
            RecordState::Torn => {
                disk::remove_file(&path).at("remove", &path)?;
                Ok(None)
            }
            RecordState::Foreign => Ok(Some(path)),
            RecordState::Nothing | RecordState::Own(_) => Ok(None),
        }
    }
}

fn finish(root: &Root, mut record: Record) -> Result<Vec<Warning>> {
    let name = name(&record);
    let path = record.path().to_owned();
    let (left, came) = if record.progress.is_backward() {
        (apply::roll_back(root, &mut record)?, "rolled back")
    } else {
        (apply::complete(root, &mut record)?, "completed")
    };
    record.close()?;
    let mut warnings = vec![Warning::file(
        &path,
        format!("{name} had been interrupted and has now been {came}"),
    )];
    warnings.extend(left);
    Ok(warnings)
}

fn name(record: &Record) -> String {
    format!("`{}` (operation {})", record.header.operation, record.id)
}

fn stores(header: &Header) -> BTreeSet<Store> {
    header.stores.iter().copied().collect()
}
