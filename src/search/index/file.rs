//! The index file: its schema, and how a file that this program created is recognised.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Result};

use crate::search::table::MODEL_ID;

/// Maximum time to wait for an update by another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Size of SQLite's page cache while the index is built, in KiB: inserts touch pages all over the b-trees.
const CACHE_KIB: i32 = 64 * 1024;

/// Endings of the names of the files that SQLite keeps beside a database.
const SIDE_FILES: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Version of the schema and of the stored texts; an index of another version is rebuilt.
const FORMAT_VERSION: u32 = 9;

const SCHEMA: &str = "
CREATE TABLE owner(identity TEXT NOT NULL);
CREATE TABLE files(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, stamp BLOB NOT NULL,
  digest BLOB NOT NULL, language INTEGER NOT NULL, left_out INTEGER);
CREATE TABLE units(
  id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, identity INTEGER NOT NULL, line INTEGER NOT NULL,
  day INTEGER, flags INTEGER NOT NULL, weight REAL NOT NULL, section INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX units_file ON units(file);
CREATE TABLE texts(id INTEGER PRIMARY KEY, headings TEXT NOT NULL, key TEXT, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
  text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE TABLE encoded(id INTEGER PRIMARY KEY, scale REAL NOT NULL, vectors BLOB NOT NULL);
INSERT INTO words(words, rank) VALUES('hashsize', 8388608);
";

/// An open index.
pub(crate) struct Index {
    pub(crate) db: Connection,
}

impl Index {
    /// Opens an existing index file; returns `None` if it is not ours.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        // A cloned repository can contain a link to anywhere, or a FIFO, which SQLite would wait for.
        let is_special =
            |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
        if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
            || SIDE_FILES.iter().any(|ending| is_special(&beside(path, ending)))
        {
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

    /// Creates an index file at a free path, from where it will be moved to `home`.
    pub(crate) fn create(path: &Path, home: &Path) -> Result<Self> {
        let db = open_unlinked(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        configure(&db)?;
        // No other process has it open, and an unfinished file is never used.
        db.pragma_update(None, "journal_mode", "OFF")?;
        db.pragma_update(None, "synchronous", "OFF")?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
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
        db.execute("INSERT INTO owner VALUES(?1)", [identity])?;
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
        // FTS5 creates shadow tables for each of its tables.
        let is_internal = name.starts_with("words_") || name.starts_with("sqlite_");
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

/// Returns the path of a file that SQLite keeps beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
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

    let found = fs::metadata(folder);
    found.map_or_else(|_| String::new(), |found| format!("{}:{}", found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_folder: &Path) -> String {
    String::new()
}
