//! Reads all documents of a planning folder about its active milestone.

use std::cell::RefCell;
use std::path::Path;

use crate::error::{Error, Result};
use crate::plan::{
    Evidence, Handoff, Phase, PhaseNumber, PhaseNumbering, PlanningFolder, Position, ProjectFile,
    Roadmap, StateFile, WorkflowSettings, handoff, milestone_version, milestone_version_in, phases,
    todo_file,
};
use crate::project::{Project, vocabulary};
use crate::storage::{Changes, read};
use crate::warning::{Parsed, Warning};

/// The active milestone as described by its files.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The names in the folder.
    pub folder: PlanningFolder,
    /// PROJECT.md; empty if missing.
    pub project_file: ProjectFile,
    /// STATE.md; empty if missing, except for how phases are numbered.
    pub state: StateFile,
    /// ROADMAP.md; empty if missing.
    pub roadmap: Roadmap,
    /// Whether STATE.md exists.
    pub has_state: bool,
    /// Whether ROADMAP.md exists.
    pub has_roadmap: bool,
    /// Whether MILESTONES.md lists the milestone named in STATE.md as shipped.
    pub has_shipped: bool,
    /// The open todos of STATE.md, then those in files of their own.
    pub todos: Vec<String>,
    /// Where paused work is to be resumed, unless the work has gone on since.
    pub handoff: Option<Handoff>,
    /// The settings of config.json.
    pub workflow: WorkflowSettings,
    /// The position of the work.
    pub position: Position,
    /// Problems while reading the files, with paths relative to the project.
    pub warnings: Vec<Warning>,
}

impl Survey {
    /// Reads STATE, ROADMAP, PROJECT, all file names, and the status of each summary.
    pub fn read(project: &Project) -> Result<Self> {
        let folder = PlanningFolder::read(&project.planning()?.dir)?;
        Self::read_with(project, folder, &read::text)
    }

    /// Does the same, but with planned changes that are not written yet.
    pub fn read_planned(
        project: &Project,
        folder: Parsed<PlanningFolder>,
        changes: &Changes,
    ) -> Result<Self> {
        Self::read_with(project, folder, &|path| {
            let bytes = changes.current(path)?;
            Ok(bytes.map(|bytes| read::decode(bytes, path)))
        })
    }

    /// Does the same, but reads each file through `read`.
    pub fn read_with(
        project: &Project,
        folder: Parsed<PlanningFolder>,
        read: ReadText<'_>,
    ) -> Result<Self> {
        let mut warnings = Vec::new();
        let folder = folder.into_value(&mut warnings);
        let documents = Documents { read, warnings: RefCell::new(warnings) };
        let home = &folder.active.dir;
        let config = documents.text(&folder.dir.join(vocabulary::CONFIG));
        let [state, roadmap] = [vocabulary::STATE, vocabulary::ROADMAP].map(|name| {
            let path = home.join(name);
            documents.text(&path).map(|text| (text, path))
        });
        let of_roadmap = roadmap.as_ref().map(|(text, _)| text.as_str());
        let of_folders = folder.active.numbering;
        let numbering =
            of_folders.unwrap_or_else(|| PhaseNumbering::detect(config.as_deref(), of_roadmap));
        let state = state.map(|(text, path)| StateFile::parse_with(&text, &path, numbering));
        let roadmap = roadmap.map(|(text, path)| Roadmap::parse_with(&text, &path, numbering));
        let state = state.map(|state| documents.value(state));
        let roadmap = roadmap.map(|roadmap| documents.value(roadmap));
        let project_file =
            documents.parse(&folder.dir.join(vocabulary::PROJECT), ProjectFile::parse);
        let (has_state, has_roadmap) = (state.is_some(), roadmap.is_some());
        let roadmap = roadmap.unwrap_or_default();
        let mut state = state.unwrap_or_else(|| StateFile { numbering, ..StateFile::default() });
        documents.add_shared(&folder, &mut state);
        let workflow = config.as_deref().map(WorkflowSettings::parse);
        let workflow = workflow.unwrap_or_default();
        let todos = documents.todos(&folder.dir, &state);
        let text = |path: &Path| documents.text(path);
        let phases = phases(&folder.active, &roadmap, &state, &text);
        let milestones = documents.text(&folder.dir.join(vocabulary::MILESTONE_LIST));
        let has_shipped = milestones.is_some_and(|text| lists_as_shipped(&text, &state));
        let evidence = Evidence {
            has_shipped,
            workflow,
            folder: &folder,
            roadmap: &roadmap,
            state: &state,
            root: &project.root,
        };
        let position = Position::determine(&evidence, phases, &text);
        Ok(Self {
            handoff: documents.handoff(&folder, &state, &position),
            project_file: project_file.unwrap_or_default(),
            position,
            folder,
            state,
            roadmap,
            has_state,
            has_roadmap,
            has_shipped,
            todos,
            workflow,
            warnings: project.named(documents.warnings.into_inner()),
        })
    }

    /// Returns the evidence for the position.
    pub fn evidence<'a>(&'a self, project: &'a Project) -> Evidence<'a> {
        Evidence {
            folder: &self.folder,
            roadmap: &self.roadmap,
            state: &self.state,
            has_shipped: self.has_shipped,
            workflow: self.workflow,
            root: &project.root,
        }
    }

    /// Returns an error if the number has a milestone but the project numbers its phases without.
    pub fn check_number(&self, number: &PhaseNumber) -> Result<()> {
        // There, `2-01` is plan 1 of phase 2 or a range.
        if number.numbering() == PhaseNumbering::MilestonePrefixed
            && self.state.numbering == PhaseNumbering::Plain
        {
            return Err(Error::usage(format!("\"{number}\" is not a phase number"))
                .hint("write it like 3, 05.1 or 3b"));
        }
        Ok(())
    }

    /// Returns the phase of a number, or an error that lists the known phases.
    pub fn phase(&self, number: &PhaseNumber) -> Result<&Phase> {
        let phases = &self.position.phases;
        if let Some(phase) = phases.iter().find(|phase| phase.number == *number) {
            return Ok(phase);
        }
        self.check_number(number)?;
        let numbers = phases.iter().map(|phase| phase.number.to_string());
        let mut known: Vec<String> = numbers.collect();
        // Two folders may have the same number.
        known.dedup();
        let archives = self.folder.archived.iter().filter(|archive| {
            let milestone = archive.milestone().map(|milestone| milestone.value);
            milestone.is_ok_and(|one| one.phases.iter().any(|phase| phase.number == *number))
        });
        let slugs: Vec<&str> = archives.map(|archive| archive.slug.as_str()).collect();
        let mut hints = Vec::new();
        if !slugs.is_empty() {
            hints.push(format!("phase {number} is archived in {}", slugs.join(", ")));
        }
        if !known.is_empty() {
            hints.push(format!("known phases: {}", known.join(", ")));
        } else if hints.is_empty() {
            hints.push("no phase is known yet".to_owned());
        }
        let hint = hints.join("; ");
        Err(Error::not_found(format!("there is no phase {number}")).hint(hint))
    }

    /// Returns the project's name from PROJECT.md, otherwise from STATE.md, otherwise from its folder.
    pub fn name(&self, project: &Project) -> String {
        let folder = || project.root.file_name().map(|name| name.to_string_lossy().into_owned());
        let written = self.project_file.name.clone().or_else(|| self.state.project.clone());
        written.or_else(folder).unwrap_or_else(|| "project".to_owned())
    }

    /// Returns the main purpose of the project from PROJECT.md, otherwise from STATE.md.
    pub fn core_value(&self) -> Option<&str> {
        let written = self.project_file.core_value.as_ref();
        written.or(self.state.core_value.as_ref()).map(String::as_str)
    }
}

/// Returns whether a heading of MILESTONES.md calls STATE.md's milestone shipped: `## v1.2 Name (Shipped:
/// 2026-04-05)`.
fn lists_as_shipped(milestones: &str, state: &StateFile) -> bool {
    let Some(name) = state.milestone.as_deref() else {
        return false;
    };
    let version = milestone_version_in(name);
    let names_it = |line: &str| match version {
        Some(version) => line
            .split([' ', ':', '(', ')', ','])
            .any(|word| milestone_version(word) == Some(version)),
        None => line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
        }),
    };
    milestones
        .lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| line.to_lowercase().contains("shipped") && names_it(line))
}

/// Returns whether neither a date of STATE.md nor the current phase says that the work has gone on since a handoff.
fn is_current(handoff: &Handoff, state: &StateFile, position: &Position) -> bool {
    let own = handoff.phase_dir.as_ref().and_then(|name| {
        let mut dirs = position.phases.iter().map(|phase| phase.dir.as_ref());
        dirs.position(|dir| dir.is_some_and(|dir| dir.ends_with(name)))
    });
    let is_passed = own.zip(position.current).is_some_and(|(own, current)| own < current);
    let mut dates = state.last_active.iter();
    !is_passed && !dates.any(|date| handoff.written.is_before(date))
}

/// Reads a file's text; `None` if it does not exist.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> Result<Option<Parsed<String>>>;

/// Reads files and collects the warnings: an unreadable file must not prevent reading the others.
struct Documents<'a> {
    read: ReadText<'a>,
    warnings: RefCell<Vec<Warning>>,
}

impl Documents<'_> {
    fn text(&self, path: &Path) -> Option<String> {
        let text = (self.read)(path);
        read::or_warning(text, path, &mut self.warnings.borrow_mut())
    }

    fn parse<T>(&self, path: &Path, parse: impl Fn(&str, &Path) -> Parsed<T>) -> Option<T> {
        let text = self.text(path)?;
        Some(self.value(parse(&text, path)))
    }

    /// Adds the decisions that the planning folder's own STATE.md keeps while the active milestone has a folder
    /// of its own. A STATE.md that names a milestone belongs to other work.
    fn add_shared(&self, folder: &PlanningFolder, state: &mut StateFile) {
        if folder.active.dir == folder.dir {
            return;
        }
        let parse = |text: &str, path: &Path| StateFile::parse_with(text, path, state.numbering);
        let shared = self.parse(&folder.dir.join(vocabulary::STATE), parse);
        if let Some(shared) = shared.filter(|shared| shared.is_between_milestones) {
            state.add_shared(shared);
        }
    }

    /// Returns the open todos of STATE.md, then those in files of their own.
    fn todos(&self, planning: &Path, state: &StateFile) -> Vec<String> {
        let found = todo_file::pending(planning, &mut self.warnings.borrow_mut());
        let files = found.unwrap_or_else(|error| {
            let dir = planning.join(vocabulary::PENDING_TODOS);
            let warning = Warning::file(&dir, error.to_string());
            self.warnings.borrow_mut().push(warning);
            Vec::new()
        });
        let titled = files.iter().filter_map(|path| {
            let title = todo_file::open_title(&self.text(path)?, path)?;
            Some((path.as_path(), title))
        });
        todo_file::merged(&state.todos, titled.collect())
    }

    /// Returns where paused work is to be resumed, unless the work has gone on since.
    fn handoff(
        &self,
        folder: &PlanningFolder,
        state: &StateFile,
        position: &Position,
    ) -> Option<Handoff> {
        let dirs = folder.active.phases.iter().map(|phase| &*phase.dir);
        let latest = handoff::latest(&folder.dir, dirs, &|path| self.text(path));
        latest.filter(|handoff| is_current(handoff, state, position))
    }

    fn value<T>(&self, parsed: Parsed<T>) -> T {
        parsed.into_value(&mut self.warnings.borrow_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_milestone_without_a_version_is_listed_by_its_whole_name() {
        let lists = |milestones: &str, name: &str| {
            let text = format!("# State\n\n**Milestone:** {name}\n");
            let state = StateFile::parse(&text, Path::new("STATE.md")).value;
            lists_as_shipped(milestones, &state)
        };
        let text = "## v1.0 The Basics (Shipped: 2026-04-05)\n";
        assert!(lists(text, "v1.0 The Basics"));
        assert!(lists(text, "The Basics"));
        assert!(!lists(text, "The Next Step"));
        assert!(!lists(text, "v1.1 The Basics"));
        let text = "## v0.9 Authentication (Shipped: 2026-04-05)\n";
        assert!(!lists(text, "Auth"));
    }
}
