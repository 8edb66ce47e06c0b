//! An index of files, kept in a cache: words and vectors of their passages, brought up to date before each search.
//!
//! ```text
//! files     one row per file: source, name, role, stamp (size, times, inode), language, and of each passage side by
//!           side: identity of its text, line, section, number of words, day, weight, flags, vector
//! texts     headings, key and text of each passage
//! postings  for each stem, the passages that contain it, in one row for each update that added some
//! encoded   the vectors that the encoder made of a passage
//! ```
//!
//! It contains nothing that is not in the files. Before each search, the files with a changed stamp are indexed again.
//! An index that is foreign, of another version, damaged, missing or mostly of what is gone is rebuilt in a temporary
//! file and moved into place; if that cannot be written, it is built in memory. A killed process leaves either the old
//! or the new index.

mod file;
mod search;
mod update;

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, thread};

use chrono::NaiveDate;
use rusqlite::ErrorCode;

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::search::index::file::Index;
use crate::search::rank::{FusedParts, Relevance};
use crate::storage::Storage;
use crate::warning::Warning;

/// Name of the index file.
const FILE: &str = "index.db";

/// Maximum size of files indexed while a caller waits, in bytes.
const MAX_URGENT_BYTES: u64 = if cfg!(test) { 2048 } else { 4 * 1024 * 1024 };

/// Maximum number of texts given as the nearest.
pub(crate) const NEAREST: usize = 3;

/// A file to search.
#[derive(Clone, Debug)]
pub struct IndexFile {
    /// Number of its source, whose meaning is the caller's.
    pub source: usize,
    /// Its displayed name, different from that of every other file.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// What it is to the caller; of texts that are the same, one of the file with the lowest role represents the others.
    pub role: usize,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes that change whenever the file does.
    pub(crate) stamp: Vec<u8>,
    pub(crate) modified: Option<SystemTime>,
}

/// A searchable piece of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Titles of the headings above it, outermost first.
    pub headings: Vec<String>,
    /// Number of its first line in the file, counted from 1; 0 if it has none.
    pub line: usize,
    /// Its identifier, if that is not its line number.
    pub id: Option<String>,
    /// Its text, verbatim.
    pub text: String,
    /// The date that it refers to, or on which it was written.
    pub date: Option<NaiveDate>,
    /// The caller's flags, which are kept with it.
    pub flags: u32,
    /// Factor of its score, usually 1.
    pub weight: f64,
}

/// Returns the passages of a file, or `None` if it is gone; several threads read files at once.
pub type PassageReader = fn(&IndexFile) -> Result<Option<Vec<Passage>>>;

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The query, in which no character is an operator.
    pub text: &'a str,
    /// The sources to search.
    pub sources: &'a [usize],
    /// Maximum number of hits.
    pub limit: usize,
    /// Whether irrelevant texts are returned too, marked as such.
    pub all: bool,
    /// Whether the encoder reads the best texts.
    pub uses_encoder: bool,
    /// Whether the answer must not wait for a first index.
    pub is_urgent: bool,
    /// Passages that are searched too, and never stored.
    pub extras: &'a [Passage],
    /// The flags of the texts that answer the query by where they stand, whatever their words; 0 for none. The highest of
    /// them is needed.
    pub place: u32,
    /// Maximum number of hits from one section.
    pub max_of_section: usize,
}

/// Share that a text gets which is about the phase, but does not stand where the answer is expected.
const PARTLY: f64 = 0.2;

/// Returns the share of the answer that a text with these flags has by where it stands.
pub(crate) fn share(flags: u32, place: u32) -> f64 {
    let found = flags & place;
    if found == 0 || found.leading_zeros() != place.leading_zeros() {
        0.0
    } else if found == place {
        1.0
    } else {
        PARTLY
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The nearest texts, if none is relevant, but one of them may answer.
    pub nearest: Vec<Hit>,
    /// Number of best texts left out as irrelevant.
    pub withheld: usize,
    /// Whether there are more texts than those returned.
    pub truncated: bool,
    /// The evidence that one of them is an answer; 1 is just enough.
    pub evidence: f64,
    /// Number of newest files searched, if there was no time to search all.
    pub newest_files: Option<usize>,
    /// Files that could not be read, or not whole.
    pub warnings: Vec<Warning>,
}

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Number of its source; `None` for one of the extras.
    pub source: Option<usize>,
    /// The displayed name of its file; empty for one of the extras.
    pub file: String,
    /// The passage.
    pub passage: Passage,
    /// Its score, comparable only within one answer.
    pub score: f64,
    /// The components of the score.
    pub parts: FusedParts,
    /// Its relevance to the query.
    pub relevance: Relevance,
    /// Name of the file and line number of the other places with the same text.
    pub copies: Vec<(String, usize)>,
}

/// The files that are searched, and where their index is kept.
#[derive(Clone)]
pub struct Cache {
    /// Where the index file is; `None` for an index in memory.
    pub storage: Option<Storage>,
    /// The files, sorted by name.
    pub files: Vec<IndexFile>,
    /// Reads the files.
    pub reader: PassageReader,
    /// Shows how far an update is.
    pub progress: Progress,
}

impl IndexFile {
    /// Returns the file at a path; `None` if there is no regular file.
    ///
    /// Whether a link may be followed is decided when the file is read.
    pub fn stat(source: usize, name: String, path: PathBuf) -> Option<Self> {
        let metadata = fs::metadata(&path).ok()?;
        metadata.is_file().then(|| Self {
            source,
            name,
            path,
            role: 0,
            size: metadata.len(),
            stamp: stamp(&metadata),
            modified: metadata.modified().ok(),
        })
    }
}

impl Cache {
    /// Brings the index up to date with the files and searches it.
    ///
    /// Problems with the index file never fail a search, since the index can be rebuilt from the files. If the caller
    /// cannot wait for the first index of large files, the newest are searched, and the index is built meanwhile.
    pub fn search(&self, asked: &Asked<'_>) -> Result<Answer> {
        let home = self.storage.as_ref().map(|storage| storage.own_file(FILE));
        let size: u64 = self.files.iter().map(|file| file.size).sum();
        let has_index =
            || home.as_ref().is_some_and(|home| matches!(Index::open(home), Ok(Some(_))));
        if asked.is_urgent && size > MAX_URGENT_BYTES && !has_index() {
            self.rebuild_meanwhile();
            let files = newest(&self.files, MAX_URGENT_BYTES);
            let newest_files = Some(files.len());
            let answer = Self { storage: None, files, ..self.clone() }.search(asked)?;
            return Ok(Answer { newest_files, ..answer });
        }
        if let Some(home) = home {
            match self.search_file(&home, asked) {
                Ok(Some(answer)) => return Ok(answer),
                // Locked by another process beyond the timeout, or read-only.
                Err(error) if is_in_use(&error) => {}
                Ok(None) | Err(_) => {
                    if self.rebuild().is_ok()
                        && let Ok(Some(answer)) = self.search_file(&home, asked)
                    {
                        return Ok(answer);
                    }
                }
            }
        }
        let run = || {
            let mut index = Index::in_memory()?;
            let warnings = self.update(&mut index)?;
            Ok(Answer { warnings, ..index.search(asked)? })
        };
        run().map_err(|error: rusqlite::Error| {
            Error::failed(format!("cannot index the texts: {error}"))
        })
    }

    fn update(&self, index: &mut Index) -> rusqlite::Result<Vec<Warning>> {
        index.update(&self.files, self.reader, &self.progress)
    }

    /// Builds the index file anew while the caller answers.
    fn rebuild_meanwhile(&self) {
        let whole = self.clone();
        // A server lives long enough to finish it. If it fails, a search that can wait does it and says why.
        let build = move || whole.rebuild().is_ok();
        let _started = thread::Builder::new().spawn(build).is_ok();
    }

    /// Builds the index file anew.
    fn rebuild(&self) -> Result<()> {
        let Some(storage) = &self.storage else {
            return Ok(());
        };
        let is_sound = |path: &Path| {
            let updated = || -> rusqlite::Result<bool> {
                let Some(mut index) = Index::open(path)? else {
                    return Ok(false);
                };
                self.update(&mut index)?;
                Ok(!index.is_worn()? && index.is_intact()?)
            };
            matches!(updated(), Ok(true))
        };
        storage.rebuild_database(FILE, is_sound, |path| {
            let home = storage.own_file(FILE);
            let built = Index::create(path, &home).and_then(|mut index| {
                // Unreadable files are reported again by the next update.
                self.update(&mut index)?;
                index.finish()
            });
            built.map_err(|error| {
                Error::failed(format!("cannot build the index: {error}")).at(path, None)
            })
        })
    }

    /// Searches the existing index file; returns `None` if it is not ours, or has to be built anew.
    fn search_file(&self, home: &Path, asked: &Asked<'_>) -> rusqlite::Result<Option<Answer>> {
        let Some(mut index) = Index::open(home)? else {
            return Ok(None);
        };
        let warnings = self.update(&mut index)?;
        if index.is_worn()? {
            if !asked.is_urgent {
                return Ok(None);
            }
            self.rebuild_meanwhile();
        }
        Ok(Some(Answer { warnings, ..index.search(asked)? }))
    }
}

/// Returns the most recently modified files that fit into `max_bytes` bytes together, sorted by name.
fn newest(files: &[IndexFile], max_bytes: u64) -> Vec<IndexFile> {
    let mut newest = files.to_vec();
    newest.sort_by_key(|file| std::cmp::Reverse(file.modified));
    let mut bytes = 0;
    // A file that does not fit is skipped in favour of older ones.
    newest.retain(|file| {
        let fits = bytes + file.size <= max_bytes;
        bytes += if fits { file.size } else { 0 };
        fits
    });
    newest.sort_by(|one, other| one.name.cmp(&other.name));
    newest
}

fn is_in_use(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly)
    )
}

/// Size and times, including two values that programs cannot set freely: inode number and time of last
/// change.
fn stamp(metadata: &Metadata) -> Vec<u8> {
    let mut stamp = metadata.len().to_le_bytes().to_vec();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        for number in [
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            metadata.ino().cast_signed(),
        ] {
            stamp.extend(number.to_le_bytes());
        }
    }
    #[cfg(not(unix))]
    if let Ok(since) = metadata
        .modified()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).map_err(std::io::Error::other))
    {
        stamp.extend(since.as_nanos().to_le_bytes());
    }
    stamp
}
