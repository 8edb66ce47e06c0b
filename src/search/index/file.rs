//! The index file: its schema, and how a file that this program created is recognised.

use std::path::Path;
use std::time::Duration;

use chrono::{Datelike, NaiveDate};
use rusqlite::{Connection, OpenFlags, Result, params};

use crate::search::index::Passage;
use crate::search::rank::to_u32;
use crate::search::table::{DIMENSION, MODEL_ID};
use crate::search::vector::Quantized;
use crate::storage::is_plain_database;

/// Maximum time to wait for an update by another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Version of the schema and of the stored texts; an index of another version is rebuilt.
const FORMAT_VERSION: u32 = 26;

/// Number of units that may be gone before an index with fewer that are there is built anew.
const MAX_GONE: i64 = 20_000;

const SCHEMA: &str = "
CREATE TABLE owner(identity TEXT NOT NULL, next INTEGER NOT NULL, batch INTEGER NOT NULL);
CREATE TABLE files(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, role INTEGER NOT NULL,
  stamp BLOB NOT NULL, language INTEGER NOT NULL, left_out INTEGER, first INTEGER NOT NULL, units BLOB NOT NULL);
CREATE TABLE texts(id INTEGER PRIMARY KEY, headings TEXT NOT NULL, key TEXT, text TEXT NOT NULL);
CREATE TABLE postings(stem BLOB, batch INTEGER, list BLOB NOT NULL, PRIMARY KEY(stem, batch)) WITHOUT ROWID;
CREATE TABLE encoded(id INTEGER PRIMARY KEY, encoder TEXT NOT NULL, scale BLOB NOT NULL, vectors BLOB NOT NULL);
";

/// What is known of a passage without its text.
#[derive(Clone, Copy)]
pub(crate) struct UnitRecord {
    /// Shared by all passages with the same text under the same headings.
    pub(crate) identity: i64,
    pub(crate) line: u32,
    /// Number of the run of passages under the same headings that it belongs to, within its file.
    pub(crate) section: u32,
    /// Number of its words.
    pub(crate) length: u32,
    pub(crate) date: Option<NaiveDate>,
    pub(crate) weight: f64,
    pub(crate) flags: u32,
}

impl UnitRecord {
    /// Size of a stored record with its vector, in bytes.
    pub(crate) const SIZE: usize = 40 + DIMENSION;

    pub(crate) fn new(passage: &Passage, identity: i64, section: u32, length: u32) -> Self {
        Self {
            identity,
            line: u32::try_from(passage.line).unwrap_or_default(),
            section,
            length,
            date: passage.date,
            weight: passage.weight,
            flags: passage.flags,
        }
    }

    /// Appends the record and the vector of its text.
    pub(crate) fn write(&self, vector: &Quantized, units: &mut Vec<u8>) {
        let from = units.len();
        let day = self.date.map_or(0, |date| date.num_days_from_ce());
        units.extend(self.identity.to_le_bytes());
        units.extend([self.line, self.section, self.length].map(u32::to_le_bytes).concat());
        units.extend(day.to_le_bytes());
        units.extend(self.weight.to_le_bytes());
        units.extend(vector.scale.to_le_bytes());
        units.extend(self.flags.to_le_bytes());
        units.extend_from_slice(&vector.values);
        units.resize(from + Self::SIZE, 0);
    }

    /// Reads a record; returns it with the scale and the values of its vector.
    pub(crate) fn read(stored: &[u8; Self::SIZE]) -> (Self, f32, &[u8]) {
        let (head, vector) = stored.split_at(40);
        let (numbers, _) = head.as_chunks::<4>();
        let number = |at: usize| u32::from_le_bytes(numbers[at]);
        let long = |at: usize| u64::from(number(at + 1)) << 32 | u64::from(number(at));
        let unit = Self {
            identity: long(0).cast_signed(),
            line: number(2),
            section: number(3),
            length: number(4),
            date: NaiveDate::from_num_days_from_ce_opt(number(5).cast_signed())
                .filter(|_| number(5) != 0),
            weight: f64::from_bits(long(6)),
            flags: number(9),
        };
        (unit, f32::from_bits(number(8)), vector)
    }
}

/// An open index.
pub(crate) struct Index {
    pub(crate) db: Connection,
}

impl Index {
    /// Opens an existing index file; returns `None` if it is not ours.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        // A cloned repository can contain a link to anywhere, or a FIFO, which SQLite would wait for.
        if !is_plain_database(path) {
            return Ok(None);
        }
        let db = open_unlinked(path, OpenFlags::empty())?;
        configure(&db)?;
        if !is_our_schema(&db)? {
            return Ok(None);
        }
        let owner: String = db.query_row("SELECT identity FROM owner", [], |row| row.get(0))?;
        Ok((owner == identity(path)).then_some(Self { db }))
    }

    /// Returns whether so many of its units are gone that a new index would be half as large.
    pub(crate) fn is_worn(&self) -> Result<bool> {
        let sql = "SELECT next > ?1 + 2 * (SELECT sum(length(units)) / ?2 FROM files) FROM owner";
        let is_worn: Option<bool> =
            self.db.query_row(sql, params![MAX_GONE, UnitRecord::SIZE], |row| row.get(0))?;
        Ok(is_worn.unwrap_or_default())
    }

    /// Creates an index file at a free path, from where it will be moved to `home`.
    pub(crate) fn create(path: &Path, home: &Path) -> Result<Self> {
        let db = open_unlinked(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        configure(&db)?;
        // No other process has it open, and an unfinished file is never used.
        db.pragma_update(None, "journal_mode", "OFF")?;
        db.pragma_update(None, "synchronous", "OFF")?;
        Self::with_tables(db, &identity(home))
    }

    /// Creates an index in memory.
    pub(crate) fn in_memory() -> Result<Self> {
        let db = Connection::open_in_memory()?;
        configure(&db)?;
        Self::with_tables(db, "memory")
    }

    fn with_tables(db: Connection, identity: &str) -> Result<Self> {
        db.execute_batch(SCHEMA)?;
        db.execute("INSERT INTO owner VALUES(?1, 1, 0)", [identity])?;
        Ok(Self { db })
    }

    /// Completes a new index file, so that several processes may use it.
    pub(crate) fn finish(self) -> Result<()> {
        self.db.pragma_update(None, "journal_mode", "WAL")?;
        self.db.close().map_err(|(_, error)| error)
    }

    /// Returns whether SQLite finds no damage.
    pub(crate) fn is_intact(&self) -> Result<bool> {
        let result: String = self.db.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
        Ok(result == "ok")
    }
}

/// Returns whether the schema contains only what this program creates.
///
/// An index from a cloned repository could contain a view or a generated column whose evaluation never ends.
fn is_our_schema(db: &Connection) -> Result<bool> {
    let mut statement = db.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, sql): (String, String, Option<String>) = row.try_into()?;
        let is_internal = name.starts_with("sqlite_");
        let is_plain = matches!(kind.as_str(), "table" | "index");
        let is_known = is_internal || sql.is_none_or(|sql| SCHEMA.contains(&sql));
        if !is_plain || !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens a database file; a link in its path is an error.
fn open_unlinked(path: &Path, create: OpenFlags) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Connection::open_with_flags(path, flags | create)
}

fn configure(db: &Connection) -> Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    // Functions called from the schema of a foreign file must not run.
    db.pragma_update(None, "trusted_schema", "OFF")?;
    db.pragma_update(None, "synchronous", "NORMAL")
}

/// Returns a string unique to this version and this folder: a copy of the folder has another inode number.
fn identity(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    format!(
        "{FORMAT_VERSION} {} {MODEL_ID} {} {}",
        env!("CARGO_PKG_VERSION"),
        inode(folder),
        folder.display()
    )
}

#[cfg(unix)]
fn inode(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;

    let found = std::fs::metadata(folder);
    found.map_or_else(|_| String::new(), |found| format!("{}:{}", found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_folder: &Path) -> String {
    String::new()
}

/// Number of bytes after which collected lists are written, to limit memory use.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// About what a stem takes in memory beside its text and its list.
const STEM_BYTES: usize = 96;

/// A list that is being written.
#[derive(Debug, Default)]
struct List {
    last: u32,
    bytes: Vec<u8>,
}

impl List {
    /// Adds a unit, whose number is not below that of the one before.
    fn add(&mut self, unit: u32, count: u32) {
        put((unit - self.last) << 1 | u32::from(count > 1), &mut self.bytes);
        if count > 1 {
            put(count, &mut self.bytes);
        }
        self.last = unit;
    }
}

/// Reads a list: each unit with its count. A damaged list ends early.
pub(crate) fn units(mut list: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let mut unit = 0_u32;
    std::iter::from_fn(move || {
        let number = take(&mut list)?;
        unit = unit.checked_add(number >> 1)?;
        let count = if number & 1 == 1 { take(&mut list)? } else { 1 };
        Some((unit, count))
    })
}

/// Returns the words of a file from its stems, each with the number of the unit that contains it, counted from 0.
pub(crate) fn of_file<'a>(mut words: Vec<(u32, u32)>, text: impl Fn(u32) -> &'a str) -> Vec<u8> {
    words.sort_unstable();
    let mut bytes = Vec::with_capacity(words.len() * 4);
    for stem in words.chunk_by(|one, other| one.0 == other.0) {
        let mut list = List::default();
        for unit in stem.chunk_by(|one, other| one.1 == other.1) {
            list.add(unit[0].1, to_u32(unit.len()));
        }
        for part in [text(stem[0].0).as_bytes(), &list.bytes] {
            put(to_u32(part.len()), &mut bytes);
            bytes.extend_from_slice(part);
        }
    }
    bytes
}

/// The lists of an update.
#[derive(Default)]
pub(crate) struct Postings {
    lists: foldhash::HashMap<Box<[u8]>, List>,
    bytes: usize,
}

impl Postings {
    /// Adds the words of a file whose first unit has this number.
    pub(crate) fn add(&mut self, mut words: &[u8], first: u32) {
        while let (Some(stem), Some(list)) = (take_part(&mut words), take_part(&mut words)) {
            let all = match self.lists.get_mut(stem) {
                Some(all) => all,
                None => {
                    self.bytes += STEM_BYTES + stem.len();
                    self.lists.entry(stem.into()).or_default()
                }
            };
            let before = all.bytes.len();
            units(list).for_each(|(unit, count)| all.add(first + unit, count));
            self.bytes += all.bytes.len() - before;
        }
    }

    /// Returns whether the lists should be written before more are added.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Writes the lists as a batch.
    pub(crate) fn write(&mut self, db: &Connection, batch: i64) -> Result<()> {
        self.bytes = 0;
        let mut lists: Vec<_> = self.lists.drain().collect();
        // In the order of the table, SQLite writes each page once.
        lists.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut insert = db.prepare_cached("INSERT INTO postings VALUES(?1, ?2, ?3)")?;
        lists.iter().try_for_each(|(stem, list)| {
            insert.execute(params![&stem[..], batch, list.bytes]).map(drop)
        })
    }
}

fn put(mut number: u32, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    bytes.split_off(..length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_words_of_files_come_back_by_stem() {
        let text = |stem: u32| ["queue", "retri"][stem as usize];
        let mut postings = Postings::default();
        postings.add(&of_file(vec![(1, 0), (0, 2), (0, 0), (0, 2)], text), 5);
        postings.add(&of_file(vec![(0, 300)], text), 8);
        let list = |stem: &str| -> Vec<(u32, u32)> {
            units(&postings.lists[stem.as_bytes()].bytes).collect()
        };
        assert_eq!(list("queue"), [(5, 1), (7, 2), (308, 1)]);
        assert_eq!(list("retri"), [(5, 1)]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            prop_assert!(units(&bytes).count() <= bytes.len());
        }
    }
}
