//! The open database: writes to it in transactions, and locks it while other processes use it.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::failure::SqliteResultExt;
use crate::facts::replication::Scopes;
use crate::facts::{holders, replication, schema};
use crate::project::Project;
use crate::storage::{fail_point, remove_beside};

/// Pause before retrying a switch of the journal mode.
const PAUSE: Duration = Duration::from_millis(5);

/// Size of SQLite's page cache for runs that update all indexes, in KiB.
const CACHE_KIB: i32 = 32 * 1024;

/// Whether a run may create the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It only reads: a missing file is treated as an empty database.
    Read,
    /// It writes: a missing file is created.
    Write,
}

/// An open database of facts.
#[derive(Debug)]
pub struct Facts {
    connection: Connection,
    path: PathBuf,
    clock: Clock,
    wait: Duration,
    dry_run: bool,
    high_risk: Vec<String>,
    vector_server: Option<String>,
    scopes: Scopes,
}

impl Facts {
    /// Applies the settings of this run.
    pub(super) fn configure(&mut self, project: &Project) {
        self.dry_run = project.dry_run;
        self.high_risk.clone_from(&project.settings.facts.high_risk);
        self.vector_server.clone_from(&project.settings.chroma);
        self.scopes = Scopes::new(&project.settings.share.scopes);
    }

    /// Returns a database in memory, which is discarded at the end of the run.
    pub(crate) fn in_memory(clock: Clock) -> Result<Self> {
        let connection = Connection::open_in_memory().context("open a database")?;
        Self::new(connection, Path::new(""), clock, Duration::ZERO)
    }

    /// Creates the store from a connection, and brings its tables up to date.
    pub(super) fn new(
        mut connection: Connection,
        path: &Path,
        clock: Clock,
        wait: Duration,
    ) -> Result<Self> {
        schema::migrate(&mut connection)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            clock,
            wait,
            dry_run: false,
            high_risk: Vec::new(),
            vector_server: None,
            scopes: Scopes::default(),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time of this run.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Sets the time, for a long-running process.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the user's own high-risk keys.
    pub fn high_risk(&self) -> &[String] {
        &self.high_risk
    }

    /// Sets the user's high-risk keys, or prefixes of keys that end in a dot.
    pub fn set_high_risk(&mut self, keys: &[String]) {
        self.high_risk = keys.to_vec();
    }

    /// Sets the URL of the Chroma server that stores the vectors; if `None`, they are in the file.
    pub fn set_vector_server(&mut self, url: Option<&str>) {
        self.vector_server = url.map(str::to_owned);
    }

    /// Sets the scope of the facts written next; if `None`, the rules in the settings apply.
    pub(crate) fn set_scope(&mut self, scope: Option<&str>) {
        self.scopes.name(scope);
    }

    pub(crate) fn vector_server(&self) -> Option<&str> {
        self.vector_server.as_deref()
    }

    /// Leaves checkpointing the write-ahead log to other processes, so that a short write ends sooner.
    pub(crate) fn leave_checkpoint_to_others(&self) -> Result<()> {
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .context("open the database")?;
        // The first process to open the file reads the whole log, so it must stay short.
        self.connection.pragma_update(None, "wal_autocheckpoint", 100).context("open the database")
    }

    /// Enlarges the page cache, for a run that updates all indexes.
    pub(crate) fn enlarge_cache(&self) -> Result<()> {
        self.connection.pragma_update(None, "cache_size", -CACHE_KIB).context("open the database")
    }

    /// Returns whether this run must not write anything.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Waits until no other process has the file open, then locks all others out.
    pub(crate) fn lock_exclusive(&self) -> Result<()> {
        self.lock_exclusive_within(self.wait)
    }

    /// Locks all others out, waiting at most this long, and never longer than the settings say.
    pub(crate) fn lock_exclusive_within(&self, wait: Duration) -> Result<()> {
        let wait = wait.min(self.wait);
        // SQLite waits by itself, too.
        self.set_busy_timeout(wait)?;
        let locked = self.try_lock_exclusive(wait);
        self.set_busy_timeout(self.wait)?;
        locked
    }

    fn set_busy_timeout(&self, wait: Duration) -> Result<()> {
        self.connection.busy_timeout(wait).context("set how long to wait")
    }

    fn try_lock_exclusive(&self, wait: Duration) -> Result<()> {
        // Leaving the write-ahead log needs exclusive access, so it fails while others have the file open.
        let leave = || -> rusqlite::Result<String> {
            self.connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
            self.connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))
        };
        let mut waited = Duration::ZERO;
        loop {
            match leave() {
                Ok(mode) if mode == "delete" || mode == "memory" => return Ok(()),
                Err(error) if !is_busy(&error) => {
                    // A failure to unlock does not change the error.
                    self.unlock().ok();
                    return Err(error).context("lock the database exclusively");
                }
                _ if waited >= wait => return Err(self.is_held(wait)),
                _ => thread::sleep(PAUSE),
            }
            waited += PAUSE;
        }
    }

    fn is_held(&self, wait: Duration) -> Error {
        // Unlocks for others; a failure to do so does not change the error.
        self.unlock().ok();
        let holder = holders::find_open_process(&self.path);
        let holder = holder.map_or("another process".to_owned(), |pid| format!("process {pid}"));
        Error::refused(format!(
            "is still held open by {holder} after {} s",
            wait.as_secs_f32()
        ))
        .at(&self.path, None)
        .hint(
            "no trace of forgotten facts may remain; end that process, then run the command again",
        )
    }

    /// Unlocks the file for other processes.
    pub(crate) fn unlock(&self) -> Result<()> {
        self.connection
            .execute_batch("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;")
            .context("unlock the database")?;
        use_write_ahead_log(&self.connection, self.wait)
    }

    /// Rewrites the file without deleted data, and unlocks it for other processes, even if that fails.
    pub(crate) fn vacuum(&self) -> Result<()> {
        let rewritten = self.rewrite();
        let unlocked = self.unlock();
        rewritten.and(unlocked)
    }

    fn rewrite(&self) -> Result<()> {
        self.connection
            .execute_batch("VACUUM")
            .context("rewrite the database")
            .map_err(|error| error.at(&self.path, None))?;
        // Versions before 0.2 stored a copy of the vectors of many facts in separate files.
        remove_beside(&self.path, "vectors-")
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs work in one atomic, isolated transaction; a dry run rolls it back.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.transact(work).map_err(|error| match error.place {
            None if error.kind == ErrorKind::Failed => error.at(&self.path, None),
            _ => error,
        })
    }

    fn transact<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)
            .context("write to the database")?;
        let result = work(&transaction)?;
        replication::record(&transaction, &self.scopes, self.clock)?;
        crash_point();
        if self.dry_run {
            transaction.rollback().context("roll back a dry run")?;
        } else {
            transaction.commit().context("write to the database")?;
        }
        crash_point();
        Ok(result)
    }
}

/// A fail point: tests abort the process before and after a commit, and between two changes.
pub(crate) fn crash_point() {
    if fail_point::is_reached() {
        std::process::abort();
    }
}

/// Switches to the write-ahead log, retrying: the busy timeout does not cover concurrent switches.
pub(super) fn use_write_ahead_log(connection: &Connection, wait: Duration) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match switched {
            Err(error) if is_busy(&error) && waited < wait => {
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
            done => return done.context("open the database"),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;

    use super::*;

    #[test]
    fn a_failed_rewrite_unlocks_the_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("mem.db");
        let open = || {
            let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
            Facts::open_file(&path, clock, Duration::ZERO, Purpose::Write)
        };
        let facts = open().unwrap();
        facts.lock_exclusive().unwrap();
        assert!(open().is_err());
        // A rewrite is impossible in a transaction.
        facts.connection().execute_batch("BEGIN").unwrap();
        facts.vacuum().unwrap_err();
        facts.connection().execute_batch("ROLLBACK").unwrap();
        assert!(open().is_ok());
    }
}
