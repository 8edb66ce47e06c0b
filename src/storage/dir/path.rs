//! Changes the entries of directories by path, on systems other than Linux.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::storage::dir::{Access, Create, Existing, Links, Visibility};

/// A directory known by its path.
#[derive(Debug)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// Returns the directory at a path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        fs::metadata(path)?;
        Ok(Self(path.to_owned()))
    }

    /// Opens a file in the directory; if links are refused, a link or a pipe is an error.
    pub(crate) fn open_file(
        &self,
        name: &OsStr,
        access: Access,
        create: Create,
        links: Links,
    ) -> io::Result<File> {
        let path = self.0.join(name);
        let mut options = OpenOptions::new();
        options.read(true);
        match access {
            Access::Read => &mut options,
            Access::Write => options.write(true),
            Access::Append => options.append(true),
        };
        match create {
            Create::Never => {}
            Create::New => _ = options.create_new(true),
            Create::IfMissing(visibility) => {
                options.create(true);
                restrict(&mut options, visibility);
            }
        }
        let check = || match fs::symlink_metadata(&path) {
            Ok(found) if links == Links::Refused && !found.is_file() => {
                Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"))
            }
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        check()?;
        let file = options.open(&path)?;
        check()?;
        Ok(file)
    }

    /// Returns whether an entry is a directory; a link to one is not.
    pub(crate) fn has_directory(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok_and(|found| found.is_dir())
    }

    pub(crate) fn create_directory(&self, name: &OsStr, visibility: Visibility) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        if visibility == Visibility::Private {
            use std::os::unix::fs::DirBuilderExt;

            builder.mode(0o700);
        }
        #[cfg(not(unix))]
        let _unused = (visibility, &mut builder);
        builder.create(self.0.join(name))
    }

    /// Moves an entry to another directory; returns whether the system supports that.
    pub(crate) fn rename(
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

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(crate) fn symlink(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(target, self.0.join(name))
        }
        #[cfg(not(unix))]
        {
            let _unused = (target, name);
            Err(ErrorKind::Unsupported.into())
        }
    }

    /// Flushes its entries, if the system supports it.
    pub(crate) fn sync(&self) -> io::Result<()> {
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(&self.0) {
            Ok(opened) => opened.sync_all(),
            // Only a readable directory can be flushed.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn restrict(options: &mut OpenOptions, visibility: Visibility) {
    #[cfg(unix)]
    if visibility == Visibility::Private {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _unused = (options, visibility);
}
