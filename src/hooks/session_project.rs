//! Finds the project of a session.

use std::path::PathBuf;

use crate::context;
use crate::error::Result;
use crate::hooks::Harness;
use crate::hooks::input::Input;
use crate::project::{OpenRequest, Project};

/// Opens the project of a session: of its working directory, else the one that its harness specifies.
///
/// Returns `None` if none of them has a memory.
pub(crate) fn open(request: &OpenRequest, input: &Input) -> Result<Option<Project>> {
    let folders = if request.project.is_some() {
        vec![request.directory.clone()]
    } else {
        let variables = Harness::ALL.map(|harness| harness.profile().project_variable);
        let named = variables.into_iter().flatten().map(|variable| {
            let folder = request.environment.get(variable);
            folder.map(PathBuf::from)
        });
        let all = [input.cwd()].into_iter().chain(named);
        let mut all: Vec<PathBuf> = all.flatten().filter(|folder| folder.is_dir()).collect();
        all.push(request.directory.clone());
        all.dedup();
        all
    };
    for directory in folders {
        let project = Project::open(OpenRequest { directory, ..request.clone() })?;
        if context::has_memory(&project) {
            return Ok(Some(project));
        }
    }
    Ok(None)
}
