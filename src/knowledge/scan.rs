//! Goes through all entries of the store, on all processors, and reads only what the cache has not.

use std::borrow::Cow;
use std::fs;
use std::fs::DirEntry;
use std::fs::ReadDir;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use crate::error::At;
use crate::error::Result;
use crate::knowledge::Place;
use crate::knowledge::cache;
use crate::knowledge::cache::Cache;
use crate::knowledge::cache::Row;
use crate::knowledge::cache::Stamp;
use crate::knowledge::entry;
use crate::knowledge::fingerprint::Fingerprint;
use crate::knowledge::likeness;
use crate::knowledge::place::stem;
use crate::knowledge::read::leads_out;
use crate::project::Project;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Fewer files are read on one processor.
const ALONE: usize = 200;
/// So many files a thread takes at once, lest the threads wait for each other.
const BATCH: usize = 64;
/// More threads wait for each other.
const MOST_THREADS: usize = 8;
/// So many files may be read again each time before the cache is written anew.
const READ_AGAIN: usize = 16;

/// One entry's file.
pub(crate) struct Found<'a> {
    pub(crate) key: &'a str,
    /// What stands for the first line of the body.
    pub(crate) first_line: u64,
    /// What stands for the words of the text.
    pub(crate) fingerprint: &'a [u8],
    file: &'a DirEntry,
    text: Option<&'a [u8]>,
}

impl<'a> Found<'a> {
    /// Returns where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        match self.text {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => Ok(Cow::Owned(read::bytes(&self.path())?.unwrap_or_default())),
        }
    }
}

/// A file that the cache did not have.
struct Fresh {
    name: String,
    stamp: Stamp,
    first_line: u64,
    fingerprint: Fingerprint,
}

impl Fresh {
    fn row(&self) -> Row<'_> {
        Row {
            name: &self.name,
            stamp: self.stamp,
            first_line: self.first_line,
            fingerprint: self.fingerprint.as_bytes(),
        }
    }
}

/// What one thread made of its part, each with the file's name.
struct Part<'c, T> {
    made: Vec<(String, T)>,
    warnings: Vec<(String, Warning)>,
    fresh: Vec<Fresh>,
    kept: Vec<Row<'c>>,
}

impl<T> Part<'_, T> {
    fn new() -> Self {
        Self {
            made: Vec::new(),
            warnings: Vec::new(),
            fresh: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn add(&mut self, other: Self) {
        self.made.extend(other.made);
        self.warnings.extend(other.warnings);
        self.fresh.extend(other.fresh);
        self.kept.extend(other.kept);
    }
}

/// Hands every entry to `visit`, and returns what it made of them in the order of the files' names.
///
/// A file that cannot be read, or is a link out of the store, becomes a warning.
pub(crate) fn scan<T: Send>(
    project: &Project,
    place: &Place,
    visit: impl Fn(&Found<'_>) -> Result<Option<T>> + Sync,
) -> Result<Parsed<Vec<T>>> {
    let storage = project.storage();
    let cache = Cache::read(&storage)?;
    let mut all = parts(place, &cache, &visit)?;
    let gone = cache.len().saturating_sub(all.kept.len());
    if all.fresh.len().max(gone) > READ_AGAIN {
        let mut rows = all.kept;
        rows.extend(all.fresh.iter().map(Fresh::row));
        // It only saves time: where nothing can be written, the next run reads the files again.
        cache::write(&storage, rows).ok();
    }
    all.made.sort_by(|a, b| a.0.cmp(&b.0));
    all.warnings.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Parsed {
        value: all.made.into_iter().map(|(_, made)| made).collect(),
        warnings: all.warnings.into_iter().map(|(_, told)| told).collect(),
    })
}

/// Visits all files; where there are many, several threads take them from one listing.
fn parts<'c, T: Send>(
    place: &Place,
    cache: &'c Cache,
    visit: &(impl Fn(&Found<'_>) -> Result<Option<T>> + Sync),
) -> Result<Part<'c, T>> {
    let folder = place.memory();
    let mut listing = match fs::read_dir(&folder) {
        Err(error) if read::is_absent(&error) => return Ok(Part::new()),
        listing => listing.at("list", &folder)?,
    };
    let few = batch(&mut listing, ALONE, &folder)?;
    let threads = match few.len() {
        ALONE => thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS)),
        _ => 1,
    };
    let listing = Mutex::new(listing);
    let work = |first: Vec<DirEntry>| -> Result<Part<'c, T>> {
        let mut part = Part::new();
        let mut files = first;
        loop {
            for file in files {
                visit_one(place, cache, &file, visit, &mut part);
            }
            let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
            files = batch(&mut listing, BATCH, &folder)?;
            if files.is_empty() {
                return Ok(part);
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|_| scope.spawn(|| work(Vec::new())))
            .collect();
        let mut all = work(few)?;
        for other in others {
            match other.join() {
                Ok(part) => all.add(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}

/// Takes the next files from a listing; fewer than asked for at its end.
fn batch(listing: &mut ReadDir, size: usize, folder: &Path) -> Result<Vec<DirEntry>> {
    let files: std::io::Result<Vec<DirEntry>> = listing.take(size).collect();
    files.at("list", folder)
}

fn visit_one<'c, T>(
    place: &Place,
    cache: &'c Cache,
    file: &DirEntry,
    visit: &impl Fn(&Found<'_>) -> Result<Option<T>>,
    part: &mut Part<'c, T>,
) {
    // A key is ASCII: a name that is no text cannot be one's file.
    let Ok(name) = file.file_name().into_string() else {
        return;
    };
    let Some(key) = stem(&name) else {
        return;
    };
    match look(place, cache, (&name, key, file), visit, part) {
        Ok(None) => {}
        Ok(Some(made)) => part.made.push((name, made)),
        Err(error) => {
            let warning = Warning::file(&file.path(), error.reason());
            part.warnings.push((name, warning));
        }
    }
}

fn look<'c, T>(
    place: &Place,
    cache: &'c Cache,
    (name, key, file): (&str, &str, &DirEntry),
    visit: &impl Fn(&Found<'_>) -> Result<Option<T>>,
    part: &mut Part<'c, T>,
) -> Result<Option<T>> {
    let mut metadata = match file.metadata() {
        Err(error) if read::is_absent(&error) => return Ok(None),
        // No path is made where none is told: it would be ten thousand.
        Err(error) => return Err(error).at("read", &file.path()),
        Ok(metadata) => metadata,
    };
    if metadata.is_dir() {
        return Ok(None);
    }
    if metadata.is_symlink() {
        let path = file.path();
        if leads_out(place, &path)? {
            let warning = "is a symbolic link out of the store, which is not followed";
            let warning = Warning::file(&path, warning);
            part.warnings.push((name.to_owned(), warning));
            return Ok(None);
        }
        metadata = fs::metadata(&path).at("read", &path)?;
    }
    let stamp = Stamp::of(&metadata);
    if let Some(row) = cache.get(name, stamp) {
        let made = visit(&Found {
            key,
            first_line: row.first_line,
            fingerprint: row.fingerprint,
            file,
            text: None,
        });
        part.kept.push(row);
        return made;
    }
    let bytes = read::bytes_of(&file.path(), &metadata)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let fresh = Fresh {
        name: name.to_owned(),
        stamp,
        first_line: likeness::first_line(&text[entry::body_start(&text)..], key),
        fingerprint: Fingerprint::of(&text),
    };
    let made = visit(&Found {
        key,
        first_line: fresh.first_line,
        fingerprint: fresh.fingerprint.as_bytes(),
        file,
        text: Some(&bytes),
    });
    part.fresh.push(fresh);
    made
}
