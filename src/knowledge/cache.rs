//! What was read of the entries last time, so that only what changed is read again.
//!
//! ```text
//! annals entries 1⏎
//! <numbers of 8 bytes: rows, bytes of the rows, a sum over the rows, a sum over the texts>
//! <a row: mtime, size, first line (8 bytes each), text length + 1 or 0 (4), name length (2), name>…
//! <the texts, one behind the other>
//! ```
//!
//! Numbers are little-endian. A text is left out where it is long; then it is read from its file.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::time::SystemTime;

use crate::error::Result;
use crate::knowledge::likeness::mix;
use crate::storage::Storage;

/// The cache's name in `.annals/`.
const NAME: &str = "entries.cache";

const MAGIC: &[u8] = b"annals entries 1\n";
const HEAD: usize = MAGIC.len() + 4 * 8;

/// A longer text is not kept.
pub(crate) const MAX_TEXT: usize = 64 * 1024;
/// Texts beyond this are not kept.
const MAX_TEXTS: usize = 24 * 1024 * 1024;
/// A larger table is not ours.
const MAX_TABLE: u64 = 64 * 1024 * 1024;

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
    pub(crate) text: Option<&'t [u8]>,
}

/// A file as the cache has it.
#[derive(Clone, Debug)]
struct Known {
    name: Range<usize>,
    stamp: Stamp,
    first_line: u64,
    text: Option<Range<usize>>,
}

/// The cache as it was read: sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    bytes: Vec<u8>,
    known: Vec<Known>,
    written: u64,
}

impl Cache {
    /// Reads the cache, with the texts or without; an empty one where there is none, or none that is whole.
    pub(crate) fn read(storage: &Storage, with_texts: bool) -> Result<Self> {
        let Some(file) = storage.open_cache(NAME)? else {
            return Ok(Self::default());
        };
        // What cannot be read is made again: nothing is lost with it.
        Ok(Self::parse(file, with_texts).unwrap_or_default())
    }

    /// Returns how many files it knows.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns a file that is still as it was read.
    pub(crate) fn get(&self, name: &str, stamp: Stamp) -> Option<Row<'_>> {
        let at = self
            .known
            .binary_search_by(|known| self.name(known).cmp(name.as_bytes()))
            .ok()?;
        let known = &self.known[at];
        let is_settled = stamp.modified.saturating_add(TOO_FRESH) <= self.written;
        (known.stamp == stamp && is_settled).then_some(())?;
        Some(Row {
            name: str::from_utf8(self.name(known)).ok()?,
            stamp,
            first_line: known.first_line,
            text: known.text.clone().and_then(|range| self.bytes.get(range)),
        })
    }

    fn name(&self, known: &Known) -> &[u8] {
        &self.bytes[known.name.clone()]
    }

    fn parse(mut file: File, with_texts: bool) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let mut numbers = Numbers(head.strip_prefix(MAGIC)?);
        let (rows, table, sum, texts_sum) = (
            numbers.long()?,
            numbers.long()?,
            numbers.long()?,
            numbers.long()?,
        );
        let rest = metadata.len().checked_sub(HEAD as u64)?;
        if table > rest.min(MAX_TABLE) || rest - table > 2 * MAX_TEXTS as u64 || rows > table {
            return None;
        }
        let wanted = if with_texts { rest } else { table };
        let mut bytes = Vec::with_capacity(usize::try_from(wanted).ok()?.checked_add(1)?);
        file.take(wanted).read_to_end(&mut bytes).ok()?;
        let table = usize::try_from(table).ok()?;
        let (rows_bytes, texts) = bytes.split_at_checked(table)?;
        if mix(rows, rows_bytes) != sum || (with_texts && mix(rows, texts) != texts_sum) {
            return None;
        }
        let known = rows_of(rows_bytes, usize::try_from(rows).ok()?, with_texts)?;
        Some(Self {
            known,
            bytes,
            written: nanoseconds(metadata.modified().ok()),
        })
    }
}

fn rows_of(table: &[u8], count: usize, with_texts: bool) -> Option<Vec<Known>> {
    let mut known = Vec::with_capacity(count);
    let mut numbers = Numbers(table);
    let mut text_at = table.len();
    for _ in 0..count {
        let modified = numbers.long()?;
        let size = numbers.long()?;
        let first_line = numbers.long()?;
        let text = numbers.short()?.checked_sub(1);
        let name = usize::from(numbers.tiny()?);
        let at = table.len() - numbers.0.len();
        numbers.0 = numbers.0.get(name..)?;
        let text = text.map(|length| {
            let range = text_at..text_at + length as usize;
            text_at = range.end;
            range
        });
        known.push(Known {
            name: at..at + name,
            stamp: Stamp { modified, size },
            first_line,
            text: text.filter(|_| with_texts),
        });
    }
    Some(known)
}

/// Writes the cache anew from rows sorted by name.
pub(crate) fn write(storage: &Storage, rows: &[Row<'_>]) -> Result<()> {
    let mut table = Vec::with_capacity(rows.len() * 64);
    let mut texts = Vec::with_capacity(
        rows.iter()
            .filter_map(|row| row.text)
            .map(<[u8]>::len)
            .sum::<usize>()
            .min(MAX_TEXTS),
    );
    let mut count: u64 = 0;
    for row in rows {
        let Ok(name) = u16::try_from(row.name.len()) else {
            continue;
        };
        let fits = |text: &&[u8]| text.len() <= MAX_TEXT && texts.len() + text.len() <= MAX_TEXTS;
        let text = row.text.filter(fits);
        let length = text.map_or(0, |text| text.len() + 1);
        for number in [row.stamp.modified, row.stamp.size, row.first_line] {
            table.extend(number.to_le_bytes());
        }
        table.extend(u32::try_from(length).unwrap_or(0).to_le_bytes());
        table.extend(name.to_le_bytes());
        table.extend(row.name.as_bytes());
        texts.extend(text.unwrap_or_default());
        count += 1;
    }
    let mut bytes = Vec::with_capacity(HEAD + table.len() + texts.len());
    bytes.extend(MAGIC);
    for number in [
        count,
        table.len() as u64,
        mix(count, &table),
        mix(count, &texts),
    ] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.append(&mut table);
    bytes.append(&mut texts);
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

    fn rows(long: &[u8]) -> Vec<Row<'_>> {
        let row = |name, modified, text| Row {
            name,
            stamp: Stamp { modified, size: 3 },
            first_line: 7,
            text: Some(text),
        };
        vec![
            row("a.md", 1, b"one".as_slice()),
            row("b.md", u64::MAX / 2, b"two"),
            row("c.md", 2, long),
            row("日.md", 3, b""),
        ]
    }

    fn storage(root: &Path) -> Storage {
        Storage::new(root, Clock::new(Some("2026-02-17T10:11:12Z")).unwrap())
    }

    #[test]
    fn what_was_written_is_read_but_for_what_is_fresh_or_long() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        let long = vec![b'x'; MAX_TEXT + 1];
        write(&storage, &rows(&long)).unwrap();
        let cache = Cache::read(&storage, true).unwrap();
        let get = |name, modified| cache.get(name, Stamp { modified, size: 3 });
        assert_eq!(get("a.md", 1).unwrap().text, Some(b"one".as_slice()));
        assert_eq!(get("日.md", 3).unwrap().text, Some(b"".as_slice()));
        assert_eq!(get("c.md", 2).unwrap().text, None);
        assert!(get("a.md", 9).is_none(), "changed since");
        assert!(
            get("b.md", u64::MAX / 2).is_none(),
            "may have changed unseen"
        );
        assert!(get("d.md", 1).is_none());
        let table = Cache::read(&storage, false).unwrap();
        let row = table
            .get(
                "a.md",
                Stamp {
                    modified: 1,
                    size: 3,
                },
            )
            .unwrap();
        assert_eq!((row.first_line, row.text), (7, None));
    }

    #[test]
    fn what_is_not_whole_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        write(&storage, &rows(b"long")).unwrap();
        let path = storage.own_file(NAME);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            File::create(&path).unwrap().write_all(&damaged).unwrap();
            assert!(Cache::read(&storage, true).unwrap().len() == 0, "at {at}");
            File::create(&path)
                .unwrap()
                .write_all(&whole[..at])
                .unwrap();
            assert!(
                Cache::read(&storage, true).unwrap().len() == 0,
                "cut at {at}"
            );
        }
        File::create(&path).unwrap().write_all(&whole).unwrap();
        assert_eq!(Cache::read(&storage, true).unwrap().len(), 4);
    }
}
