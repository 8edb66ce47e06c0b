//! Adds our entries to a harness's settings, and removes them again; everything else remains unchanged.

pub mod git;
mod json;
#[cfg(test)]
mod tests;
mod toml;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::harness::{
    Harness, HarnessProfile, JsonContent, Obstacle, ServerEntry, SettingsContent, SetupOptions,
    SetupScope, Step,
};
use crate::hooks::setup::json::JsonSettings;
use crate::project::{LayoutName, Project};
use crate::storage::{Changes, Storage, Store, read};
use crate::text::word_enum;
use crate::warning::Warning;

/// The options of `annals setup`.
#[derive(Clone, Copy, Debug)]
pub struct SetupRequest {
    /// The harness to set up.
    pub harness: Harness,
    /// The workflow that it was named by, if by one.
    pub workflow: Option<LayoutName>,
    /// The project's settings or the user's.
    pub scope: SetupScope,
    /// Only check whether the settings are up to date.
    pub check: bool,
    /// Remove our entries.
    pub remove: bool,
    /// The options that the user gave; the others keep their current values.
    pub options: SetupOptions,
}

impl SetupRequest {
    /// Returns the command that sets this up in a scope, as it was called.
    fn command(self, scope: SetupScope) -> String {
        let name = self.workflow.map_or(self.harness.as_str(), LayoutName::as_str);
        let flag = if scope == SetupScope::User { " --user" } else { "" };
        format!("setup {name}{flag}")
    }
}

word_enum! {
    /// The outcome for a file.
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
#[derive(Debug, Serialize)]
pub struct SetupFile {
    /// The file, relative to the project if inside it.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
    /// Our entries in this file: the hook commands, the MCP server.
    pub entries: Vec<String>,
}

/// The outcome of `annals setup`. It is the document of `annals setup --json`.
#[derive(Debug, Serialize)]
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
    /// The command that sets it up like this.
    #[serde(skip)]
    command: String,
}

impl SetupReport {
    /// Returns the error of `--check` if a file differs from the desired state.
    pub fn verdict(&self) -> Result<()> {
        let off: Vec<String> = self
            .files
            .iter()
            .filter(|file| file.outcome != FileOutcome::Unchanged)
            .map(|file| file.file.display().to_string())
            .collect();
        if off.is_empty() {
            return Ok(());
        }
        let message = format!("differs from what setup would write: {}", off.join(", "));
        Err(Error::failed(message).hint(format!("annals {}", self.command)))
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
    let operation = request.command(SetupScope::Project);
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
        notes: notes(project, request, options, &files),
        command: request.command(request.scope) + &request.options.flags(),
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
    all.iter()
        .map(|settings| {
            let bytes = read::bytes(&settings.path)?;
            let entries = settings.entries(bytes.as_deref())?;
            Ok((settings, bytes, entries))
        })
        .collect()
}

/// Returns the options with which the files were written.
fn options_of(found: &[Found<'_>]) -> SetupOptions {
    SetupOptions::of(
        &found.iter().flat_map(|(.., entries)| entries.iter().cloned()).collect::<Vec<String>>(),
    )
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
            path.ancestors()
                .skip(1)
                .take_while(|folder| folder.starts_with(&place.folder))
                .try_for_each(|folder| changes.remove_dir(folder))
        }
    }
}

/// Returns the manual steps that remain, and where else the harness is set up.
fn notes(
    project: &Project,
    request: SetupRequest,
    options: SetupOptions,
    files: &[SetupFile],
) -> Vec<String> {
    let profile = request.harness.profile();
    let other = match request.scope {
        SetupScope::Project => SetupScope::User,
        SetupScope::User => SetupScope::Project,
    };
    let is_in_other = is_in(project, request.harness, other);
    let title = &profile.title;
    let mut notes = Vec::new();
    if request.remove {
        if files.iter().all(|file| file.outcome == FileOutcome::Unchanged) {
            let whose = request.scope.whose();
            notes.push(format!(
                "nothing to remove: {title}'s settings for {whose} have no entries of annals"
            ));
        } else if let Some(owner) = owner(project, request)
            && !is_in(project, owner, other)
        {
            let request = SetupRequest { harness: owner, workflow: None, ..request };
            let command = request.command(request.scope);
            let owner = &owner.profile().title;
            notes.push(format!(
                "these were the settings of {owner}, too: annals {command} connects it again"
            ));
        }
        let is_users = request.scope == SetupScope::User;
        notes.extend(profile.after_removal.clone().filter(|_| is_users));
    } else {
        notes.extend(profile.no_breadcrumb.clone().filter(|_| options.breadcrumb == Some(true)));
        let is_meant = |step: &&Step| request.scope.is_meant(step.only_in);
        notes.extend(profile.steps.iter().filter(is_meant).map(|step| step.text.clone()));
    }
    if is_in_other && (request.remove || profile.one_scope_is_enough()) {
        let whose = other.whose();
        notes.push(if request.remove {
            format!("it is set up for {whose}: annals {} --remove ends that", request.command(other))
        } else {
            let [shared, own] = [SetupScope::Project, SetupScope::User].map(|one| request.command(one));
            format!(
                "{title} is set up for {whose} as well, and one is enough: annals {own} --remove drops yours, annals \
                 {shared} --remove the project's, for all who share it"
            )
        });
    }
    notes
}

/// Returns the harness whose settings a request for another one, or for a workflow, writes.
fn owner(project: &Project, request: SetupRequest) -> Option<Harness> {
    let folder =
        |one| HarnessDir::locate(project, one, request.scope).ok().map(|located| located.folder);
    let own = folder(request.harness);
    let owner = Harness::ALL.into_iter().find(|one| folder(*one) == own)?;
    (owner != request.harness || request.workflow.is_some()).then_some(owner)
}

/// Refuses a file that a link places outside the root: it is neither read nor written, so nobody knows what it has.
fn ensure_inside(path: &Path, root: &Path) -> Result<()> {
    let real = path.ancestors().find_map(|path| fs::canonicalize(path).ok());
    match real {
        Some(real) if !fs::canonicalize(root).is_ok_and(|root| real.starts_with(root)) => {
            let message =
                format!("resolves to a path outside {}, so it is not written", root.display());
            let hint = format!("it resolves to {}; add the entries there by hand", real.display());
            Err(Error::refused(message).about(path).hint(hint))
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

/// Returns whether a harness is set up in a scope, as far as its files can be read.
pub(crate) fn is_in(project: &Project, harness: Harness, scope: SetupScope) -> bool {
    setup_state(project, harness, scope).is_ok_and(|state| state != SetupState::Absent)
}

/// Returns what prevents the settings of a harness from working.
pub(crate) fn obstacles(
    project: &Project,
    one: Harness,
    scope: SetupScope,
) -> Result<Vec<Obstacle>> {
    let dir = HarnessDir::locate(project, one, scope)?;
    Ok(one.profile().checks.iter().filter_map(|check| check.obstacle(project, &dir)).collect())
}

/// The entry for our server, as a line of the report.
const SERVER: &str = "MCP server annals: annals mcp";

/// The plugin of opencode, and the first line of each file that is entirely ours.
const PLUGIN: &str = include_str!("../../../templates/opencode/annals.js");
const GENERATED: &str = "// Written by `annals setup`";

/// A settings file.
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) profile: &'static HarnessProfile,
    pub(crate) content: SettingsContent,
}

impl Settings {
    /// Returns the settings files of a harness in a scope.
    pub(crate) fn all(place: &HarnessDir, profile: &'static HarnessProfile) -> Vec<Self> {
        profile
            .files
            .iter()
            .filter(|file| place.scope.is_meant(file.only_in))
            .map(|file| {
                let folder = if file.is_in_project { &place.base } else { &place.folder };
                let mut paths = file.names.iter().map(|name| folder.join(name));
                let path = paths
                    .clone()
                    .find(|path| path.exists())
                    .or_else(|| paths.next())
                    .unwrap_or_default();
                Self { path, profile, content: file.content }
            })
            .collect()
    }

    /// Returns the file with our entries for these options, or without any if there are none; `None` if nothing is left.
    pub(crate) fn edited(
        &self,
        old: Option<&[u8]>,
        options: Option<SetupOptions>,
    ) -> Result<Option<Vec<u8>>> {
        match (self.content, old, options) {
            (_, None, None) => Ok(None),
            (SettingsContent::Json(content), ..) => {
                let json = JsonSettings::parse(old.unwrap_or_default(), self, content)?;
                match options {
                    Some(options) => json.add(options)?,
                    None => json.remove()?,
                }
                Ok(json.into_bytes(old))
            }
            (SettingsContent::Toml, old, options) => {
                toml::edited(old, options.is_some(), &self.path)
            }
            (SettingsContent::Plugin, Some(old), _) if !old.starts_with(GENERATED.as_bytes()) => {
                match options {
                    Some(_) => {
                        Err(Error::refused("is not a file of annals, so it is not replaced")
                            .about(&self.path)
                            .hint("rename it, and run it again"))
                    }
                    None => Ok(Some(old.to_vec())),
                }
            }
            (SettingsContent::Plugin, _, options) => {
                Ok(options.map(|options| plugin(options).into_bytes()))
            }
        }
    }

    /// Adds the hook of a session's start, unless the file already contains one of ours for that event.
    fn with_session_start(&self, old: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let SettingsContent::Json(content) = self.content else {
            return Ok(old.map(<[u8]>::to_vec));
        };
        let json = JsonSettings::parse(old.unwrap_or_default(), self, content)?;
        if let Some(start) = self.profile.hooks.first() {
            let command = self.profile.command(start, SetupOptions::of(&[]));
            json.add_hook(start, &command, false)?;
        }
        Ok(json.into_bytes(old))
    }

    /// Returns our entries in the file, one line each.
    pub(crate) fn entries(&self, bytes: Option<&[u8]>) -> Result<Vec<String>> {
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        match self.content {
            SettingsContent::Json(content) => JsonSettings::parse(bytes, self, content)?.entries(),
            SettingsContent::Toml => Ok(toml::lists_us(bytes, &self.path)?
                .then(|| SERVER.to_owned())
                .into_iter()
                .collect()),
            SettingsContent::Plugin if bytes.starts_with(GENERATED.as_bytes()) => {
                let text = String::from_utf8_lossy(bytes);
                let flags: String = SWITCHES
                    .into_iter()
                    .filter(|(_, other, _)| text.contains(other))
                    .map(|(.., flag)| flag)
                    .collect();
                Ok(vec![format!("plugin (separate file){flags}")])
            }
            SettingsContent::Plugin => Ok(Vec::new()),
        }
    }
}

/// The constants at the start of the plugin, with their defaults, their other values, and the flags for these.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("const NOTEPAD = true;", "const NOTEPAD = false;", " --no-notepad"),
    ("const ENTRIES = true;", "const ENTRIES = false;", " --no-entries"),
    ("const BREADCRUMB = false;", "const BREADCRUMB = true;", " --breadcrumb"),
];

fn plugin(options: SetupOptions) -> String {
    let chosen = [
        options.notepad == Some(false),
        options.entries == Some(false),
        options.breadcrumb == Some(true),
    ];
    SWITCHES
        .into_iter()
        .zip(chosen)
        .filter(|(_, is_other)| *is_other)
        .fold(PLUGIN.to_owned(), |text, ((default, other, _), _)| text.replacen(default, other, 1))
}

/// Returns whether a word is the name or path of our binary.
pub(crate) fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(name.trim_matches('"'), "annals" | "annals.exe")
}

/// Returns a settings file, in TOML or JSON, after adding and removing our entries; `None` if it already contained some of
/// ours. For fuzzing the promise that nothing else changes.
pub fn setup_round_trip(is_toml: bool, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let json = JsonContent { hooks: true, server: Some(ServerEntry::Program) };
    let content = if is_toml { SettingsContent::Toml } else { SettingsContent::Json(json) };
    let profile = Harness::Gemini.profile();
    let settings = Settings { path: "settings".into(), profile, content };
    if !settings.entries(Some(bytes))?.is_empty() {
        return Ok(None);
    }
    let new = settings.edited(Some(bytes), Some(SetupOptions::of(&[])))?;
    settings.edited(new.as_deref(), None)
}

/// The location of a harness's settings.
pub(crate) struct HarnessDir {
    /// Whose settings they are.
    pub(crate) scope: SetupScope,
    /// The harness's own folder, such as `.claude`; it may not exist.
    pub(crate) folder: PathBuf,
    /// The folder that contains the harness's folder: the project; for the user's settings, the folder
    /// itself.
    pub(crate) base: PathBuf,
    /// The folder of the user's own settings; without a home directory, the same as `folder`.
    pub(crate) user_folder: PathBuf,
    /// The storage that writes there.
    pub(crate) storage: Storage,
}

impl HarnessDir {
    /// Returns the location of a harness's settings in a scope.
    pub(crate) fn locate(project: &Project, harness: Harness, scope: SetupScope) -> Result<Self> {
        let (root, home) = (&project.root, project.environment.home());
        let users = home.as_deref().map(|home| user_folder(project, harness, home));
        if scope == SetupScope::Project {
            if home.is_some_and(|home| fs::canonicalize(home).is_ok_and(|home| home == *root)) {
                return Err(Error::refused("the working directory is your home, not a project")
                    .hint("--user sets it up for all projects, -C names one"));
            }
            let folder = root.join(&harness.profile().folder);
            let user_folder = users.unwrap_or_else(|| folder.clone());
            let (base, storage) = (root.clone(), project.storage());
            return Ok(Self { scope, folder, base, user_folder, storage });
        }
        // Without a home directory, this fails.
        let folder = users.unwrap_or_default();
        let storage = project.storage_of_user(&folder)?;
        Ok(Self { scope, base: folder.clone(), user_folder: folder.clone(), folder, storage })
    }
}

fn user_folder(project: &Project, harness: Harness, home: &Path) -> PathBuf {
    let folder = &harness.profile().user_folder;
    let named = folder.variable.as_ref().and_then(|name| project.environment.absolute(name));
    match named {
        Some(named) if folder.below_variable.is_empty() => named,
        Some(named) => named.join(&folder.below_variable),
        None => home.join(&folder.below_home),
    }
}
