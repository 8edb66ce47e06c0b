//! Reads all entries of the store, in parallel if there are many, because `entry query` does so on each run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use crate::error::{At, Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::knowledge::dir::stem;
use crate::knowledge::read::leads_out;
use crate::storage::stat::{PathKind, Stat};
use crate::storage::{Boundary, MAX_READ_BYTES, MAX_READ_FILES, listing, read};
use crate::warning::{Parsed, Warning};

/// Returns the keys of the existing entries that a scan did not read, because of its limit or their size.
pub(crate) fn unread<'k>(
    place: &KnowledgeDir,
    read: impl IntoIterator<Item = &'k str>,
) -> BTreeSet<String> {
    let mut keys: BTreeSet<String> = place.keys().into_iter().collect();
    for key in read {
        keys.remove(key);
    }
    // A folder may have the name of an entry's file.
    keys.retain(|key| !fs::symlink_metadata(place.entry(key)).is_ok_and(|found| found.is_dir()));
    keys
}

/// The file of an entry.
pub(crate) struct EntryFile<'a> {
    pub(crate) key: &'a str,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Minimum number of files for reading in parallel; below it, starting threads takes longer than it saves.
const MIN_PARALLEL_FILES: usize = 256;

/// Calls `visit` for every entry, in parallel if there are many, and returns the results in the order of the
/// file names.
///
/// A file that cannot be read, or is a link out of the store, becomes a warning; so do files beyond the limit of
/// one command.
pub(crate) fn scan<T: Send>(
    place: &KnowledgeDir,
    visit: impl Fn(&EntryFile<'_>) -> Option<T> + Sync,
) -> Result<Parsed<Vec<T>>> {
    let folder = place.memory();
    let listed = match listing::entries(&folder) {
        Err(error) if read::is_absent(&error) => return Ok(Parsed::clean(Vec::new())),
        listed => listed.at("list", &folder)?,
    };
    let room = AtomicU64::new(MAX_READ_BYTES);
    let within = listed.len() <= MAX_READ_FILES;
    if let Some(found) = within.then(|| scan_all(place, &folder, &listed, &room, &visit)) {
        let found = found?;
        if room.load(Ordering::Relaxed) > 0 {
            return Ok(found);
        }
    }
    // Rare. Only now the size of each file is queried, so that the same files are read with any number of threads.
    let files = listed.iter().map(|(name, _)| folder.join(name)).collect();
    let kept = Boundary::within_limit(&folder, files).len();
    let unlimited = AtomicU64::new(u64::MAX);
    scan_all(place, &folder, &listed[..kept], &unlimited, &visit)
}

/// Scans these files until `room` bytes are read.
fn scan_all<T: Send>(
    place: &KnowledgeDir,
    folder: &Path,
    listed: &[(String, PathKind)],
    room: &AtomicU64,
    visit: &(impl Fn(&EntryFile<'_>) -> Option<T> + Sync),
) -> Result<Parsed<Vec<T>>> {
    if listed.len() < MIN_PARALLEL_FILES {
        return Ok(scan_part(place, folder, listed, room, visit));
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts = thread::scope(|scope| {
        let parts = listed.chunks(listed.len().div_ceil(threads));
        let started: Vec<_> = parts
            .map(|part| {
                let scan = move || scan_part(place, folder, part, room, visit);
                // The system may refuse another thread.
                let thread = thread::Builder::new().spawn_scoped(scope, scan);
                thread.map_err(|_| scan())
            })
            .collect();
        let joined = started.into_iter().map(|part| match part {
            Ok(thread) => thread.join(),
            Err(scanned) => Ok(scanned),
        });
        joined.collect::<std::result::Result<Vec<_>, _>>()
    });
    let parts = parts.map_err(|_| Error::failed("a thread that reads entries panicked"))?;
    let mut all = Parsed::clean(Vec::new());
    for part in parts {
        all.value.extend(part.value);
        all.warnings.extend(part.warnings);
    }
    Ok(all)
}

fn scan_part<T>(
    place: &KnowledgeDir,
    folder: &Path,
    listed: &[(String, PathKind)],
    room: &AtomicU64,
    visit: &impl Fn(&EntryFile<'_>) -> Option<T>,
) -> Parsed<Vec<T>> {
    let (mut made, mut warnings) = (Vec::new(), Vec::new());
    for (name, kind) in listed {
        let Some(key) = stem(name) else {
            continue;
        };
        let path = folder.join(name);
        match bytes(place, &path, *kind, &mut warnings) {
            // The listing shows a name that is not UTF-8 with U+FFFD, and no file has that name.
            Ok(None) if *kind == PathKind::File && key.contains('\u{fffd}') => {
                let warning = "has a file name that is not valid UTF-8, so it is not read";
                warnings.push(Warning::file(&path, warning));
            }
            Ok(None) => {}
            Ok(Some(bytes)) => {
                let length = bytes.len() as u64;
                let take = |left: u64| left.checked_sub(length);
                if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                    room.store(0, Ordering::Relaxed);
                    break;
                }
                made.extend(visit(&EntryFile { key, path, bytes }));
            }
            Err(error) => warnings.push(Warning::file(&path, error.reason())),
        }
    }
    Parsed::new(made, warnings)
}

/// Reads an entry's file; returns `None` if it is not an entry or no longer exists.
fn bytes(
    place: &KnowledgeDir,
    path: &Path,
    kind: PathKind,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<u8>>> {
    match kind {
        PathKind::Folder => return Ok(None),
        PathKind::Link if leads_out(place, path)? => {
            let warning = "is a symbolic link out of the store, which is not followed";
            warnings.push(Warning::file(path, warning));
            return Ok(None);
        }
        // A dangling link causes an error here.
        PathKind::Link => {
            Stat::read(path).at("read", path)?;
        }
        PathKind::File | PathKind::Other => {}
    }
    read::bytes(path)
}
