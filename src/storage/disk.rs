//! Performs all file operations of `storage`; each that writes is a fail point.
//!
//! A [`Spot`] is a name in a directory that is held open. The directory's path is resolved once, without following
//! links, and every operation goes through that handle. So nothing is written through a link that replaces the
//! directory in the meantime. Handles are only used on Linux; other systems use paths.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, io};

#[cfg(target_os = "linux")]
use handle::Dir;
#[cfg(not(target_os = "linux"))]
use path::Dir;

use crate::storage::boundary::folder_of;
use crate::storage::read::MAX_FILE;
#[cfg(target_os = "linux")]
use crate::storage::read::{OpenAs, without_links};

/// The access for which a file is opened; each also permits reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
    Append,
}

/// Whether opening a file creates it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Create {
    Never,
    IfMissing(Visibility),
    /// An existing file is an error.
    New,
}

/// Who can open a new file or directory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Visibility {
    /// Whoever the umask permits.
    Shared,
    /// Its owner alone.
    Private,
}

/// The treatment of an existing file at the target of a rename.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Existing {
    /// It is replaced.
    Replace,
    /// It is exchanged with the source.
    Exchange,
    /// It is an error.
    Refuse,
}

/// The content found at a path.
pub(crate) enum Content {
    Missing,
    File(Vec<u8>, Metadata),
    /// A directory, a link, a pipe, or a file that is larger than any we write.
    Other,
}

impl Content {
    /// Returns whether the content is these bytes, or missing for `None`.
    pub(crate) fn is(&self, bytes: Option<&[u8]>) -> bool {
        match self {
            Self::Missing => bytes.is_none(),
            Self::File(found, _) => bytes == Some(found),
            Self::Other => false,
        }
    }
}

/// A name in an open directory.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    dir: Rc<Dir>,
    name: OsString,
    pub(crate) path: PathBuf,
}

impl Spot {
    /// Opens the directory of a path; fails if that contains a link.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not the path of a file"));
        };
        let dir = Rc::new(Dir::open(folder_of(path))?);
        Ok(Self { dir, name: name.to_owned(), path: path.to_owned() })
    }

    /// Returns another name in the same directory.
    pub(crate) fn beside(&self, name: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref();
        Self { dir: Rc::clone(&self.dir), name: name.into(), path: self.path.with_file_name(name) }
    }

    /// Opens a regular file; a link or a pipe in its place, which a repository can contain, is an error.
    pub(crate) fn open(&self, access: Access, create: Create) -> io::Result<File> {
        let file = self.open_any(access, create)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
    }

    /// Opens a file of any kind but a link, without waiting for the other end of a pipe.
    pub(crate) fn open_any(&self, access: Access, create: Create) -> io::Result<File> {
        if create != Create::Never {
            count();
        }
        match self.dir.open_file(&self.name, access, create) {
            #[cfg(target_os = "linux")]
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Err(irregular())
            }
            opened => opened,
        }
    }

    /// Reads the file.
    pub(crate) fn content(&self) -> io::Result<Content> {
        let file = match self.open(Access::Read, Create::Never) {
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound => Ok(Content::Missing),
                    ErrorKind::InvalidInput | ErrorKind::IsADirectory => Ok(Content::Other),
                    _ => Err(error),
                };
            }
            Ok(file) => file,
        };
        let metadata = file.metadata()?;
        let bytes = read_whole(&file, metadata.len(), MAX_FILE)?;
        Ok(bytes.map_or(Content::Other, |bytes| Content::File(bytes, metadata)))
    }

    /// Returns whether this is a directory, which a link to one is not; `None` if there is nothing at this name.
    pub(crate) fn is_directory(&self) -> io::Result<Option<bool>> {
        match self.dir.is_directory(&self.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns whether there is anything at this name.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        Ok(self.is_directory()?.is_some())
    }

    /// Renames a file or a directory; returns whether the system supports that for an `existing` file.
    pub(crate) fn rename_to(&self, to: &Self, existing: Existing) -> io::Result<bool> {
        count();
        self.dir.rename(&self.name, &to.dir, &to.name, existing)
    }

    /// Replaces the file through a temporary one beside it; `finish` gets that before the rename.
    pub(crate) fn overwrite(
        &self,
        temporary: impl AsRef<OsStr>,
        bytes: &[u8],
        finish: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let copy = self.beside(temporary);
        copy.remove()?;
        let file = copy.open(Access::Write, Create::New)?;
        let written = write(&file, bytes)
            .and_then(|()| finish(&file))
            .and_then(|()| copy.rename_to(self, Existing::Replace));
        if written.is_err() {
            copy.remove()?;
        }
        written.map(drop)
    }

    /// Removes the file; a missing one is not an error.
    pub(crate) fn remove(&self) -> io::Result<()> {
        count();
        match self.dir.remove_file(&self.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Creates a directory unless it exists.
    pub(crate) fn create_directory(&self, visibility: Visibility) -> io::Result<()> {
        count();
        match self.dir.create_directory(&self.name, visibility) {
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists
                    && self.is_directory().is_ok_and(|found| found == Some(true)) =>
            {
                Ok(())
            }
            created => created,
        }
    }

    /// Removes the directory if it exists and is empty.
    pub(crate) fn remove_directory(&self) -> io::Result<()> {
        count();
        match self.dir.remove_directory(&self.name) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) =>
            {
                Ok(())
            }
            removed => removed,
        }
    }
}

fn irregular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}

fn count() {
    if fail_point::is_reached() {
        std::process::abort();
    }
}

/// Renames a file to another path in its directory, replacing an existing file.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let from = Spot::new(from)?;
    let to = from.beside(to.file_name().unwrap_or_default());
    from.rename_to(&to, Existing::Replace).map(drop)
}

/// Removes a file; a missing file is not an error.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    Spot::new(path)?.remove()
}

/// Opens a regular file without following links.
pub(crate) fn open(path: &Path, access: Access, create: Create) -> io::Result<File> {
    Spot::new(path)?.open(access, create)
}

/// Returns the content of an opened file of about this length, or `None` if it has more than `most` bytes.
pub(crate) fn read_whole(file: &File, length: u64, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or(0));
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Returns at most the last `most` bytes of an opened file of this length.
pub(crate) fn read_end(mut file: File, length: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes all bytes at the current position of the file.
pub(crate) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    interrupt(file, bytes);
    file.write_all(bytes)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    write(file, bytes)
}

/// Writes bytes with one call, and returns the number of bytes written.
pub(crate) fn write_once(mut file: &File, bytes: &[u8]) -> io::Result<usize> {
    interrupt(file, bytes);
    file.write(bytes)
}

/// Writes half of the bytes and aborts if the fail point is reached, because a kill can interrupt a write.
fn interrupt(mut file: &File, bytes: &[u8]) {
    if fail_point::is_reached() {
        let half = file.write_all(&bytes[..bytes.len() / 2]);
        debug_assert!(half.is_ok());
        std::process::abort();
    }
}

/// Truncates a file to a length.
pub(crate) fn set_len(file: &File, length: u64) -> io::Result<()> {
    count();
    file.set_len(length)
}

/// Flushes a file's content and length.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    count();
    file.sync_all()
}

/// Flushes a directory's entries, if the system supports it.
///
/// A path that is missing or a file is ignored: a later change of the transaction may have moved or replaced it.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    count();
    #[cfg(target_os = "linux")]
    let opened = without_links(path, OpenAs::Folder);
    #[cfg(not(target_os = "linux"))]
    let opened = File::open(path);
    match opened.and_then(|folder| folder.sync_all()) {
        // Only a readable directory can be flushed.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Gives a new file the owner and permissions of the one it replaces.
pub(crate) fn copy_permissions(file: &File, from: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};

        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (from.uid(), from.gid()) {
            count();
            // Only the owner and root may change the owner; otherwise it stays as it is.
            match fchown(file, Some(from.uid()), Some(from.gid())) {
                Err(error) if error.kind() != ErrorKind::PermissionDenied => return Err(error),
                _ => {}
            }
        }
        if own.mode() == from.mode() {
            return Ok(());
        }
    }
    count();
    file.set_permissions(from.permissions())
}

/// Sets a file's permission bits, if the system has them.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        count();
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _unused = (file, mode);
        Ok(())
    }
}

/// Returns a file's permission bits, if the system has them.
#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "other systems have none"))]
pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        Some(metadata.mode() & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _unused = metadata;
        None
    }
}

/// Creates a directory and the missing ones above it; only the directory itself may be private.
pub(crate) fn create_all(path: &Path, visibility: Visibility) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.is_dir())
        .collect();
    for (index, path) in missing.into_iter().enumerate().rev() {
        let visibility = if index == 0 { visibility } else { Visibility::Shared };
        Spot::new(path)?.create_directory(visibility)?;
    }
    Ok(())
}

/// Aborts the process at its n-th file operation, so that tests can kill it at every one. Only debug builds have it.
pub mod fail_point {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LEFT: AtomicUsize = AtomicUsize::new(0);

    /// Makes the process abort in place of its n-th file operation from now on; 0 disarms.
    #[cfg(debug_assertions)]
    pub fn arm(nth: usize) {
        LEFT.store(nth, Ordering::SeqCst);
    }

    /// Counts a file operation; returns whether the process must abort, which that of a release build never must.
    pub(crate) fn is_reached() -> bool {
        let count = |left: usize| left.checked_sub(1);
        cfg!(debug_assertions)
            && LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) == Ok(1)
    }
}

/// Changes the entries of directories through a handle.
#[cfg(target_os = "linux")]
mod handle {
    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with,
        statat, unlinkat,
    };
    use rustix::io::Errno;

    use crate::storage::disk::{Access, Create, Existing, File, OsStr, Path, Visibility, io};
    use crate::storage::read::{OpenAs, without_links};

    #[derive(Debug)]
    pub(super) struct Dir(File);

    impl Dir {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            without_links(path, OpenAs::Handle).map(Self)
        }

        /// Opens a file without waiting for the other end of a pipe.
        pub(super) fn open_file(
            &self,
            name: &OsStr,
            access: Access,
            create: Create,
        ) -> io::Result<File> {
            let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            flags |= match access {
                Access::Read => OFlags::RDONLY,
                Access::Write => OFlags::RDWR,
                Access::Append => OFlags::RDWR | OFlags::APPEND,
            };
            let mode = match create {
                Create::Never => Mode::empty(),
                Create::IfMissing(visibility) => {
                    flags |= OFlags::CREATE;
                    mode(visibility, 0o666)
                }
                Create::New => {
                    flags |= OFlags::CREATE | OFlags::EXCL;
                    mode(Visibility::Shared, 0o666)
                }
            };
            Ok(openat(&self.0, name, flags, mode)?.into())
        }

        /// Returns whether an existing entry is a directory; a link to one is not.
        pub(super) fn is_directory(&self, name: &OsStr) -> io::Result<bool> {
            let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
        }

        pub(super) fn create_directory(&self, name: &OsStr, visible: Visibility) -> io::Result<()> {
            Ok(mkdirat(&self.0, name, mode(visible, 0o777))?)
        }

        pub(super) fn rename(
            &self,
            name: &OsStr,
            to: &Self,
            new_name: &OsStr,
            existing: Existing,
        ) -> io::Result<bool> {
            let flags = match existing {
                Existing::Replace => {
                    renameat(&self.0, name, &to.0, new_name)?;
                    return Ok(true);
                }
                Existing::Exchange => RenameFlags::EXCHANGE,
                Existing::Refuse => RenameFlags::NOREPLACE,
            };
            match renameat_with(&self.0, name, &to.0, new_name, flags) {
                Ok(()) => Ok(true),
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }

        pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
            Ok(unlinkat(&self.0, name, AtFlags::empty())?)
        }

        pub(super) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
            Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
        }
    }

    fn mode(visibility: Visibility, shared: u32) -> Mode {
        match visibility {
            Visibility::Shared => Mode::from_raw_mode(shared),
            Visibility::Private => Mode::from_raw_mode(shared & 0o700),
        }
    }
}

/// Changes the entries of directories by path.
#[cfg(not(target_os = "linux"))]
mod path {
    use std::fs::OpenOptions;

    use crate::storage::disk::{
        Access, Create, ErrorKind, Existing, File, OsStr, Path, PathBuf, Visibility, fs, io,
        irregular,
    };

    #[derive(Debug)]
    pub(super) struct Dir(PathBuf);

    impl Dir {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            // A link may have replaced one of the folders since the path was resolved.
            if path.is_absolute() && fs::canonicalize(path)? != path {
                return Err(io::Error::new(ErrorKind::InvalidInput, "leads through a link"));
            }
            fs::metadata(path)?;
            Ok(Self(path.to_owned()))
        }

        pub(super) fn open_file(
            &self,
            name: &OsStr,
            access: Access,
            create: Create,
        ) -> io::Result<File> {
            let path = self.0.join(name);
            let mut options = OpenOptions::new();
            options.read(true).write(access == Access::Write).append(access == Access::Append);
            match create {
                Create::Never => {}
                Create::New => _ = options.create_new(true),
                Create::IfMissing(visibility) => {
                    options.create(true);
                    #[cfg(unix)]
                    if visibility == Visibility::Private {
                        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                    }
                    #[cfg(not(unix))]
                    let _unused = visibility;
                }
            }
            let check = || match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_file() => Err(irregular()),
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
            check()?;
            let file = options.open(&path)?;
            check()?;
            Ok(file)
        }

        /// Returns whether an existing entry is a directory; a link to one is not.
        pub(super) fn is_directory(&self, name: &OsStr) -> io::Result<bool> {
            fs::symlink_metadata(self.0.join(name)).map(|found| found.is_dir())
        }

        pub(super) fn create_directory(&self, name: &OsStr, visible: Visibility) -> io::Result<()> {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            if visible == Visibility::Private {
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            }
            #[cfg(not(unix))]
            let _unused = (visible, &mut builder);
            builder.create(self.0.join(name))
        }

        pub(super) fn rename(
            &self,
            name: &OsStr,
            to: &Self,
            new_name: &OsStr,
            existing: Existing,
        ) -> io::Result<bool> {
            if existing != Existing::Replace {
                return Ok(false);
            }
            fs::rename(self.0.join(name), to.0.join(new_name)).map(|()| true)
        }

        pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
            fs::remove_file(self.0.join(name))
        }

        pub(super) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
            fs::remove_dir(self.0.join(name))
        }
    }
}
