//! Locks stores, so that one process at a time changes them; the file locks are taken in a fixed order.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::error::{At, Error, Result};
use crate::storage::disk;
use crate::storage::disk::{Access, Create, Visibility};
use crate::text::word_enum;

/// Maximum time to wait for a lock.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The time between two attempts, the same for all, so that nobody is overtaken for ever.
const PAUSE: Duration = Duration::from_millis(2);

word_enum! {
    /// A unit of locking; several are always locked in this order.
    pub enum Store {
        /// The planning folder.
        Plan = "plan",
        /// The learned patterns.
        Patterns = "patterns",
        /// The context files, and a harness's own settings.
        Context = "context",
        /// The knowledge entries and the notepad.
        Entries = "entries",
        /// The repository's ledger.
        Ledger = "ledger",
    }
}

/// Opens the lock files of stores for writing; refuses a link, because this process's id would go to its target.
pub(crate) fn open_all(folder: &Path, stores: &BTreeSet<Store>) -> Result<Vec<(PathBuf, File)>> {
    let opened = |store: &Store| {
        let path = folder.join(store.as_str());
        open(&path).map(|file| (path, file))
    };
    stores.iter().map(opened).collect()
}

/// Opens a lock file.
pub(crate) fn open(path: &Path) -> Result<File> {
    match disk::open(path, Access::Write, Create::IfMissing(Visibility::Shared)) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory) => {
            Err(Error::refused("is not a lock file").about(path).hint("remove it"))
        }
        opened => opened.at("lock", path),
    }
}

/// Waits for the locks of opened files, and writes this process's id into each; they are released with the files.
pub(crate) fn take(opened: &[(PathBuf, File)], wait: Duration) -> Result<()> {
    for (path, file) in opened {
        wait_for(file, path, wait)?;
        // The id is only for an error message, so a full disk does not matter.
        write_id(file).ok();
    }
    Ok(())
}

/// Returns whether no store is locked.
pub(crate) fn are_free(folder: &Path) -> Result<bool> {
    for store in Store::ALL {
        let path = folder.join(store.as_str());
        // A file that is not a lock of ours counts as unlocked.
        let Ok(file) = disk::open(&path, Access::Read, Create::Never) else {
            continue;
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
        }
    }
    Ok(true)
}

/// Waits for an exclusive lock on a file, and gives up after `wait`.
pub(crate) fn wait_for(file: &File, path: &Path, wait: Duration) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
            Err(TryLockError::WouldBlock) if waited >= wait => return Err(held(path, wait)),
            Err(TryLockError::WouldBlock) => {}
        }
        thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

/// Writes this process's id, with a fixed width, so that it replaces that of the last holder.
///
/// Does not write to a file with other hard links, because it may be a file of the user.
fn write_id(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1 {
        return Ok(());
    }
    disk::write_at(file, 0, format!("{:<10}\n", std::process::id()).as_bytes())
}

fn held(path: &Path, wait: Duration) -> Error {
    let mut text = String::new();
    let read = disk::open(path, Access::Read, Create::Never)
        .and_then(|file| file.take(16).read_to_string(&mut text));
    let holder = match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    Error::failed(format!("is still locked by {holder} after {} s", wait.as_secs_f32()))
        .about(path)
        .hint("run it again when that process is done; nothing was written")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn acquire(folder: &Path, stores: &[Store], wait: Duration) -> Result<Vec<(PathBuf, File)>> {
        let folder = fs::canonicalize(folder).unwrap();
        let opened = open_all(&folder, &stores.iter().copied().collect())?;
        take(&opened, wait).map(|()| opened)
    }

    #[test]
    fn the_error_for_a_taken_lock_names_its_holder_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let locks = acquire(folder.path(), &[Store::Plan, Store::Context], WAIT).unwrap();
        assert!(!are_free(folder.path()).unwrap());
        let error = acquire(folder.path(), &[Store::Context], Duration::ZERO).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        assert!(error.place.unwrap().file.ends_with("context"));
        drop(acquire(folder.path(), &[Store::Ledger], Duration::ZERO).unwrap());
        drop(locks);
        assert!(are_free(folder.path()).unwrap());
        drop(acquire(folder.path(), &[Store::Context], Duration::ZERO).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_another_hard_link_is_locked_but_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own.md");
        disk::write(&File::create(&own).unwrap(), b"mine").unwrap();
        fs::hard_link(&own, folder.path().join("plan")).unwrap();
        let locks = acquire(folder.path(), &[Store::Plan], WAIT).unwrap();
        assert_eq!(fs::read(&own).unwrap(), b"mine");
        assert!(acquire(folder.path(), &[Store::Plan], Duration::ZERO).is_err());
        drop(locks);
    }
}
