//! Shows files as they will be after the planned changes, before anything is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::change::Change;
use crate::storage::{append, fingerprint, read};

/// The planned state of a path.
pub(crate) enum PathState {
    File(Vec<u8>),
    Directory,
    Absent,
    /// The plan does not change it; its content is on disk at this path, which a planned move may rename.
    OnDisk(PathBuf),
}

/// The file tree after planned changes, in order; all paths are without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preview {
    changes: Vec<Change<Vec<u8>>>,
    /// The indices of the changes of each path, except moves.
    by_path: HashMap<PathBuf, Vec<usize>>,
    /// The indices of the moves.
    moves: Vec<usize>,
}

impl Preview {
    /// Returns the changes in order.
    pub(crate) fn changes(&self) -> &[Change<Vec<u8>>] {
        &self.changes
    }

    /// Returns the changes in order.
    pub(crate) fn into_changes(self) -> Vec<Change<Vec<u8>>> {
        self.changes
    }

    /// Adds a change after the others.
    pub(crate) fn push(&mut self, change: Change<Vec<u8>>) {
        let index = self.changes.len();
        match &change {
            Change::Move { .. } => self.moves.push(index),
            other => {
                let path = other.path().to_owned();
                self.by_path.entry(path).or_default().push(index);
            }
        }
        self.changes.push(change);
    }

    /// Removes a change that has no effect.
    pub(crate) fn remove(&mut self, index: usize) {
        let mut changes = std::mem::take(self).changes;
        changes.remove(index);
        for change in changes {
            self.push(change);
        }
    }

    /// Returns the last change of a file if it is a write, so that another one can be merged into it.
    pub(crate) fn last_write(&mut self, path: &Path) -> Option<(usize, &mut Change<Vec<u8>>)> {
        let index = *self.by_path.get(path)?.last()?;
        if self.last_move(path, self.changes.len()) > Some(index) {
            return None;
        }
        let change = &mut self.changes[index];
        matches!(change, Change::Write { .. }).then_some((index, change))
    }

    /// Returns the planned state of a path.
    pub(crate) fn lookup(&self, path: &Path) -> Result<PathState> {
        self.lookup_before(path, self.changes.len())
    }

    fn lookup_before(&self, path: &Path, mut end: usize) -> Result<PathState> {
        let mut path = path.to_owned();
        loop {
            let changed = self.by_path.get(&path).and_then(|indices| {
                let earlier = indices.partition_point(|index| *index < end);
                indices[..earlier].last().copied()
            });
            let moved = self.last_move(&path, end);
            let Some(last) = changed.max(moved) else {
                return Ok(PathState::OnDisk(path));
            };
            match &self.changes[last] {
                Change::Write { new, .. } => {
                    return Ok(new.clone().map_or(PathState::Absent, PathState::File));
                }
                Change::Append { lines, .. } => {
                    let before = bytes_of(self.lookup_before(&path, last)?, &path)?;
                    let bytes = append::joined(before.unwrap_or_default(), lines);
                    return Ok(PathState::File(bytes));
                }
                Change::CreateDirectory { .. } => return Ok(PathState::Directory),
                Change::RemoveDirectory { .. } => return Ok(PathState::Absent),
                Change::Move { from, to, .. } => match path.strip_prefix(to) {
                    Ok(below) => path = fingerprint::join(from, below),
                    Err(_) => return Ok(PathState::Absent),
                },
            }
            end = last;
        }
    }

    /// Returns the last move before `end` to or from a path.
    fn last_move(&self, path: &Path, end: usize) -> Option<usize> {
        let earlier = self.moves.partition_point(|index| *index < end);
        let moves = self.moves[..earlier].iter().rev().copied();
        let mut moves = moves.filter(|index| {
            let change = &self.changes[*index];
            path.starts_with(change.path())
                || change.source().is_some_and(|from| path.starts_with(from))
        });
        moves.next()
    }

    /// Returns a file's planned bytes, or `None` if there will be no file.
    pub(crate) fn bytes(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        bytes_of(self.lookup(path)?, path)
    }

    /// Returns whether a path will exist.
    pub(crate) fn exists(&self, path: &Path) -> Result<bool> {
        match self.lookup(path)? {
            PathState::File(_) | PathState::Directory => Ok(true),
            PathState::Absent => Ok(false),
            PathState::OnDisk(path) => match fs::symlink_metadata(&path) {
                Err(error) if read::is_absent(&error) => Ok(false),
                metadata => metadata.at("read", &path).map(|_| true),
            },
        }
    }

    /// Returns whether a path will be a directory.
    pub(crate) fn is_directory(&self, path: &Path) -> Result<bool> {
        Ok(match self.lookup(path)? {
            PathState::Directory => true,
            PathState::File(_) | PathState::Absent => false,
            PathState::OnDisk(path) => path.is_dir(),
        })
    }

    /// Returns whether a directory will be empty.
    pub(crate) fn is_vacant(&self, directory: &Path) -> Result<bool> {
        let mut below = self.arrivals(directory);
        below.remove(directory);
        if let PathState::OnDisk(path) = self.lookup(directory)? {
            for entry in fs::read_dir(&path).at("list", &path)? {
                below.insert(directory.join(entry.at("list", &path)?.file_name()));
            }
        }
        for path in below {
            if self.exists(&path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the digests of the files at and below a path, by relative path.
    pub(crate) fn contents(&self, path: &Path) -> Result<BTreeMap<PathBuf, String>> {
        let mut files = BTreeSet::new();
        for arrival in self.arrivals(path).into_iter().chain([path.to_owned()]) {
            match self.lookup(&arrival)? {
                PathState::OnDisk(on_disk) if on_disk.symlink_metadata().is_ok() => {
                    let below = fingerprint::files_below(&on_disk)?;
                    let names = below.iter().map(|name| fingerprint::join(&arrival, name));
                    files.extend(names);
                }
                PathState::File(_) => {
                    files.insert(arrival);
                }
                _ => {}
            }
        }
        let mut contents = BTreeMap::new();
        for file in files {
            let digest = match self.lookup(&file)? {
                PathState::File(bytes) => fingerprint::of_bytes(&bytes),
                PathState::OnDisk(path) => fingerprint::of_file(&path)?,
                PathState::Directory | PathState::Absent => continue,
            };
            let below = file.strip_prefix(path).unwrap_or(&file).to_owned();
            contents.insert(below, digest);
        }
        Ok(contents)
    }

    /// Returns the paths at and below a path that the changes affect, by their final names.
    fn arrivals(&self, path: &Path) -> BTreeSet<PathBuf> {
        let mut arrived = BTreeSet::new();
        for change in &self.changes {
            if let Some(from) = change.source() {
                let moved: Vec<PathBuf> = arrived
                    .iter()
                    .filter(|path: &&PathBuf| path.starts_with(from))
                    .cloned()
                    .collect();
                for before in moved {
                    if let Ok(below) = before.strip_prefix(from) {
                        arrived.insert(fingerprint::join(change.path(), below));
                    }
                    arrived.remove(&before);
                }
            }
            arrived.insert(change.path().to_owned());
        }
        arrived.retain(|arrival| arrival.starts_with(path));
        arrived
    }
}

fn bytes_of(state: PathState, path: &Path) -> Result<Option<Vec<u8>>> {
    match state {
        PathState::File(bytes) => Ok(Some(bytes)),
        PathState::Absent => Ok(None),
        PathState::OnDisk(path) => read::bytes(&path),
        PathState::Directory => {
            Err(Error::failed("is a directory, a file was expected").at(path, None))
        }
    }
}
