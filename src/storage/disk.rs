//! Performs all file operations of `storage`, each of which is a fail point.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use crate::storage::fail_point;

fn count() {
    if fail_point::is_reached() {
        std::process::abort();
    }
}

/// Creates a file that must not exist yet, with the permissions the umask leaves.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    count();
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
}

/// Opens a regular file; a link in its place is not followed, and a pipe not waited for: both are errors.
///
/// A repository can contain either. The folder is not checked: the caller has resolved it.
pub(crate) fn open_unlinked(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let refused = || io::Error::new(ErrorKind::InvalidInput, "not a regular file");
    let mut options = options.clone();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(target_os = "linux"))]
    let is_regular = || fs::symlink_metadata(path).map(|found| found.is_file());
    #[cfg(not(target_os = "linux"))]
    match is_regular() {
        Ok(true) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Ok(false) => return Err(refused()),
        Err(error) => return Err(error),
    }
    let file = match options.open(path) {
        #[cfg(target_os = "linux")]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(refused());
        }
        opened => opened?,
    };
    #[cfg(not(target_os = "linux"))]
    if !is_regular()? {
        return Err(refused());
    }
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(refused())
    }
}

/// Opens a regular file for reading, as [`open_unlinked`] does.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    open_unlinked(path, OpenOptions::new().read(true))
}

/// Opens a file for reading and writing, and creates it where it is missing; links are not followed.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match open_unlinked(path, &options) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            count();
            open_unlinked(path, options.create(true).truncate(false))
        }
        opened => opened,
    }
}

/// Opens a file of the user's own for reading and writing, and creates one that only its owner can read.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    count();
    let mut options = private();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    options
}

/// Whether a link in place of a file is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// It is: the path was chosen by the user.
    Followed,
    /// It is not: a repository can contain a link.
    Refused,
}

/// Opens a file for appending, creates it if it is missing, and returns whether it did.
pub(crate) fn open_append(path: &Path, links: Links) -> io::Result<(File, bool)> {
    append_or_create(path, OpenOptions::new(), links)
}

/// Opens a file for appending, creates one that only its owner can read if it is missing, and returns whether it did.
pub(crate) fn open_private_append(path: &Path, links: Links) -> io::Result<(File, bool)> {
    append_or_create(path, private(), links)
}

fn append_or_create(
    path: &Path,
    mut options: OpenOptions,
    links: Links,
) -> io::Result<(File, bool)> {
    let open = |options: &OpenOptions| match links {
        Links::Followed => options.open(path),
        Links::Refused => open_unlinked(path, options),
    };
    options.read(true).append(true);
    match open(&options) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            count();
            Ok((open(options.create(true))?, true))
        }
        opened => Ok((opened?, false)),
    }
}

/// Writes all bytes at the current position of the file.
pub(crate) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    tear(file, bytes);
    file.write_all(bytes)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    write(file, bytes)
}

/// Writes bytes with one call, and returns the number of bytes written.
pub(crate) fn write_once(mut file: &File, bytes: &[u8]) -> io::Result<usize> {
    tear(file, bytes);
    file.write(bytes)
}

/// Stops half-way through the bytes when the fail point is reached: a kill can tear a write.
fn tear(mut file: &File, bytes: &[u8]) {
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

/// Flushes a file's content and length, but not necessarily its times.
pub(crate) fn sync_content(file: &File) -> io::Result<()> {
    count();
    file.sync_data()
}

/// Flushes a directory's entries, if the system supports it; a missing directory is no error.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    count();
    match File::open(path) {
        Ok(directory) => directory.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a new file the owner and permissions of the one it replaces.
pub(crate) fn copy_permissions(file: &File, from: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        use std::os::unix::fs::fchown;

        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (from.uid(), from.gid()) {
            count();
            // Only the owner and root may give a file away; anybody else keeps what they may write.
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

/// Sets a file's permission bits, where the system has them.
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

/// Returns a file's permission bits, where the system has them.
#[cfg_attr(
    unix,
    expect(clippy::unnecessary_wraps, reason = "other systems have none")
)]
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

/// Renames a file or a directory, replacing an existing file.
#[expect(clippy::disallowed_methods, reason = "storage writes here")]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    count();
    fs::rename(from, to)
}

/// Exchanges the contents of two places of one file system, and returns whether the system can do that.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    rename_with(one, other, Rename::Exchange)
}

/// Renames a file or a directory if nothing is in the way, and returns whether the system can do that.
pub(crate) fn rename_to_vacant(from: &Path, to: &Path) -> io::Result<bool> {
    rename_with(from, to, Rename::Vacant)
}

#[derive(Clone, Copy)]
enum Rename {
    Exchange,
    Vacant,
}

#[cfg(target_os = "linux")]
fn rename_with(from: &Path, to: &Path, how: Rename) -> io::Result<bool> {
    use rustix::fs::CWD;
    use rustix::fs::RenameFlags;
    use rustix::io::Errno;

    count();
    let flags = match how {
        Rename::Exchange => RenameFlags::EXCHANGE,
        Rename::Vacant => RenameFlags::NOREPLACE,
    };
    match rustix::fs::renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_with(_from: &Path, _to: &Path, _how: Rename) -> io::Result<bool> {
    Ok(false)
}

/// Removes a file; a missing one is no error.
#[expect(clippy::disallowed_methods, reason = "storage writes here")]
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    count();
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Creates a symbolic link, where the system has them.
pub(crate) fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    count();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(target, path)
    }
    #[cfg(not(unix))]
    {
        let _unused = (target, path);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Copies a file with its permissions.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    count();
    fs::copy(from, to).map(drop)
}

/// Creates a directory, and returns whether it was missing.
pub(crate) fn create_directory(path: &Path) -> io::Result<bool> {
    count();
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a directory that only its owner can enter, unless it is there.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    count();
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;

        builder.mode(0o700);
    }
    match builder.create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created,
    }
}

/// Removes a directory if it exists and is empty.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    count();
    match fs::remove_dir(path) {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Ok(())
        }
        removed => removed,
    }
}
