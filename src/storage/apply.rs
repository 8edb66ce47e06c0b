//! Applies changes one by one, each checked against the expected content, and reverts them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::change::Change;
use crate::storage::dir::Visibility;
use crate::storage::format::Mark;
use crate::storage::record::Record;
use crate::storage::replace::{ChangeOutcome, Leftover, Replacement};
use crate::storage::root::Root;
use crate::storage::{append, disk, read, record, replace};
use crate::warning::Warning;

/// The outcome of an operation that did not fail.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All changes were applied.
    Applied,
    /// No change was applied, because a file has changed since it was read.
    Conflicted(Error),
}

/// Applies all changes of a new record and closes it; if one fails, the earlier ones are reverted.
pub(crate) fn apply(root: &Root, mut record: Record) -> Result<Outcome> {
    match apply_all(root, &mut record) {
        Ok(None) => record.close().map(|()| Outcome::Applied),
        Ok(Some(conflict)) => revert(root, record, conflict).map(Outcome::Conflicted),
        Err(failure) => Err(match revert(root, record, failure) {
            Ok(failure) | Err(failure) => failure,
        }),
    }
}

/// Applies all changes; returns an error to report if one of the files has changed.
fn apply_all(root: &Root, record: &mut Record) -> Result<Option<Error>> {
    for index in 0..record.changes.len() {
        let temporary = record.temporary_name(index);
        let change = &record.changes[index];
        let progress = &mut record.progress;
        let mut note = || progress.mark(index, Mark::Exchanging);
        match apply_change(root, change, &temporary, &mut note)? {
            ChangeOutcome::Applied => record.progress.mark(index, Mark::Applied)?,
            ChangeOutcome::LeftAlone => {
                let conflict = changed_meanwhile(root, &record.changes[index]);
                record.progress.mark(index, Mark::Waiting)?;
                return Ok(Some(conflict));
            }
        }
    }
    sync_directories(root, record)?;
    Ok(None)
}

/// Applies changes without a record: appended lines, or a single file with its folders.
pub(crate) fn apply_unrecorded(root: &Root, changes: &[Change<Vec<u8>>]) -> Result<Outcome> {
    let temporary = |index| record::temporary_name(0, std::process::id(), index);
    for (index, change) in changes.iter().enumerate() {
        let outcome = apply_change(root, change, &temporary(index), &mut || Ok(()));
        if matches!(outcome, Ok(ChangeOutcome::Applied)) {
            continue;
        }
        // The earlier changes only created folders, which are empty.
        for (index, earlier) in changes[..index].iter().enumerate().rev() {
            if let Some(inverse) = earlier.inverse() {
                apply_change(root, &inverse, &temporary(index), &mut || Ok(()))?;
            }
        }
        return outcome.map(|_| Outcome::Conflicted(changed_meanwhile(root, change)));
    }
    for change in changes {
        if let Change::Write { path, .. } = change
            && let Some(path) = root.locate(path)?
            && let Some(folder) = path.parent()
        {
            disk::sync_directory(folder).at("write", folder)?;
        }
    }
    Ok(Outcome::Applied)
}

/// Reverts all applied changes after a failure; returns the failure, with a hint if not all could be reverted.
fn revert(root: &Root, mut record: Record, failure: Error) -> Result<Error> {
    let skipped = roll_back(root, &mut record);
    match skipped.and_then(|skipped| record.close().map(|()| skipped)) {
        Ok(skipped) if skipped.is_empty() => Ok(failure),
        Ok(skipped) => Err(failure.hint(format!(
            "rolled back, except {}, which changed in the meantime",
            skipped[0].place.file.display()
        ))),
        Err(second) => Err(failure.hint(format!(
            "not everything could be rolled back ({second}); the next command that writes completes the rollback"
        ))),
    }
}

/// Applies the pending changes of an interrupted operation; warns of skipped paths.
pub(crate) fn complete(root: &Root, record: &mut Record) -> Result<Vec<Warning>> {
    let mut skipped = settle(root, record, false, Mark::Waiting)?;
    for index in 0..record.changes.len() {
        if !matches!(record.progress.marks()[index], Mark::Waiting | Mark::Exchanging) {
            continue;
        }
        let mark = match redo(root, record, index)? {
            ChangeOutcome::Applied => Mark::Applied,
            ChangeOutcome::LeftAlone => {
                skipped.push(left_alone(root, &record.changes[index]));
                Mark::LeftAlone
            }
        };
        record.progress.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(skipped)
}

/// Reverts the applied changes, the last first; warns of skipped paths.
pub(crate) fn roll_back(root: &Root, record: &mut Record) -> Result<Vec<Warning>> {
    let was_backward = record.progress.is_backward();
    if !was_backward {
        record.progress.mark_backward()?;
    }
    let mut skipped = settle(root, record, was_backward, Mark::Applied)?;
    for index in (0..record.changes.len()).rev() {
        if !matches!(record.progress.marks()[index], Mark::Applied | Mark::Exchanging) {
            continue;
        }
        let Some(inverse) = record.changes[index].inverse() else {
            continue;
        };
        let temporary = record.temporary_name(index);
        let progress = &mut record.progress;
        let mut note = || progress.mark(index, Mark::Exchanging);
        let mark = match apply_change(root, &inverse, &temporary, &mut note)? {
            ChangeOutcome::Applied => Mark::Reverted,
            ChangeOutcome::LeftAlone => {
                skipped.push(left_alone(root, &inverse));
                Mark::LeftAlone
            }
        };
        record.progress.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(skipped)
}

/// Deletes the temporary files of an interrupted operation, or puts back another program's version found there.
///
/// Changes that were being exchanged get the mark `reset`, so that they are checked again.
fn settle(
    root: &Root,
    record: &mut Record,
    was_backward: bool,
    reset: Mark,
) -> Result<Vec<Warning>> {
    let mut skipped = Vec::new();
    for index in 0..record.changes.len() {
        let Change::Write { path, old, new, mode } = &record.changes[index] else {
            continue;
        };
        let Some(located) = root.locate(path)? else {
            continue;
        };
        let (mut old, mut new) = (old.as_deref(), new.as_deref());
        if was_backward {
            std::mem::swap(&mut old, &mut new);
        }
        let with = Replacement { old, new, mode: *mode };
        let staged = located.with_file_name(record.temporary_name(index));
        let was_exchanging = record.progress.marks()[index] == Mark::Exchanging;
        match replace::settle(&located, &staged, with, was_exchanging)? {
            Leftover::Cleared => {
                if was_exchanging {
                    record.progress.mark(index, reset)?;
                }
                continue;
            }
            Leftover::Restored => skipped.push(left_alone(root, &record.changes[index])),
            Leftover::Kept => {
                let name = path.with_file_name(record.temporary_name(index));
                skipped.push(Warning::file(
                    &root.named(&name),
                    format!(
                        "is a version of {} that was saved while annals wrote it; the file has been saved again since, so this copy is kept",
                        root.named(path).display()
                    ),
                ));
            }
        }
        record.progress.mark(index, Mark::LeftAlone)?;
    }
    Ok(skipped)
}

/// Applies a change that may have been applied just before the process was killed.
fn redo(root: &Root, record: &mut Record, index: usize) -> Result<ChangeOutcome> {
    let temporary = record.temporary_name(index);
    let change = &record.changes[index];
    if let Change::Append { path, lines } = change
        && let Some(path) = root.locate(path)?
    {
        return append::finish(&path, lines).map(|()| ChangeOutcome::Applied);
    }
    let progress = &mut record.progress;
    let mut note = || progress.mark(index, Mark::Exchanging);
    apply_change(root, change, &temporary, &mut note)
}

fn apply_change(
    root: &Root,
    change: &Change<Vec<u8>>,
    temporary: &str,
    note: &mut dyn FnMut() -> Result<()>,
) -> Result<ChangeOutcome> {
    let Some(path) = root.locate(change.path())? else {
        return Ok(ChangeOutcome::LeftAlone);
    };
    match change {
        Change::Write { old, new, mode, .. } => {
            let with = Replacement { old: old.as_deref(), new: new.as_deref(), mode: *mode };
            replace::replace(&path, &path.with_file_name(temporary), with, note)
        }
        Change::Append { lines, .. } => {
            append::append_unlinked(&path, lines).map(|()| ChangeOutcome::Applied)
        }
        Change::Move { from, .. } => match root.locate(from)? {
            Some(from) => rename(&from, &path),
            None => Ok(ChangeOutcome::LeftAlone),
        },
        Change::CreateDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(ChangeOutcome::LeftAlone),
            _ => disk::create_directory(&path, Visibility::Shared)
                .at("create", &path)
                .map(|_| ChangeOutcome::Applied),
        },
        Change::RemoveDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(ChangeOutcome::LeftAlone),
            _ => disk::remove_directory(&path).at("remove", &path).map(|()| ChangeOutcome::Applied),
        },
    }
}

fn rename(from: &Path, to: &Path) -> Result<ChangeOutcome> {
    let exists = |path: &Path| match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => Ok(false),
        metadata => metadata.at("read", path).map(|_| true),
    };
    match (exists(from)?, exists(to)?) {
        (true, false) => match disk::rename_to_vacant(from, to) {
            Ok(true) => Ok(ChangeOutcome::Applied),
            Ok(false) => disk::rename(from, to).at("move", from).map(|()| ChangeOutcome::Applied),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(ChangeOutcome::LeftAlone)
            }
            Err(error) => Err(error).at("move", from),
        },
        (false, true) => Ok(ChangeOutcome::Applied),
        _ => Ok(ChangeOutcome::LeftAlone),
    }
}

/// Flushes every directory whose entries have changed, each once.
fn sync_directories(root: &Root, record: &Record) -> Result<()> {
    let mut folders = BTreeSet::new();
    for change in &record.changes {
        for path in [Some(change.path()), change.source()].into_iter().flatten() {
            if let Some(path) = root.locate(path)? {
                folders.extend(path.parent().map(Path::to_owned));
            }
        }
    }
    for folder in folders {
        disk::sync_directory(&folder).at("write", &folder)?;
    }
    Ok(())
}

fn left_alone(root: &Root, change: &Change<Vec<u8>>) -> Warning {
    let path: PathBuf = root.named(change.path());
    Warning::file(&path, "left unchanged, because it had changed in the meantime")
}

fn changed_meanwhile(root: &Root, change: &Change<Vec<u8>>) -> Error {
    Error::refused("changed while annals was working, so nothing was written")
        .at(&root.named(change.path()), None)
        .hint("run it again")
}
