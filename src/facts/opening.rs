//! Opens the database safely, whatever other processes do to it, and expires the facts that have ended since.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::clock::Clock;
use crate::error::{At, Error, Result};
use crate::facts::failure::SqliteResultExt;
use crate::facts::store::{Facts, Purpose, use_write_ahead_log};
use crate::facts::{expiry, maintenance, schema};
use crate::project::Project;

/// Capacity of the statement cache: more than one change of a fact needs, so that none is prepared twice.
const STATEMENTS: usize = 64;

/// Name of the file in the user's data folder.
const FILE: &str = "mem.db";

impl Facts {
    /// Opens the database of this run: the named file, else that of the settings, else the user's default.
    pub fn open(project: &Project, named: Option<&Path>, purpose: Purpose) -> Result<Self> {
        let path = path(project, named)?;
        let purpose = if project.dry_run { Purpose::Read } else { purpose };
        if project.dry_run {
            refuse_migration(&path, project.settings.lock_wait)?;
        }
        let mut facts = Self::open_file(&path, project.clock, project.settings.lock_wait, purpose)?;
        facts.configure(project);
        if purpose == Purpose::Read && !project.dry_run {
            // A reader without write access skips ended facts in any case.
            facts.expire_ended().ok();
        }
        Ok(facts)
    }

    /// Opens the database in a file, waiting at most this long for locks.
    pub fn open_file(path: &Path, clock: Clock, wait: Duration, purpose: Purpose) -> Result<Self> {
        let named = |error: Error| error.at(path, None);
        let connection = if purpose == Purpose::Read && is_missing_or_empty(path) {
            Connection::open_in_memory().context("open a database")?
        } else {
            create(path)?;
            match open_shared(path, wait) {
                Err(error) if purpose == Purpose::Read => open_immutable(path).ok_or(error),
                opened => opened,
            }
            .map_err(named)?
        };
        Self::new(connection, path, clock, wait).map_err(named)
    }

    /// Expires ended facts, so that a reader finds the restored ones; writers do so for each key they write.
    fn expire_ended(&mut self) -> Result<()> {
        let now = self.clock().timestamp();
        if !expiry::is_due(self.connection(), &now)? {
            return Ok(());
        }
        self.write(|connection| expiry::expire_all(connection, maintenance::TURN, &now)).map(|_| ())
    }
}

fn path(project: &Project, named: Option<&Path>) -> Result<PathBuf> {
    if let Some(named) = named.or(project.settings.db.as_deref()) {
        return Ok(named.to_owned());
    }
    let folder = project.environment.data_dir().ok_or_else(|| {
        Error::usage("no home directory for the database")
            .hint("name the database with --db or ANNALS_DB")
    })?;
    Ok(folder.join(FILE))
}

/// Refuses a dry run on a file whose tables an earlier version made: opening it would change them.
fn refuse_migration(path: &Path, wait: Duration) -> Result<()> {
    if is_missing_or_empty(path) {
        return Ok(());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let Ok(connection) = Connection::open_with_flags(path, flags) else {
        return Ok(());
    };
    connection.busy_timeout(wait).context("set how long to wait")?;
    // A file that cannot be read like this, or is of a later version, fails when it is opened, with the reason.
    match schema::known_version(&connection) {
        Ok(version) if version < schema::LATEST => Err(Error::refused(
            "the database is of an earlier version, and a dry run changes nothing",
        )
        .at(path, None)
        .hint("any command without --dry-run updates it, such as `annals facts check`")),
        _ => Ok(()),
    }
}

/// Returns whether a path has no database yet: no file, or an empty one.
fn is_missing_or_empty(path: &Path) -> bool {
    !fs::metadata(path).is_ok_and(|file| !file.is_file() || file.len() > 0)
}

fn open_shared(path: &Path, wait: Duration) -> Result<Connection> {
    let connection = Connection::open(path).context("open the database")?;
    prepare(&connection, wait)?;
    Ok(connection)
}

/// Opens a file read-only if no write-ahead log can be created beside it, provided that the file is complete.
///
/// This applies to a read-only file system or folder. An existing log may hold more than the file, and cannot
/// be read without writing.
fn open_immutable(path: &Path) -> Option<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return None;
    }
    let escaped: String = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let uri = format!("file:{escaped}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(&uri, flags).ok()?;
    let first = "SELECT count(*) FROM sqlite_schema";
    let is_readable = connection.query_row(first, [], |_| Ok(())).is_ok();
    is_readable.then_some(connection)
}

/// Configures a connection, whichever process created the file.
fn prepare(connection: &Connection, wait: Duration) -> Result<()> {
    connection.busy_timeout(wait).context("set how long to wait")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise SQLite prepares a statement again if a bound value could change the query plan.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .context("open the database")?;
    // Checked before the journal mode is set, which is stored in the file.
    schema::known_version(connection)?;
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; \
             PRAGMA temp_store = MEMORY;",
        )
        .context("open the database")?;
    use_write_ahead_log(connection, wait)
}

/// Creates the file and its parent folders if they are missing, accessible only to the user.
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
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
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
