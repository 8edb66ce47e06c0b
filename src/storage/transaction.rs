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
use crate::storage::apply::Ended;
use crate::storage::change::Change;
use crate::storage::changes::Changes;
use crate::storage::diff;
use crate::storage::disk;
use crate::storage::folder;
use crate::storage::folder::StoreFolder;
use crate::storage::foreign;
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
use crate::storage::recovery::Recovery;
use crate::storage::root::Root;
use crate::storage::root::real_path;
use crate::storage::signature::Signer;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Maximum number of attempts if another program saves one of the files meanwhile.
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
    /// What would be changed, as a unified diff; only on a dry run, on which nothing is written.
    pub diff: Option<String>,
    /// Whether nothing was done because the same request was done before.
    pub repeated: bool,
    /// Warnings from completing an operation that another process had left unfinished.
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

    /// Keeps locks and history in another folder than `.annals`: for files outside of any project.
    ///
    /// No link in its path is followed.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        self.folder = StoreFolder::new(folder.to_owned());
        self
    }

    /// Signs records with the key in the user's data folder; without one, only a single file can be written.
    #[must_use]
    pub fn key_in(mut self, folder: Option<PathBuf>) -> Self {
        self.signer = Signer::new(folder);
        self
    }

    /// Lets links in the project lead to these folders, too.
    #[must_use]
    pub fn linked_roots(mut self, folders: &[PathBuf]) -> Self {
        self.linked_roots = folders.to_vec();
        self
    }

    /// Computes what would change, and writes nothing at all.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Returns whether operations can be taken back later; without, a record lives while its operation runs.
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

    /// Returns whether nothing may be written.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn longest_wait(&self) -> Duration {
        self.wait
    }

    pub(crate) fn folder(&self) -> &StoreFolder {
        &self.folder
    }

    pub(crate) fn linked(&self) -> &[PathBuf] {
        &self.linked_roots
    }

    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Returns the operations done here.
    pub fn history(&self) -> History {
        History::new(self.folder.clone(), self.root.clone(), self.signer.clone())
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
    /// (see the module). Where somebody saves one of the files in the meantime, `work` runs again on what
    /// they saved, so it must not carry anything over from one run to the next. `operation` names them in the history. Without changes nothing is written;
    /// on a dry run nothing ever is. Transactions do not nest: the inner one would wait for the outer.
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

    /// Runs a transaction that may remember something in our own folder together with its changes.
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
            let (value, changes, remembered) = match work() {
                Ok(worked) => worked,
                Err(error) => return Err(with_recovery(error, &applied.warnings)),
            };
            if changes.is_empty() && (self.dry_run || remembered.is_none()) {
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
            list.extend(remembered.clone());
            match self.record_and_apply(&root, operation, &stores, list, &mut applied)? {
                Ended::Made => {
                    if let Some(remembered) = &remembered {
                        self.trim_requests(remembered)?;
                    }
                    return Ok((value, applied));
                }
                Ended::Overtaken(error) => {
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
                return Ok(HeldLocks {
                    _locks: locks,
                    warnings,
                    obstacle: None,
                });
            }
            // Locks are only ever taken in order, so all are let go before more are taken.
            wanted = involved;
        }
    }

    fn lock_for_reading(&self, stores: &BTreeSet<Store>, obstacle: Option<Error>) -> HeldLocks {
        let locks = Locks::acquire_if_possible(&self.folder.locks(), stores, self.wait);
        let mut warnings = Vec::new();
        // Another user's records cannot be listed, and need not be to read the project's files.
        let interrupted = self.interrupted().unwrap_or_else(|error| {
            let warning = Warning::file(&self.folder.history(), error.reason());
            Parsed::new(Vec::new(), vec![warning])
        });
        for operation in interrupted.into_value(&mut warnings) {
            let id = operation.id;
            let path = record::file_name(&self.folder.history(), id.0, "pending");
            let name = operation.operation;
            let what =
                format!("`{name}` (operation {id}) was interrupted and is not completed yet");
            warnings.push(Warning::file(&path, what));
        }
        HeldLocks {
            _locks: locks,
            warnings,
            obstacle,
        }
    }

    fn record_and_apply(
        &self,
        root: &Root,
        operation: &str,
        stores: &BTreeSet<Store>,
        list: Vec<Change<Vec<u8>>>,
        applied: &mut Applied,
    ) -> Result<Ended> {
        let is_one_step = list.len() == 1;
        let is_final = list.iter().all(Change::is_final);
        let remembers = list
            .last()
            .is_some_and(|change| change.path().starts_with(folder::NAME));
        if is_final && (is_one_step || !remembers) {
            return apply::apply_unrecorded(root, &list);
        }
        let key = match self.signer.key() {
            Ok(key) => key,
            Err(error) if is_of_one_file(&list) => {
                let ended = apply::apply_unrecorded(root, &list)?;
                let what = format!("not recorded, so it cannot be undone: {}", error.message);
                applied.warnings.push(Warning::file(&self.root, what));
                return Ok(ended);
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
        applied
            .warnings
            .extend(foreign::set_aside(&self.folder, &foreign)?);
        let record = Record::create(&folder, id, key, header, list)?;
        if !is_one_step {
            // One step is whole by itself; of several, none may come to the disk before the record.
            disk::sync_directory(&folder).at("write", &folder)?;
        }
        let id = OperationId(record.id);
        let ended = apply::apply(root, record)?;
        history.prune()?;
        applied.id = (self.keeps_history && !is_final).then_some(id);
        Ok(ended)
    }
}

/// Returns whether at most one file is changed, and for the rest only folders: then nothing can be half done.
fn is_of_one_file(list: &[Change<Vec<u8>>]) -> bool {
    let files = list.iter().filter(|change| !change.is_of_directory());
    files.count() <= 1
        && !list
            .iter()
            .any(|change| matches!(change, Change::RemoveDirectory { .. }))
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
