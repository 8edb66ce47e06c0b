//! A settings file of one harness, and the entries of ours that belong in it.

use std::path::PathBuf;

use crate::error::Result;
use crate::hooks::harness::{
    HarnessProfile, JsonDialect, SettingsContent, SetupOptions, SetupScope,
};
use crate::hooks::setup::harness_dir::HarnessDir;
use crate::hooks::setup::report::not_replaced;
use crate::hooks::setup::settings::{SERVER, SettingsEntries};
use crate::hooks::setup::toml;

/// A settings file, and the entries of ours that belong in it.
#[derive(Clone)]
pub(crate) struct TargetFile {
    /// The file.
    pub(crate) path: PathBuf,
    profile: &'static HarnessProfile,
    content: SettingsContent,
}

impl TargetFile {
    /// Returns the settings files of a harness in a scope.
    pub(crate) fn all(
        place: &HarnessDir,
        profile: &'static HarnessProfile,
        scope: SetupScope,
    ) -> Vec<Self> {
        let files = profile.files.iter().filter(|file| (file.is_in)(scope));
        let targets = files.map(|file| {
            let folder = if file.is_in_project { &place.base } else { &place.folder };
            let mut paths = file.names.iter().map(|name| folder.join(name));
            let there = paths.clone().find(|path| path.exists());
            let path = there.or_else(|| paths.next()).unwrap_or_default();
            Self::new(path, profile, file.content)
        });
        targets.collect()
    }

    /// Creates a target file.
    pub(crate) fn new(
        path: PathBuf,
        profile: &'static HarnessProfile,
        content: SettingsContent,
    ) -> Self {
        Self { path, profile, content }
    }

    /// Returns the file's content with our entries.
    pub(crate) fn with(&self, old: Option<&[u8]>, options: SetupOptions) -> Result<Vec<u8>> {
        let bytes = old.unwrap_or_default();
        match self.content {
            SettingsContent::Json { .. } => self.entries_of_json().with(bytes, &self.path, options),
            SettingsContent::Toml => toml::with(bytes, &self.path),
            SettingsContent::Plugin(text) if old.is_none_or(is_generated) => {
                Ok(plugin(text, options).into_bytes())
            }
            SettingsContent::Plugin(_) => Err(not_replaced(&self.path, "a file of annals")),
        }
    }

    /// Returns the file's content without our entries; `None` if the file contained only ours.
    ///
    /// `before` is its content before setup, which is restored if nothing has changed since.
    pub(crate) fn without(&self, old: &[u8], before: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        if self.is_as_written(old, before) {
            return Ok(before.map(<[u8]>::to_vec));
        }
        self.without_entries(old, before)
    }

    fn without_entries(&self, old: &[u8], before: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        match self.content {
            SettingsContent::Json { .. } => self.entries_of_json().without(old, &self.path, before),
            SettingsContent::Toml => toml::without(old, &self.path, before),
            SettingsContent::Plugin(_) if is_generated(old) => Ok(None),
            SettingsContent::Plugin(_) => Ok(Some(old.to_vec())),
        }
    }

    /// Returns the options with which the file was written, as far as it shows; else the default.
    pub(crate) fn chosen(&self, bytes: &[u8]) -> Result<SetupOptions> {
        match self.content {
            SettingsContent::Json { .. } => self.entries_of_json().chosen(bytes, &self.path),
            SettingsContent::Plugin(text) if is_generated(bytes) => {
                let found = String::from_utf8_lossy(bytes);
                let is_it = |options: &SetupOptions| {
                    let wanted = plugin(text, *options);
                    SWITCHES.iter().all(|name| switch(&wanted, name) == switch(&found, name))
                };
                let mut all = SetupOptions::ALL.into_iter();
                Ok(all.find(is_it).unwrap_or(SetupOptions::DEFAULT))
            }
            SettingsContent::Toml | SettingsContent::Plugin(_) => Ok(SetupOptions::DEFAULT),
        }
    }

    /// Returns our entries in the file, one line each.
    pub(crate) fn installed_entries(&self, bytes: &[u8]) -> Result<Vec<String>> {
        match self.content {
            SettingsContent::Json { .. } => {
                self.entries_of_json().installed_entries(bytes, &self.path)
            }
            SettingsContent::Toml if self.is_in(bytes)? => Ok(vec![SERVER.to_owned()]),
            SettingsContent::Plugin(_) if self.is_in(bytes)? => Ok(vec![PLUGIN.to_owned()]),
            SettingsContent::Toml | SettingsContent::Plugin(_) => Ok(Vec::new()),
        }
    }

    /// Returns whether the file contains entries of ours.
    pub(crate) fn is_in(&self, old: &[u8]) -> Result<bool> {
        Ok(self.without_entries(old, None)?.as_deref() != Some(old))
    }

    /// Returns whether a file is unchanged since we wrote it; `before` is its content before.
    pub(crate) fn is_as_written(&self, old: &[u8], before: Option<&[u8]>) -> bool {
        let is_it = |options| self.with(before, options).is_ok_and(|new| new == old);
        SetupOptions::ALL.into_iter().any(is_it)
    }

    /// Returns whether annals writes the whole file, so that there is nothing else to back up.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.content, SettingsContent::Plugin(_))
    }

    /// Returns the entries of ours that belong in this file, one line each.
    pub(crate) fn entries(&self, options: SetupOptions) -> Vec<String> {
        match self.content {
            SettingsContent::Json { hooks, server, .. } => {
                let wanted = self.profile.wanted_hooks(options);
                let wanted = wanted.into_iter().filter(|_| hooks);
                let hooks = wanted.map(|hook| {
                    let command = self.profile.command(hook, options);
                    format!("{}: {command}", hook.event)
                });
                let server = server.map(|_| SERVER.to_owned());
                hooks.chain(server).collect()
            }
            SettingsContent::Toml => vec![SERVER.to_owned()],
            SettingsContent::Plugin(_) => vec![PLUGIN.to_owned()],
        }
    }

    /// Returns the JSON entries; an empty set for other formats.
    pub(crate) fn entries_of_json(&self) -> SettingsEntries {
        let (hooks, server, dialect) = match self.content {
            SettingsContent::Json { hooks, server, dialect } => (hooks, server, dialect),
            _ => (false, None, JsonDialect::default()),
        };
        SettingsEntries { profile: self.profile, hooks, server, dialect }
    }
}

const PLUGIN: &str = "plugin (separate file)";

/// The constants at the start of the plugin.
const SWITCHES: [&str; 2] = ["NOTEPAD", "BREADCRUMB"];

/// Returns the value of a constant of the plugin.
fn switch<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("const {name} = "))?;
    rest.split_once(';').map(|(value, _)| value)
}

/// Returns the plugin with the options set in the two constants at its start.
fn plugin(text: &str, options: SetupOptions) -> String {
    let chosen = |text: &str, name: &str, default: bool, chosen: bool| {
        let (old, new) = (format!("{name} = {default};"), format!("{name} = {chosen};"));
        text.replacen(&old, &new, 1)
    };
    let text = chosen(text, "NOTEPAD", true, options.notepad);
    chosen(&text, "BREADCRUMB", false, options.breadcrumb)
}

/// The first line of each file that is entirely ours.
const GENERATED: &str = "// Written by `annals setup`";

fn is_generated(bytes: &[u8]) -> bool {
    bytes.starts_with(GENERATED.as_bytes())
}
