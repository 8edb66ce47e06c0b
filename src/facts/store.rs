//! The open database: its tables, its transactions, and its lock while facts are erased.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row, Transaction,
    TransactionBehavior, ffi,
};
use serde::Serialize;

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{maintenance, replication};
use crate::project::Project;
use crate::storage::{Log, companions, database_uri, fail_point};

/// Name of the file in the user's data folder.
const FILE: &str = "mem.db";

/// Version of the tables, and the one that is upgraded when the file is opened for writing.
const VERSION: u32 = 7;
const UPGRADED: u32 = 6;

/// Capacity of the statement cache: more than one change of a fact needs, so that none is prepared twice.
const STATEMENTS: usize = 64;

/// Pause before retrying what another process prevents.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether a run may create the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// It only reads: a missing file is treated as an empty database.
    Read,
    /// It writes: a missing file is created.
    Write,
}

/// An open database of facts.
#[derive(Debug)]
pub struct Facts {
    pub(crate) connection: Connection,
    /// Path of the file.
    pub path: PathBuf,
    /// The time of this run.
    pub clock: Clock,
    wait: Duration,
    /// Whether this run must not write anything.
    pub(crate) dry_run: bool,
    /// The user's own high-risk keys, or prefixes of keys that end in a dot.
    pub high_risk: Vec<String>,
    /// The URL of the Chroma server that stores the vectors; if `None`, they are in the file.
    pub vector_server: Option<String>,
    /// The scopes of new facts, by key or prefix of keys.
    pub(crate) scopes: Vec<(String, String)>,
}

impl Facts {
    /// Opens the database of this run: the named file, else that of the settings, else the user's default.
    pub fn open(project: &Project, named: Option<&Path>, purpose: Purpose) -> Result<Self> {
        let path = match named.or(project.settings.db.as_deref()) {
            Some(named) => named.to_owned(),
            None => {
                project.environment.data_dir().map(|folder| folder.join(FILE)).ok_or_else(|| {
                    Error::usage("no home directory for the database")
                        .hint("name the database with --db or ANNALS_DB")
                })?
            }
        };
        let purpose = if project.dry_run { Purpose::Read } else { purpose };
        let mut facts = Self::open_file(&path, project.clock, project.settings.lock_wait, purpose)?;
        facts.dry_run = project.dry_run;
        facts.high_risk.clone_from(&project.settings.facts.high_risk);
        facts.vector_server.clone_from(&project.settings.chroma);
        facts.scopes.clone_from(&project.settings.share.scopes);
        if purpose == Purpose::Read && !project.dry_run {
            // A reader finds what a temporary value had replaced; without write access, it skips ended facts.
            maintenance::expire_ended(&facts).ok();
        }
        Ok(facts)
    }

    /// Opens the database in a file, waiting at most this long for locks.
    pub fn open_file(path: &Path, clock: Clock, wait: Duration, purpose: Purpose) -> Result<Self> {
        refuse_special(path)?;
        let open = || {
            let is_empty = !fs::metadata(path).is_ok_and(|file| file.len() > 0);
            let connection = if purpose == Purpose::Read && is_empty {
                Connection::open_in_memory()?
            } else {
                if !path.exists() {
                    // Only for the user; another process may create it at the same time.
                    Log::lock(path)?;
                }
                match open_shared(path, wait) {
                    Err(error) if purpose == Purpose::Read => open_immutable(path).ok_or(error)?,
                    opened => opened?,
                }
            };
            Self::new(connection, path, clock, wait, purpose)
        };
        open().map_err(|error| error.at(path, None))
    }

    /// Returns a database in memory, which is discarded at the end of the run.
    pub(crate) fn in_memory(clock: Clock) -> Result<Self> {
        let memory = Connection::open_in_memory()?;
        Self::new(memory, Path::new(""), clock, Duration::ZERO, Purpose::Write)
    }

    /// Creates the store from a connection, and the tables in a new file.
    fn new(
        connection: Connection,
        path: &Path,
        clock: Clock,
        wait: Duration,
        purpose: Purpose,
    ) -> Result<Self> {
        let found = version(&connection)?;
        if found == 0 || found == UPGRADED && purpose == Purpose::Write {
            let transaction =
                Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            // Another process may have made them while this one waited.
            let tables = match version(&transaction)? {
                0 => Some(include_str!("schema.sql")),
                UPGRADED => Some(include_str!("upgrade.sql")),
                _ => None,
            };
            if let Some(tables) = tables {
                transaction.execute_batch(tables)?;
                transaction.execute_batch(include_str!("triggers.sql"))?;
            }
            transaction.commit()?;
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
            clock,
            wait,
            dry_run: false,
            high_risk: Vec::new(),
            vector_server: None,
            scopes: Vec::new(),
        })
    }

    /// Leaves checkpointing the write-ahead log to other processes, so that a short write ends sooner.
    pub(crate) fn leave_checkpoint_to_others(&self) -> Result<()> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // The first process to open the file reads the whole log, so it must stay short.
        Ok(self.connection.pragma_update(None, "wal_autocheckpoint", 100)?)
    }

    /// Enlarges SQLite's page cache to 32 MiB, for a run that updates all indexes.
    pub(crate) fn enlarge_cache(&self) -> Result<()> {
        Ok(self.connection.pragma_update(None, "cache_size", -32 * 1024)?)
    }

    /// Waits until no other process has the file open, then locks all others out; never longer than the settings
    /// say.
    pub(crate) fn lock_exclusive(&self, wait: Duration) -> Result<()> {
        let wait = wait.min(self.wait);
        // SQLite waits by itself, too.
        self.connection.busy_timeout(wait)?;
        // Leaving the write-ahead log needs exclusive access, so it fails while others have the file open.
        let locked = patiently(wait, || {
            self.connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
            let leave = "PRAGMA journal_mode = DELETE";
            match self.connection.query_row(leave, [], |row| row.get::<_, String>(0))?.as_str() {
                "wal" => {
                    Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None))
                }
                _ => Ok(()),
            }
        });
        if locked.is_err() {
            // A failure to unlock for others does not change the error.
            self.unlock().ok();
        }
        self.connection.busy_timeout(self.wait)?;
        locked.map_err(|error| {
            if !is_busy(&error) {
                return error.into();
            }
            let seconds = wait.as_secs_f32();
            Error::refused(format!("is still held open by another process after {seconds} s"))
                .at(&self.path, None)
                .hint("no trace of forgotten facts may remain; end that process, then run the command again")
        })
    }

    /// Unlocks the file for other processes.
    pub(crate) fn unlock(&self) -> Result<()> {
        let unlock = "PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;";
        self.connection.execute_batch(unlock)?;
        use_write_ahead_log(&self.connection, self.wait)
    }

    /// Rewrites the file without deleted data, and unlocks it for other processes, even if that fails.
    pub(crate) fn vacuum(&self) -> Result<()> {
        let rewritten = self.connection.execute_batch("VACUUM").map_err(Error::from);
        let unlocked = self.unlock();
        rewritten.map_err(|error| error.at(&self.path, None)).and(unlocked)
    }

    /// Runs work in one atomic, isolated transaction; a dry run rolls it back.
    pub(crate) fn write<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let run = || {
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let result = work()?;
            replication::record(self)?;
            crash_point();
            if self.dry_run {
                transaction.rollback()?;
            } else {
                transaction.commit()?;
            }
            crash_point();
            Ok(result)
        };
        run().map_err(|error: Error| match error.place {
            None if error.kind == ErrorKind::Failed => error.at(&self.path, None),
            _ => error,
        })
    }

    /// Returns the time of this run, as stored.
    pub(crate) fn now(&self) -> String {
        self.clock.timestamp()
    }

    /// Prepares a statement, unless it is cached.
    pub(crate) fn statement(&self, sql: &str) -> Result<CachedStatement<'_>> {
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// Runs a statement that returns no rows.
    pub(crate) fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }

    /// Runs a statement that returns no rows, and returns the number of changed rows.
    pub(crate) fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        Ok(self.statement(sql)?.execute(values)?)
    }

    /// Returns whether there is a row.
    pub(crate) fn exists(&self, sql: &str, values: impl Params) -> Result<bool> {
        Ok(self.statement(sql)?.exists(values)?)
    }

    /// Returns the first column of the first row.
    pub(crate) fn value<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<T> {
        Ok(self.statement(sql)?.query_row(values, |row| row.get(0))?)
    }

    /// Returns the first row, if there is one.
    pub(crate) fn optional<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Option<T>> {
        Ok(self.statement(sql)?.query_row(values, |row| T::try_from(row)).optional()?)
    }

    /// Returns what `read` makes of each row.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        Ok(self.statement(sql)?.query_map(values, read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns all rows.
    pub(crate) fn list<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        self.rows(sql, values, |row| T::try_from(row))
    }

    /// Returns the first column of all rows.
    pub(crate) fn column<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        self.rows(sql, values, |row| row.get(0))
    }
}

/// A fail point: tests abort the process before and after a commit, and between two changes.
pub(crate) fn crash_point() {
    if fail_point::is_reached() {
        std::process::abort();
    }
}

/// Returns the version of the tables, 0 if there are none, or an error if another program made them.
fn version(connection: &Connection) -> Result<u32> {
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        0 | UPGRADED | VERSION => Ok(version),
        VERSION.. => {
            Err(Error::failed(format!("the database has version {version}, which is newer"))
                .hint(format!("this annals knows version {VERSION}")))
        }
        _ => Err(Error::failed(format!("the database has version {version}, of an earlier build"))
            .hint("open it once with annals 0.2, for instance with its `annals facts check`")),
    }
}

/// Refuses a pipe or a device as a database or beside one: SQLite would wait for its other end.
fn refuse_special(path: &Path) -> Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let files = companions(&real).into_iter().chain([real]);
    let mut special = files.filter(|file| fs::metadata(file).is_ok_and(|found| !found.is_file()));
    special.next().map_or(Ok(()), |file| {
        let message = "is not a regular file, so the database is not opened";
        Err(Error::failed(message).at(&file, None).hint("move it away"))
    })
}

/// Opens a file, and configures the connection, whichever process created the file.
fn open_shared(path: &Path, wait: Duration) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(wait)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise SQLite prepares a statement again if a bound value could change the query plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Checked before the journal mode is set, which is stored in the file.
    version(&connection)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; \
         PRAGMA temp_store = MEMORY;",
    )?;
    use_write_ahead_log(&connection, wait)?;
    Ok(connection)
}

/// Opens a file in a read-only folder, where no write-ahead log can be created beside it, provided that the file
/// is complete: an existing log may hold more, and cannot be read without writing.
fn open_immutable(path: &Path) -> Option<Connection> {
    let [_, log, _] = companions(path);
    if log.exists() {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(database_uri(path, "immutable=1"), flags).ok()?;
    let first = "SELECT count(*) FROM sqlite_schema";
    connection.query_row(first, [], |_| Ok(())).ok()?;
    Some(connection)
}

/// Switches to the write-ahead log, retrying: the busy timeout does not cover concurrent switches.
fn use_write_ahead_log(connection: &Connection, wait: Duration) -> Result<()> {
    Ok(patiently(wait, || connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?)
}

/// Tries again while another process prevents it, until the time is over.
fn patiently<T>(
    wait: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && waited < wait => thread::sleep(PAUSE),
            done => return done,
        }
        waited += PAUSE;
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// A tuple or struct that a row is read into.
pub(crate) trait FromRow: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>> FromRow for T {}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let failed = Self::failed(format!("cannot use the database: {error}"));
        let hint = match error.sqlite_error_code() {
            _ if is_busy(&error) => "another process is writing; run it again when that is done",
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                "restore the file from a copy, or use --db for another one"
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                "annals cannot write there; nothing was changed"
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::DiskFull) => {
                "the disk may be full or failing; nothing was written"
            }
            _ => return failed,
        };
        failed.hint(hint)
    }
}

/// Defines a struct that is read from the columns of a row, in the order of its fields.
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$field_attribute])* $field_visibility $field: $type,)+
        }

        // Some structs are read only as a part of a row, others only as a whole one.
        #[allow(dead_code)]
        impl $name {
            /// The names of the fields.
            pub(crate) const COLUMNS: &[&str] = &[$(stringify!($field)),+];

            /// Reads the columns from this one on.
            pub(crate) fn read_from(
                row: &rusqlite::Row<'_>,
                first: usize,
            ) -> rusqlite::Result<Self> {
                let mut columns = first..;
                Ok(Self { $($field: row.get(columns.next().unwrap_or_default())?,)+ })
            }
        }

        impl TryFrom<&rusqlite::Row<'_>> for $name {
            type Error = rusqlite::Error;

            fn try_from(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                Self::read_from(row, 0)
            }
        }
    };
}

/// Stores enums as their words in the database.
macro_rules! stored_as_word {
    ($($name:ty),*) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                Self::from_word(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
            }
        }
    )*};
}

/// Stores values as JSON texts in the database.
macro_rules! stored_as_json {
    ($($name:ty),*) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                let json = serde_json::to_string(self);
                json.map(Into::into)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                serde_json::from_str(value.as_str()?)
                    .map_err(|error| rusqlite::types::FromSqlError::Other(error.into()))
            }
        }
    )*};
}

pub(crate) use row;
pub(crate) use stored_as_json;
pub(crate) use stored_as_word;

/// Returns a value as JSON text.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Error::cannot("write a record"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::vectors;
    use crate::search::Embedder;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_in_place_of_a_database_or_beside_it_is_not_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};

        for ending in ["", "-journal", "-wal", "-shm"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("mem.db");
            let pipe = folder.path().join(format!("mem.db{ending}"));
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
            let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
            let opened = Facts::open_file(&path, clock, Duration::ZERO, Purpose::Read);
            assert!(opened.unwrap_err().message.starts_with("is not a regular file"), "{ending}");
        }
    }

    #[test]
    fn a_new_database_expects_vectors_of_the_built_in_model() {
        let facts = Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap();
        let model = vectors::model(&facts).unwrap();
        assert_eq!(model, Embedder::BuiltIn.model());
    }

    #[test]
    fn the_history_lets_go_of_what_is_being_erased_and_of_nothing_else() {
        let facts = Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap();
        let connection = &facts.connection;
        let add = "INSERT INTO fact_history (fact_id, user_id, key, action, reason, turn_id, at)
                   VALUES ('1', 'ada', 'name', 'insert', '', 't', '')";
        connection.execute(add, []).unwrap();
        for change in ["UPDATE fact_history SET key = 'x'", "DELETE FROM fact_history"] {
            let error = connection.execute(change, []).unwrap_err().to_string();
            assert!(error.contains("fact_history is immutable"), "{error}");
        }
        connection.execute("INSERT INTO erasing VALUES ('ada', 'other')", []).unwrap();
        connection.execute("DELETE FROM fact_history", []).unwrap_err();
        connection.execute("INSERT INTO erasing VALUES ('ada', NULL)", []).unwrap();
        assert_eq!(connection.execute("DELETE FROM fact_history", []), Ok(1));
    }
}
