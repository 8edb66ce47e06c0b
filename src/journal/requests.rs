//! Records the requests that wrote to the journal, so that a repeated request writes nothing again.
//!
//! The file is next to the journal, one line per request, and is flushed before the journal is written:
//!
//! ```text
//! {"id":"turn-17","at":5120,"bytes":131,"ts":"2026-03-01T12:00:00+00:00","sha256":"…"}
//! ```
//!
//! `at` is the byte offset of the request's lines in the journal, `bytes` their total length. Written and
//! looked up under the journal's lock. Two files of at most 256 KiB contain the latest several thousand
//! requests.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{At, Error, Result};
use crate::journal::file::ForwardReader;
use crate::storage;
use crate::storage::{Log, Visibility, read};
use crate::text::hexadecimal;

/// Size at which the file is rotated, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// Maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 200;

/// A recorded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    id: String,
    at: u64,
    bytes: u64,
    /// The time of the lines.
    pub(crate) ts: String,
    sha256: String,
}

/// How many of a request's lines are in the journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestState {
    /// All of them, as they are in the journal.
    Written(Vec<u8>),
    /// Only the first lines, or none.
    Missing {
        /// Their length in bytes.
        there: usize,
    },
}

impl Request {
    /// Creates the record of a request whose lines will start at this offset.
    pub(crate) fn new(id: &str, at: u64, ts: &str, lines: &[u8]) -> Self {
        Self {
            id: id.to_owned(),
            at,
            bytes: lines.len() as u64,
            ts: ts.to_owned(),
            sha256: sum(lines),
        }
    }

    /// Returns whether these are the lines of the request.
    pub(crate) fn is_of(&self, lines: &[u8]) -> bool {
        self.bytes == lines.len() as u64 && self.sha256 == sum(lines)
    }

    /// Searches the journal for the lines of the request; `lines` is what it would write today.
    #[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
    pub(crate) fn state(&self, journal: &Path, lines: &[u8]) -> Result<RequestState> {
        let mut file = File::open(journal).at("read", journal)?;
        let there = read_at(&mut file, self.at, self.bytes).at("read", journal)?;
        if self.is_of(&there) {
            return Ok(RequestState::Written(there));
        }
        if !self.is_of(lines) {
            let message = format!("request id {:?} was already used with different input", self.id);
            return Err(Error::refused(message).hint("use a new id for each request"));
        }
        let length = file.metadata().at("read", journal)?.len();
        // A file that became shorter was replaced, and may contain the lines anywhere.
        let from = if self.at <= length { self.at } else { 0 };
        let there = length_present(file, from, lines).at("read", journal)?;
        Ok(if there == lines.len() {
            RequestState::Written(lines.to_vec())
        } else {
            RequestState::Missing { there }
        })
    }
}

/// Fails if a text is not a valid request id.
pub(crate) fn check(id: &str) -> Result<()> {
    if id.trim().is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        return Err(Error::failed(format!("a request id is a line of 1 to {MAX_ID_BYTES} bytes")));
    }
    Ok(())
}

/// Returns the latest request with this id.
pub(crate) fn find(journal: &Path, id: &str) -> Result<Option<Request>> {
    let latest = requests_path(journal);
    for path in [latest.clone(), storage::rotated(&latest)] {
        let bytes = read::users_bytes(&path)?.unwrap_or_default();
        // A truncated line belongs to a request that never reached the journal.
        let requests = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Request>(line).ok());
        if let Some(request) = requests.rev().find(|request| request.id == id) {
            return Ok(Some(request));
        }
    }
    Ok(None)
}

/// Records a request, and returns after it was flushed to disk.
pub(crate) fn remember(journal: &Path, request: &Request) -> Result<()> {
    let path = requests_path(journal);
    storage::rotate(&path, MAX_FILE_BYTES)?;
    let line = serde_json::to_vec(request)
        .map_err(|error| Error::failed(format!("cannot write the request: {error}")))?;
    let mut log = Log::lock(&path, Visibility::Private)?;
    log.append(&line)?;
    log.flush()
}

fn requests_path(journal: &Path) -> PathBuf {
    journal.with_added_extension("requests")
}

fn sum(lines: &[u8]) -> String {
    hexadecimal(&Sha256::digest(lines))
}

fn read_at(file: &mut File, at: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut found = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(bytes).read_to_end(&mut found)?;
    Ok(found)
}

/// Returns the length of the leading lines that the file contains, in their order.
///
/// Other lines may be interleaved, and a truncated line may precede its complete copy.
fn length_present(file: File, from: u64, lines: &[u8]) -> std::io::Result<usize> {
    let mut reader = ForwardReader::new(file, from)?;
    let mut there = 0;
    while there < lines.len() {
        let wanted = memchr(b'\n', &lines[there..]).map_or(lines.len(), |end| there + end + 1);
        match reader.next()? {
            Some((_, Some(line))) if line == &lines[there..wanted] => there = wanted,
            Some(_) => {}
            None => break,
        }
    }
    Ok(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[u8] = b"{\"a\":1}\n{\"b\":2}\n";

    fn state(journal: &[u8], at: u64, lines: &[u8]) -> Result<RequestState> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        storage::append(&path, b"x").unwrap();
        let mut log = Log::lock(&path, Visibility::Private).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        drop(log);
        log = Log::lock(&path, Visibility::Private).unwrap();
        if !journal.is_empty() {
            log.append(journal).unwrap();
            file.set_len(journal.len() as u64).unwrap();
        }
        Request::new("one", at, "T", LINES).state(&path, lines)
    }

    #[test]
    fn what_stands_in_the_journal_is_found_wherever_it_came_to_stand() {
        let written = RequestState::Written(LINES.to_vec());
        let with = |before: &str| [before.as_bytes(), LINES].concat();
        assert_eq!(state(&with(""), 0, LINES).unwrap(), written);
        assert_eq!(state(&with("{}\n"), 3, b"other").unwrap(), written);
        assert_eq!(state(&with("{}\n{}\n"), 3, LINES).unwrap(), written);
        assert_eq!(state(&with("{}\n"), 5000, LINES).unwrap(), written);
        let apart = b"{\"a\":1}\n{\"b\"\nother\n{\"b\":2}\n";
        assert_eq!(state(apart, 0, LINES).unwrap(), written);
    }

    #[test]
    fn what_is_missing_is_told_by_whole_lines() {
        let there = |journal: &[u8], at| match state(journal, at, LINES).unwrap() {
            RequestState::Missing { there } => Some(there),
            RequestState::Written(_) => None,
        };
        assert_eq!(there(b"", 0), Some(0));
        assert_eq!(there(&LINES[..12], 0), Some(8));
        assert_eq!(there(&LINES[..8], 0), Some(8));
        assert_eq!(there(&LINES[..7], 0), Some(0));
        assert_eq!(there(b"{\"x\":1}\n", 0), Some(0));
        assert_eq!(there(&[b"x".as_slice(), LINES].concat(), 0), Some(0));
    }

    #[test]
    fn another_input_under_the_same_id_is_refused() {
        let error = state(b"", 0, b"{\"c\":3}\n").unwrap_err();
        assert!(error.to_string().contains("with different input"), "{error}");
    }

    #[test]
    fn the_latest_requests_are_remembered_and_the_files_stay_small() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("memory.jsonl");
        let made: Vec<Request> = (0..9000)
            .map(|number| Request::new(&format!("request {number}"), number, "T", LINES))
            .collect();
        let lines: Vec<String> =
            made.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
        for (part, one) in lines.chunks(1000).zip(made.chunks(1000)) {
            remember(&journal, &one[0]).unwrap();
            storage::append(&requests_path(&journal), part.join("\n").as_bytes()).unwrap();
        }
        assert_eq!(find(&journal, "request 8999").unwrap().as_ref(), made.last());
        assert_eq!(find(&journal, "request 4100").unwrap().as_ref(), made.get(4100));
        assert_eq!(find(&journal, "request 10").unwrap(), None);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}
