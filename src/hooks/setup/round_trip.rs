//! Applies and removes our entries in a settings file, for fuzzing the promise that nothing else changes.

use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::harness::{JsonDialect, ServerEntry, SettingsContent, SetupOptions};
use crate::hooks::setup::target::TargetFile;

/// A format of settings files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsForm {
    /// JSON, as in Gemini CLI: hooks and a server in one file.
    Json,
    /// TOML, as in Codex: a server in a table.
    Toml,
}

/// Returns a settings file after adding and removing our entries; `None` if it already contained some of
/// ours.
pub fn setup_round_trip(form: SettingsForm, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let content = match form {
        SettingsForm::Json => SettingsContent::Json {
            hooks: true,
            server: Some(ServerEntry::Program),
            dialect: JsonDialect { comments: true, trailing_commas: true },
        },
        SettingsForm::Toml => SettingsContent::Toml,
    };
    let target = TargetFile::new("settings".into(), Harness::Gemini.profile(), content);
    if target.is_in(bytes)? {
        return Ok(None);
    }
    let new = target.with(Some(bytes), SetupOptions::ALL[1])?;
    // A line added by another program forces the entries to be removed one by one.
    let edited = [&new[..], b"\n"].concat();
    target.without(&edited, None)?;
    target.without(&new, Some(bytes))
}
