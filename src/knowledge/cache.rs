//! What was read of the entries last time, so that only what changed is read again.
//!
//! ```text
//! annals entries 3⏎
//! <numbers of 8 bytes: rows, a sum over what follows>
//! <a row: mtime, size, first line (8 bytes each), fingerprint length (4), name length (2), fingerprint, name>…
//! ```
//!
//! Numbers are little-endian; the rows are sorted by a sum over the name, so that they can be searched as they are.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::time::SystemTime;

use crate::error::Result;
use crate::knowledge::checksum::checksum;
use crate::storage::Storage;

/// The cache's name in `.annals/`.
const NAME: &str = "entries.cache";

const MAGIC: &[u8] = b"annals entries 3\n";
const HEAD: usize = MAGIC.len() + 2 * 8;

/// A larger file is not ours.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A file changed this shortly before the cache was written may have changed again unseen (in nanoseconds).
const TOO_FRESH: u64 = 1_000_000_000;

/// What tells that a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) modified: u64,
    pub(crate) size: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            modified: nanoseconds(metadata.modified().ok()),
            size: metadata.len(),
        }
    }
}

fn nanoseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// One file of the cache, or for it.
#[derive(Clone, Debug)]
pub(crate) struct Row<'t> {
    pub(crate) name: &'t str,
    pub(crate) stamp: Stamp,
    /// What stands for the first line of the body.
    pub(crate) first_line: u64,
    /// What stands for the words of the text.
    pub(crate) fingerprint: &'t [u8],
}

/// A file as the cache has it.
#[derive(Clone, Debug)]
struct Known {
    name: Range<usize>,
    stamp: Stamp,
    first_line: u64,
    fingerprint: Range<usize>,
}

/// Returns what the rows are sorted by.
fn order(name: &[u8]) -> u64 {
    checksum(0, name)
}

/// The cache as it was read.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    bytes: Vec<u8>,
    known: Vec<Known>,
    /// Of each known file what they are sorted by, close together to be searched.
    orders: Vec<u64>,
    written: u64,
}

impl Cache {
    /// Reads the cache; an empty one where there is none, or none that is whole.
    pub(crate) fn read(storage: &Storage) -> Result<Self> {
        let Some(file) = storage.open_cache(NAME)? else {
            return Ok(Self::default());
        };
        // What cannot be read is made again: nothing is lost with it.
        Ok(Self::parse(file).unwrap_or_default())
    }

    /// Returns how many files it knows.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns a file that is still as it was read.
    pub(crate) fn get(&self, name: &str, stamp: Stamp) -> Option<Row<'_>> {
        let at = self.orders.binary_search(&order(name.as_bytes())).ok()?;
        let known = &self.known[at];
        let is_settled = stamp.modified.saturating_add(TOO_FRESH) <= self.written;
        let is_same = known.stamp == stamp && self.bytes[known.name.clone()] == *name.as_bytes();
        (is_same && is_settled).then_some(())?;
        Some(Row {
            name: str::from_utf8(&self.bytes[known.name.clone()]).ok()?,
            stamp,
            first_line: known.first_line,
            fingerprint: &self.bytes[known.fingerprint.clone()],
        })
    }

    fn parse(mut file: File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let mut numbers = Numbers(head.strip_prefix(MAGIC)?);
        let (rows, sum) = (numbers.long()?, numbers.long()?);
        let length = metadata.len().checked_sub(HEAD as u64)?;
        if length > MOST_BYTES || rows > length {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).ok()?.checked_add(1)?);
        file.take(length).read_to_end(&mut bytes).ok()?;
        if checksum(rows, &bytes) != sum {
            return None;
        }
        let known = rows_of(&bytes, usize::try_from(rows).ok()?)?;
        let name = |known: &Known| order(&bytes[known.name.clone()]);
        Some(Self {
            orders: known.iter().map(name).collect(),
            known,
            bytes,
            written: nanoseconds(metadata.modified().ok()),
        })
    }
}

fn rows_of(bytes: &[u8], count: usize) -> Option<Vec<Known>> {
    let mut known = Vec::with_capacity(count);
    let mut numbers = Numbers(bytes);
    for _ in 0..count {
        let modified = numbers.long()?;
        let size = numbers.long()?;
        let first_line = numbers.long()?;
        let fingerprint = numbers.short()? as usize;
        let name = usize::from(numbers.tiny()?);
        let at = bytes.len() - numbers.0.len();
        let fingerprint = at..at.checked_add(fingerprint)?;
        let name = fingerprint.end..fingerprint.end.checked_add(name)?;
        numbers.0 = bytes.get(name.end..)?;
        known.push(Known {
            name,
            stamp: Stamp { modified, size },
            first_line,
            fingerprint,
        });
    }
    Some(known)
}

/// Writes the cache anew.
pub(crate) fn write(storage: &Storage, mut rows: Vec<Row<'_>>) -> Result<()> {
    rows.sort_by_cached_key(|row| order(row.name.as_bytes()));
    let mut body = Vec::with_capacity(rows.len() * 256);
    let mut count: u64 = 0;
    for row in rows {
        let (Ok(name), Ok(fingerprint)) = (
            u16::try_from(row.name.len()),
            u32::try_from(row.fingerprint.len()),
        ) else {
            continue;
        };
        for number in [row.stamp.modified, row.stamp.size, row.first_line] {
            body.extend(number.to_le_bytes());
        }
        body.extend(fingerprint.to_le_bytes());
        body.extend(name.to_le_bytes());
        body.extend(row.fingerprint);
        body.extend(row.name.as_bytes());
        count += 1;
    }
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    bytes.extend(MAGIC);
    bytes.extend(count.to_le_bytes());
    bytes.extend(checksum(count, &body).to_le_bytes());
    bytes.append(&mut body);
    storage.write_cache(NAME, &bytes)
}

/// Numbers read one after the other.
struct Numbers<'t>(&'t [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn short(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn tiny(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use crate::clock::Clock;

    fn rows() -> Vec<Row<'static>> {
        let row = |name, modified, fingerprint| Row {
            name,
            stamp: Stamp { modified, size: 3 },
            first_line: 7,
            fingerprint,
        };
        vec![
            row("a.md", 1, b"1122".as_slice()),
            row("b.md", u64::MAX / 2, b"33"),
            row("日.md", 3, b""),
        ]
    }

    fn storage(root: &Path) -> Storage {
        Storage::new(root, Clock::new(Some("2026-02-17T10:11:12Z")).unwrap())
    }

    #[test]
    fn what_was_written_is_read_but_for_what_is_fresh() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        write(&storage, rows()).unwrap();
        let cache = Cache::read(&storage).unwrap();
        let get = |name, modified| cache.get(name, Stamp { modified, size: 3 });
        let found = get("a.md", 1).unwrap();
        assert_eq!(
            (found.name, found.first_line, found.fingerprint),
            ("a.md", 7, b"1122".as_slice())
        );
        assert!(get("日.md", 3).unwrap().fingerprint.is_empty());
        assert!(get("a.md", 9).is_none(), "changed since");
        assert!(
            get("b.md", u64::MAX / 2).is_none(),
            "may have changed unseen"
        );
        assert!(get("d.md", 1).is_none());
    }

    #[test]
    fn what_is_not_whole_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        write(&storage, rows()).unwrap();
        let path = storage.own_file(NAME);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for bytes in [&damaged[..], &whole[..at]] {
                File::create(&path).unwrap().write_all(bytes).unwrap();
                assert_eq!(Cache::read(&storage).unwrap().len(), 0, "at {at}");
            }
        }
        File::create(&path).unwrap().write_all(&whole).unwrap();
        assert_eq!(Cache::read(&storage).unwrap().len(), 3);
    }
}
