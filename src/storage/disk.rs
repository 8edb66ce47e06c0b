//! Performs all file operations of `storage`, each of which is a fail point.
//!
//! No link in the path of a directory is followed, except by [`copy`]: the caller resolves a path that the user
//! named.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use crate::storage::dir::{Access, Create, Dir, Existing, Links, Visibility};
use crate::storage::fail_point;

fn count() {
    if fail_point::is_reached() {
        std::process::abort();
    }
}

/// Opens the directory of a path; returns it with the entry's name.
fn parent(path: &Path) -> io::Result<(Dir, &OsStr)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not the path of a file"));
    };
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    Ok((Dir::open(directory)?, name))
}

/// Creates a file that must not exist yet, with the permissions the umask leaves.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    count();
    let (dir, name) = parent(path)?;
    dir.open_file(name, Access::Write, Create::New, Links::Refused)
}

/// Opens a regular file for reading; a link or a pipe, which a repository can contain, is an error.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, Access::Read, Create::Never)
}

/// Opens an existing regular file for reading and writing, like [`open_to_read`].
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    open_regular(path, Access::Write, Create::Never)
}

/// Opens a regular file for reading and writing, and creates it if it is missing; links are not followed.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    match open_to_write(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            count();
            let create = Create::IfMissing(Visibility::Shared);
            open_regular(path, Access::Write, create)
        }
        opened => opened,
    }
}

fn open_regular(path: &Path, access: Access, create: Create) -> io::Result<File> {
    let refused = || io::Error::new(ErrorKind::InvalidInput, "not a regular file");
    let (dir, name) = parent(path)?;
    let file = match dir.open_file(name, access, create, Links::Refused) {
        #[cfg(target_os = "linux")]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(refused());
        }
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// Opens a file for reading and writing; if it is missing, creates it, readable only by its owner.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    count();
    let (dir, name) = parent(path)?;
    let create = Create::IfMissing(Visibility::Private);
    dir.open_file(name, Access::Write, create, Links::Followed)
}

/// Opens a file for appending; creates it if it is missing, and returns whether it did.
pub(crate) fn open_append(
    path: &Path,
    visibility: Visibility,
    links: Links,
) -> io::Result<(File, bool)> {
    let open = |create| match links {
        Links::Refused => open_regular(path, Access::Append, create),
        Links::Followed => {
            let (dir, name) = parent(path)?;
            dir.open_file(name, Access::Append, create, links)
        }
    };
    match open(Create::Never) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            count();
            Ok((open(Create::IfMissing(visibility))?, true))
        }
        opened => Ok((opened?, false)),
    }
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

/// Flushes a file's content and length, but not necessarily its times.
pub(crate) fn sync_content(file: &File) -> io::Result<()> {
    count();
    file.sync_data()
}

/// Flushes a directory's entries, if the system supports it.
///
/// A path that is missing or a file is ignored: a later change of the transaction may have moved or replaced it.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    count();
    match Dir::open(path) {
        Ok(directory) => directory.sync(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(error),
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

/// Renames a file or a directory, replacing an existing file.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, Existing::Replace).map(drop)
}

/// Exchanges two files of one file system; returns whether the system supports that.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    rename_with(one, other, Existing::Exchange)
}

/// Renames a file or a directory if the target does not exist; returns whether the system supports that.
pub(crate) fn rename_to_vacant(from: &Path, to: &Path) -> io::Result<bool> {
    rename_with(from, to, Existing::Refuse)
}

fn rename_with(from: &Path, to: &Path, existing: Existing) -> io::Result<bool> {
    count();
    let (source, name) = parent(from)?;
    let (target, new_name) = parent(to)?;
    source.rename(name, &target, new_name, existing)
}

/// Removes a file; a missing file is not an error.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    count();
    match parent(path).and_then(|(dir, name)| dir.remove_file(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Creates a symbolic link, if the system has them.
pub(crate) fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    count();
    let (dir, name) = parent(path)?;
    dir.symlink(target, name)
}

/// Copies a file with its permissions.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    count();
    fs::copy(from, to).map(drop)
}

/// Creates a directory, and returns whether it was missing.
pub(crate) fn create_directory(path: &Path, visibility: Visibility) -> io::Result<bool> {
    count();
    let (dir, name) = parent(path)?;
    match dir.create_directory(name, visibility) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && dir.has_directory(name) => {
            Ok(false)
        }
        created => created.map(|()| true),
    }
}

/// Removes a directory if it exists and is empty.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    count();
    match parent(path).and_then(|(dir, name)| dir.remove_directory(name)) {
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) =>
        {
            Ok(())
        }
        removed => removed,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A directory, a link to it, and the names in it before and after.
    struct LinkedDirectory {
        _folder: tempfile::TempDir,
        link: PathBuf,
        inside: PathBuf,
        outside: PathBuf,
    }

    impl LinkedDirectory {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = fs::canonicalize(folder.path()).unwrap();
            let (inside, outside, link) =
                (top.join("inside"), top.join("outside"), top.join("link"));
            for directory in [&inside, &outside] {
                fs::create_dir(directory).unwrap();
                fs::create_dir(directory.join("empty")).unwrap();
                write(&File::create(directory.join("file")).unwrap(), b"old").unwrap();
            }
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            Self { _folder: folder, link, inside, outside }
        }

        fn is_unchanged(&self) -> bool {
            let names = fs::read_dir(&self.outside).unwrap().count();
            let file = fs::read(self.outside.join("file"));
            names == 2
                && self.outside.join("empty").is_dir()
                && file.is_ok_and(|text| text == b"old")
        }
    }

    #[test]
    fn no_operation_follows_a_link_in_place_of_a_directory() {
        let tried = LinkedDirectory::new();
        let (new, file, empty) =
            (tried.link.join("new"), tried.link.join("file"), tried.link.join("empty"));
        let own = tried.inside.join("file");
        let append = |path: &Path, links| open_append(path, Visibility::Shared, links).map(drop);
        let outcomes = [
            create_new(&new).map(drop),
            open_to_read(&file).map(drop),
            open_to_write(&file).map(drop),
            open_or_create(&new).map(drop),
            open_private(&new).map(drop),
            append(&new, Links::Refused),
            append(&new, Links::Followed),
            sync_directory(&tried.link),
            rename(&own, &new),
            rename(&file, &tried.inside.join("new")),
            exchange(&own, &file).map(drop),
            rename_to_vacant(&own, &new).map(drop),
            remove_file(&file),
            symlink(&own, &new),
            create_directory(&new, Visibility::Shared).map(drop),
            create_directory(&tried.link, Visibility::Shared).map(drop),
            remove_directory(&empty),
        ];
        for (index, outcome) in outcomes.into_iter().enumerate() {
            assert!(outcome.is_err(), "operation {index}");
        }
        assert!(tried.is_unchanged());
        assert_eq!(fs::read(own).unwrap(), b"old");
    }

    #[test]
    fn a_link_created_after_a_directory_was_opened_is_not_followed() {
        let tried = LinkedDirectory::new();
        let file = tried.inside.join("file");
        let (dir, name) = parent(&file).unwrap();
        let moved = tried.inside.with_file_name("moved");
        fs::rename(&tried.inside, &moved).unwrap();
        std::os::unix::fs::symlink(&tried.outside, &tried.inside).unwrap();
        dir.open_file(OsStr::new("new"), Access::Write, Create::New, Links::Refused).unwrap();
        dir.create_directory(OsStr::new("directory"), Visibility::Private).unwrap();
        dir.remove_file(name).unwrap();
        dir.sync().unwrap();
        assert!(tried.is_unchanged());
        assert!(!moved.join("file").exists());
        assert!(moved.join("new").is_file() && moved.join("directory").is_dir());
    }
}
