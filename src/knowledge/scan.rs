//! Goes through all entries of the store, on all processors, and reads only what the cache has not.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::knowledge::Place;
use crate::knowledge::cache;
use crate::knowledge::cache::Cache;
use crate::knowledge::cache::Finder;
use crate::knowledge::cache::Row;
use crate::knowledge::cache::Stamp;
use crate::knowledge::entry;
use crate::knowledge::fingerprint::Fingerprint;
use crate::knowledge::likeness;
use crate::knowledge::place::stem;
use crate::knowledge::read::leads_out;
use crate::project::Project;
use crate::storage::Storage;
use crate::storage::listing::Kind;
use crate::storage::listing::Listing;
use crate::storage::listing::Names;
use crate::storage::listing::Stat;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Fewer files are read on one processor.
const ALONE: usize = 200;
/// So many files a thread takes at once, lest the threads wait for each other.
const BATCH: usize = 256;
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
    listing: &'a Listing,
    name: &'a str,
    text: Option<&'a [u8]>,
}

impl<'a> Found<'a> {
    /// Returns where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.listing.path_of(self.name)
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        if let Some(text) = self.text {
            return Ok(Cow::Borrowed(text));
        }
        let path = self.path();
        let bytes = read::bytes(&path)?;
        let gone = || Error::not_found("was removed meanwhile").at(&path, None);
        Ok(Cow::Owned(bytes.ok_or_else(gone)?))
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
            name: self.name.as_bytes(),
            stamp: self.stamp,
            first_line: self.first_line,
            fingerprint: self.fingerprint.as_bytes(),
        }
    }
}

/// What one thread made of its part.
struct Part<T> {
    /// Each with the file's name.
    made: Vec<(String, T)>,
    /// Each with the file's name.
    warnings: Vec<(String, Warning)>,
    /// Each with the file's place in the listing.
    fresh: Vec<(usize, Fresh)>,
    /// Each with the file's place in the listing: which rows of the cache still hold.
    kept: Vec<(usize, usize)>,
}

impl<T> Part<T> {
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
    let folder = place.memory();
    let listing = match Listing::of(&folder) {
        Err(error) if read::is_absent(&error) => return Ok(Parsed::clean(Vec::new())),
        listing => match listing.at("list", &folder)? {
            None => return Ok(Parsed::clean(Vec::new())),
            Some(listing) => listing,
        },
    };
    let scan = Scan {
        place,
        storage: &storage,
        cache: OnceLock::new(),
        listing,
        visit,
    };
    let mut all = scan.parts().at("list", &folder)?;
    let cache = scan
        .cache
        .into_inner()
        .unwrap_or_else(|| Ok(Cache::default()))?;
    let gone = cache.len().saturating_sub(all.kept.len());
    if all.fresh.len().max(gone) > READ_AGAIN {
        keep(&storage, &cache, &all);
    }
    all.made.sort_by(|a, b| a.0.cmp(&b.0));
    all.warnings.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Parsed {
        value: all.made.into_iter().map(|(_, made)| made).collect(),
        warnings: all.warnings.into_iter().map(|(_, told)| told).collect(),
    })
}

/// Writes the cache anew, in the order of the listing.
fn keep<T>(storage: &Storage, cache: &Cache, all: &Part<T>) {
    let kept = all.kept.iter();
    let kept = kept.filter_map(|(at, number)| Some((*at, cache.row(*number)?)));
    let fresh = all.fresh.iter().map(|(at, fresh)| (*at, fresh.row()));
    let mut rows: Vec<(usize, Row<'_>)> = kept.chain(fresh).collect();
    rows.sort_unstable_by_key(|(at, _)| *at);
    // It only saves time: where nothing can be written, the next run reads the files again.
    cache::write(storage, rows.into_iter().map(|(_, row)| row)).ok();
}

/// Some files, each with what the system tells of it.
struct LookedAt {
    /// How many came before.
    from: usize,
    files: Vec<(io::Result<Stat>, String)>,
}

/// What all threads share.
struct Scan<'a, V> {
    place: &'a Place,
    storage: &'a Storage,
    cache: OnceLock<Result<Cache>>,
    listing: Listing,
    visit: V,
}

impl<V> Scan<'_, V> {
    /// Visits all files; where there are many, several threads take them in turn.
    fn parts<T: Send>(&self) -> io::Result<Part<T>>
    where
        V: Fn(&Found<'_>) -> Result<Option<T>> + Sync,
    {
        let few = self.next(ALONE)?;
        let threads = match few.names.len() {
            ALONE => {
                thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS))
            }
            _ => 1,
        };
        thread::scope(|scope| {
            let work = || self.part(self.next(BATCH)?);
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            self.cache();
            let mut all = self.part(few)?;
            for other in others {
                match other.join() {
                    Ok(part) => all.add(part?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(all)
        })
    }

    /// Returns the cache; whoever asks first reads it.
    fn cache(&self) -> Option<&Cache> {
        let cache = self.cache.get_or_init(|| Cache::read(self.storage));
        cache.as_ref().ok()
    }

    /// Returns the next names of entries.
    fn next(&self, most: usize) -> io::Result<Names> {
        self.listing.next(most, |name| stem(name).is_some())
    }

    /// Returns these files with what the system tells of each.
    fn looked_at(&self, names: Names) -> LookedAt {
        let stat = |name: String| (self.listing.stat(&name), name);
        let files = names.names.into_iter().map(stat).collect();
        LookedAt {
            from: names.from,
            files,
        }
    }

    /// Visits these files, and then what the other threads leave.
    fn part<T>(&self, first: Names) -> io::Result<Part<T>>
    where
        V: Fn(&Found<'_>) -> Result<Option<T>>,
    {
        let mut ahead = vec![self.looked_at(first)];
        // While another thread reads the cache, there is more to look at.
        while self.cache.get().is_none() && ahead.last().is_some_and(|last| !last.files.is_empty())
        {
            ahead.push(self.looked_at(self.next(BATCH)?));
        }
        let mut ahead = ahead.into_iter();
        let mut part = Part::new();
        let Some(cache) = self.cache() else {
            return Ok(part);
        };
        let mut finder = cache.finder();
        loop {
            let batch = match ahead.next() {
                Some(batch) => batch,
                None => self.looked_at(self.next(BATCH)?),
            };
            if batch.files.is_empty() {
                return Ok(part);
            }
            for (at, (stat, name)) in (batch.from..).zip(batch.files) {
                match self.look((at, &name, stat), &mut finder, &mut part) {
                    Ok(None) => {}
                    Ok(Some(made)) => part.made.push((name, made)),
                    Err(error) => {
                        let warning = Warning::file(&self.listing.path_of(&name), error.reason());
                        part.warnings.push((name, warning));
                    }
                }
            }
        }
    }

    fn look<T>(
        &self,
        (at, name, stat): (usize, &str, io::Result<Stat>),
        finder: &mut Finder<'_>,
        part: &mut Part<T>,
    ) -> Result<Option<T>>
    where
        V: Fn(&Found<'_>) -> Result<Option<T>>,
    {
        let Some(key) = stem(name) else {
            return Ok(None);
        };
        // No path is made where none is told: it would be ten thousand.
        let path = || self.listing.path_of(name);
        let stat = match stat {
            Err(error) if read::is_absent(&error) => return Ok(None),
            Err(error) => return Err(error).at("read", &path()),
            Ok(stat) => stat,
        };
        let stat = match stat.kind {
            Kind::Folder => return Ok(None),
            Kind::Link if leads_out(self.place, &path())? => {
                let warning = "is a symbolic link out of the store, which is not followed";
                let warning = Warning::file(&path(), warning);
                part.warnings.push((name.to_owned(), warning));
                return Ok(None);
            }
            Kind::Link => Stat::of(&path()).at("read", &path())?,
            Kind::File | Kind::Other => stat,
        };
        let found = |first_line, fingerprint, text| {
            (self.visit)(&Found {
                key,
                first_line,
                fingerprint,
                listing: &self.listing,
                name,
                text,
            })
        };
        let stamp = Stamp::from(stat);
        if let Some((number, row)) = finder.find(at, name, stamp) {
            part.kept.push((at, number));
            return found(row.first_line, row.fingerprint, None);
        }
        let Some(bytes) = read::bytes(&path())? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes);
        let fresh = Fresh {
            name: name.to_owned(),
            stamp,
            first_line: likeness::first_line(&text[entry::body_start(&text)..], key),
            fingerprint: Fingerprint::of(&text),
        };
        let made = found(fresh.first_line, fresh.fingerprint.as_bytes(), Some(&bytes));
        part.fresh.push((at, fresh));
        made
    }
}
