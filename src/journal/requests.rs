//! Remembers what a request wrote, so that one that comes again writes nothing again.
//!
//! Beside the journal, one line a request, on the disk before the journal is written:
//!
//! ```text
//! {"id":"turn-17","at":5120,"bytes":131,"ts":"2026-03-01T12:00:00+00:00","sha256":"…"}
//! ```
//!
//! `at` is where the request's lines begin in the journal, `bytes` how long they are together. Written
//! and looked up under the journal's own lock. Two files of 256 KiB at most hold the latest thousands.

use std::fs::File;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::Path;
use std::path::PathBuf;

use memchr::memchr;
use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::journal::MAX_LINE;
use crate::journal::forwards::Forwards;
use crate::journal::forwards::JournalLine;
use crate::storage;
use crate::storage::Access;
use crate::storage::Log;
use crate::storage::read;
use crate::text::hexadecimal;

/// How long the file grows before it is moved aside.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 200;

/// One request, as remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    id: String,
    at: u64,
    bytes: u64,
    /// The time that the lines carry.
    pub(crate) ts: String,
    sha256: String,
}

/// What of a request's lines the journal holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestState {
    /// All of them: this is what stands there.
    Written(Vec<u8>),
    /// The first so many bytes of them, up to the end of a line.
    Missing {
        /// How many bytes are there.
        there: usize,
    },
}

impl Request {
    /// Returns what is to be remembered of lines that will begin at this place.
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

    /// Looks in the journal for what the request wrote; `lines` is what it would write today.
    #[expect(
        clippy::disallowed_methods,
        reason = "the journal lies where the user says"
    )]
    pub(crate) fn state(&self, journal: &Path, lines: &[u8]) -> Result<RequestState> {
        let mut file = File::open(journal).at("read", journal)?;
        let there = read_at(&mut file, self.at, self.bytes).at("read", journal)?;
        if self.is_of(&there) {
            return Ok(RequestState::Written(there));
        }
        if !self.is_of(lines) {
            let message = format!(
                "request id {:?} was already used with different input",
                self.id
            );
            return Err(Error::refused(message).hint("use a new id for each request"));
        }
        let length = file.metadata().at("read", journal)?.len();
        // A file that got shorter is another one now, and may hold the lines anywhere.
        let from = if self.at <= length { self.at } else { 0 };
        let there = part_there(file, from, lines).at("read", journal)?;
        Ok(if there == lines.len() {
            RequestState::Written(lines.to_vec())
        } else {
            RequestState::Missing { there }
        })
    }
}

/// Fails where a text cannot be the id of a request.
pub(crate) fn check(id: &str) -> Result<()> {
    if id.trim().is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        return Err(Error::failed(format!(
            "a request id is a line of 1 to {MAX_ID_BYTES} bytes"
        )));
    }
    Ok(())
}

/// Returns the latest request of this id.
pub(crate) fn find(journal: &Path, id: &str) -> Result<Option<Request>> {
    let latest = requests_path(journal);
    for path in [latest.clone(), storage::rotated(&latest)] {
        let bytes = read::users_bytes(&path)?.unwrap_or_default();
        // A line that was torn belongs to a request that never got to the journal.
        let requests = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Request>(line).ok());
        if let Some(request) = requests.rev().find(|request| request.id == id) {
            return Ok(Some(request));
        }
    }
    Ok(None)
}

/// Remembers a request, and returns when that is on the disk.
pub(crate) fn remember(journal: &Path, request: &Request) -> Result<()> {
    let path = requests_path(journal);
    storage::rotate(&path, MAX_FILE_BYTES)?;
    let line = serde_json::to_vec(request)
        .map_err(|error| Error::failed(format!("cannot write the request: {error}")))?;
    let mut log = Log::lock(&path, Access::Private)?;
    log.append(&line)?;
    log.flush()
}

fn requests_path(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".requests");
    PathBuf::from(name)
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

/// Returns how many bytes of the lines stand in the file, in their order.
///
/// Others may have added lines in between, and a line that was torn stands where its whole was meant to.
fn part_there(file: File, from: u64, lines: &[u8]) -> std::io::Result<usize> {
    let mut reader = Forwards::new(file, from, MAX_LINE)?;
    let mut there = 0;
    while there < lines.len() {
        let wanted = memchr(b'\n', &lines[there..]).map_or(lines.len(), |end| there + end + 1);
        match reader.next()? {
            Some(JournalLine::Whole(line)) if line == &lines[there..wanted] => there = wanted,
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
        let mut log = Log::lock(&path, Access::Private).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        drop(log);
        log = Log::lock(&path, Access::Private).unwrap();
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
        assert!(
            error.to_string().contains("with different input"),
            "{error}"
        );
    }

    #[test]
    fn the_latest_requests_are_remembered_and_the_files_stay_small() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("memory.jsonl");
        let made: Vec<Request> = (0..9000)
            .map(|number| Request::new(&format!("request {number}"), number, "T", LINES))
            .collect();
        let lines: Vec<String> = made
            .iter()
            .map(|one| serde_json::to_string(one).unwrap())
            .collect();
        for (part, one) in lines.chunks(1000).zip(made.chunks(1000)) {
            remember(&journal, &one[0]).unwrap();
            storage::append(&requests_path(&journal), part.join("\n").as_bytes()).unwrap();
        }
        assert_eq!(
            find(&journal, "request 8999").unwrap().as_ref(),
            made.last()
        );
        assert_eq!(
            find(&journal, "request 4100").unwrap().as_ref(),
            made.get(4100)
        );
        assert_eq!(find(&journal, "request 10").unwrap(), None);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}
