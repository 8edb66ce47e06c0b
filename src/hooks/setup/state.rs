//! Determines the state of a harness's settings: which of our entries exist, and whether they are current.

use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::harness::{HarnessFiles, Obstacle, SetupOptions, SetupScope};
use crate::hooks::setup::harness_dir::{HarnessDir, user_folder_of};
use crate::hooks::setup::target::TargetFile;
use crate::project::Project;
use crate::storage::read;

/// The state of a harness's settings in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupState {
    /// The settings contain no entries of annals.
    Absent,
    /// All entries are current, for one combination of options.
    Current,
    /// There are entries of ours, but not all are current.
    Partial,
}

/// Returns the state of a harness's settings in a scope.
pub fn setup_state(project: &Project, harness: Harness, scope: SetupScope) -> Result<SetupState> {
    let place = HarnessDir::locate(project, harness, scope)?;
    let targets = TargetFile::all(&place, harness.profile(), scope);
    if is_current(&targets)? {
        return Ok(SetupState::Current);
    }
    for target in &targets {
        if let Some(bytes) = read::bytes(&target.path)?
            && target.is_in(&bytes)?
        {
            return Ok(SetupState::Partial);
        }
    }
    Ok(SetupState::Absent)
}

/// Returns whether a harness is set up for both the project and the user, as far as its files can be read.
pub(crate) fn is_in_both_scopes(project: &Project, harness: Harness) -> bool {
    [SetupScope::Project, SetupScope::User].into_iter().all(|scope| {
        let state = setup_state(project, harness, scope);
        state.is_ok_and(|state| state != SetupState::Absent)
    })
}

/// Returns whether all files are current, for one combination of options.
fn is_current(targets: &[TargetFile]) -> Result<bool> {
    let mut files = Vec::new();
    for target in targets {
        files.push((target, read::bytes(&target.path)?));
    }
    for options in SetupOptions::ALL {
        let mut is_current = true;
        for (target, old) in &files {
            let new = target.with(old.as_deref(), options)?;
            is_current &= old.as_deref() == Some(&new);
        }
        if is_current {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns what prevents the settings of a harness from working.
pub fn obstacles(project: &Project, harness: Harness, scope: SetupScope) -> Result<Vec<Obstacle>> {
    let place = HarnessDir::locate(project, harness, scope)?;
    let user_folder = user_folder_of(project, harness);
    let files = HarnessFiles {
        project,
        scope,
        user_folder: user_folder.unwrap_or_else(|| place.folder.clone()),
        folder: place.folder,
        base: place.base,
    };
    Ok((harness.profile().obstacles)(&files))
}
