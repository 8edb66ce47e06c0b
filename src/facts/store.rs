//! The database file: opened safely, written in whole transactions, by many processes at once.

use std::fs;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::Transaction;
use rusqlite::TransactionBehavior;

use crate::clock::Clock;
use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::schema;
use crate::facts::user::UserId;
use crate::project::Project;

/// The file in the user's data folder.
const FILE: &str = "mem.db";

/// How long SQLite's own switch to the write-ahead log is left alone before it is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether a run may make the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It only asks: a file that is missing is as one without facts.
    Read,
    /// It writes: a file that is missing is made.
    Write,
}

/// An open database of facts.
#[derive(Debug)]
pub struct Facts {
    connection: Connection,
    path: PathBuf,
    clock: Clock,
    dry_run: bool,
    high_risk: Vec<String>,
}

impl Facts {
    /// Opens the database of this run: the one named, else that of the settings, else the user's own.
    pub fn open(project: &Project, named: Option<&Path>, purpose: Purpose) -> Result<Self> {
        let path = path(project, named)?;
        let purpose = if project.dry_run {
            Purpose::Read
        } else {
            purpose
        };
        let mut facts = Self::open_file(&path, project.clock, project.settings.lock_wait, purpose)?;
        facts.dry_run = project.dry_run;
        facts
            .high_risk
            .clone_from(&project.settings.facts.high_risk);
        Ok(facts)
    }

    /// Opens the database in a file, and waits at most this long for others who write.
    pub fn open_file(path: &Path, clock: Clock, wait: Duration, purpose: Purpose) -> Result<Self> {
        let named = |error: Error| error.at(path, None);
        let mut connection = if purpose == Purpose::Read && !path.exists() {
            Connection::open_in_memory().stored("open a database")?
        } else {
            create(path)?;
            Connection::open(path)
                .stored("open the database")
                .map_err(named)?
        };
        prepare(&connection, wait)
            .and_then(|()| schema::migrate(&mut connection))
            .map_err(named)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            clock,
            dry_run: false,
            high_risk: Vec::new(),
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time of this run.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Sets the time, for a run that lasts.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the user's own keys of high risk.
    pub fn high_risk(&self) -> &[String] {
        &self.high_risk
    }

    /// Sets further keys, or beginnings of keys that end in a dot, of high risk.
    pub fn set_high_risk(&mut self, keys: &[String]) {
        self.high_risk = keys.to_vec();
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Does work in one transaction that sees one state and writes all or nothing; a dry run writes nothing.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let path = self.path.clone();
        let dry_run = self.dry_run;
        self.transact(work, dry_run)
            .map_err(|error| match error.place {
                None if error.kind == crate::error::Kind::Failed => error.at(&path, None),
                _ => error,
            })
    }

    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T>,
        dry_run: bool,
    ) -> Result<T> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)
            .stored("write to the database")?;
        let result = work(&transaction)?;
        if dry_run {
            transaction.rollback().stored("take back a dry run")?;
        } else {
            transaction.commit().stored("write to the database")?;
        }
        Ok(result)
    }
}

/// Returns whose facts are meant: the user named, else that of the settings.
pub fn user(project: &Project, named: Option<&str>) -> Result<UserId> {
    match named.or(project.settings.user.as_deref()) {
        Some(user) => UserId::new(user),
        None => Err(Error::usage("whose facts? no user is named")
            .hint("--user names one, as do ANNALS_USER and `user` in the user's own config.toml")),
    }
}

fn path(project: &Project, named: Option<&Path>) -> Result<PathBuf> {
    if let Some(named) = named.or(project.settings.db.as_deref()) {
        return Ok(named.to_owned());
    }
    let folder = project.environment.data_dir().ok_or_else(|| {
        Error::usage("there is no home folder to keep facts in")
            .hint("--db names the database, as does ANNALS_DB")
    })?;
    Ok(folder.join(FILE))
}

/// What every connection needs, whoever made the file.
fn prepare(connection: &Connection, wait: Duration) -> Result<()> {
    connection
        .busy_timeout(wait)
        .stored("set how long to wait")?;
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; \
             PRAGMA temp_store = MEMORY;",
        )
        .stored("open the database")?;
    use_write_ahead_log(connection, wait)
}

/// SQLite does not wait in this one switch where another process makes it at the same time.
fn use_write_ahead_log(connection: &Connection, wait: Duration) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < wait =>
            {
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
            done => return done.stored("open the database"),
        }
    }
}

/// Makes the file and its folders where they are missing, for nobody but the user.
fn create(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent()
        && !folder.as_os_str().is_empty()
    {
        create_folder(folder).at("make the folder", folder)?;
    }
    match create_file(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.at("make the database", path),
    }
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;

        builder.mode(0o700);
    }
    builder.create(folder)
}

fn create_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    options.open(path).map(|_| ())
}
