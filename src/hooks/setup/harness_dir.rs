//! Locates the settings of a harness, and opens the storage to write them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::Harness;
use crate::hooks::harness::SetupScope;
use crate::project::Project;
use crate::storage::Storage;

/// The location of a harness's settings.
pub(crate) struct HarnessDir {
    /// Whose settings they are.
    pub(crate) scope: SetupScope,
    /// The harness's own folder, such as `.claude`; it may not exist.
    pub(crate) folder: PathBuf,
    /// The folder that contains the harness's folder: the project; for the user's settings, the folder
    /// itself.
    pub(crate) base: PathBuf,
    /// The folder of the user's own settings; without a home directory, the same as `folder`.
    pub(crate) user_folder: PathBuf,
    /// The storage that writes there.
    pub(crate) storage: Storage,
}

impl HarnessDir {
    /// Returns the location of a harness's settings in a scope.
    pub(crate) fn locate(project: &Project, harness: Harness, scope: SetupScope) -> Result<Self> {
        let (root, home) = (&project.root, project.environment.home());
        let users = home.as_deref().map(|home| user_folder(project, harness, home));
        if scope == SetupScope::Project {
            if home.is_some_and(|home| std::fs::canonicalize(home).is_ok_and(|home| home == *root))
            {
                return Err(Error::refused("the working directory is your home, not a project")
                    .hint("--user sets it up for all projects, -C names one"));
            }
            let folder = root.join(&harness.profile().folder);
            let user_folder = users.unwrap_or_else(|| folder.clone());
            let (base, storage) = (root.clone(), project.storage());
            return Ok(Self { scope, folder, base, user_folder, storage });
        }
        let unknown = || {
            Error::failed("HOME is not set to an absolute path, so your settings cannot be located")
        };
        let folder = users.ok_or_else(unknown)?;
        let storage = project.storage_of_user(&folder)?;
        Ok(Self { scope, base: folder.clone(), user_folder: folder.clone(), folder, storage })
    }
}

fn user_folder(project: &Project, harness: Harness, home: &Path) -> PathBuf {
    let folder = &harness.profile().user_folder;
    let named = folder.variable.as_ref().and_then(|name| project.environment.get(name));
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    match named {
        Some(named) if folder.below_variable.is_empty() => named,
        Some(named) => named.join(&folder.below_variable),
        None => home.join(&folder.below_home),
    }
}
