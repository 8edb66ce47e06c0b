//! Adds our entries to the settings of a harness, or removes them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::harness::{SetupOptions, SetupOverrides, SetupScope};
use crate::hooks::setup::harness_dir::HarnessDir;
use crate::hooks::setup::report::{FileOutcome, SetupFile, SetupReport};
use crate::hooks::setup::state::{SetupState, setup_state};
use crate::hooks::setup::target::TargetFile;
use crate::hooks::{Event, Harness};
use crate::project::Project;
use crate::storage::{Changes, Store, read};

/// The options of `annals setup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupRequest {
    /// The harness to set up.
    pub harness: Harness,
    /// The project's settings or the user's.
    pub scope: SetupScope,
    /// Only check whether the settings are up to date.
    pub check: bool,
    /// Remove our entries.
    pub remove: bool,
    /// The options that the user gave; the others keep their current values.
    pub options: SetupOverrides,
}

/// Sets up a harness to call `annals`, or reverts that.
pub fn setup(project: &Project, request: SetupRequest) -> Result<SetupReport> {
    let project = &project.dry_run(project.dry_run || request.check);
    let place = HarnessDir::locate(project, request.harness, request.scope)?;
    let profile = request.harness.profile();
    let targets = TargetFile::all(&place, profile, request.scope);
    for target in &targets {
        ensure_inside(&target.path, place.storage.root())?;
    }
    let operation = format!("setup {}", request.harness.as_str());
    let (planned, applied) = place.storage.transact(&operation, &[Store::Context], || {
        let mut changes = Changes::new();
        let mut planned = Vec::new();
        let options = request.options.over(found_options(&targets)?);
        for target in &targets {
            let old = entries_in(&changes, target)?;
            let outcome = if request.remove {
                remove(&mut changes, target, &place)?
            } else {
                install(&mut changes, target, options)?
            };
            planned.push(SetupFile {
                file: project.relative(&target.path).to_owned(),
                outcome,
                entries: target.entries(options),
                gone: removed_entries(old, &entries_in(&changes, target)?),
            });
        }
        Ok(((planned, options), changes))
    })?;
    let (planned, options) = planned;
    let backups = targets.iter().map(|target| backup(&target.path));
    let backups = backups.filter(|path| path.is_file());
    Ok(SetupReport {
        harness: request.harness,
        scope: request.scope,
        notes: notes(project, request, options, &planned),
        files: planned,
        backups: backups.map(|path| project.relative(&path).to_owned()).collect(),
        diff: applied.diff,
        warnings: project.named(applied.warnings),
    })
}

/// Plans the hook that passes the project's memory to new sessions of Claude Code, unless the settings
/// already contain a hook of ours for that event.
///
/// The changes belong to [`Store::Context`].
pub fn session_start(project: &Project) -> Result<Changes> {
    let (harness, scope) = (Harness::Claude, SetupScope::Project);
    let place = HarnessDir::locate(project, harness, scope)?;
    let profile = harness.profile();
    let mut changes = Changes::new();
    let target = TargetFile::all(&place, profile, scope).into_iter().next();
    let start = profile.hooks.iter().find(|hook| hook.call == Event::SessionStart);
    if let (Some(target), Some(start)) = (target, start) {
        let old = read::bytes(&target.path)?;
        let bytes = old.as_deref().unwrap_or_default();
        let new = target.entries_of_json().with_first(bytes, &target.path, start)?;
        replace(&mut changes, &target.path, old, new)?;
    }
    Ok(changes)
}

/// Returns the options with which the files were written; the default if they contain no entries of ours.
fn found_options(targets: &[TargetFile]) -> Result<SetupOptions> {
    let mut options = SetupOptions::DEFAULT;
    for target in targets {
        if let Some(bytes) = read::bytes(&target.path)? {
            let here = target.chosen(&bytes)?;
            options.notepad &= here.notepad;
            options.breadcrumb |= here.breadcrumb;
        }
    }
    Ok(options)
}

/// Returns our entries in a file, after the planned changes.
fn entries_in(changes: &Changes, target: &TargetFile) -> Result<Vec<String>> {
    let bytes = changes.current(&target.path)?;
    bytes.map_or(Ok(Vec::new()), |bytes| target.installed_entries(&bytes))
}

/// Returns the entries that were removed; a duplicate once for each removal.
fn removed_entries(old: Vec<String>, new: &[String]) -> Vec<String> {
    let mut kept = new.to_vec();
    let mut removed = old;
    removed.retain(|entry| match kept.iter().position(|other| other == entry) {
        Some(at) => {
            kept.swap_remove(at);
            false
        }
        None => true,
    });
    removed
}

/// Returns the manual steps that remain.
fn notes(
    project: &Project,
    request: SetupRequest,
    options: SetupOptions,
    files: &[SetupFile],
) -> Vec<String> {
    let profile = request.harness.profile();
    if request.remove {
        let after = (profile.after_removal)(request.scope);
        return after.map(str::to_owned).into_iter().collect();
    }
    let mut notes = (profile.next_steps)(request.scope, options);
    let is_changed = |file: &SetupFile| file.outcome != FileOutcome::Unchanged;
    if request.scope == SetupScope::User && !request.check && files.iter().any(is_changed) {
        notes.push(format!(
            "`annals undo` reverts only changes to a project, not these: annals setup {} --user --remove does",
            request.harness.as_str()
        ));
    }
    let (other, whose) = match request.scope {
        SetupScope::Project => (SetupScope::User, "all of your projects"),
        SetupScope::User => (SetupScope::Project, "this project"),
    };
    // The other scope is only mentioned: if its settings cannot be read, it is ignored.
    let other = setup_state(project, request.harness, other);
    if other.is_ok_and(|state| state != SetupState::Absent) {
        notes.push(format!(
            "{} is set up for {whose} as well, and one is enough: annals setup {} --remove drops the \
             project's",
            profile.title, request.harness.as_str()
        ));
    }
    notes
}

/// Refuses a file that a link places outside the root, because writes must stay inside it.
fn ensure_inside(path: &Path, root: &Path) -> Result<()> {
    let real = path.ancestors().find_map(|path| fs::canonicalize(path).ok());
    let is_inside =
        |real: &PathBuf| fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
    match real {
        Some(real) if !is_inside(&real) => {
            let message =
                format!("resolves to a path outside {}, so it is not written", root.display());
            let hint = format!("it resolves to {}; add the entries there by hand", real.display());
            Err(Error::refused(message).at(path, None).hint(hint))
        }
        _ => Ok(()),
    }
}

fn install(
    changes: &mut Changes,
    target: &TargetFile,
    options: SetupOptions,
) -> Result<FileOutcome> {
    let old = read::bytes(&target.path)?;
    let new = target.with(old.as_deref(), options)?;
    Ok(match &old {
        Some(bytes) if *bytes == new => FileOutcome::Unchanged,
        // The file contains nothing that someone else wrote, so it needs no backup.
        Some(bytes) if target.is_whole() || target.is_as_written(bytes, None) => {
            changes.edit(&target.path, old, new)?;
            FileOutcome::Extended
        }
        Some(_) => {
            replace(changes, &target.path, old, new)?;
            FileOutcome::Extended
        }
        None => {
            replace(changes, &target.path, None, new)?;
            FileOutcome::Created
        }
    })
}

/// Plans a file's new content, and a backup of the old one next to it if there is none yet.
fn replace(changes: &mut Changes, path: &Path, old: Option<Vec<u8>>, new: Vec<u8>) -> Result<()> {
    let copy = backup(path);
    let has_copy = changes.current(&copy)?.is_some();
    match &old {
        Some(bytes) if *bytes != new && !has_copy => changes.copy(path, &copy, bytes.clone())?,
        // It may be all that is left of the user's settings, and `remove` would take it for the new file's.
        None if has_copy => {
            let message = "is the backup of a settings file that no longer exists";
            return Err(Error::refused(message)
                .at(&copy, None)
                .hint("restore it or move it away, then run the command again"));
        }
        _ => {}
    }
    changes.edit(path, old, new)
}

fn remove(changes: &mut Changes, target: &TargetFile, place: &HarnessDir) -> Result<FileOutcome> {
    // If the file is gone, its backup may be the user's only copy.
    let Some(old) = read::bytes(&target.path)? else {
        return Ok(FileOutcome::Unchanged);
    };
    let copy = backup(&target.path);
    let before = read::bytes(&copy)?;
    if before.is_some() {
        changes.delete(&copy)?;
    }
    match target.without(&old, before.as_deref())? {
        Some(new) if new == old => Ok(FileOutcome::Unchanged),
        Some(new) => {
            changes.edit(&target.path, Some(old), new)?;
            Ok(FileOutcome::Reduced)
        }
        None => {
            changes.delete(&target.path)?;
            let folders = target.path.ancestors().skip(1);
            for folder in folders.take_while(|folder| folder.starts_with(&place.folder)) {
                changes.remove_dir(folder)?;
            }
            Ok(FileOutcome::Deleted)
        }
    }
}

/// Returns the path of the backup of a file from before the first setup.
fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".annals-backup");
    path.with_file_name(name)
}
