//! What is to stand in which file of a harness.

use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::setup::config_toml;
use crate::hooks::setup::settings;
use crate::hooks::setup::settings::Entries;

/// A file, and what of ours is to stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is ours in it.
    pub(crate) part: Part,
}

/// What is ours in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Entries in JSON settings.
    Json(Entries),
    /// Our server's table in `config.toml`.
    Toml,
    /// The whole file.
    Whole(String),
}

/// What the harness of a run wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// The files.
    pub(crate) files: Vec<Wish>,
    /// What is left to do by hand once they are written.
    pub(crate) notes: Vec<String>,
}

impl Wish {
    /// Returns the file's bytes with what is ours in them.
    pub(crate) fn with(&self, old: Option<&[u8]>) -> Result<Vec<u8>> {
        let bytes = old.unwrap_or_default();
        match &self.part {
            Part::Json(entries) => settings::with(bytes, &self.path, entries),
            Part::Toml => config_toml::with(bytes, &self.path),
            Part::Whole(text) if old.is_none_or(is_generated) => Ok(text.clone().into_bytes()),
            Part::Whole(_) => Err(foreign(&self.path)),
        }
    }

    /// Returns the file's bytes without what is ours; nothing where the file was only ours.
    pub(crate) fn without(&self, old: &[u8], before: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        match &self.part {
            Part::Json(entries) => settings::without(old, &self.path, entries.server, before),
            Part::Toml => config_toml::without(old, &self.path, before),
            Part::Whole(_) if is_generated(old) => Ok(None),
            Part::Whole(_) => Ok(Some(old.to_vec())),
        }
    }

    /// Says whether the file is ours alone, so that there is nothing of others to keep a copy of.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.part, Part::Whole(_))
    }

    /// Returns what of ours is for this file, one line each.
    pub(crate) fn entries(&self) -> Vec<String> {
        const SERVER: &str = "MCP server annals: annals mcp";
        match &self.part {
            Part::Json(entries) => {
                let hooks = entries.hooks.iter();
                let hooks = hooks.map(|hook| format!("{}: {}", hook.event, hook.command));
                let server = entries.server.map(|_| SERVER.to_owned());
                hooks.chain(server).collect()
            }
            Part::Toml => vec![SERVER.to_owned()],
            Part::Whole(_) => vec!["the plugin, a file of its own".to_owned()],
        }
    }
}

/// The line that each file of ours alone starts with.
const GENERATED: &str = "// Written by `annals setup`";

fn is_generated(bytes: &[u8]) -> bool {
    bytes.starts_with(GENERATED.as_bytes())
}

fn foreign(path: &Path) -> Error {
    Error::refused("is not a file of annals, so it is not replaced")
        .at(path, None)
        .hint("rename it, and run it again")
}
