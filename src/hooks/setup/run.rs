//! Writes what a harness is to have, or takes it out again.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::setup::claude;
use crate::hooks::setup::codex;
use crate::hooks::setup::gemini;
use crate::hooks::setup::opencode;
use crate::hooks::setup::place::Place;
use crate::hooks::setup::place::Scope;
use crate::hooks::setup::report::FileOutcome;
use crate::hooks::setup::report::SetupFile;
use crate::hooks::setup::report::SetupReport;
use crate::hooks::setup::wish::Wish;
use crate::hooks::setup::wish::Wishes;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
use crate::storage::read;

/// What `annals setup` was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct SetupRequest {
    /// Whose settings are meant.
    pub harness: Harness,
    /// Whether the project's or the user's.
    pub scope: Scope,
    /// Only tell whether they are as wanted.
    pub check: bool,
    /// Take our entries out.
    pub remove: bool,
    /// Whether a session's start carries the notepad.
    pub notepad: bool,
    /// Whether the notepad gets a line before a session is compacted.
    pub breadcrumb: bool,
}

/// Brings a harness's settings to call `annals`, or takes that back.
pub fn setup(project: &Project, request: SetupRequest) -> Result<SetupReport> {
    let project = &project.dry_run(project.dry_run || request.check);
    let place = Place::of(project, request.harness, request.scope)?;
    let Wishes { files, notes } = match request.harness {
        Harness::Claude => claude::wishes(&place, request),
        Harness::Codex => codex::wishes(&place, request),
        Harness::Gemini => gemini::wishes(&place, request),
        Harness::Opencode => opencode::wishes(&place, request),
    };
    for wish in &files {
        confined(&wish.path, place.storage.root())?;
    }
    let operation = format!("setup {}", request.harness.as_str());
    let (planned, applied) = place.storage.transact(&operation, &[Store::Context], || {
        let mut changes = Changes::new();
        let mut planned = Vec::new();
        for wish in &files {
            let outcome = if request.remove {
                remove(&mut changes, wish, &place)?
            } else {
                install(&mut changes, wish)?
            };
            planned.push(SetupFile {
                file: project.relative(&wish.path).to_owned(),
                outcome,
                entries: wish.entries(),
            });
        }
        Ok((planned, changes))
    })?;
    let backups = files.iter().map(|wish| backup(&wish.path));
    let backups = backups.filter(|path| path.is_file());
    Ok(SetupReport {
        harness: request.harness,
        scope: request.scope,
        files: planned,
        backups: backups
            .map(|path| project.relative(&path).to_owned())
            .collect(),
        notes,
        diff: applied.dry_run.then_some(applied.diff),
        warnings: project.named(applied.warnings),
    })
}

/// Refuses a file that a link puts elsewhere: what is written must be where it is said to be.
fn confined(path: &Path, root: &Path) -> Result<()> {
    let real = path
        .ancestors()
        .find_map(|path| fs::canonicalize(path).ok());
    let is_inside =
        |real: &PathBuf| fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
    match real {
        Some(real) if !is_inside(&real) => {
            let message = format!("leads outside of {}, so it is not written", root.display());
            let hint = format!(
                "it leads to {}; put the entries there by hand",
                real.display()
            );
            Err(Error::refused(message).at(path, None).hint(hint))
        }
        _ => Ok(()),
    }
}

fn install(changes: &mut Changes, wish: &Wish) -> Result<FileOutcome> {
    let old = read::bytes(&wish.path)?;
    let new = wish.with(old.as_deref())?;
    Ok(match &old {
        Some(bytes) if *bytes == new => FileOutcome::Unchanged,
        Some(_) if wish.is_whole() => {
            changes.edit(&wish.path, old, new)?;
            FileOutcome::Extended
        }
        Some(_) => {
            replace(changes, &wish.path, old, new)?;
            FileOutcome::Extended
        }
        None => {
            changes.edit(&wish.path, None, new)?;
            FileOutcome::Created
        }
    })
}

/// Plans a file's new bytes, and a copy of the old ones beside it where there is none yet.
pub(crate) fn replace(
    changes: &mut Changes,
    path: &Path,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
) -> Result<()> {
    let copy = backup(path);
    if let Some(bytes) = &old
        && *bytes != new
        && changes.current(&copy)?.is_none()
    {
        changes.copy(path, &copy, bytes.clone())?;
    }
    changes.edit(path, old, new)
}

fn remove(changes: &mut Changes, wish: &Wish, place: &Place) -> Result<FileOutcome> {
    let copy = backup(&wish.path);
    let before = read::bytes(&copy)?;
    if before.is_some() {
        changes.delete(&copy)?;
    }
    let Some(old) = read::bytes(&wish.path)? else {
        return Ok(FileOutcome::Unchanged);
    };
    match wish.without(&old, before.as_deref())? {
        Some(new) if new == old => Ok(FileOutcome::Unchanged),
        Some(new) => {
            changes.edit(&wish.path, Some(old), new)?;
            Ok(FileOutcome::Reduced)
        }
        None => {
            changes.delete(&wish.path)?;
            let folders = wish.path.ancestors().skip(1);
            for folder in folders.take_while(|folder| folder.starts_with(&place.folder)) {
                changes.remove_dir(folder)?;
            }
            Ok(FileOutcome::Deleted)
        }
    }
}

/// Returns where a file's bytes from before we came are kept.
pub(crate) fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".annals-backup");
    path.with_file_name(name)
}
