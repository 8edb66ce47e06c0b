//! Reads, computes and applies under one lock, so that no other process's work is lost.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;
use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::apply;
use crate::storage::change::Change;
use crate::storage::changes::Changes;
use crate::storage::diff;
use crate::storage::disk;
use crate::storage::folder;
use crate::storage::folder::Folder;
use crate::storage::format;
use crate::storage::format::Header;
use crate::storage::history::History;
use crate::storage::history::Operation;
use crate::storage::history::OperationId;
use crate::storage::lock;
use crate::storage::lock::Locks;
use crate::storage::lock::Store;
use crate::storage::record;
use crate::storage::record::Record;
use crate::storage::recovery;
use crate::storage::root::Root;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Where a run writes, and how.
#[derive(Clone, Debug)]
pub struct Storage {
    root: PathBuf,
    folder: Folder,
    clock: Clock,
    dry_run: bool,
    keeps_history: bool,
    wait: Duration,
}

/// What a transaction did.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The operation's number in the history; nothing where nothing was recorded.
    pub id: Option<OperationId>,
    /// The files that were changed, or on a dry run would be: created, edited, moved here or deleted.
    pub changed: Vec<PathBuf>,
    /// What would be changed, as a unified diff; only on a dry run.
    pub diff: String,
    /// Whether nothing was written because this is a dry run.
    pub dry_run: bool,
    /// Whether nothing was done because the same request was done before.
    pub repeated: bool,
    /// What became of an operation that another process had left half done.
    pub warnings: Vec<Warning>,
}

/// What a transaction holds while it works.
struct Hold {
    _locks: Locks,
    warnings: Vec<Warning>,
    /// Why nothing can be written, where that is so.
    obstacle: Option<Error>,
}

impl Storage {
    /// Returns the storage of a project; nothing is created before it is needed.
    pub fn new(root: &Path, clock: Clock) -> Self {
        Self {
            root: root.to_owned(),
            folder: Folder::new(root.join(folder::NAME)),
            clock,
            dry_run: false,
            keeps_history: true,
            wait: lock::WAIT,
        }
    }

    /// Keeps locks and history in another folder than `.annals`: for files outside of any project.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        self.folder = Folder::new(folder.to_owned());
        self
    }

    /// Computes what would change, and writes nothing at all.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Says whether operations can be taken back later; without, a record lives while its operation runs.
    #[must_use]
    pub fn keep_history(mut self, keeps_history: bool) -> Self {
        self.keeps_history = keeps_history;
        self
    }

    /// Waits this long for a lock that another process holds, instead of 10 s.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns the folder that all changes must stay in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Says whether nothing is to be written.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the operations done here.
    pub fn history(&self) -> History {
        History::new(self.folder.clone(), self.root.clone())
    }

    /// Returns the operations that a killed process left half done; the next transaction finishes them.
    ///
    /// A record that cannot be read becomes a warning.
    pub fn interrupted(&self) -> Result<Parsed<Vec<Operation>>> {
        recovery::interrupted(&self.folder, &self.history())
    }

    /// Runs `work` under the locks of the stores it reads to decide, then applies its changes.
    ///
    /// All changes are made or none, also when the process is killed or the disk is full half-way
    /// (see the module). `operation` names them in the history. Without changes nothing is written;
    /// on a dry run nothing ever is. Transactions do not nest: the inner one would wait for the outer.
    pub fn transact<T>(
        &self,
        operation: &str,
        stores: &[Store],
        work: impl FnOnce() -> Result<(T, Changes)>,
    ) -> Result<(T, Applied)> {
        self.run(operation, stores, || {
            let (value, changes) = work()?;
            Ok((value, changes, None))
        })
    }

    /// Runs a transaction that may remember something in our own folder together with its changes.
    pub(crate) fn run<T>(
        &self,
        operation: &str,
        stores: &[Store],
        work: impl FnOnce() -> Result<(T, Changes, Option<Change<Vec<u8>>>)>,
    ) -> Result<(T, Applied)> {
        let stores: BTreeSet<Store> = stores.iter().copied().collect();
        let root = Root::open(&self.root)?;
        let hold = self.hold(&root, &stores)?;
        let (value, changes, remembered) = match work() {
            Ok(worked) => worked,
            Err(error) => return Err(with_recovery(error, &hold.warnings)),
        };
        let mut applied = Applied {
            dry_run: self.dry_run,
            warnings: hold.warnings,
            ..Applied::default()
        };
        if changes.is_empty() && (self.dry_run || remembered.is_none()) {
            return Ok((value, applied));
        }
        let mut list = relative(&root, changes)?;
        applied.changed = changed(&root, &list);
        if self.dry_run {
            applied.diff = diff::unified(&list, Path::new(""));
            return Ok((value, applied));
        }
        if let Some(obstacle) = hold.obstacle {
            return Err(match obstacle.hint {
                None => obstacle.hint("nothing can be written here, and nothing was"),
                Some(_) => obstacle,
            });
        }
        list.extend(remembered.clone());
        applied.id = self.record_and_apply(&root, operation, stores, list)?;
        if let Some(remembered) = &remembered {
            self.trim_requests(remembered)?;
        }
        Ok((value, applied))
    }

    /// Takes the locks and finishes what a killed process left, or notes why nothing can be written.
    fn hold(&self, root: &Root, stores: &BTreeSet<Store>) -> Result<Hold> {
        if stores.is_empty() {
            return Err(Error::failed("a transaction names no store to lock"));
        }
        if self.dry_run {
            return self.hold_for_reading(stores, None);
        }
        let history = self.history();
        let folder = self.folder.locks();
        let mut wanted = stores.clone();
        loop {
            let prepared = self.folder.prepare();
            let opened = match prepared.and_then(|()| lock::open_all(&folder, &wanted)) {
                Ok(opened) => opened,
                Err(obstacle) => return self.hold_for_reading(stores, Some(obstacle)),
            };
            let locks = Locks::acquire(&folder, opened, self.wait)?;
            let involved = recovery::stores_involved(&self.folder, &history, &wanted)?;
            if involved == wanted {
                let locked = (&wanted, &locks);
                let warnings = recovery::recover(root, &self.folder, &history, locked)?;
                return Ok(Hold {
                    _locks: locks,
                    warnings,
                    obstacle: None,
                });
            }
            // Locks are only ever taken in order, so all are let go before more are taken.
            wanted = involved;
        }
    }

    fn hold_for_reading(&self, stores: &BTreeSet<Store>, obstacle: Option<Error>) -> Result<Hold> {
        let locks = Locks::acquire_if_possible(&self.folder.locks(), stores, self.wait);
        let mut warnings = Vec::new();
        for operation in self.interrupted()?.into_value(&mut warnings) {
            let id = operation.id;
            let path = record::file_name(&self.folder.history(), id.0, "pending");
            let name = operation.operation;
            let what = format!("`{name}` (operation {id}) was interrupted and is still to finish");
            warnings.push(Warning::file(&path, what));
        }
        Ok(Hold {
            _locks: locks,
            warnings,
            obstacle,
        })
    }

    fn record_and_apply(
        &self,
        root: &Root,
        operation: &str,
        stores: BTreeSet<Store>,
        list: Vec<Change<Vec<u8>>>,
    ) -> Result<Option<OperationId>> {
        let is_one_step = list.len() == 1;
        let is_final = list.iter().all(Change::is_final);
        let remembers = list
            .last()
            .is_some_and(|change| change.path().starts_with(folder::NAME));
        if is_final && (is_one_step || !remembers) {
            apply::append_all(root, &list)?;
            return Ok(None);
        }
        let history = self.history();
        let header = Header {
            format: format::FORMAT,
            operation: operation.to_owned(),
            time: self.clock.timestamp(),
            pid: std::process::id(),
            stores: stores.into_iter().collect(),
            keep: self.keeps_history && !is_final,
            changes: Vec::new(),
        };
        let folder = self.folder.history();
        let record = Record::create(&folder, history.next_id()?, header, list)?;
        if !is_one_step {
            // One step is whole by itself; of several, none may come to the disk before the record.
            disk::sync_directory(&folder).at("write", &folder)?;
        }
        let id = OperationId(record.id);
        apply::apply(root, record)?;
        history.prune()?;
        Ok((self.keeps_history && !is_final).then_some(id))
    }
}

/// Returns the changes by paths below the root, refused where one would leave it or is write-protected.
fn relative(root: &Root, changes: Changes) -> Result<Vec<Change<Vec<u8>>>> {
    let mut list = Vec::new();
    for mut change in changes.into_list() {
        if let Change::Write {
            path,
            old: Some(_),
            new,
            mode,
        } = &mut change
            && let Ok(metadata) = fs::metadata(&*path)
        {
            if metadata.permissions().readonly() {
                return Err(Error::refused("is write-protected").at(path, None));
            }
            if new.is_none() {
                *mode = disk::mode(&metadata);
            }
        }
        list.push(change.with_paths(|path| root.relative(path))?);
    }
    Ok(list)
}

fn changed(root: &Root, list: &[Change<Vec<u8>>]) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    list.iter()
        .filter(|change| !change.is_of_directory() && seen.insert(change.path()))
        .map(|change| root.named(change.path()))
        .collect()
}

/// The warnings of a recovery go with what is returned; a failure returns nothing, so it says it itself.
fn with_recovery(error: Error, warnings: &[Warning]) -> Error {
    match (&error.hint, warnings.first()) {
        (None, Some(warning)) => {
            let hint = format!("before that, {}", warning.message);
            error.hint(hint)
        }
        _ => error,
    }
}
