//! Changes the entries of directories through a handle, on Linux.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with, statat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::storage::dir::{Access, Create, Existing, Links, Visibility};
use crate::storage::open;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Dir(File);

impl Dir {
    /// Opens a directory; fails if its path contains a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        open::directory(path).map(Self)
    }

    /// Opens a file in the directory, without waiting for the other end of a pipe.
    pub(crate) fn open_file(
        &self,
        name: &OsStr,
        access: Access,
        create: Create,
        links: Links,
    ) -> io::Result<File> {
        let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY;
        flags |= match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
        };
        if links == Links::Refused {
            flags |= OFlags::NOFOLLOW | OFlags::NONBLOCK;
        }
        let mode = match create {
            Create::Never => Mode::empty(),
            Create::IfMissing(visibility) => {
                flags |= OFlags::CREATE;
                file_mode(visibility)
            }
            Create::New => {
                flags |= OFlags::CREATE | OFlags::EXCL;
                file_mode(Visibility::Shared)
            }
        };
        Ok(openat(&self.0, name, flags, mode)?.into())
    }

    /// Returns whether an entry is a directory; a link to one is not.
    pub(crate) fn has_directory(&self, name: &OsStr) -> bool {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    pub(crate) fn create_directory(&self, name: &OsStr, visibility: Visibility) -> io::Result<()> {
        let mode = match visibility {
            Visibility::Shared => Mode::from_raw_mode(0o777),
            Visibility::Private => Mode::from_raw_mode(0o700),
        };
        Ok(mkdirat(&self.0, name, mode)?)
    }

    /// Moves an entry to another directory; returns whether the file system supports that.
    pub(crate) fn rename(
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

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn symlink(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }

    /// Flushes its entries.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        match openat(&self.0, ".", flags, Mode::empty()) {
            Ok(opened) => File::from(opened).sync_all(),
            // Only a readable directory can be flushed.
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn file_mode(visibility: Visibility) -> Mode {
    match visibility {
        Visibility::Shared => Mode::from_raw_mode(0o666),
        Visibility::Private => Mode::from_raw_mode(0o600),
    }
}
