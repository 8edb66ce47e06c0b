//! Opens the database of a run, and expires the facts that have ended since.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;

use crate::error::Error;
use crate::error::Result;
use crate::facts::expiry;
use crate::facts::failure::SqliteResultExt;
use crate::facts::maintenance;
use crate::facts::schema;
use crate::facts::store::Facts;
use crate::facts::store::Purpose;
use crate::facts::store::is_missing_or_empty;
use crate::project::Project;

/// Name of the file in the user's data folder.
const FILE: &str = "mem.db";

impl Facts {
    /// Opens the database of this run: the named file, else that of the settings, else the user's default.
    pub fn open(project: &Project, named: Option<&Path>, purpose: Purpose) -> Result<Self> {
        let path = path(project, named)?;
        let purpose = if project.dry_run {
            Purpose::Read
        } else {
            purpose
        };
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

    /// Expires ended facts, so that a reader finds the restored ones; writers do so for each key they write.
    fn expire_ended(&mut self) -> Result<()> {
        let now = self.clock().timestamp();
        if !expiry::is_due(self.connection(), &now)? {
            return Ok(());
        }
        self.write(|connection| expiry::expire_all(connection, maintenance::TURN, &now))
            .map(|_| ())
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
    connection
        .busy_timeout(wait)
        .context("set how long to wait")?;
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
