//! Goes through all entries of the store, on all processors, and reads only what the cache has not.

use std::borrow::Cow;
use std::fs;
use std::fs::DirEntry;
use std::path::Path;
use std::path::PathBuf;
use std::thread;

use crate::error::At;
use crate::error::Result;
use crate::knowledge::Place;
use crate::knowledge::cache;
use crate::knowledge::cache::Cache;
use crate::knowledge::cache::Row;
use crate::knowledge::cache::Stamp;
use crate::knowledge::entry;
use crate::knowledge::likeness;
use crate::knowledge::place::stem;
use crate::knowledge::read::leads_out;
use crate::project::Project;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Fewer files are read on one processor.
const ALONE: usize = 200;
/// More threads wait for each other.
const MOST_THREADS: usize = 8;
/// So many files may be read again each time before the cache is written anew.
const READ_AGAIN: usize = 16;

/// What is needed of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// The text of all.
    Texts,
    /// What tells which entries begin alike.
    FirstLines,
}

/// One entry's file.
pub(crate) struct Found<'a> {
    pub(crate) key: &'a str,
    pub(crate) path: &'a Path,
    /// What stands for the first line of the body.
    pub(crate) first_line: u64,
    text: Option<&'a [u8]>,
}

impl<'a> Found<'a> {
    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        match self.text {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => Ok(Cow::Owned(read::bytes(self.path)?.unwrap_or_default())),
        }
    }
}

/// A file that the cache did not have.
struct Fresh {
    name: String,
    stamp: Stamp,
    first_line: u64,
    /// Nothing where it is long.
    text: Option<Vec<u8>>,
}

impl Fresh {
    fn row(&self) -> Row<'_> {
        Row {
            name: &self.name,
            stamp: self.stamp,
            first_line: self.first_line,
            text: self.text.as_deref(),
        }
    }
}

/// What one thread made of its part.
struct Part<'c, T> {
    made: Vec<T>,
    fresh: Vec<Fresh>,
    kept: Vec<Row<'c>>,
    warnings: Vec<Warning>,
}

/// Hands every entry to `visit`, and returns what it made of them in the order of the files' names.
///
/// A file that cannot be read, or is a link out of the store, becomes a warning.
pub(crate) fn scan<T: Send>(
    project: &Project,
    place: &Place,
    needed: Needed,
    visit: impl Fn(&Found<'_>) -> Result<Option<T>> + Sync,
) -> Result<Parsed<Vec<T>>> {
    let files = files(place)?;
    let storage = project.storage();
    let cache = Cache::read(&storage, needed == Needed::Texts)?;
    let threads = match files.len() {
        few if few < ALONE => 1,
        _ => thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS)),
    };
    let size = files.len().div_ceil(threads).max(1);
    let parts: Vec<Part<'_, T>> = thread::scope(|scope| {
        let (first, others) = match files.chunks(size).collect::<Vec<_>>().split_first() {
            Some((first, others)) => (*first, others.to_vec()),
            None => (&files[..], Vec::new()),
        };
        let work = |files| part(place, &cache, files, &visit);
        let others: Vec<_> = others
            .into_iter()
            .map(|files| scope.spawn(move || work(files)))
            .collect();
        let mut parts = vec![work(first)];
        for other in others {
            match other.join() {
                Ok(part) => parts.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    });
    let mut all = Parsed::clean(Vec::new());
    let (mut fresh, mut kept) = (Vec::new(), Vec::new());
    for part in parts {
        all.value.extend(part.made);
        all.warnings.extend(part.warnings);
        fresh.extend(part.fresh);
        kept.extend(part.kept);
    }
    let gone = cache.len().saturating_sub(kept.len());
    let read_again = match needed {
        Needed::Texts => READ_AGAIN,
        // Without the texts at hand it takes longer to write than a good many files to read.
        Needed::FirstLines => 4 * READ_AGAIN + files.len() / 4,
    };
    if fresh.len().max(gone) > read_again {
        let full = match needed {
            Needed::Texts => Cache::default(),
            Needed::FirstLines => Cache::read(&storage, true)?,
        };
        for row in &mut kept {
            *row = full.get(row.name, row.stamp).unwrap_or(row.clone());
        }
        kept.extend(fresh.iter().map(Fresh::row));
        kept.sort_by(|a, b| a.name.cmp(b.name));
        // It only saves time: where nothing can be written, the next run reads the files again.
        cache::write(&storage, &kept).ok();
    }
    Ok(all)
}

/// Lists the entries' files, sorted by name.
fn files(place: &Place) -> Result<Vec<(String, DirEntry)>> {
    let folder = place.memory();
    let entries = match fs::read_dir(&folder) {
        Err(error) if read::is_absent(&error) => return Ok(Vec::new()),
        entries => entries.at("list", &folder)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.at("list", &folder)?;
        // A key is ASCII: a name that is no text cannot be one's file.
        if let Ok(name) = entry.file_name().into_string()
            && stem(&name).is_some()
        {
            files.push((name, entry));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

fn part<'c, T>(
    place: &Place,
    cache: &'c Cache,
    files: &[(String, DirEntry)],
    visit: &impl Fn(&Found<'_>) -> Result<Option<T>>,
) -> Part<'c, T> {
    let mut part = Part {
        made: Vec::new(),
        fresh: Vec::new(),
        kept: Vec::new(),
        warnings: Vec::new(),
    };
    for (name, file) in files {
        let path = file.path();
        match visit_one(place, cache, (name, file, &path), visit, &mut part) {
            Ok(made) => part.made.extend(made),
            Err(error) => part.warnings.push(Warning::file(&path, error.reason())),
        }
    }
    part
}

fn visit_one<'c, T>(
    place: &Place,
    cache: &'c Cache,
    (name, file, path): (&str, &DirEntry, &PathBuf),
    visit: &impl Fn(&Found<'_>) -> Result<Option<T>>,
    part: &mut Part<'c, T>,
) -> Result<Option<T>> {
    let kind = file.file_type().at("read", path)?;
    if kind.is_dir() {
        return Ok(None);
    }
    if kind.is_symlink() && leads_out(place, path)? {
        let warning = "is a symbolic link out of the store, which is not followed";
        part.warnings.push(Warning::file(path, warning));
        return Ok(None);
    }
    let key = stem(name).unwrap_or(name);
    let metadata = if kind.is_symlink() {
        fs::metadata(path)
    } else {
        file.metadata()
    };
    let metadata = metadata.at("read", path)?;
    let stamp = Stamp::of(&metadata);
    if let Some(row) = cache.get(name, stamp) {
        let found = Found {
            key,
            path,
            first_line: row.first_line,
            text: row.text,
        };
        let made = visit(&found);
        part.kept.push(row);
        return made;
    }
    let text = read::bytes_of(path, &metadata)?.unwrap_or_default();
    let first_line = first_line(&text, key);
    let made = visit(&Found {
        key,
        path,
        first_line,
        text: Some(&text),
    });
    let name = name.to_owned();
    part.fresh.push(Fresh {
        name,
        stamp,
        first_line,
        text: (text.len() <= cache::MAX_TEXT).then_some(text),
    });
    made
}

fn first_line(bytes: &[u8], key: &str) -> u64 {
    let text = String::from_utf8_lossy(bytes);
    likeness::first_line(&text[entry::body_start(&text)..], key)
}
