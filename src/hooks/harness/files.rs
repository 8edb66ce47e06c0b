//! A look at a harness's own files: has it disabled what `setup` wrote, or not approved it yet?

use std::path::Path;
use std::path::PathBuf;

use jsonc_parser::ParseOptions;
use jsonc_parser::parse_to_serde_value;
use serde_json::Value;

use crate::hooks::harness::SetupScope;
use crate::project::Project;
use crate::storage::read;

/// What keeps settings of ours from working, or will at the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What there is.
    pub message: String,
    /// What to do.
    pub next: String,
    /// Whether it was decided; an approval that is still open is asked for at the next start.
    pub is_decided: bool,
}

impl Obstacle {
    /// Returns what the harness or its user decided.
    pub(crate) fn stop(message: String, next: &str) -> Self {
        Self {
            message,
            next: next.to_owned(),
            is_decided: true,
        }
    }

    /// Returns what is still open.
    pub(crate) fn open(message: String, next: &str) -> Self {
        Self {
            is_decided: false,
            ..Self::stop(message, next)
        }
    }
}

/// Where a harness keeps its files, for one scope.
pub(crate) struct HarnessFiles<'a> {
    pub(crate) project: &'a Project,
    pub(crate) scope: SetupScope,
    /// The harness's folder in this scope.
    pub(crate) folder: PathBuf,
    /// The folder that the harness's folder lies in, or the folder itself for the user's own settings.
    pub(crate) base: PathBuf,
    /// The folder of the user's own settings.
    pub(crate) user_folder: PathBuf,
}

impl HarnessFiles<'_> {
    /// Returns a file's JSON, or `None` if there is none, because this only looks.
    pub(crate) fn json(path: &Path) -> Option<Value> {
        let text = read::text(path).ok().flatten()?.value;
        parse_to_serde_value(&text, &ParseOptions::default()).ok()
    }

    /// Returns a file's TOML, or `None` if there is none.
    pub(crate) fn toml(path: &Path) -> Option<toml::Table> {
        let text = read::text(path).ok().flatten()?.value;
        text.parse().ok()
    }

    /// Returns the JSON of a file beside the user's own folder: a harness keeps its state there.
    pub(crate) fn user_state(&self, name: &str) -> Option<Value> {
        let home = self.project.environment.home();
        let beside = home.map(|home| home.join(name));
        let inside = self.user_folder.join(name);
        Self::json(&inside).or_else(|| Self::json(&beside?))
    }

    /// Returns the settings that count in this scope, the user's own first, and how a message names each file.
    pub(crate) fn settings(&self) -> Vec<(Value, String)> {
        let own = (self.scope == SetupScope::Project).then_some(&self.folder);
        let folders = [&self.user_folder].into_iter().chain(own);
        let files = folders.map(|folder| folder.join("settings.json"));
        files
            .filter_map(|file| Some((Self::json(&file)?, self.relative_name(&file))))
            .collect()
    }

    /// Returns the lists that shut our server out, in the settings of Gemini CLI and its forks.
    pub(crate) fn shut_out(settings: &Value, shown: &str) -> Option<Obstacle> {
        let lists = |name: &str| {
            let list = settings["mcp"][name].as_array()?;
            Some(list.iter().any(|one| one == "annals"))
        };
        let is_shut_out = lists("excluded") == Some(true) || lists("allowed") == Some(false);
        let what = || format!("{shown} does not allow the MCP server annals");
        is_shut_out.then(|| Obstacle::stop(what(), "see mcp.allowed and mcp.excluded there"))
    }

    /// Returns whether the user trusts the project's folder, or one that it lies in, as Gemini CLI and its forks note it.
    pub(crate) fn is_trusted(&self) -> bool {
        let folders = Self::json(&self.user_folder.join("trustedFolders.json")).unwrap_or_default();
        let folders = folders.as_object().into_iter().flatten();
        let mut trusted = folders.filter(|(_, trust)| *trust != "DO_NOT_TRUST");
        trusted.any(|(folder, _)| self.project.root.starts_with(folder))
    }

    /// Returns the project's folder as a harness names it.
    pub(crate) fn project_name(&self) -> String {
        self.project.root.display().to_string()
    }

    /// Returns a file as it is named in a message.
    pub(crate) fn relative_name(&self, path: &Path) -> String {
        self.project.relative(path).display().to_string()
    }
}
