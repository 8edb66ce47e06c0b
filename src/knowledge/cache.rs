//! What was read of the entries last time, so that only what changed is read again.
//!
//! ```text
//! annals entries 6⏎
//! <numbers of 8 bytes: rows, a sum over what follows>
//! <a row: mtime, size, first line (8 bytes each), fingerprint length (4), name length (2), fingerprint, name>…
//! ```
//!
//! Numbers are little-endian; the rows stand in the order in which the folder was listed.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

use crate::error::Result;
use crate::knowledge::checksum::checksum;
use crate::storage::Storage;
use crate::storage::listing::Stat;
use crate::storage::listing::nanoseconds;

/// The cache's name in `.annals/`.
const NAME: &str = "entries.cache";

/// The number is another whenever `checksum`, `words`, `Fingerprint` or `likeness` make something else of a text.
const MAGIC: &[u8] = b"annals entries 6\n";
const HEAD: usize = MAGIC.len() + 2 * 8;

/// A larger file is not ours.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// So far from its guessed place a row is looked for before all are.
const NEAR: usize = 8;

/// A file changed this shortly before the cache was written may have changed again unseen (in nanoseconds).
const TOO_FRESH: u64 = 1_000_000_000;

/// What tells that a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) modified: u64,
    pub(crate) size: u64,
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self {
            modified: stat.modified,
            size: stat.size,
        }
    }
}

/// One file of the cache, or for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) stamp: Stamp,
    /// What stands for the first line of the body.
    pub(crate) first_line: u64,
    /// What stands for the words of the text.
    pub(crate) fingerprint: &'t [u8],
}

/// The cache as it was read.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    bytes: Vec<u8>,
    /// Where each row begins.
    starts: Vec<usize>,
    /// Which row a file has, by a sum over its name; made where one is not near its guessed place.
    by_sum: OnceLock<HashMap<u64, usize>>,
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
        self.starts.len()
    }

    /// Returns a row.
    pub(crate) fn row(&self, number: usize) -> Option<Row<'_>> {
        let bytes = self.bytes.get(*self.starts.get(number)?..)?;
        Numbers(bytes).row()
    }

    /// Returns what finds its rows.
    pub(crate) fn finder(&self) -> Finder<'_> {
        Finder {
            cache: self,
            shift: 0,
        }
    }

    /// Returns the number of a file's row, which most likely is the guessed one, and the row.
    fn find(&self, name: &[u8], guess: usize) -> Option<(usize, Row<'_>)> {
        let known = |number| Some((number, self.row(number).filter(|row| row.name == name)?));
        let near = guess.saturating_sub(NEAR)..guess.saturating_add(NEAR);
        if let Some(found) = known(guess).or_else(|| near.into_iter().find_map(known)) {
            return Some(found);
        }
        let by_sum = self.by_sum.get_or_init(|| {
            let mut by_sum = HashMap::with_capacity(self.len());
            let rows = (0..self.len()).filter_map(|number| Some((self.row(number)?, number)));
            by_sum.extend(rows.map(|(row, number)| (checksum(0, row.name), number)));
            by_sum
        });
        known(*by_sum.get(&checksum(0, name))?)
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
        let mut starts = Vec::with_capacity(usize::try_from(rows).ok()?);
        let mut rest = Numbers(&bytes);
        for _ in 0..rows {
            starts.push(bytes.len() - rest.0.len());
            rest.row()?;
        }
        Some(Self {
            starts,
            bytes,
            by_sum: OnceLock::new(),
            written: nanoseconds(metadata.modified().ok()),
        })
    }
}

/// Finds rows, at once as long as the files are asked for in the order in which they were written.
#[derive(Debug)]
pub(crate) struct Finder<'c> {
    cache: &'c Cache,
    /// How far the row found last has moved since, as other files came or went.
    shift: isize,
}

impl<'c> Finder<'c> {
    /// Returns the row of a file that is still as it was read, and its number.
    ///
    /// `at` is the file's place among those asked for.
    pub(crate) fn find(&mut self, at: usize, name: &str, stamp: Stamp) -> Option<(usize, Row<'c>)> {
        let guess = at.saturating_add_signed(self.shift);
        let (number, row) = self.cache.find(name.as_bytes(), guess)?;
        self.shift = number.cast_signed().wrapping_sub(at.cast_signed());
        let is_settled = stamp.modified.saturating_add(TOO_FRESH) <= self.cache.written;
        (row.stamp == stamp && is_settled).then_some((number, row))
    }
}

/// Writes the cache anew, its rows in the order in which files will most likely be asked for.
pub(crate) fn write<'t>(storage: &Storage, rows: impl Iterator<Item = Row<'t>>) -> Result<()> {
    let mut body = Vec::with_capacity(rows.size_hint().0 * 256);
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
        body.extend(row.name);
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

impl<'t> Numbers<'t> {
    fn row(&mut self) -> Option<Row<'t>> {
        let (modified, size, first_line) = (self.long()?, self.long()?, self.long()?);
        let (fingerprint, name) = (self.short()?, self.tiny()?);
        Some(Row {
            stamp: Stamp { modified, size },
            first_line,
            fingerprint: self.bytes(usize::try_from(fingerprint).ok()?)?,
            name: self.bytes(usize::from(name))?,
        })
    }

    fn bytes(&mut self, length: usize) -> Option<&'t [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

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
        let row = |name: &'static str, modified, fingerprint| Row {
            name: name.as_bytes(),
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
        write(&storage, rows().into_iter()).unwrap();
        let cache = Cache::read(&storage).unwrap();
        let get = |at, name, modified| {
            let found = cache.finder().find(at, name, Stamp { modified, size: 3 });
            found.map(|(_, row)| row)
        };
        let found = get(0, "a.md", 1).unwrap();
        assert_eq!(
            (found.name, found.first_line, found.fingerprint),
            (b"a.md".as_slice(), 7, b"1122".as_slice())
        );
        assert!(get(2, "日.md", 3).unwrap().fingerprint.is_empty());
        assert!(get(0, "a.md", 9).is_none(), "changed since");
        assert!(
            get(1, "b.md", u64::MAX / 2).is_none(),
            "may have changed unseen"
        );
        assert!(get(3, "d.md", 1).is_none());
    }

    #[test]
    fn rows_are_found_in_any_order_with_others_between() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        let names: Vec<String> = (0..9).map(|number| format!("{number}.md")).collect();
        let stamp = |size| Stamp { modified: 1, size };
        let rows = names.iter().zip(0..).map(|(name, size)| Row {
            name: name.as_bytes(),
            stamp: stamp(size),
            first_line: 0,
            fingerprint: b"",
        });
        write(&storage, rows).unwrap();
        let cache = Cache::read(&storage).unwrap();
        let mut finder = cache.finder();
        // One is gone, one is new, and the rest has turned round.
        for (at, number) in [0, 1, 3, 4, 90, 5, 8, 7, 6, 2].into_iter().enumerate() {
            let found = finder.find(at, &format!("{number}.md"), stamp(number));
            let size = found.map(|(_, row)| row.stamp.size);
            assert_eq!(size, (number < 9).then_some(number));
        }
        assert!(finder.find(usize::MAX, "90.md", stamp(90)).is_none());
        assert!(finder.find(usize::MAX, "3.md", stamp(3)).is_some());
        assert!(finder.find(4, "4.md", stamp(4)).is_some());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at files")]
    fn what_is_not_whole_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path());
        write(&storage, rows().into_iter()).unwrap();
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
