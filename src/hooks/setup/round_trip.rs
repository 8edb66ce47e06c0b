//! What setting up and taking away again leaves of a settings file: the promise that fuzzing puts to the test.

use std::path::Path;

use crate::error::Result;
use crate::hooks::setup::claude;
use crate::hooks::setup::config_toml;
use crate::hooks::setup::server::Server;
use crate::hooks::setup::settings;
use crate::hooks::setup::settings::Entries;

/// How a harness writes its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As Claude Code does: hooks and a server in one file.
    Json,
    /// As Codex does: a server in a table.
    Toml,
}

/// Returns a settings file after our entries went in and out; nothing where it held some of ours before.
pub fn set_up_and_removed(form: Form, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let path = Path::new("settings");
    let without = |bytes: &[u8], before: Option<&[u8]>| match form {
        Form::Json => settings::without(bytes, path, Some(Server::Program), before),
        Form::Toml => config_toml::without(bytes, path, before),
    };
    if without(bytes, None)?.as_deref() != Some(bytes) {
        return Ok(None);
    }
    let new = match form {
        Form::Json => {
            let entries = Entries {
                hooks: claude::hooks(true, true),
                server: Some(Server::Program),
            };
            settings::with(bytes, path, &entries)?
        }
        Form::Toml => config_toml::with(bytes, path)?,
    };
    without(&new, Some(bytes))
}
