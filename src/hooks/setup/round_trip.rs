//! What setting up and taking away again leaves of a settings file: the promise that fuzzing puts to the test.

use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::harness::Choice;
use crate::hooks::harness::JsonDialect;
use crate::hooks::harness::ServerEntry;
use crate::hooks::harness::SettingsContent;
use crate::hooks::setup::target::TargetFile;

/// How a harness writes its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsForm {
    /// As Gemini CLI does: hooks and a server in one file.
    Json,
    /// As Codex does: a server in a table.
    Toml,
}

/// Returns a settings file after our entries went in and out; nothing where it held some of ours before.
pub fn set_up_and_removed(form: SettingsForm, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let content = match form {
        SettingsForm::Json => SettingsContent::Json {
            hooks: true,
            server: Some(ServerEntry::Program),
            dialect: JsonDialect {
                comments: true,
                trailing_commas: true,
            },
        },
        SettingsForm::Toml => SettingsContent::Toml,
    };
    let target = TargetFile::new("settings".into(), Harness::Gemini.profile(), content);
    if target.is_in(bytes)? {
        return Ok(None);
    }
    let new = target.with(Some(bytes), Choice::ALL[1])?;
    // As if another program had added a line, so that our entries are cut out again.
    let edited = [&new[..], b"\n"].concat();
    target.without(&edited, None)?;
    target.without(&new, Some(bytes))
}
