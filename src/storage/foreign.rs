//! Sets aside foreign files: records and requests from a clone, another user or an older version.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::storage::disk;
use crate::storage::folder::StoreFolder;
use crate::warning::Warning;

/// Maximum number of files with the same name.
const MAX_NAMES: u32 = 10_000;

/// Moves files into `unverified/`, without following links; returns one warning that names them.
pub(crate) fn set_aside(folder: &StoreFolder, files: &[PathBuf]) -> Result<Option<Warning>> {
    let mut names = Vec::new();
    for file in files {
        let Some(name) = file.file_name() else {
            continue;
        };
        let to = folder.prepare_unverified()?;
        if move_into(file, &to, name)? {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    let (Some(first), Some(last)) = (names.first(), names.last()) else {
        return Ok(None);
    };
    let what = match names.len() {
        1 => format!(
            "{first} was not written by you on this machine, or comes from an older version of annals; it"
        ),
        count => format!(
            "{count} files, {first} to {last}, were not written by you on this machine, or come from an older version of annals; they"
        ),
    };
    let verb = if names.len() == 1 { "was" } else { "were" };
    Ok(Some(Warning::file(
        &folder.unverified(),
        format!(
            "{what} {verb} set aside here; `annals log --adopt ID` shows a record and signs it"
        ),
    )))
}

/// Moves a directory entry to the first free name; returns whether it still existed.
fn move_into(file: &Path, to: &Path, name: &OsStr) -> Result<bool> {
    for number in 0..MAX_NAMES {
        let mut free = name.to_owned();
        if number > 0 {
            free.push(format!(".{number}"));
        }
        let target = to.join(free);
        if target.symlink_metadata().is_ok() {
            continue;
        }
        return match disk::rename(file, &target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).at("set aside", file),
        };
    }
    Ok(false)
}
