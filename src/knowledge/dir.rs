//! Defines the paths of the entries, their index, their log and the notepad.

use std::path::{Path, PathBuf};

use crate::project::Project;
use crate::storage::listing;

/// The name of the folder of the entry files.
pub(crate) const ENTRIES: &str = "memory";

/// The folder of the entries and the notepad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnowledgeDir {
    root: PathBuf,
}

impl KnowledgeDir {
    /// Returns the folder of a project, which may not exist yet.
    pub fn in_project(project: &Project) -> Self {
        Self { root: project.root.join(&project.settings.store) }
    }

    /// Returns the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the entry files.
    pub fn memory(&self) -> PathBuf {
        self.root.join(ENTRIES)
    }

    /// Returns the file of an entry, which may not exist yet.
    pub fn entry(&self, key: &str) -> PathBuf {
        self.memory().join(format!("{key}.md"))
    }

    /// Returns the keys of all existing entries.
    pub(crate) fn keys(&self) -> Vec<String> {
        let files = listing::entries(&self.memory()).unwrap_or_default();
        let keys = files.iter().filter_map(|(name, _)| stem(name));
        keys.map(str::to_owned).collect()
    }

    /// Returns the generated list of all entries.
    pub fn index(&self) -> PathBuf {
        self.memory().join("INDEX.md")
    }

    /// Returns the log of all writes.
    pub fn log(&self) -> PathBuf {
        self.memory().join("log.md")
    }

    /// Returns the notepad.
    pub fn notepad(&self) -> PathBuf {
        self.root.join("notepad.md")
    }
}

/// Returns the key of an entry file; `None` for INDEX.md, log.md and hidden files.
pub(crate) fn stem(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".md")?;
    let is_own = name == "INDEX.md" || name == "log.md" || name.starts_with('.');
    (!is_own).then_some(stem)
}
