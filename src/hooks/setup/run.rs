//! Adds our entries to the settings of a harness, or removes them, and says what is there.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::harness;
use crate::hooks::harness::{Harness, Obstacle, SetupOptions, SetupScope, Step};
use crate::hooks::setup::settings::{HarnessDir, Settings};
use crate::project::Project;
use crate::storage::{Changes, Store, read};
use crate::text::word_enum;
use crate::warning::Warning;

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
    pub options: SetupOptions,
}

word_enum! {
    /// The outcome for a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum FileOutcome {
        /// It was created.
        Created = "created",
        /// Our entries were added or updated.
        Extended = "extended",
        /// Our entries were removed.
        Reduced = "reduced",
        /// It contained only our entries, and was deleted.
        Deleted = "deleted",
        /// It was already in the desired state.
        Unchanged = "unchanged",
    }
}

impl FileOutcome {
    pub(crate) fn of(old: Option<&[u8]>, new: Option<&[u8]>, removes: bool) -> Self {
        match (old, new) {
            (old, new) if old == new => Self::Unchanged,
            (None, _) => Self::Created,
            (_, None) => Self::Deleted,
            _ if removes => Self::Reduced,
            _ => Self::Extended,
        }
    }
}

/// One settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetupFile {
    /// The file, relative to the project if inside it.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
    /// Our entries in this file: the hook commands, the MCP server.
    pub entries: Vec<String>,
}

/// The outcome of `annals setup`. It is the document of `annals setup --json`.
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    /// The harness.
    pub harness: Harness,
    /// `project` or `user`.
    pub scope: SetupScope,
    /// The files.
    pub files: Vec<SetupFile>,
    /// Manual steps that remain.
    pub notes: Vec<String>,
    /// With `--check` and on a dry run, the changes to the files.
    pub diff: Option<String>,
    /// Warnings about the recovery of interrupted operations.
    pub warnings: Vec<Warning>,
}

impl SetupReport {
    /// Returns the error of `--check` if a file differs from the desired state.
    pub fn verdict(&self) -> Result<()> {
        let off = self.files.iter().filter(|file| file.outcome != FileOutcome::Unchanged);
        let off: Vec<String> = off.map(|file| file.file.display().to_string()).collect();
        if off.is_empty() {
            return Ok(());
        }
        let message = format!("differs from what setup would write: {}", off.join(", "));
        let user = if self.scope == SetupScope::User { " --user" } else { "" };
        Err(Error::failed(message).hint(format!("annals setup {}{user}", self.harness.as_str())))
    }
}

/// Sets up a harness to call `annals`, or reverts that.
pub fn setup(project: &Project, request: SetupRequest) -> Result<SetupReport> {
    let project = &project.dry_run(project.dry_run || request.check);
    let place = HarnessDir::locate(project, request.harness, request.scope)?;
    let all = Settings::all(&place, request.harness.profile());
    for settings in &all {
        ensure_inside(&settings.path, place.storage.root())?;
    }
    let operation = format!("setup {}", request.harness.as_str());
    let ((files, options), applied) =
        place.storage.transact(&operation, &[Store::Context], || {
            let found = read_all(&all)?;
            let options = request.options.or(options_of(&found));
            let mut changes = Changes::new();
            let mut files = Vec::new();
            for (settings, old, _) in found {
                let wanted = (!request.remove).then_some(options);
                let new = settings.edited(old.as_deref(), wanted)?;
                let outcome = FileOutcome::of(old.as_deref(), new.as_deref(), request.remove);
                files.push(SetupFile {
                    file: project.relative(&settings.path).to_owned(),
                    outcome,
                    entries: settings.entries(new.as_deref())?,
                });
                change(&mut changes, &settings.path, old, new, &place)?;
            }
            Ok(((files, options), changes))
        })?;
    Ok(SetupReport {
        harness: request.harness,
        scope: request.scope,
        notes: notes(project, request, options),
        files,
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
    let mut changes = Changes::new();
    if let Some(settings) = Settings::all(&place, harness.profile()).first() {
        let old = read::bytes(&settings.path)?;
        let new = settings.with_session_start(old.as_deref())?;
        change(&mut changes, &settings.path, old, new, &place)?;
    }
    Ok(changes)
}

/// A settings file, its content, and our entries in it.
type Found<'a> = (&'a Settings, Option<Vec<u8>>, Vec<String>);

fn read_all(all: &[Settings]) -> Result<Vec<Found<'_>>> {
    let read = all.iter().map(|settings| {
        let bytes = read::bytes(&settings.path)?;
        let entries = settings.entries(bytes.as_deref())?;
        Ok((settings, bytes, entries))
    });
    read.collect()
}

/// Returns the options with which the files were written.
fn options_of(found: &[Found<'_>]) -> SetupOptions {
    let entries = found.iter().flat_map(|(.., entries)| entries.iter().cloned());
    SetupOptions::of(&entries.collect::<Vec<String>>())
}

fn change(
    changes: &mut Changes,
    path: &Path,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    place: &HarnessDir,
) -> Result<()> {
    match new {
        new if new == old => Ok(()),
        Some(new) => changes.edit(path, old, new),
        None => {
            changes.delete(path)?;
            let mut folders =
                path.ancestors().skip(1).take_while(|folder| folder.starts_with(&place.folder));
            folders.try_for_each(|folder| changes.remove_dir(folder))
        }
    }
}

/// Returns the manual steps that remain.
fn notes(project: &Project, request: SetupRequest, options: SetupOptions) -> Vec<String> {
    let (profile, name) = (request.harness.profile(), request.harness.as_str());
    if request.remove {
        let is_users = request.scope == SetupScope::User;
        return profile.after_removal.clone().filter(|_| is_users).into_iter().collect();
    }
    let breadcrumb = profile.no_breadcrumb.as_ref().filter(|_| options.breadcrumb == Some(true));
    let is_meant = |step: &&Step| step.only_in.is_none_or(|scope| scope == request.scope);
    let steps = profile.steps.iter().filter(is_meant).map(|step| &step.text);
    let mut notes: Vec<String> = breadcrumb.into_iter().chain(steps).cloned().collect();
    let (other, whose) = match request.scope {
        SetupScope::Project => (SetupScope::User, "all of your projects"),
        SetupScope::User => (SetupScope::Project, "this project"),
    };
    // The other scope is only mentioned: if its settings cannot be read, it is ignored.
    let other = setup_state(project, request.harness, other);
    if other.is_ok_and(|state| state != SetupState::Absent) {
        notes.push(format!(
            "{} is set up for {whose} as well, and one is enough: annals setup {name} --remove drops the \
             project's",
            profile.title
        ));
    }
    notes
}

/// Refuses a file that a link places outside the root: it is neither read nor written, so nobody knows what it has.
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

/// The state of a harness's settings in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupState {
    /// The settings contain no entries of annals.
    Absent,
    /// All entries are current, for one combination of options.
    Current,
    /// There are entries of ours, but not all are current.
    Partial,
}

/// Returns the state of a harness's settings in a scope.
pub fn setup_state(project: &Project, harness: Harness, scope: SetupScope) -> Result<SetupState> {
    let place = HarnessDir::locate(project, harness, scope)?;
    let all = Settings::all(&place, harness.profile());
    let found = read_all(&all)?;
    if found.iter().all(|(.., entries)| entries.is_empty()) {
        return Ok(SetupState::Absent);
    }
    let options = options_of(&found);
    for (settings, old, _) in &found {
        if settings.edited(old.as_deref(), Some(options))? != *old {
            return Ok(SetupState::Partial);
        }
    }
    Ok(SetupState::Current)
}

/// Returns whether a harness is set up for both the project and the user, as far as its files can be read.
pub(crate) fn is_in_both_scopes(project: &Project, harness: Harness) -> bool {
    [SetupScope::Project, SetupScope::User].into_iter().all(|scope| {
        let state = setup_state(project, harness, scope);
        state.is_ok_and(|state| state != SetupState::Absent)
    })
}

/// Returns what prevents the settings of a harness from working.
pub(crate) fn obstacles(
    project: &Project,
    one: Harness,
    scope: SetupScope,
) -> Result<Vec<Obstacle>> {
    let dir = HarnessDir::locate(project, one, scope)?;
    Ok(harness::obstacles(one.profile(), project, &dir))
}
