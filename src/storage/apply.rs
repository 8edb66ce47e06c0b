//! Makes changes one by one, each checked against what should be there, and takes them back.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::storage::append;
use crate::storage::change::Change;
use crate::storage::disk;
use crate::storage::format::Mark;
use crate::storage::read;
use crate::storage::record::Record;
use crate::storage::root::Root;

/// What came of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is made, now or before.
    Made,
    /// The place holds neither what it should hold before nor after, and was left alone.
    LeftAlone,
}

/// What a place on disk holds.
enum Holding {
    Nothing,
    Bytes(Vec<u8>),
    /// A directory, a link, a pipe, or more bytes than we ever write.
    Foreign,
}

impl Holding {
    fn is(&self, content: Option<&[u8]>) -> bool {
        match self {
            Self::Nothing => content.is_none(),
            Self::Bytes(bytes) => content == Some(bytes),
            Self::Foreign => false,
        }
    }
}

/// Makes all changes of a fresh record and closes it; if one fails, those before it are taken back.
pub(crate) fn apply(root: &Root, mut record: Record) -> Result<()> {
    match make_all(root, &mut record) {
        Ok(()) => record.close(),
        Err(failure) => Err(take_back(root, record, failure)),
    }
}

fn make_all(root: &Root, record: &mut Record) -> Result<()> {
    for index in 0..record.changes.len() {
        let change = &record.changes[index];
        match make(root, change, &record.temporary_name(index))? {
            Outcome::Made => record.mark(index, Mark::Made)?,
            Outcome::LeftAlone => return Err(changed_meanwhile(root, change)),
        }
    }
    sync_directories(root, record)
}

/// Adds lines to logs: nothing that would need a record.
pub(crate) fn append_all(root: &Root, changes: &[Change<Vec<u8>>]) -> Result<()> {
    for change in changes {
        if make(root, change, "")? == Outcome::LeftAlone {
            return Err(changed_meanwhile(root, change));
        }
    }
    Ok(())
}

/// Takes all made changes back after a failure, and returns the failure with what became of the rest.
fn take_back(root: &Root, mut record: Record, failure: Error) -> Error {
    let left = roll_back(root, &mut record);
    match left.and_then(|left| record.close().map(|()| left)) {
        Ok(left) if left.is_empty() => failure,
        Ok(left) => failure.hint(format!(
            "all else was taken back, but {} changed again meanwhile and stays",
            left[0].display()
        )),
        Err(second) => failure.hint(format!(
            "not all could be taken back ({second}); the next writing command settles that"
        )),
    }
}

/// Makes the changes of an interrupted operation that are still waiting; returns the places left alone.
pub(crate) fn complete(root: &Root, record: &mut Record) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for index in 0..record.changes.len() {
        if record.marks()[index] != Mark::Waiting {
            continue;
        }
        let mark = match repeat(root, record, index)? {
            Outcome::Made => Mark::Made,
            Outcome::LeftAlone => {
                left.push(root.named(record.changes[index].path()));
                Mark::LeftAlone
            }
        };
        record.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(left)
}

/// Takes back the changes that are made, the last first; returns the places left alone.
pub(crate) fn roll_back(root: &Root, record: &mut Record) -> Result<Vec<PathBuf>> {
    if !record.is_backward() {
        record.turn_back()?;
    }
    let mut left = Vec::new();
    for index in (0..record.changes.len()).rev() {
        if record.marks()[index] != Mark::Made {
            continue;
        }
        let Some(inverse) = record.changes[index].inverse() else {
            continue;
        };
        let mark = match make(root, &inverse, &record.temporary_name(index))? {
            Outcome::Made => Mark::TakenBack,
            Outcome::LeftAlone => {
                left.push(root.named(inverse.path()));
                Mark::LeftAlone
            }
        };
        record.mark(index, mark)?;
    }
    sync_directories(root, record)?;
    Ok(left)
}

/// Removes the temporary files that an interrupted operation may have left.
pub(crate) fn remove_temporaries(root: &Root, record: &Record) -> Result<()> {
    for (index, change) in record.changes.iter().enumerate() {
        if let Change::Write { path, .. } = change
            && let Some(path) = root.locate(path)?
        {
            let temporary = path.with_file_name(record.temporary_name(index));
            if temporary.symlink_metadata().is_ok() {
                disk::remove_file(&temporary).at("remove", &temporary)?;
            }
        }
    }
    Ok(())
}

/// Makes a change that may have been made just before the process was killed.
fn repeat(root: &Root, record: &Record, index: usize) -> Result<Outcome> {
    let change = &record.changes[index];
    if let Change::Append { path, lines } = change
        && let Some(path) = root.locate(path)?
    {
        return append::finish(&path, lines).map(|()| Outcome::Made);
    }
    make(root, change, &record.temporary_name(index))
}

fn make(root: &Root, change: &Change<Vec<u8>>, temporary: &str) -> Result<Outcome> {
    let Some(path) = root.locate(change.path())? else {
        return Ok(Outcome::LeftAlone);
    };
    match change {
        Change::Write { old, new, mode, .. } => {
            write(&path, old.as_deref(), new.as_deref(), *mode, temporary)
        }
        Change::Append { lines, .. } => append(&path, lines).map(|()| Outcome::Made),
        Change::Move { from, .. } => match root.locate(from)? {
            Some(from) => rename(&from, &path),
            None => Ok(Outcome::LeftAlone),
        },
        Change::CreateDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(Outcome::LeftAlone),
            _ => disk::create_directory(&path)
                .at("create", &path)
                .map(|_| Outcome::Made),
        },
        Change::RemoveDirectory { .. } => match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => Ok(Outcome::LeftAlone),
            _ => disk::remove_directory(&path)
                .at("remove", &path)
                .map(|()| Outcome::Made),
        },
    }
}

fn write(
    path: &Path,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    mode: Option<u32>,
    temporary: &str,
) -> Result<Outcome> {
    if let Some(outcome) = settled(path, old, new)? {
        return Ok(outcome);
    }
    let Some(bytes) = new else {
        disk::remove_file(path).at("remove", path)?;
        return Ok(Outcome::Made);
    };
    let staged = path.with_file_name(temporary);
    let outcome = stage(path, bytes, mode, &staged)
        // Once more, for writing to disk takes its time: this way hardly any is left for a race.
        .and_then(|()| settled(path, old, new))
        .and_then(|outcome| match outcome {
            Some(outcome) => Ok(Some(outcome)),
            None => disk::rename(&staged, path)
                .at("replace", path)
                .map(|()| None),
        });
    match outcome {
        Ok(None) => Ok(Outcome::Made),
        Ok(Some(outcome)) => discard(&staged).map(|()| outcome),
        Err(error) => Err(match discard(&staged) {
            Ok(()) => error,
            Err(_) => error.hint(format!("{} may be left over", staged.display())),
        }),
    }
}

/// Says what is to become of a write where that is clear already: nothing if it can go ahead.
fn settled(path: &Path, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<Option<Outcome>> {
    let now = look(path)?;
    Ok(if now.is(new) {
        Some(Outcome::Made)
    } else if now.is(old) {
        None
    } else {
        Some(Outcome::LeftAlone)
    })
}

/// Writes the new content beside the file, with its permissions, and brings it to the disk.
fn stage(path: &Path, bytes: &[u8], mode: Option<u32>, staged: &Path) -> Result<()> {
    let file = match disk::create_new(staged) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            discard(staged)?;
            disk::create_new(staged)
        }
        created => created,
    }
    .at("create", staged)?;
    disk::write(&file, bytes).at("write", staged)?;
    match (fs::metadata(path), mode) {
        (Ok(replaced), _) => disk::copy_permissions(&file, &replaced),
        (Err(_), Some(mode)) => disk::set_mode(&file, mode),
        (Err(_), None) => Ok(()),
    }
    .at("set the permissions of", staged)?;
    disk::sync(&file).at("write", staged)
}

fn discard(staged: &Path) -> Result<()> {
    disk::remove_file(staged).at("remove", staged)
}

fn rename(from: &Path, to: &Path) -> Result<Outcome> {
    let is_there = |path: &Path| match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => Ok(false),
        metadata => metadata.at("read", path).map(|_| true),
    };
    match (is_there(from)?, is_there(to)?) {
        (true, false) => disk::rename(from, to)
            .at("move", from)
            .map(|()| Outcome::Made),
        (false, true) => Ok(Outcome::Made),
        _ => Ok(Outcome::LeftAlone),
    }
}

fn look(path: &Path) -> Result<Holding> {
    match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(Holding::Nothing),
        metadata => {
            let metadata = metadata.at("read", path)?;
            if !metadata.is_file() || metadata.len() > read::MAX_FILE {
                return Ok(Holding::Foreign);
            }
        }
    }
    Ok(read::bytes(path)?.map_or(Holding::Nothing, Holding::Bytes))
}

/// Brings every directory whose entries changed to the disk, each once.
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

fn changed_meanwhile(root: &Root, change: &Change<Vec<u8>>) -> Error {
    Error::failed("changed while annals was at work, so nothing was written")
        .at(&root.named(change.path()), None)
        .hint("run it again")
}
