//! Applies changes one by one, each checked against the expected content, and reverts them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::append;
use crate::storage::change::Change;
use crate::storage::dir::Visibility;
use crate::storage::disk;
use crate::storage::format::Mark;
use crate::storage::read;
use crate::storage::record;
use crate::storage::record::Record;
use crate::storage::replace;
use crate::storage::replace::ChangeOutcome;
use crate::storage::replace::Leftover;
use crate::storage::replace::Replacement;
use crate::storage::root::Root;
use crate::warning::Warning;

/// The outcome of an operation that did not fail.
#[derive(Debug)]
pub(crate) enum Ended {
    /// All changes were applied.
    Made,
    /// No change was applied, since a file had changed after it was read.
    Overtaken(Error),
}

/// Applies all changes of a new record and closes it; if one fails, the earlier ones are reverted.
pub(crate) fn apply(root: &Root, mut record: Record) -> Result<Ended> {
    match apply_all(root, &mut record) {
        Ok(None) => record.close().map(|()| Ended::Made),
        Ok(Some(overtaken)) => take_back(root, record, overtaken).map(Ended::Overtaken),
        Err(failure) => Err(match take_back(root, record, failure) {
            Ok(failure) | Err(failure) => failure,
        }),
    }
}

/// Applies all changes; returns an error to report if one of the files had changed.
fn apply_all(root: &Root, record: &mut Record) -> Result<Option<Error>> {
    for index in 0..record.changes.len() {
        let temporary = record.temporary_name(index);
        let change = &record.changes[index];
        let progress = &mut record.progress;
        let mut note = || progress.mark(index, Mark::Exchanging);
        match apply_change(root, change, &temporary, &mut note)? {
            ChangeOutcome::Made => record.progress.mark(index, Mark::Made)?,
            ChangeOutcome::LeftAlone => {
                let overtaken = changed_meanwhile(root, &record.changes[index]);
                record.progress.mark(index, Mark::Waiting)?;
                return Ok(Some(overtaken));
            }
        }
    }
    sync_directories(root, record)?;
    Ok(None)
}

/// Applies changes without a record: appended lines, or a single file with its folders.
pub(crate) fn apply_unrecorded(root: &Root, changes: &[Change<Vec<u8>>]) -> Result<Ended> {
    let temporary = |index| record::temporary_name(0, std::process::id(), index);
    for (index, change) in changes.iter().enumerate() {
        let made = apply_change(root, change, &temporary(index), &mut || Ok(()));
        if matches!(made, Ok(ChangeOutcome::Made)) {
            continue;
        }
        // Only folders can stand before the one file: those that are new are empty.
        for (index, made) in changes[..index].iter().enumerate().rev() {
            if let Some(inverse) = made.inverse() {
                apply_change(root, &inverse, &temporary(index), &mut || Ok(()))?;
            }
        }
        return made.map(|_| Ended::Overtaken(changed_meanwhile(root, change)));
    }
    for change in changes {
        if let Change::Write { path, .. } = change
            && let Some(path) = root.locate(path)?
            && let Some(folder) = path.parent()
        {
            disk::sync_directory(folder).at("write", folder)?;
        }
    }
    Ok(Ended::Made)
}

/// Reverts all applied changes after a failure; returns the failure, and states if not all could be reverted.
fn take_back(root: &Root, mut record: Record, failure: Error) -> Result<Error> {
    let left = roll_back(root, &mut record);
    match left.and_then(|left| record.close().map(|()| left)) {
        Ok(left) if left.is_empty() => Ok(failure),
        Ok(left) => Err(failure.hint(format!(
            "rolled back, except {}, which changed in the meantime",
            left[0].place.file.display()
        ))),
        Err(second) => Err(failure.hint(format!(
            "not everything could be rolled back ({second}); the next command that writes completes the rollback"
        ))),
    }
}

/// Applies the pending changes of an interrupted operation; warns of skipped paths.
pub(crate) fn complete(root: &Root, record: &mut Record) -> Result<Vec<Warning>> {
    let mut left = settle(root, record, false, Mark::Waiting)?;
    for index in 0..record.changes.len() {
        if !matches!(
            record.progress.marks()[index],
            Mark::Waiting | Mark::Exchanging
        ) {
            continue;
        }
        let mark = match redo(root, record, index)? {
            ChangeOutcome::Made => Mark::Made,
            ChangeOutcome::LeftAlone => {
                left.push(left_alone(root, &record.changes[index]));
                Mark::LeftAlone
            }
        };
        record.progress.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(left)
}

/// Reverts the applied changes, the last first; warns of skipped paths.
pub(crate) fn roll_back(root: &Root, record: &mut Record) -> Result<Vec<Warning>> {
    let was_backward = record.progress.is_backward();
    if !was_backward {
        record.progress.turn_back()?;
    }
    let mut left = settle(root, record, was_backward, Mark::Made)?;
    for index in (0..record.changes.len()).rev() {
        if !matches!(
            record.progress.marks()[index],
            Mark::Made | Mark::Exchanging
        ) {
            continue;
        }
        let Some(inverse) = record.changes[index].inverse() else {
            continue;
        };
        let temporary = record.temporary_name(index);
        let progress = &mut record.progress;
        let mut note = || progress.mark(index, Mark::Exchanging);
        let mark = match apply_change(root, &inverse, &temporary, &mut note)? {
            ChangeOutcome::Made => Mark::TakenBack,
            ChangeOutcome::LeftAlone => {
                left.push(left_alone(root, &inverse));
                Mark::LeftAlone
            }
        };
        record.progress.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(left)
}

/// Clears the temporary files that an interrupted operation may have left; a save in one of them is put back.
///
/// What was being exchanged gets the mark with which it is looked at again: by then nothing is beside the file.
fn settle(
    root: &Root,
    record: &mut Record,
    was_backward: bool,
    again: Mark,
) -> Result<Vec<Warning>> {
    let mut left = Vec::new();
    for index in 0..record.changes.len() {
        let Change::Write {
            path,
            old,
            new,
            mode,
        } = &record.changes[index]
        else {
            continue;
        };
        let Some(located) = root.locate(path)? else {
            continue;
        };
        let (mut old, mut new) = (old.as_deref(), new.as_deref());
        if was_backward {
            std::mem::swap(&mut old, &mut new);
        }
        let with = Replacement {
            old,
            new,
            mode: *mode,
        };
        let staged = located.with_file_name(record.temporary_name(index));
        let is_whole = record.progress.marks()[index] == Mark::Exchanging;
        match replace::settle(&located, &staged, with, is_whole)? {
            Leftover::Cleared => {
                if is_whole {
                    record.progress.mark(index, again)?;
                }
                continue;
            }
            Leftover::PutBack => left.push(left_alone(root, &record.changes[index])),
            Leftover::Kept => {
                let name = path.with_file_name(record.temporary_name(index));
                left.push(Warning::file(
                    &root.named(&name),
                    format!(
                        "is a version of {} that was saved while annals wrote it; the file was saved again since, so this copy is kept",
                        root.named(path).display()
                    ),
                ));
            }
        }
        record.progress.mark(index, Mark::LeftAlone)?;
    }
    Ok(left)
}

/// Applies a change that may have been applied just before the process was killed.
fn redo(root: &Root, record: &mut Record, index: usize) -> Result<ChangeOutcome> {
    let temporary = record.temporary_name(index);
    let change = &record.changes[index];
    if let Change::Append { path, lines } = change
        && let Some(path) = root.locate(path)?
    {
        return append::finish(&path, lines).map(|()| ChangeOutcome::Made);
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
            let with = Replacement {
                old: old.as_deref(),
                new: new.as_deref(),
                mode: *mode,
            };
            replace::replace(&path, &path.with_file_name(temporary), with, note)
        }
        Change::Append { lines, .. } => {
            append::append_unlinked(&path, lines).map(|()| ChangeOutcome::Made)
        }
        Change::Move { from, .. } => match root.locate(from)? {
            Some(from) => rename(&from, &path),
            None => Ok(ChangeOutcome::LeftAlone),
        },
        Change::CreateDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(ChangeOutcome::LeftAlone),
            _ => disk::create_directory(&path, Visibility::Shared)
                .at("create", &path)
                .map(|_| ChangeOutcome::Made),
        },
        Change::RemoveDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(ChangeOutcome::LeftAlone),
            _ => disk::remove_directory(&path)
                .at("remove", &path)
                .map(|()| ChangeOutcome::Made),
        },
    }
}

fn rename(from: &Path, to: &Path) -> Result<ChangeOutcome> {
    let is_there = |path: &Path| match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => Ok(false),
        metadata => metadata.at("read", path).map(|_| true),
    };
    match (is_there(from)?, is_there(to)?) {
        (true, false) => match disk::rename_to_vacant(from, to) {
            Ok(true) => Ok(ChangeOutcome::Made),
            Ok(false) => disk::rename(from, to)
                .at("move", from)
                .map(|()| ChangeOutcome::Made),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(ChangeOutcome::LeftAlone)
            }
            Err(error) => Err(error).at("move", from),
        },
        (false, true) => Ok(ChangeOutcome::Made),
        _ => Ok(ChangeOutcome::LeftAlone),
    }
}

/// Flushes every directory whose entries changed, each once.
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
    Warning::file(
        &path,
        "left as it is, because it had changed in the meantime",
    )
}

fn changed_meanwhile(root: &Root, change: &Change<Vec<u8>>) -> Error {
    Error::refused("changed while annals was working, so nothing was written")
        .at(&root.named(change.path()), None)
        .hint("run it again")
}
