//! Reads, plans and applies changes under one lock, so that no other process's changes are lost.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;
use crate::error::{At, Error, Result};
use crate::storage::apply::Outcome;
use crate::storage::change::Change;
use crate::storage::changes::Changes;
use crate::storage::folder::StoreFolder;
use crate::storage::format::Header;
use crate::storage::history::{History, Operation, OperationId};
use crate::storage::lock::{Locks, Store};
use crate::storage::record::{Record, RecordFile};
use crate::storage::recovery::Recovery;
use crate::storage::root::{Root, real_path};
use crate::storage::signature::Signer;
use crate::storage::{apply, diff, disk, folder, foreign, format, lock, record, recovery};
use crate::warning::{Parsed, Warning};

/// Maximum number of attempts if another program saves one of the files in the meantime.
const MAX_ROUNDS: usize = 3;

/// The location and options of writes.
#[derive(Clone, Debug)]
pub struct Storage {
    root: PathBuf,
    linked_roots: Vec<PathBuf>,
    folder: StoreFolder,
    signer: Signer,
    clock: Clock,
    dry_run: bool,
    keeps_history: bool,
    wait: Duration,
}

/// The outcome of a transaction.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The operation's number in the history, or `None` if nothing was recorded.
    pub id: Option<OperationId>,
    /// The files that were changed, or on a dry run would be: created, edited, moved here or deleted.
    pub changed: Vec<PathBuf>,
    /// What would be changed, as a unified diff; only on a dry run.
    pub diff: Option<String>,
    /// Whether nothing was done because the same request was executed before.
    pub repeated: bool,
    /// Warnings from completing interrupted operations.
    pub warnings: Vec<Warning>,
}

/// The state of a transaction in progress.
struct HeldLocks {
    _locks: Locks,
    warnings: Vec<Warning>,
    /// The reason why nothing can be written, if any.
    obstacle: Option<Error>,
}

impl Storage {
    /// Returns the storage of a project; nothing is created before it is needed.
    pub fn new(root: &Path, clock: Clock) -> Self {
        let real = real_path(root).unwrap_or_else(|_| root.to_owned());
        Self {
            root: root.to_owned(),
            linked_roots: Vec::new(),
            signer: Signer::default(),
            folder: StoreFolder::new(real.join(folder::NAME)),
            clock,
            dry_run: false,
            keeps_history: true,
            wait: lock::WAIT,
        }
    }

    /// Sets the folder of locks and history, for files outside of any project; it replaces `.annals`.
    ///
    /// Links in its path are not followed.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        self.folder = StoreFolder::new(folder.to_owned());
        self
    }

    /// Sets the user's data folder, which has the key that signs records.
    ///
    /// Without a key, only a single file can be written.
    #[must_use]
    pub fn key_in(mut self, folder: Option<PathBuf>) -> Self {
        self.signer = Signer::new(folder);
        self
    }

    /// Sets folders outside the project that links in it may lead to.
    #[must_use]
    pub fn linked_roots(mut self, folders: &[PathBuf]) -> Self {
        self.linked_roots = folders.to_vec();
        self
    }

    /// Sets whether changes are only computed, and nothing is written.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets whether operations can be undone later; if not, a record is deleted when its operation is done.
    #[must_use]
    pub fn keep_history(mut self, keeps_history: bool) -> Self {
        self.keeps_history = keeps_history;
        self
    }

    /// Sets how long to wait for a lock that another process holds, instead of 10 s.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns the folder that all changes must stay in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether nothing is written.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn longest_wait(&self) -> Duration {
        self.wait
    }

    pub(crate) fn folder(&self) -> &StoreFolder {
        &self.folder
    }

    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Returns the history of operations.
    pub fn history(&self) -> History {
        History::new(self.folder.clone(), self.root.clone(), self.signer.clone())
    }

    /// Returns the operations interrupted by a killed process; the next transaction completes them.
    ///
    /// Records of another user become warnings.
    pub fn interrupted(&self) -> Result<Parsed<Vec<Operation>>> {
        recovery::interrupted(&self.folder, &self.history())
    }

    /// Runs `work` under the locks of the stores that it reads and changes, then applies its changes.
    ///
    /// All changes are applied or none, even if the process is killed or the disk fills up half-way (see the
    /// module). If another program saves one of the files in the meantime, `work` runs again on the saved
    /// content, so it must not keep state from one run to the next. `operation` is the name in the history.
    /// Nothing is written without changes, or on a dry run. Transactions do not nest: the inner one would wait
    /// for the outer one.
    pub fn transact<T>(
        &self,
        operation: &str,
        stores: &[Store],
        mut work: impl FnMut() -> Result<(T, Changes)>,
    ) -> Result<(T, Applied)> {
        self.run(operation, stores, || {
            let (value, changes) = work()?;
            Ok((value, changes, None))
        })
    }

    /// Runs a transaction that may store its answer, by a change in our own folder, together with its changes.
    pub(crate) fn run<T>(
        &self,
        operation: &str,
        stores: &[Store],
        mut work: impl FnMut() -> Result<(T, Changes, Option<Change<Vec<u8>>>)>,
    ) -> Result<(T, Applied)> {
        let stores: BTreeSet<Store> = stores.iter().copied().collect();
        let root = Root::open(&self.root, &self.linked_roots)?;
        let mut held = self.lock(&root, &stores)?;
        let mut applied = Applied {
            diff: self.dry_run.then(String::new),
            warnings: std::mem::take(&mut held.warnings),
            ..Applied::default()
        };
        let mut rounds = MAX_ROUNDS;
        loop {
            let (value, changes, answer) = match work() {
                Ok(worked) => worked,
                Err(error) => return Err(with_recovery(error, &applied.warnings)),
            };
            if changes.is_empty() && (self.dry_run || answer.is_none()) {
                return Ok((value, applied));
            }
            let mut list = relative(&root, changes)?;
            applied.changed = changed(&root, &list);
            if self.dry_run {
                applied.diff = Some(diff::unified(&list, Path::new("")));
                return Ok((value, applied));
            }
            if let Some(obstacle) = held.obstacle {
                return Err(match obstacle.hint {
                    None => obstacle.hint("annals cannot write here; nothing was changed"),
                    Some(_) => obstacle,
                });
            }
            list.extend(answer.clone());
            match self.record_and_apply(&root, operation, &stores, list, &mut applied)? {
                Outcome::Applied => {
                    if let Some(answer) = &answer {
                        self.trim_requests(answer)?;
                    }
                    return Ok((value, applied));
                }
                Outcome::Conflicted(error) => {
                    rounds -= 1;
                    if rounds == 0 {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes the locks and completes interrupted operations, or stores the reason why nothing can be written.
    fn lock(&self, root: &Root, stores: &BTreeSet<Store>) -> Result<HeldLocks> {
        if stores.is_empty() {
            return Err(Error::failed("a transaction names no store to lock"));
        }
        if self.dry_run {
            return Ok(self.lock_for_reading(stores, None));
        }
        let history = self.history();
        let folder = self.folder.locks();
        let mut wanted = stores.clone();
        loop {
            let prepared = self.folder.prepare();
            let opened = match prepared.and_then(|()| lock::open_all(&folder, &wanted)) {
                Ok(opened) => opened,
                Err(obstacle) => return Ok(self.lock_for_reading(stores, Some(obstacle))),
            };
            let locks = Locks::acquire(&folder, opened, self.wait)?;
            let involved = recovery::stores_involved(&history, &wanted)?;
            if involved == wanted {
                let recovery = Recovery {
                    root,
                    folder: &self.folder,
                    signer: &self.signer,
                    locked: &wanted,
                    locks: &locks,
                };
                let warnings = recovery.run(&history)?;
                return Ok(HeldLocks { _locks: locks, warnings, obstacle: None });
            }
            // Locks are taken in a fixed order, so all are released before more are taken.
            wanted = involved;
        }
    }

    fn lock_for_reading(&self, stores: &BTreeSet<Store>, obstacle: Option<Error>) -> HeldLocks {
        let locks = Locks::acquire_if_possible(&self.folder.locks(), stores, self.wait);
        let mut warnings = Vec::new();
        // Another user's records may be unreadable, which must not prevent reading the project's files.
        let interrupted = self.interrupted().unwrap_or_else(|error| {
            let warning = Warning::file(&self.folder.history(), error.reason());
            Parsed::new(Vec::new(), vec![warning])
        });
        for operation in interrupted.into_value(&mut warnings) {
            let id = operation.id;
            let path = record::file_path(&self.folder.history(), id.0, RecordFile::Pending);
            let name = operation.operation;
            let what =
                format!("`{name}` (operation {id}) was interrupted and is not completed yet");
            warnings.push(Warning::file(&path, what));
        }
        HeldLocks { _locks: locks, warnings, obstacle }
    }

    fn record_and_apply(
        &self,
        root: &Root,
        operation: &str,
        stores: &BTreeSet<Store>,
        list: Vec<Change<Vec<u8>>>,
        applied: &mut Applied,
    ) -> Result<Outcome> {
        let is_one_step = list.len() == 1;
        let is_final = list.iter().all(Change::is_final);
        let stores_answer =
            list.last().is_some_and(|change| change.path().starts_with(folder::NAME));
        if is_final && (is_one_step || !stores_answer) {
            return apply::apply_unrecorded(root, &list);
        }
        let key = match self.signer.key() {
            Ok(key) => key,
            Err(error) if writes_one_file(&list) => {
                let outcome = apply::apply_unrecorded(root, &list)?;
                let what = format!("not recorded, so it cannot be undone: {}", error.message);
                applied.warnings.push(Warning::file(&self.root, what));
                return Ok(outcome);
            }
            Err(error) => return Err(error),
        };
        let history = self.history();
        let header = Header {
            format: format::FORMAT,
            operation: operation.to_owned(),
            time: self.clock.timestamp(),
            pid: std::process::id(),
            stores: stores.iter().copied().collect(),
            keep: self.keeps_history && !is_final,
            sha256: String::new(),
            changes: Vec::new(),
        };
        let folder = self.folder.history();
        let (id, foreign) = history.next_id()?;
        applied.warnings.extend(foreign::set_aside(&self.folder, &foreign)?);
        let record = Record::create(&folder, id, key, header, list)?;
        if !is_one_step {
            // A single step is atomic; of several, none may reach the disk before the record does.
            disk::sync_directory(&folder).at("write", &folder)?;
        }
        let id = OperationId(record.id);
        let outcome = apply::apply(root, record)?;
        history.prune()?;
        applied.id = (self.keeps_history && !is_final).then_some(id);
        Ok(outcome)
    }
}

/// Returns whether the changes write at most one file and create folders, so that none can be left half done.
fn writes_one_file(list: &[Change<Vec<u8>>]) -> bool {
    let files = list.iter().filter(|change| !change.is_directory_change());
    files.count() <= 1
        && !list.iter().any(|change| matches!(change, Change::RemoveDirectory { .. }))
}

/// Returns the changes with paths relative to the root; refused if one is outside of it or write-protected.
fn relative(root: &Root, changes: Changes) -> Result<Vec<Change<Vec<u8>>>> {
    let mut list = Vec::new();
    for mut change in changes.into_list() {
        if let Change::Write { path, old: Some(_), new, mode } = &mut change
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
        .filter(|change| !change.is_directory_change() && seen.insert(change.path()))
        .map(|change| root.named(change.path()))
        .collect()
}

/// Adds the first warning of the recovery to an error, because a failed transaction returns no warnings.
fn with_recovery(error: Error, warnings: &[Warning]) -> Error {
    match (&error.hint, warnings.first()) {
        (None, Some(warning)) => {
            let hint = format!("before that, {}", warning.message);
            error.hint(hint)
        }
        _ => error,
    }
}
