//! Where the entries, their index, their log and the notepad lie.

use std::path::Path;
use std::path::PathBuf;

use crate::project::Project;

/// The folder of the knowledge entries and the notepad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    /// Returns the folder of a project, whether it is there or not.
    pub fn of(project: &Project) -> Self {
        Self {
            root: project.root.join(&project.settings.store),
        }
    }

    /// Returns the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder with a file for each entry.
    pub fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }

    /// Returns the generated list of all entries.
    pub fn index(&self) -> PathBuf {
        self.memory().join("INDEX.md")
    }

    /// Returns the chronicle of all writes.
    pub fn log(&self) -> PathBuf {
        self.memory().join("log.md")
    }

    /// Returns the notepad.
    pub fn notepad(&self) -> PathBuf {
        self.root.join("notepad.md")
    }
}
