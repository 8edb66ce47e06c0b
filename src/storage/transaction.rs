//! Reads, plans and applies changes under one lock, so that no other process's changes are lost.

use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock::Clock;
use crate::error::{At, Error, Result};
use crate::storage::boundary::{Root, real_path};
use crate::storage::changes::{Change, Changes};
use crate::storage::history::{History, OperationId, RecordFile};
use crate::storage::lock::Store;
use crate::storage::record::{Answered, PENDING, Pending, Record, RecordState, Signer};
use crate::storage::{apply, changes, disk, history, lock, own_files, record};
use crate::text::is_line;
use crate::warning::Warning;

/// Maximum number of attempts if another program saves one of the files in the meantime.
const MAX_ROUNDS: usize = 3;

/// The location and options of writes.
#[derive(Clone, Debug)]
pub struct Storage {
    root: PathBuf,
    linked_roots: Vec<PathBuf>,
    /// The folder of locks, records and caches.
    pub(crate) folder: PathBuf,
    pub(crate) signer: Signer,
    clock: Clock,
    pub(crate) dry_run: bool,
    keeps_history: bool,
    pub(crate) wait: Duration,
}

/// The outcome of a transaction.
#[derive(Debug, Default)]
pub struct Applied {
    /// The operation's number in the history, or `None` if nothing was recorded.
    pub id: Option<OperationId>,
    /// The files that were changed, or on a dry run would be: created, edited, moved here or deleted.
    pub changed: Vec<PathBuf>,
    /// What would be changed, as a unified diff; only on a dry run.
    pub diff: Option<String>,
    /// Warnings from completing interrupted operations.
    pub warnings: Vec<Warning>,
}

/// The locks of a transaction in progress.
struct HeldLocks {
    /// The locked files; dropping them releases the locks.
    _files: Vec<(PathBuf, File)>,
    /// The files of the history.
    records: Vec<RecordFile>,
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
            folder: real.join(own_files::NAME),
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
        folder.clone_into(&mut self.folder);
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

    /// Returns the history of operations.
    pub fn history(&self) -> History {
        History { storage: self.clone() }
    }

    /// Returns a warning for each operation that a killed process left, and for each record that is not ours; the next
    /// transaction completes the operations.
    pub fn interrupted(&self) -> Result<Vec<Warning>> {
        let history = self.history();
        let mut warnings = Vec::new();
        for (id, state) in history.states(history.pending()?) {
            let path = history.path(id, PENDING);
            let message = match state? {
                // It may have been finished after its record was read and before the locks were checked.
                RecordState::Own(record) if lock::are_free(&self.locks())? && path.exists() => {
                    let name = record.operation;
                    format!(
                        "`{name}` (operation {id}) was interrupted; the next writing command completes it"
                    )
                }
                RecordState::Own(..) | RecordState::Missing | RecordState::Incomplete => continue,
                RecordState::Foreign => FOREIGN.to_owned(),
                RecordState::OtherVersion(name) => {
                    format!("`{name}` was interrupted in another version of annals")
                }
            };
            warnings.push(Warning::file(&path, message));
        }
        Ok(warnings)
    }

    /// Completes what killed processes left, for a caller that reads before its own transaction does so. Nothing else is
    /// written, and on a dry run nothing at all.
    pub fn complete_interrupted(&self) -> Result<Vec<Warning>> {
        // What prevents listing them, the caller's transaction reports.
        let is_interrupted = self.history().pending().is_ok_and(|pending| !pending.is_empty());
        if self.dry_run || !is_interrupted {
            return Ok(Vec::new());
        }
        let ((), applied) = self.transact("recover", &Store::ALL, || Ok(((), Changes::new())))?;
        // Foreign records stay, so the caller's own transaction reports them.
        let warnings = applied.warnings.into_iter();
        Ok(warnings.filter(|warning| warning.message != FOREIGN).collect())
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

    /// Runs a transaction like [`Storage::transact`], but one whose caller's id was given before returns the first answer,
    /// so that a caller that did not receive it may repeat the write.
    ///
    /// Without an id it does the same as [`Storage::transact`].
    pub fn transact_once<T: Serialize + DeserializeOwned>(
        &self,
        operation: &str,
        stores: &[Store],
        id: Option<&str>,
        mut work: impl FnMut() -> Result<(T, Changes)>,
    ) -> Result<(T, Applied)> {
        let Some(id) = id else {
            return self.transact(operation, stores, work);
        };
        if !is_line(id) {
            return Err(Error::usage("a request id is one line of text")
                .hint("use a UUID, or a hash of the request"));
        }
        let invalid = |error| Error::failed(format!("cannot store the answer: {error}"));
        self.run(operation, stores, || {
            if let Some(answer) = self.history().answer(id, operation)? {
                return Ok((
                    serde_json::from_value(answer).map_err(invalid)?,
                    Changes::new(),
                    None,
                ));
            }
            let (answer, changes) = work()?;
            let stored = Answered {
                id: id.to_owned(),
                command: operation.to_owned(),
                answer: serde_json::to_value(&answer).map_err(invalid)?,
            };
            Ok((answer, changes, Some(stored)))
        })
    }

    fn run<T>(
        &self,
        operation: &str,
        stores: &[Store],
        mut work: impl FnMut() -> Result<(T, Changes, Option<Answered>)>,
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
            let (value, changes, request) = work()?;
            if changes.is_empty() && (self.dry_run || request.is_none()) {
                return Ok((value, applied));
            }
            let list = relative(&root, changes)?;
            applied.changed =
                changes::files(&list).into_iter().map(|path| root.named(path)).collect();
            if self.dry_run {
                applied.diff = Some(changes::unified(&list, Path::new("")));
                return Ok((value, applied));
            }
            if let Some(obstacle) = held.obstacle {
                return Err(match obstacle.hint {
                    None => obstacle.hint("annals cannot write here; nothing was changed"),
                    Some(_) => obstacle,
                });
            }
            let record = Record {
                format: record::FORMAT,
                id: 0,
                operation: operation.to_owned(),
                time: self.clock.timestamp(),
                pid: std::process::id(),
                stores: stores.iter().copied().collect(),
                keep: self.keeps_history && !list.iter().all(Change::is_final),
                request,
                marks: vec![record::WAITING; list.len() + 1],
                changes: list,
            };
            let applying = self.record_and_apply(&root, record, &held.records, &mut applied);
            let Some(conflict) = applying? else {
                return Ok((value, applied));
            };
            rounds -= 1;
            if rounds == 0 {
                return Err(conflict);
            }
        }
    }

    /// Takes the locks and completes interrupted operations, or stores the reason why nothing can be written.
    fn lock(&self, root: &Root, stores: &BTreeSet<Store>) -> Result<HeldLocks> {
        if stores.is_empty() {
            return Err(Error::failed("a transaction names no store to lock"));
        }
        if self.dry_run {
            return Ok(self.unlocked(None));
        }
        let history = self.history();
        let mut wanted = stores.clone();
        loop {
            let opened = self.prepare().and_then(|()| lock::open_all(&self.locks(), &wanted));
            let opened = match opened {
                Ok(opened) => opened,
                Err(obstacle) => return Ok(self.unlocked(Some(obstacle))),
            };
            lock::take(&opened, self.wait)?;
            let records = history.files()?;
            let pending = history::having(records.clone(), PENDING);
            // Only under all locks it is certain that no process still works on an operation. Locks are taken in a
            // fixed order, so all are released before more are taken.
            if pending.is_empty() || wanted.len() == Store::ALL.len() {
                let is_whole = pending.is_empty();
                let warnings = self.recover(root, &history, pending)?;
                let records = if is_whole { records } else { history.files()? };
                return Ok(HeldLocks { _files: opened, records, warnings, obstacle: None });
            }
            wanted = Store::ALL.into();
        }
    }

    /// Completes the interrupted operations; all stores are locked.
    fn recover(
        &self,
        root: &Root,
        history: &History,
        pending: Vec<RecordFile>,
    ) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        for (id, state) in history.states(pending) {
            let path = history.path(id, PENDING);
            let hint = format!("`annals log --forget {id}` discards it");
            match state? {
                RecordState::Missing => {}
                RecordState::Incomplete => disk::remove_file(&path).at("remove", &path)?,
                RecordState::Foreign => warnings.push(Warning::file(&path, FOREIGN)),
                RecordState::OtherVersion(operation) => {
                    let message = format!(
                        "`{operation}` was interrupted in another version of annals, such as 0.2"
                    );
                    return Err(Error::failed(message)
                        .about(&path)
                        .hint(format!("finish it with that version, or: {hint}")));
                }
                RecordState::Own(record) => {
                    let name = format!("`{}` (operation {id})", record.operation);
                    let done = Pending::open(&path, record)
                        .and_then(|pending| apply::finish(root, pending, &self.signer));
                    warnings.extend(done.map_err(|error| {
                        Error::failed(format!("cannot finish {name}: {error}")).hint(hint)
                    })?);
                }
            }
        }
        Ok(warnings)
    }

    /// Holds no locks, on a dry run or because of an obstacle; names what is interrupted.
    fn unlocked(&self, obstacle: Option<Error>) -> HeldLocks {
        // Another user's records may be unreadable, which must not prevent reading the project's files.
        let warnings = self
            .interrupted()
            .unwrap_or_else(|error| vec![Warning::file(&self.records(), error.reason())]);
        HeldLocks { _files: Vec::new(), records: Vec::new(), warnings, obstacle }
    }

    /// Applies the changes, recorded unless a log alone is appended to; returns the conflict that prevented it.
    fn record_and_apply(
        &self,
        root: &Root,
        mut record: Record,
        records: &[RecordFile],
        applied: &mut Applied,
    ) -> Result<Option<Error>> {
        let is_one_step = record.changes.len() == 1;
        let is_optional = record.request.is_none() && writes_one_file(&record.changes);
        if is_one_step && is_optional && record.changes[0].is_final() {
            return apply::apply(root, Pending::unrecorded(record), &self.signer);
        }
        if let Err(error) = self.signer.key() {
            if !is_optional {
                return Err(error);
            }
            let conflict = apply::apply(root, Pending::unrecorded(record), &self.signer)?;
            let what = format!("not recorded, so it cannot be undone: {}", error.message);
            applied.warnings.push(Warning::file(&self.folder, what));
            return Ok(conflict);
        }
        let history = self.history();
        record.id = history.next_id(records)?;
        let is_kept = record.keep;
        let is_recorded = is_kept || record.request.is_some();
        let folder = self.records();
        let pending = Pending::create(&folder, &self.signer, record)?;
        if !is_one_step {
            // A single step is atomic; of several, none may reach the disk before the record does.
            disk::sync_directory(&folder).at("write", &folder)?;
        }
        let (id, length) = (pending.record.id, pending.length());
        let conflict = apply::apply(root, pending, &self.signer)?;
        if is_recorded && conflict.is_none() {
            history.prune(records.to_vec(), id, length)?;
        }
        applied.id = is_kept.then_some(id);
        Ok(conflict)
    }
}

/// What is said of a record that this user did not sign.
const FOREIGN: &str =
    "is not a record that you wrote on this machine, so it is not acted on; delete it";

/// Returns whether the changes write at most one file and create folders, so that none can be left half done.
fn writes_one_file(list: &[Change]) -> bool {
    let files = list.iter().filter(|change| !change.is_directory_change());
    files.count() <= 1
        && !list.iter().any(|change| matches!(change, Change::RemoveDirectory { .. }))
}

/// Returns the changes with paths relative to the root; refused if one is outside of it or write-protected.
fn relative(root: &Root, changes: Changes) -> Result<Vec<Change>> {
    let mut list = Vec::new();
    for mut change in changes.into_list() {
        if let Change::Write { path, old: Some(_), new, mode } = &mut change
            && let Ok(metadata) = fs::metadata(&*path)
        {
            if metadata.permissions().readonly() {
                return Err(Error::refused("is write-protected").about(path));
            }
            if new.is_none() {
                *mode = disk::mode(&metadata);
            }
        }
        list.push(change.with_paths(|path| root.relative(path))?);
    }
    Ok(list)
}
