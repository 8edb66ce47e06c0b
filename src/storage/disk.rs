//! Performs all file operations of `storage`; each that writes is a fail point.
//!
//! A [`Spot`] is a name in a directory. The directory's path is resolved once, without following links. On Linux the
//! directory is held open, and its entries are reached through that handle: nothing is written through a link that replaces
//! the directory in the meantime. Other systems compare the path with what it leads to.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::storage::fail_point;
use crate::storage::open;
#[cfg(target_os = "linux")]
use crate::storage::open::OpenAs;
use crate::storage::read::MAX_FILE;
use crate::storage::root::folder_of;

/// The access for which a file is opened; each also permits reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Append,
}

/// Whether opening a file creates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    Never,
    IfMissing(Visibility),
    /// An existing file is an error.
    New,
}

/// Who can open a new file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Whoever the umask permits.
    Shared,
    /// Its owner alone.
    Private,
}

/// The treatment of an existing file at the target of a rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A directory, and the path by which its entries are reached.
#[derive(Debug)]
struct Dir {
    entries: PathBuf,
    /// What keeps that path valid.
    _handle: Option<File>,
}

impl Dir {
    /// Opens a directory; fails if its path contains a link.
    #[cfg(target_os = "linux")]
    fn open(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;

        let handle = open::without_links(path, OpenAs::Handle)?;
        let entries = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        // Some sandboxes have no `/proc`.
        let is_there = entries.symlink_metadata().is_ok();
        let entries = if is_there { entries } else { path.to_owned() };
        Ok(Self { entries, _handle: Some(handle) })
    }

    /// Opens a directory; fails if its path contains a link.
    #[cfg(not(target_os = "linux"))]
    fn open(path: &Path) -> io::Result<Self> {
        if path.is_absolute() && fs::canonicalize(path)? != path {
            return Err(open::link_error());
        }
        fs::metadata(path)?;
        Ok(Self { entries: path.to_owned(), _handle: None })
    }
}

/// A name in a directory.
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

    /// Returns the path by which the entry is reached.
    fn entry(&self) -> PathBuf {
        self.dir.entries.join(&self.name)
    }

    /// Opens a regular file; a link or a pipe in its place, which a repository can contain, is an error.
    pub(crate) fn open(&self, access: Access, create: Create) -> io::Result<File> {
        let file = self.open_any(access, create)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
    }

    /// Opens a file or a device, without waiting for the other end of a pipe; a link is an error.
    pub(crate) fn open_any(&self, access: Access, create: Create) -> io::Result<File> {
        if create != Create::Never {
            count();
        }
        let entry = self.entry();
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Write).append(access == Access::Append);
        options.create(matches!(create, Create::IfMissing(_))).create_new(create == Create::New);
        #[cfg(unix)]
        if create == Create::IfMissing(Visibility::Private) {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        open_entry(&options, &entry, access)
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

    /// Returns whether this is a directory; a link to one is not.
    pub(crate) fn is_directory(&self) -> io::Result<bool> {
        fs::symlink_metadata(self.entry()).map(|found| found.is_dir())
    }

    /// Returns whether there is anything at this name.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        absent_as(false, self.is_directory().map(|_| true))
    }

    /// Renames a file or a directory; returns whether the system supports that for an `existing` file.
    pub(crate) fn rename_to(&self, to: &Self, existing: Existing) -> io::Result<bool> {
        count();
        let (from, to) = (self.entry(), to.entry());
        match existing {
            Existing::Replace => fs::rename(from, to).map(|()| true),
            Existing::Exchange | Existing::Refuse => rename_with(&from, &to, existing),
        }
    }

    /// Removes the file; a missing one is not an error.
    pub(crate) fn remove(&self) -> io::Result<()> {
        count();
        absent_as((), fs::remove_file(self.entry()))
    }

    /// Creates a directory unless it exists.
    pub(crate) fn create_directory(&self, visibility: Visibility) -> io::Result<()> {
        count();
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        if visibility == Visibility::Private {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        }
        #[cfg(not(unix))]
        let _unused = (visibility, &mut builder);
        match builder.create(self.entry()) {
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists
                    && self.is_directory().is_ok_and(|is_directory| is_directory) =>
            {
                Ok(())
            }
            created => created,
        }
    }

    /// Removes the directory if it exists and is empty.
    pub(crate) fn remove_directory(&self) -> io::Result<()> {
        count();
        match fs::remove_dir(self.entry()) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => absent_as((), removed),
        }
    }

    /// Creates a symbolic link, if the system has them.
    pub(crate) fn symlink(&self, target: &Path) -> io::Result<()> {
        count();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(target, self.entry())
        }
        #[cfg(not(unix))]
        {
            let _unused = target;
            Err(ErrorKind::Unsupported.into())
        }
    }
}

/// Returns a value in place of the error that something does not exist.
fn absent_as<T>(absent: T, found: io::Result<T>) -> io::Result<T> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(absent),
        found => found,
    }
}

#[cfg(target_os = "linux")]
fn open_entry(options: &OpenOptions, entry: &Path, _: Access) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = options.clone().custom_flags(flags.bits().cast_signed()).open(entry);
    opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => irregular(),
        _ => error,
    })
}

/// Opens a file like on Linux: not a link, nor a pipe, and a directory is named by its own error.
#[cfg(not(target_os = "linux"))]
fn open_entry(options: &OpenOptions, entry: &Path, access: Access) -> io::Result<File> {
    let check = || match fs::symlink_metadata(entry).map(|found| found.file_type()) {
        Ok(kind) if kind.is_dir() && access != Access::Read => Err(ErrorKind::IsADirectory.into()),
        Ok(kind) if !is_file_or_device(kind) => Err(irregular()),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    check()?;
    let file = options.open(entry)?;
    check().map(|()| file)
}

#[cfg(target_os = "linux")]
fn rename_with(from: &Path, to: &Path, existing: Existing) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    let flags = match existing {
        Existing::Exchange => RenameFlags::EXCHANGE,
        Existing::Refuse | Existing::Replace => RenameFlags::NOREPLACE,
    };
    match renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature everywhere")]
fn rename_with(_: &Path, _: &Path, _: Existing) -> io::Result<bool> {
    Ok(false)
}

/// Returns whether lines can be appended to a file of this kind: `/dev/null` takes them, too.
pub(crate) fn is_file_or_device(kind: FileType) -> bool {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&kind) {
        return true;
    }
    kind.is_file()
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
    let opened = open::without_links(path, OpenAs::Folder);
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

/// Copies a file with its permissions.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    count();
    fs::copy(from, to).map(drop)
}

/// Creates a directory and the missing ones above it, which may have another visibility.
pub(crate) fn create_all(path: &Path, visibility: Visibility, above: Visibility) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.is_dir())
        .collect();
    for (index, path) in missing.into_iter().enumerate().rev() {
        let visibility = if index == 0 { visibility } else { above };
        Spot::new(path)?.create_directory(visibility)?;
    }
    Ok(())
}
