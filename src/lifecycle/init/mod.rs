//! Makes a planning folder from the templates, and the context file for the first time.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::lifecycle::carried::Carried;
use crate::lifecycle::init::manifest::Manifest;
use crate::lifecycle::init::texts::Dated;
use crate::lifecycle::init::texts::Empty;
pub(crate) use crate::lifecycle::init::texts::Named;
pub(crate) use crate::lifecycle::init::texts::NewState;
use crate::lifecycle::init::texts::Texts;
use crate::lifecycle::outcome::CommandOutcome;
use crate::lifecycle::outcome::Work;
use crate::lifecycle::outcome::carry_out;
use crate::lifecycle::refresh;
use crate::planning::CodeProfile;
use crate::planning::DEFAULT_MILESTONE;
use crate::planning::PlanningFolder;
use crate::planning::Skill;
use crate::planning::installed_skills;
use crate::position::NextStatus;
use crate::position::Survey;
use crate::project::LayoutName;
use crate::project::Project;
use crate::project::vocabulary;
use crate::storage::Changes;
use crate::storage::Store;
use crate::storage::read;
use crate::templates;
use crate::templates::Template;
use crate::warning::Parsed;
use crate::warning::Warning;

mod manifest;
pub(crate) mod texts;

/// What `annals init` was asked.
#[derive(Clone, Debug, Default)]
pub struct InitRequest {
    /// The project's name; without, the manifest's, git's or the folder's.
    pub name: Option<String>,
    /// What the project is; without, what the manifest says.
    pub description: Option<String>,
    /// What must work, whatever else does not.
    pub core_value: Option<String>,
    /// Whose planning folder is made; without, the one that is there, or VBW's.
    pub layout: Option<LayoutName>,
}

/// The planning folder that `annals init` made or found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InitReport {
    /// The project's name.
    pub project: String,
    /// The short name of the tool whose folder it is: `vbw`.
    pub layout: &'static str,
    /// The planning folder, relative to the project where it lies inside.
    pub planning_dir: PathBuf,
    /// What was created in it, relative to the project.
    pub created: Vec<PathBuf>,
    /// What was there already and stays as it is, relative to the project.
    pub kept: Vec<PathBuf>,
    /// The installed skills, as recorded in a new STATE.md.
    pub skills: Vec<Skill>,
    /// The profile of existing code, as recorded in a new STATE.md.
    pub profile: Vec<String>,
}

/// What a new PROJECT.md says where nobody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitDefaults {
    /// The project's name.
    pub name: String,
    /// What the project is.
    pub description: Option<String>,
}

/// Returns what a new PROJECT.md would say, or `None` if there is one already.
pub fn init_defaults(project: &Project, request: &InitRequest) -> Result<Option<InitDefaults>> {
    let project = in_layout(project, request)?;
    let path = project.planning_place().dir.join(vocabulary::PROJECT);
    if path.exists() {
        return Ok(None);
    }
    // The command itself reads the manifest again, and then tells what was odd about it.
    defaults(&project, &mut Vec::new()).map(Some)
}

/// Creates what is missing of the planning folder, and brings the context files up to date.
///
/// A file that exists is never touched, so a second run changes nothing. A context file that a rule
/// protects is told in the report, and stops nothing else.
pub fn init(project: &Project, request: &InitRequest) -> Result<CommandOutcome<InitReport>> {
    let project = &in_layout(project, request)?;
    let layout = &project.planning_place().layout;
    let stores = [Store::Plan, Store::Context];
    carry_out(project, "init", &stores, |work| {
        let mut report = create(project, request, work)?;
        let after = afterwards(project, &work.changes)?;
        report.project = after.name(project);
        work.point_to(NextStatus::from_position(&after.position, layout));
        work.warnings.extend(after.warnings.iter().cloned());
        refresh::plan(project, &after, work)?;
        Ok(report)
    })
}

fn in_layout(project: &Project, request: &InitRequest) -> Result<Project> {
    match request.layout {
        Some(layout) => project.in_layout(layout),
        None => Ok(project.clone()),
    }
}

/// Plans the files that are missing.
fn create(project: &Project, request: &InitRequest, work: &mut Work) -> Result<InitReport> {
    let place = project.planning_place();
    let folder = PlanningFolder::read(&place.dir)?.value;
    let (root, home) = (&place.dir, &folder.active.dir);
    let mut new = Creation {
        project,
        work,
        report: InitReport {
            layout: place.layout.name.as_str(),
            planning_dir: project.relative(root).to_owned(),
            ..InitReport::default()
        },
    };
    let defaults = defaults(project, &mut new.work.warnings)?;
    let texts = Texts::with_defaults(request, defaults)?;
    let date = project.clock.today().to_string();
    let project_file = root.join(vocabulary::PROJECT);
    if project_file.exists() && request.says_something() {
        let message =
            "already exists and is left as it is; the description is only for a new project";
        new.work
            .warnings
            .push(Warning::file(&project_file, message));
    }
    new.file(&project_file, Template::InitProject, &texts)?;
    new.file(
        &root.join(vocabulary::REQUIREMENTS),
        Template::InitRequirements,
        &Dated { date: &date },
    )?;
    // The rest belongs to the milestone that is worked on, which may have a folder of its own.
    let name = new.name()?.unwrap_or(texts.name);
    new.file(
        &home.join(vocabulary::ROADMAP),
        Template::InitRoadmap,
        &Named { name: &name },
    )?;
    new.state(&home.join(vocabulary::STATE), &name, &date)?;
    // Where the workflow keeps milestones, its settings have another shape; its own commands write them.
    if !place.layout.name.keeps_milestones() {
        new.file(
            &root.join(vocabulary::CONFIG),
            Template::InitConfig,
            &Empty {},
        )?;
    }
    new.folder(&home.join(vocabulary::PHASES))?;
    Ok(new.report)
}

/// The plan of a planning folder's missing files.
struct Creation<'a> {
    project: &'a Project,
    work: &'a mut Work,
    report: InitReport,
}

impl Creation<'_> {
    /// Plans a file from its template, unless there is one.
    fn file(&mut self, path: &Path, template: Template, context: &impl Serialize) -> Result<()> {
        if self.is_kept(path) {
            return Ok(());
        }
        self.work
            .changes
            .write(path, templates::render(self.project, template, context)?)?;
        self.report
            .created
            .push(self.project.relative(path).to_owned());
        Ok(())
    }

    /// Plans STATE.md, which records what is found around the project on its first day.
    fn state(&mut self, path: &Path, name: &str, date: &str) -> Result<()> {
        if self.is_kept(path) {
            return Ok(());
        }
        let warnings = &mut self.work.warnings;
        let skills = installed_skills(self.project).into_value(warnings);
        let profile = CodeProfile::scan(self.project).into_value(warnings);
        let profile = profile.map(|profile| profile.lines()).unwrap_or_default();
        let folder = PlanningFolder::read(&self.project.planning_place().dir)?.value;
        let context = NewState {
            name,
            milestone: DEFAULT_MILESTONE,
            event: "Created the planning folder",
            date,
            skills: &skills,
            // A STATE.md that was lost after a milestone shipped: what was open then still is.
            carried: Carried {
                profile: profile.iter().map(|line| format!("- {line}")).collect(),
                ..Carried::of_archive(&folder)?
            },
        };
        self.file(path, Template::InitState, &context)?;
        self.report.skills = skills;
        self.report.profile = profile;
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Result<()> {
        if !self.is_kept(path) {
            self.work.changes.create_dir(path)?;
            self.report
                .created
                .push(self.project.relative(path).to_owned());
        }
        Ok(())
    }

    /// Notes what is there already. What is neither file nor folder is there, too, and not ours to judge.
    fn is_kept(&mut self, path: &Path) -> bool {
        let is_there = path.symlink_metadata().is_ok();
        if is_there {
            self.report
                .kept
                .push(self.project.relative(path).to_owned());
        }
        is_there
    }

    /// Returns the name that PROJECT.md gives, an old or the planned one.
    fn name(&self) -> Result<Option<String>> {
        let folder = Parsed::clean(PlanningFolder::read(&self.project.planning_place().dir)?.value);
        Ok(planned(self.project, folder, &self.work.changes)?
            .project_file
            .name)
    }
}

/// Returns what the folder will say once the changes are made.
fn afterwards(project: &Project, changes: &Changes) -> Result<Survey> {
    planned(
        project,
        PlanningFolder::read(&project.planning_place().dir)?,
        changes,
    )
}

fn planned(project: &Project, folder: Parsed<PlanningFolder>, changes: &Changes) -> Result<Survey> {
    Survey::read_with(project, folder, &|path| {
        Ok(changes
            .current(path)?
            .map(|bytes| read::decode(bytes, path)))
    })
}

/// Returns what is known of the project without asking: from an old STATE.md, from its manifest, from git, from
/// its folder's name.
fn defaults(project: &Project, warnings: &mut Vec<Warning>) -> Result<InitDefaults> {
    let manifest = Manifest::read(&project.root, warnings)?;
    let stated = Survey::read_with(
        project,
        PlanningFolder::read(&project.planning_place().dir)?,
        &read::text,
    )?
    .state
    .project;
    let name = match stated.or(manifest.name) {
        Some(name) => Some(name),
        None => project.git.origin_name()?,
    };
    let folder = || {
        project
            .root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    Ok(InitDefaults {
        name: name.or_else(folder).unwrap_or_else(|| "project".to_owned()),
        description: manifest.description,
    })
}

impl InitRequest {
    fn says_something(&self) -> bool {
        self.name.is_some() || self.description.is_some() || self.core_value.is_some()
    }
}
