//! How the cache is laid out, and how one that is ours is told from any other.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::Result;

use crate::embedding::MODEL_ID;

/// How long another process's update is waited for.
const WAIT: Duration = Duration::from_secs(5);

/// SQLite's page cache while the index is built: its b-trees grow everywhere at once.
const CACHE_KIB: i32 = 64 * 1024;

/// What the tables and the texts in them look like; another number means another cache.
const FORMAT: u32 = 4;

const SCHEMA: &str = "
CREATE TABLE owner(identity TEXT NOT NULL);
CREATE TABLE files(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, path TEXT NOT NULL UNIQUE, stamp BLOB NOT NULL,
  digest BLOB NOT NULL, language INTEGER NOT NULL, vectors BLOB NOT NULL);
CREATE TABLE units(
  file INTEGER NOT NULL, place INTEGER NOT NULL, text INTEGER NOT NULL, line INTEGER NOT NULL,
  day INTEGER, flags INTEGER NOT NULL, rank INTEGER NOT NULL, section INTEGER NOT NULL,
  length INTEGER NOT NULL, vector INTEGER NOT NULL, vectors INTEGER NOT NULL,
  PRIMARY KEY(file, place)) WITHOUT ROWID;
CREATE INDEX units_text ON units(text);
CREATE TABLE texts(
  id INTEGER PRIMARY KEY AUTOINCREMENT, identity INTEGER NOT NULL UNIQUE,
  headings TEXT NOT NULL, key TEXT, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
  text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE VIRTUAL TABLE instances USING fts5vocab(words, instance);
CREATE TABLE terms(term TEXT PRIMARY KEY, docs INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO words(words, rank) VALUES('hashsize', 8388608);
";

/// Returns whether the tables are those that this program makes.
///
/// A view or a generated column of a cloned repository's cache would run as it is read, without end.
fn is_our_schema(db: &Connection) -> Result<bool> {
    let mut statement = db.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, sql): (String, String, Option<String>) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        // FTS5 makes tables of its own beside each of its own.
        let is_of_search = name.starts_with("words_") || name.starts_with("sqlite_");
        let is_plain = matches!(kind.as_str(), "table" | "index");
        let is_known = is_of_search || sql.is_none_or(|sql| SCHEMA.contains(&sql));
        if !is_plain || !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The cache, open.
pub(crate) struct Index {
    pub(crate) db: Connection,
}

impl Index {
    /// Opens a cache that is there; returns `None` if it is not ours.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        // A cloned repository can bring a link that leads anywhere.
        if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
            return Ok(None);
        }
        let db = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        prepare(&db)?;
        if !is_our_schema(&db)? {
            return Ok(None);
        }
        let owner: String = db.query_row("SELECT identity FROM owner", [], |row| row.get(0))?;
        Ok((owner == identity(path)).then_some(Self { db }))
    }

    /// Makes a cache at a path where nothing is, which will be moved to `home`.
    pub(crate) fn create(path: &Path, home: &Path) -> Result<Self> {
        let db = Connection::open(path)?;
        prepare(&db)?;
        // Nobody else has it open, and one that is not finished is never used.
        db.pragma_update(None, "journal_mode", "OFF")?;
        db.pragma_update(None, "synchronous", "OFF")?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Self::with_tables(db, &identity(home))
    }

    /// Makes a cache that ends with the process.
    pub(crate) fn in_memory() -> Result<Self> {
        let db = Connection::open_in_memory()?;
        prepare(&db)?;
        Self::with_tables(db, "memory")
    }

    fn with_tables(db: Connection, identity: &str) -> Result<Self> {
        db.execute_batch(SCHEMA)?;
        db.execute("INSERT INTO owner VALUES(?1)", [identity])?;
        Ok(Self { db })
    }

    /// Ends the making of a cache: from now on several processes may use it.
    pub(crate) fn finish(self) -> Result<()> {
        self.db.pragma_update(None, "journal_mode", "WAL")?;
        self.db.close().map_err(|(_, error)| error)
    }
}

fn prepare(db: &Connection) -> Result<()> {
    db.busy_timeout(WAIT)?;
    // Tables that somebody else put there get no say in what runs.
    db.pragma_update(None, "trusted_schema", "OFF")?;
    db.pragma_update(None, "synchronous", "NORMAL")
}

/// Returns what only a cache has that this version made here: a copy of the folder has another number.
fn identity(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    format!(
        "{FORMAT} {} {MODEL_ID} {} {}",
        env!("CARGO_PKG_VERSION"),
        number(folder),
        folder.display()
    )
}

#[cfg(unix)]
fn number(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;

    let found = fs::metadata(folder);
    found.map_or_else(
        |_| String::new(),
        |found| format!("{}:{}", found.dev(), found.ino()),
    )
}

#[cfg(not(unix))]
fn number(_folder: &Path) -> String {
    String::new()
}
