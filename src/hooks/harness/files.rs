//! Inspects a harness's own files: has it disabled what `setup` wrote, or not approved it yet?

use std::path::{Path, PathBuf};

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use crate::hooks::harness::SetupScope;
use crate::project::Project;
use crate::storage::read;

/// Something that prevents our settings from working, or will at the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// A description of the problem.
    pub message: String,
    /// What to do about it.
    pub next: String,
    /// Whether it was decided; a pending approval is requested by the harness at its next start.
    pub is_decided: bool,
}

impl Obstacle {
    /// Creates an obstacle that the harness or its user decided on.
    pub(crate) fn decided(message: String, next: &str) -> Self {
        Self { message, next: next.to_owned(), is_decided: true }
    }

    /// Creates an obstacle that is still undecided.
    pub(crate) fn pending(message: String, next: &str) -> Self {
        Self { is_decided: false, ..Self::decided(message, next) }
    }
}

/// The paths of a harness's files in one scope.
pub(crate) struct HarnessFiles<'a> {
    pub(crate) project: &'a Project,
    pub(crate) scope: SetupScope,
    /// The harness's folder in this scope.
    pub(crate) folder: PathBuf,
    /// The parent of the harness's folder, or the folder itself for the user's own settings.
    pub(crate) base: PathBuf,
    /// The folder of the user's own settings.
    pub(crate) user_folder: PathBuf,
}

impl HarnessFiles<'_> {
    /// Returns a file's JSON, or `None` if it is missing or unreadable, because this is only an inspection.
    pub(crate) fn json(path: &Path) -> Option<Value> {
        let text = read::text(path).ok().flatten()?.value;
        parse_to_serde_value(&text, &ParseOptions::default()).ok()
    }

    /// Returns a file's TOML, or `None` if it is missing or unreadable.
    pub(crate) fn toml(path: &Path) -> Option<toml::Table> {
        let text = read::text(path).ok().flatten()?.value;
        text.parse().ok()
    }

    /// Returns the JSON of a harness's state file, which is in the user's folder or in the home directory.
    pub(crate) fn user_state(&self, name: &str) -> Option<Value> {
        let home = self.project.environment.home();
        let beside = home.map(|home| home.join(name));
        let inside = self.user_folder.join(name);
        Self::json(&inside).or_else(|| Self::json(&beside?))
    }

    /// Returns the settings that apply in this scope, the user's own first, and the display name of each
    /// file.
    pub(crate) fn settings(&self) -> Vec<(Value, String)> {
        let own = (self.scope == SetupScope::Project).then_some(&self.folder);
        let folders = [&self.user_folder].into_iter().chain(own);
        let files = folders.map(|folder| folder.join("settings.json"));
        files.filter_map(|file| Some((Self::json(&file)?, self.relative_name(&file)))).collect()
    }

    /// Returns an obstacle if the settings of Gemini CLI or a fork exclude our server, or do not allow it.
    pub(crate) fn server_exclusion(settings: &Value, shown: &str) -> Option<Obstacle> {
        let lists = |name: &str| {
            let list = settings["mcp"][name].as_array()?;
            Some(list.iter().any(|one| one == "annals"))
        };
        let is_excluded = lists("excluded") == Some(true) || lists("allowed") == Some(false);
        let what = || format!("{shown} does not allow the MCP server annals");
        is_excluded.then(|| Obstacle::decided(what(), "see mcp.allowed and mcp.excluded there"))
    }

    /// Returns whether the user trusts the project's folder or a parent of it, according to Gemini CLI and
    /// its forks.
    pub(crate) fn is_trusted(&self) -> bool {
        let folders = Self::json(&self.user_folder.join("trustedFolders.json")).unwrap_or_default();
        let folders = folders.as_object().into_iter().flatten();
        let mut trusted = folders.filter(|(_, trust)| *trust != "DO_NOT_TRUST");
        trusted.any(|(folder, _)| self.project.root.starts_with(folder))
    }

    /// Returns the project's folder as harnesses write it.
    pub(crate) fn project_name(&self) -> String {
        self.project.root.display().to_string()
    }

    /// Returns a file's name as displayed in messages.
    pub(crate) fn relative_name(&self, path: &Path) -> String {
        self.project.relative(path).display().to_string()
    }
}
