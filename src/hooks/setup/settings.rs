//! A settings file of one harness, and the entries of ours that belong in it.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::Harness;
use crate::hooks::harness::{
    HarnessProfile, JsonContent, ServerEntry, SettingsContent, SetupOptions, SetupScope,
};
use crate::hooks::setup::json::JsonSettings;
use crate::hooks::setup::toml;
use crate::project::Project;
use crate::storage::Storage;

/// The entry for our server, as a line of the report.
pub(crate) const SERVER: &str = "MCP server annals: annals mcp";

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
        let files = profile.files.iter();
        let files = files.filter(|file| file.only_in.is_none_or(|only| only == place.scope));
        let settings = files.map(|file| {
            let folder = if file.is_in_project { &place.base } else { &place.folder };
            let mut paths = file.names.iter().map(|name| folder.join(name));
            let there = paths.clone().find(|path| path.exists());
            let path = there.or_else(|| paths.next()).unwrap_or_default();
            Self { path, profile, content: file.content }
        });
        settings.collect()
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
                    Some(options) => json.add(self.profile, options)?,
                    None => json.remove(self.profile)?,
                }
                Ok(json.into_bytes(old))
            }
            (SettingsContent::Toml, old, options) => {
                toml::edited(old, options.is_some(), &self.path)
            }
            (SettingsContent::Plugin, Some(old), _) if !old.starts_with(GENERATED.as_bytes()) => {
                match options {
                    Some(_) => Err(not_replaced(&self.path, "a file of annals")),
                    None => Ok(Some(old.to_vec())),
                }
            }
            (SettingsContent::Plugin, _, options) => {
                Ok(options.map(|options| plugin(options).into_bytes()))
            }
        }
    }

    /// Adds the hook of a session's start, unless the file already contains one of ours for that event.
    pub(crate) fn with_session_start(&self, old: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let SettingsContent::Json(content) = self.content else {
            return Ok(old.map(<[u8]>::to_vec));
        };
        let json = JsonSettings::parse(old.unwrap_or_default(), self, content)?;
        if let Some(start) = self.profile.hooks.first() {
            let command = self.profile.command(start, SetupOptions::of(&[]));
            json.add_hook(self.profile, start, &command, false)?;
        }
        Ok(json.into_bytes(old))
    }

    /// Returns our entries in the file, one line each.
    pub(crate) fn entries(&self, bytes: Option<&[u8]>) -> Result<Vec<String>> {
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        match self.content {
            SettingsContent::Json(content) => {
                JsonSettings::parse(bytes, self, content)?.entries(self.profile)
            }
            SettingsContent::Toml => {
                let is_there = toml::lists_us(bytes, &self.path)?;
                Ok(is_there.then(|| SERVER.to_owned()).into_iter().collect())
            }
            SettingsContent::Plugin if bytes.starts_with(GENERATED.as_bytes()) => {
                let text = String::from_utf8_lossy(bytes);
                let flags = SWITCHES.into_iter().filter(|(_, other, _)| text.contains(other));
                let flags: String = flags.map(|(.., flag)| flag).collect();
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
    let switches = SWITCHES.into_iter().zip(chosen).filter(|(_, is_other)| *is_other);
    switches
        .fold(PLUGIN.to_owned(), |text, ((default, other, _), _)| text.replacen(default, other, 1))
}

/// Returns the error for a file that setup would replace if it were `what`.
pub(crate) fn not_replaced(path: &Path, what: &str) -> Error {
    Error::refused(format!("is not {what}, so it is not replaced"))
        .at(path, None)
        .hint("rename it, and run it again")
}

/// Returns whether a word is the name or path of our binary.
pub(crate) fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(name.trim_matches('"'), "annals" | "annals.exe")
}

/// A format of settings files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsForm {
    /// JSON, as in Gemini CLI: hooks and a server in one file.
    Json,
    /// TOML, as in Codex: a server in a table.
    Toml,
}

/// Returns a settings file after adding and removing our entries; `None` if it already contained some of ours. For
/// fuzzing the promise that nothing else changes.
pub fn setup_round_trip(form: SettingsForm, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let content = match form {
        SettingsForm::Json => {
            SettingsContent::Json(JsonContent { hooks: true, server: Some(ServerEntry::Program) })
        }
        SettingsForm::Toml => SettingsContent::Toml,
    };
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
            if home.is_some_and(|home| std::fs::canonicalize(home).is_ok_and(|home| home == *root))
            {
                return Err(Error::refused("the working directory is your home, not a project")
                    .hint("--user sets it up for all projects, -C names one"));
            }
            let folder = root.join(&harness.profile().folder);
            let user_folder = users.unwrap_or_else(|| folder.clone());
            let (base, storage) = (root.clone(), project.storage());
            return Ok(Self { scope, folder, base, user_folder, storage });
        }
        let unknown = || {
            Error::failed("HOME is not set to an absolute path, so your settings cannot be located")
        };
        let folder = users.ok_or_else(unknown)?;
        let storage = project.storage_of_user(&folder)?;
        Ok(Self { scope, base: folder.clone(), user_folder: folder.clone(), folder, storage })
    }
}

fn user_folder(project: &Project, harness: Harness, home: &Path) -> PathBuf {
    let folder = &harness.profile().user_folder;
    let named = folder.variable.as_ref().and_then(|name| project.environment.get(name));
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    match named {
        Some(named) if folder.below_variable.is_empty() => named,
        Some(named) => named.join(&folder.below_variable),
        None => home.join(&folder.below_home),
    }
}
