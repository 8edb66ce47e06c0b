//! Our own folder, `.annals/`: locks, history, and the caches and logs that may be lost and are not in the history.
//!
//! A cache is a file that is always replaced as a whole, or an SQLite database, which has companion files.

use std::fs;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{At, Error, Result};
use crate::storage::append::append_at;
use crate::storage::disk::{Access, Content, Create, Spot, Visibility};
use crate::storage::{Storage, disk, listing, lock, read};

impl Storage {
    /// Returns the path of a cache or log in `.annals/`, whether it exists or not.
    pub fn own_file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns a cache's bytes, or `None` if there is none.
    ///
    /// A repository can contain one, so its content is not trusted. Returns `None` also for anything but a
    /// regular file in a folder of ours, and for a file over [`read::MAX_FILE`].
    pub fn cache(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.own_file(name);
        if !self.has_folder() {
            return Ok(None);
        }
        match read::if_present(Spot::new(&path).and_then(|spot| spot.content())) {
            Ok(Some(Content::File(bytes, _))) => Ok(Some(bytes)),
            Err(error) if error.kind() != ErrorKind::InvalidInput => Err(error).at("read", &path),
            // A link or a pipe, which a cloned repository can contain, is not a cache of ours.
            _ => Ok(None),
        }
    }

    /// Writes a cache atomically, except on a dry run; it is not flushed, so a power failure may lose it.
    pub fn write_cache(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.dry_run {
            return Ok(());
        }
        self.create_own()?;
        let path = self.own_file(name);
        let temporary = format!("{name}.{}.tmp", std::process::id());
        Spot::new(&path)
            .and_then(|spot| spot.overwrite(temporary, bytes, |_| Ok(())))
            .at("write", &path)
    }

    /// Changes a cache, one process at a time, except on a dry run.
    ///
    /// `change` gets the cache's bytes, and returns the new ones or `None` to leave the cache as it is.
    pub fn update_cache(
        &self,
        name: &str,
        change: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<()> {
        if self.dry_run {
            return Ok(());
        }
        let _lock = self.lock_file(name)?;
        let old = self.cache(name)?.unwrap_or_default();
        match change(&old) {
            Some(new) => self.write_cache(name, &new),
            None => Ok(()),
        }
    }

    /// Returns the value that this version cached for this fingerprint; an unreadable cache counts as absent.
    pub(crate) fn derived<T: DeserializeOwned>(&self, name: &str, fingerprint: &str) -> Option<T> {
        let bytes = self.cache(name).ok().flatten()?;
        let (key, value): (String, T) = serde_json::from_slice(&bytes).ok()?;
        (key == derived_key(fingerprint)).then_some(value)
    }

    /// Caches a value for a fingerprint of the files it is derived from.
    pub(crate) fn write_derived<T: Serialize>(&self, name: &str, fingerprint: &str, value: &T) {
        if let Ok(bytes) = serde_json::to_vec(&(derived_key(fingerprint), value)) {
            // If the cache cannot be written, the next run derives the value again.
            self.write_cache(name, &bytes).ok();
        }
    }

    /// Replaces a database by one that `build` creates at the path passed to it; one process at a time.
    ///
    /// Nothing is built if `is_valid` returns true, which it may after another process has built the database.
    /// Processes that have the old database open keep it. A dry run is an error.
    pub fn rebuild_database(
        &self,
        name: &str,
        is_valid: impl Fn(&Path) -> bool,
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let path = self.own_file(name);
        if self.dry_run {
            return Err(Error::failed("is not built on a dry run").about(&path));
        }
        let _lock = self.lock_file(name)?;
        if is_valid(&path) {
            return Ok(());
        }
        let new = self.own_file(&format!("{name}.new"));
        disk::remove_file(&new).at("remove", &new)?;
        remove_companions(&new)?;
        let file = disk::open(&new, Access::Write, Create::New).at("create", &new)?;
        // It may contain text from files that others may not read.
        disk::set_mode(&file, 0o600).at("protect", &new)?;
        build(&new)?;
        remove_companions(&path)?;
        disk::rename(&new, &path).at("replace", &path)
    }

    /// Waits for the lock of a file in our folder.
    fn lock_file(&self, name: &str) -> Result<File> {
        self.prepare()?;
        let place = self.locks().join(name);
        let lock = lock::open(&place)?;
        lock::wait_for(&lock, &place, self.wait)?;
        Ok(lock)
    }

    /// Removes the folder of these files, except on a dry run; returns whether it was there.
    ///
    /// Only for a folder that holds nothing but caches.
    pub(crate) fn remove_caches(&self) -> Result<bool> {
        let is_there = self.has_folder();
        if is_there && !self.dry_run {
            fs::remove_dir_all(&self.folder).at("remove", &self.folder)?;
        }
        Ok(is_there)
    }

    /// Adds a line to a log such as `hook.log`, except on a dry run.
    pub fn log(&self, name: &str, line: &str) -> Result<()> {
        if self.dry_run {
            return Ok(());
        }
        self.create_own()?;
        let path = self.own_file(name);
        append_at(&Spot::new(&path).at("open", &path)?, line.as_bytes())
    }
}

/// Returns the key of a derived value: another version of annals may derive another one.
fn derived_key(fingerprint: &str) -> String {
    format!("{} {fingerprint}", env!("CARGO_PKG_VERSION"))
}

/// Removes the files that SQLite keeps beside a database; beside another database they would corrupt it.
fn remove_companions(database: &Path) -> Result<()> {
    let mut companions = companions(database).into_iter();
    companions.try_for_each(|path| disk::remove_file(&path).at("remove", &path))
}

/// Returns the paths of the files that SQLite keeps beside a database: its journal, its write-ahead log, and the index of that.
pub(crate) fn companions(database: &Path) -> [PathBuf; 3] {
    ["-journal", "-wal", "-shm"].map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Returns whether a database and the files beside it are regular files: a link may lead anywhere, and SQLite would wait for
/// a pipe.
pub(crate) fn is_plain_database(path: &Path) -> bool {
    let is_file = |path: &Path| fs::symlink_metadata(path).map(|found| found.is_file());
    is_file(path).unwrap_or(false)
        && companions(path).iter().all(|path| is_file(path).unwrap_or(true))
}

/// Returns the address at which SQLite opens a database with an option.
pub(crate) fn database_uri(path: &Path, option: &str) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?{option}")
}

/// The name of our folder in a project.
pub(crate) const NAME: &str = ".annals";

/// Our folder: `.annals/` of a project, or one in the platform's data folder for files outside of any project.
impl Storage {
    pub(crate) fn locks(&self) -> PathBuf {
        self.folder.join("locks")
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.folder.join("history")
    }

    /// Returns whether the folder exists and is not a link.
    fn has_folder(&self) -> bool {
        is_own_folder(&self.folder)
    }

    /// Returns whether there are records, and not through a link, which could lead to those of another project.
    pub(crate) fn has_records(&self) -> bool {
        self.has_folder() && is_own_folder(&self.records())
    }

    /// Creates the folder if it is missing, ignored by git.
    fn create_own(&self) -> Result<()> {
        create_folder(&self.folder, Visibility::Shared)?;
        let ignore = self.folder.join(".gitignore");
        let spot = Spot::new(&ignore).at("open", &ignore)?;
        let is_wrong = match spot.content() {
            Ok(Content::Missing) => {
                return disk::open(&ignore, Access::Write, Create::IfMissing(Visibility::Shared))
                    .and_then(|file| disk::write_at(&file, 0, b"*\n"))
                    .at("write", &ignore);
            }
            // An empty file was left by a process that was killed before it wrote the content.
            Ok(Content::File(bytes, _)) => !ignores_all(&bytes),
            // Git does not follow a link.
            Ok(Content::Other) => ignore.is_symlink(),
            // Another user's may be unreadable.
            Err(_) => false,
        };
        if is_wrong {
            let temporary = format!("gitignore.{}.tmp", std::process::id());
            spot.overwrite(temporary, b"*\n", |_| Ok(())).at("write", &ignore)?;
        }
        Ok(())
    }

    /// Creates the folder and those for locks and records.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.create_own()?;
        create_folder(&self.locks(), Visibility::Shared)?;
        // Records contain text from files that others may not read.
        create_folder(&self.records(), Visibility::Private)
    }
}

/// Returns whether git ignores all of our folder, in which old versions of files are: a repository can contain a file that
/// says otherwise. Only the file itself may be excepted.
fn ignores_all(gitignore: &[u8]) -> bool {
    let mut lines = gitignore.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.clone().any(|line| line == b"*")
        && lines.all(|line| !line.starts_with(b"!") || line == b"!.gitignore")
}

/// Returns whether a path is a folder, and not a link to one.
fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Creates a directory if it is missing; a link in its place, which a repository can contain, is refused.
fn create_folder(path: &Path, visibility: Visibility) -> Result<()> {
    match read::if_present(fs::symlink_metadata(path)).at("open", path)? {
        None => disk::create_all(path, visibility).at("create", path),
        Some(found) if found.is_dir() => Ok(()),
        Some(_) => Err(Error::refused("is in the way of annals' own folder")
            .about(path)
            .hint("move it away: annals keeps its locks and its history there")),
    }
}

/// Returns whether an operation on a project is in progress, or was interrupted and must be completed.
pub(crate) fn has_pending(root: &Path) -> bool {
    let entries = listing::entries(&root.join(NAME).join("history")).unwrap_or_default();
    entries.iter().any(|(name, _)| name.ends_with(".pending"))
}

/// A temporary folder outside all projects, deleted with its content when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a new folder in the system's folder for temporary files.
    pub fn create(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path).at("create", &path)?;
        Ok(Self { path })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the folder now, and returns an error if that fails.
    pub fn delete(self) -> Result<()> {
        fs::remove_dir_all(&self.path).at("delete", &self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone if it was deleted; other callers need no error.
        fs::remove_dir_all(&self.path).ok();
    }
}
