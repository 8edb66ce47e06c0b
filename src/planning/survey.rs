//! Everything a planning folder says of its active milestone, read once.

use std::path::Path;
use std::path::PathBuf;

use crate::error::Result;
use crate::planning::Evidence;
use crate::planning::Folder;
use crate::planning::Position;
use crate::planning::ProjectFile;
use crate::planning::Roadmap;
use crate::planning::State;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::planning::phases;
use crate::project::Planning;
use crate::project::Project;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// The active milestone as its files describe it.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The names in the folder.
    pub folder: Folder,
    /// PROJECT.md; empty where there is none.
    pub project_file: ProjectFile,
    /// STATE.md; empty where there is none.
    pub state: State,
    /// ROADMAP.md; empty where there is none.
    pub roadmap: Roadmap,
    /// Whether there is a STATE.md.
    pub has_state: bool,
    /// Where the work stands.
    pub position: Position,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

impl Survey {
    /// Reads STATE, ROADMAP, PROJECT, all file names, and what each summary says of its status.
    pub fn take(project: &Project) -> Result<Self> {
        let planning: &Planning = project.planning()?;
        let mut warnings = Vec::new();
        let folder = Folder::read(&planning.dir)?.into_value(&mut warnings);
        let home = &folder.active.dir;
        let state = document(&home.join("STATE.md"), State::parse, &mut warnings)?;
        let roadmap = document(&home.join("ROADMAP.md"), Roadmap::parse, &mut warnings)?;
        let project_file = document(&planning.dir.join("PROJECT.md"), ProjectFile::parse, &mut warnings)?;
        let has_state = state.is_some();
        let (state, roadmap) = (state.unwrap_or_default(), roadmap.unwrap_or_default());
        let mut status_of = |path: PathBuf| summary_status(&path, &mut warnings);
        let phases = phases(&folder.active, &roadmap, &state, &mut status_of);
        let evidence = Evidence {
            folder: &folder,
            roadmap: &roadmap,
            state: &state,
            has_state,
            root: &project.root,
        };
        let position = Position::of(&evidence, phases);
        Ok(Self {
            project_file: project_file.unwrap_or_default(),
            position,
            folder,
            state,
            roadmap,
            has_state,
            warnings,
        })
    }

    /// Returns the evidence that the position was worked out from.
    pub fn evidence<'a>(&'a self, project: &'a Project) -> Evidence<'a> {
        Evidence {
            folder: &self.folder,
            roadmap: &self.roadmap,
            state: &self.state,
            has_state: self.has_state,
            root: &project.root,
        }
    }

    /// Returns the project's name: PROJECT.md's, else STATE.md's, else the folder's.
    pub fn name(&self, project: &Project) -> String {
        let folder = || project.root.file_name().map(|name| name.to_string_lossy().into_owned());
        let written = self.project_file.name.clone().or_else(|| self.state.project.clone());
        written.or_else(folder).unwrap_or_else(|| "project".to_owned())
    }

    /// Returns what the project is for: PROJECT.md's core value, else STATE.md's.
    pub fn core_value(&self) -> Option<&str> {
        let written = self.project_file.core_value.as_ref();
        written.or(self.state.core_value.as_ref()).map(String::as_str)
    }
}

/// Reads and parses one file; nothing where there is none.
fn document<T>(
    path: &Path,
    parse: impl Fn(&str, &Path) -> Parsed<T>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<T>> {
    match read::text(path) {
        Ok(None) => Ok(None),
        Ok(Some(text)) => {
            let text = text.into_value(warnings);
            Ok(Some(parse(&text, path).into_value(warnings)))
        }
        // One file that can't be read must not hide the others.
        Err(error) => {
            warnings.push(Warning::file(path, error.reason()));
            Ok(None)
        }
    }
}

fn summary_status(path: &Path, warnings: &mut Vec<Warning>) -> Option<SummaryStatus> {
    match read::text(path) {
        Ok(text) => Summary::status_of(&text?.into_value(warnings)),
        Err(error) => {
            warnings.push(Warning::file(path, error.reason()));
            None
        }
    }
}
