//! Finishes what a killed process began.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::apply;
use crate::storage::disk;
use crate::storage::folder::Folder;
use crate::storage::format::Header;
use crate::storage::history;
use crate::storage::history::History;
use crate::storage::history::Operation;
use crate::storage::lock;
use crate::storage::lock::Locks;
use crate::storage::lock::Store;
use crate::storage::record;
use crate::storage::record::Record;
use crate::storage::root::Root;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Returns the operations that began and whose process is gone, the oldest first.
pub(crate) fn interrupted(folder: &Folder, history: &History) -> Result<Parsed<Vec<Operation>>> {
    let mut found = Parsed::clean(Vec::new());
    for id in history.ids("pending")? {
        let path = record::file_name(&folder.history(), id, "pending");
        match record::read_outline(&path) {
            Ok(Some((header, marks))) => {
                let is_dead = lock::are_free(&folder.locks(), &stores(&header))?;
                // It may have been finished between the look at it and at its locks.
                if is_dead && path.exists() {
                    let operation = history::operation(id, &header, &marks);
                    found.value.push(operation);
                }
            }
            Ok(None) => {}
            Err(error) => found.warnings.push(Warning::file(&path, error.message)),
        }
    }
    Ok(found)
}

/// Returns the stores that must be locked to finish what was begun in any of those named.
pub(crate) fn stores_involved(
    folder: &Folder,
    history: &History,
    named: &BTreeSet<Store>,
) -> Result<BTreeSet<Store>> {
    let mut involved = named.clone();
    for id in history.ids("pending")? {
        let path = record::file_name(&folder.history(), id, "pending");
        // A record with nothing to read is being written, or was never begun.
        if let Some((header, _)) = record::read_outline(&path)? {
            let own = stores(&header);
            if !own.is_disjoint(named) {
                involved.extend(own);
            }
        }
    }
    Ok(involved)
}

/// Finishes every interrupted operation whose stores are all locked here, and tells what came of it.
pub(crate) fn recover(
    root: &Root,
    folder: &Folder,
    history: &History,
    locked: (&BTreeSet<Store>, &Locks),
) -> Result<Vec<Warning>> {
    let (locked, locks) = locked;
    let mut warnings = Vec::new();
    for id in history.ids("pending")? {
        let path = record::file_name(&folder.history(), id, "pending");
        match Record::open(&folder.history(), id, "pending")? {
            Some(record) if stores(&record.header).is_subset(locked) => {
                let name = name(&record);
                let hint = format!("`annals log --forget {id}` gives it up");
                let told = finish(root, record).map_err(|error| {
                    Error::failed(format!("cannot finish {name}: {error}")).hint(hint)
                })?;
                warnings.extend(told);
            }
            Some(_) => {}
            None => {
                // Its process may be writing it right now, under locks that it does not tell yet.
                let rest = locks.try_all(&folder.locks())?;
                if rest.is_some() && Record::open(&folder.history(), id, "pending")?.is_none() {
                    disk::remove_file(&path).at("remove", &path)?;
                }
            }
        }
    }
    Ok(warnings)
}

fn finish(root: &Root, mut record: Record) -> Result<Vec<Warning>> {
    apply::remove_temporaries(root, &record)?;
    let name = name(&record);
    let path = record.path().to_owned();
    let (left, came) = if record.is_backward() {
        (apply::roll_back(root, &mut record)?, "taken back")
    } else {
        (apply::complete(root, &mut record)?, "completed")
    };
    record.close()?;
    let mut warnings = vec![Warning::file(
        &path,
        format!("{name} had been interrupted and was {came} now"),
    )];
    let left_alone = |path: PathBuf| {
        let why = format!("left as it is: it had changed when {name} was {came}");
        Warning::file(&path, why)
    };
    warnings.extend(left.into_iter().map(left_alone));
    Ok(warnings)
}

fn name(record: &Record) -> String {
    format!("`{}` (operation {})", record.header.operation, record.id)
}

fn stores(header: &Header) -> BTreeSet<Store> {
    header.stores.iter().copied().collect()
}
