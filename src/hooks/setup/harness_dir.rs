//! Locates the settings of a harness, and opens the storage to write them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::Harness;
use crate::hooks::harness::SetupScope;
use crate::project::Project;
use crate::storage::Storage;

/// The location of a harness's settings.
pub(crate) struct HarnessDir {
    /// The harness's own folder, such as `.claude`; it may not exist.
    pub(crate) folder: PathBuf,
    /// The folder that contains the harness's folder: the project; for the user's settings, the folder
    /// itself.
    pub(crate) base: PathBuf,
    /// The storage that writes there.
    pub(crate) storage: Storage,
}

impl HarnessDir {
    /// Returns the location of a harness's settings in a scope.
    pub(crate) fn locate(project: &Project, harness: Harness, scope: SetupScope) -> Result<Self> {
        match scope {
            SetupScope::Project => Self::of_project(project, harness),
            SetupScope::User => Self::of_user(project, harness),
        }
    }

    fn of_project(project: &Project, harness: Harness) -> Result<Self> {
        let home = project.environment.home();
        if home.is_some_and(|home| std::fs::canonicalize(home).is_ok_and(|h| h == project.root)) {
            return Err(Error::refused("the working directory is your home, not a project")
                .hint("--user sets it up for all projects, -C names one"));
        }
        Ok(Self {
            folder: project.root.join(harness.profile().folder),
            base: project.root.clone(),
            storage: project.storage(),
        })
    }

    fn of_user(project: &Project, harness: Harness) -> Result<Self> {
        let home = project.environment.home().unwrap_or_default();
        let folder = user_folder(project, harness, &home);
        let storage = project.storage_of_user(&folder)?;
        Ok(Self { base: folder.clone(), folder, storage })
    }
}

/// Returns the folder of the user's own settings of a harness; `None` without a home directory.
pub(crate) fn user_folder_of(project: &Project, harness: Harness) -> Option<PathBuf> {
    let home = project.environment.home()?;
    Some(user_folder(project, harness, &home))
}

fn user_folder(project: &Project, harness: Harness, home: &Path) -> PathBuf {
    let folder = &harness.profile().user_folder;
    let named = folder.variable.and_then(|name| project.environment.get(name));
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    match named {
        Some(named) if folder.below_variable.is_empty() => named,
        Some(named) => named.join(folder.below_variable),
        None => home.join(folder.below_home),
    }
}
