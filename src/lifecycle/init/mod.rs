//! Creates a planning folder from the templates, and writes the context files for the first time.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::error::{Error, Result};
use crate::lifecycle::carried::CarriedState;
use crate::lifecycle::codebase::CodebaseSummary;
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::refresh;
use crate::plan::{DEFAULT_MILESTONE, PlanningFolder, Skill, Survey, installed_skills};
use crate::project::manifest::Manifest;
use crate::project::{LayoutName, Project, vocabulary};
use crate::storage::{Changes, Store, read};
use crate::templates::Template;
use crate::text::{one_line, strip_controls};
use crate::warning::{Parsed, Warning};
use crate::{secrets, templates};

pub(crate) mod texts;

/// The options of `annals init`.
#[derive(Clone, Debug, Default)]
pub struct InitRequest {
    /// The project's name; by default that of the manifest, git or the folder.
    pub name: Option<String>,
    /// What the project is; by default the description in the manifest.
    pub description: Option<String>,
    /// The core value: what must work above all.
    pub core_value: Option<String>,
    /// The layout of the planning folder; by default the existing one, or VBW's.
    pub layout: Option<LayoutName>,
}

/// The planning folder that `annals init` created or found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InitReport {
    /// The project's name.
    pub project: String,
    /// The short name of the layout, such as `vbw`.
    pub layout: &'static str,
    /// The planning folder, relative to the project if inside it.
    pub planning_dir: PathBuf,
    /// The files and folders that were created, relative to the project.
    pub created: Vec<PathBuf>,
    /// The files and folders that already existed and were not changed, relative to the project.
    pub kept: Vec<PathBuf>,
    /// The installed skills, as recorded in a new STATE.md.
    pub skills: Vec<Skill>,
    /// The profile of existing code, as recorded in a new STATE.md.
    pub profile: Vec<String>,
}

/// The default values for a new PROJECT.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitDefaults {
    /// The project's name.
    pub name: String,
    /// What the project is.
    pub description: Option<String>,
}

/// Returns the default values for a new PROJECT.md, or `None` if there is one already.
pub fn init_defaults(project: &Project, request: &InitRequest) -> Result<Option<InitDefaults>> {
    let project = in_layout(project, request)?;
    let path = project.planning_place().dir.join(vocabulary::PROJECT);
    if path.exists() {
        return Ok(None);
    }
    // Warnings are dropped: the command itself reads the manifest again and reports them.
    defaults(&project, &mut Vec::new()).map(Some)
}

/// Creates the missing parts of the planning folder, and refreshes the context files.
///
/// Existing files are never changed, so a second run has no effect. If a rule protects a context file, this
/// is reported, and everything else is done.
pub fn init(project: &Project, request: &InitRequest) -> Result<CommandOutcome<InitReport>> {
    let project = &in_layout(project, request)?;
    let stores = [Store::Plan, Store::Context];
    carry_out(project, "init", &stores, |work| {
        let mut report = create(project, request, work)?;
        let after = afterwards(project, &work.changes)?;
        report.project = after.name(project);
        work.point_to(after.position.next.clone());
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

/// Plans the missing files.
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
        new.work.warnings.push(Warning::file(&project_file, message));
    }
    new.template(&project_file, Template::InitProject, &texts)?;
    let requirements = root.join(vocabulary::REQUIREMENTS);
    new.template(&requirements, Template::InitRequirements, &json!({ "date": date }))?;
    // The remaining files belong to the active milestone, which may have a separate folder.
    let name = new.name()?.unwrap_or(texts.name);
    new.file(&home.join(vocabulary::ROADMAP), || texts::roadmap(&name))?;
    new.state(&home.join(vocabulary::STATE), &name)?;
    // If the planning tool keeps milestones itself, its settings have a different format, and its commands
    // write them.
    if !place.layout.name.keeps_milestones() {
        new.template(&root.join(vocabulary::CONFIG), Template::InitConfig, &json!({}))?;
    }
    new.folder(&home.join(vocabulary::PHASES))?;
    Ok(new.report)
}

/// What PROJECT.md says.
#[derive(Serialize)]
struct Texts {
    name: String,
    description: Option<String>,
    core_value: Option<String>,
}

impl Texts {
    /// Fills in the defaults; refuses texts that look like they contain a secret.
    fn with_defaults(request: &InitRequest, defaults: InitDefaults) -> Result<Self> {
        let given =
            |text: &Option<String>| text.as_deref().map(plain).filter(|text| !text.is_empty());
        let line = |text: String| one_line(&text);
        let texts = Self {
            name: line(given(&request.name).unwrap_or(defaults.name)),
            description: given(&request.description).or(defaults.description),
            core_value: given(&request.core_value).map(line),
        };
        for (what, text) in [
            ("name", Some(&texts.name)),
            ("description", texts.description.as_ref()),
            ("core value", texts.core_value.as_ref()),
        ] {
            if let Some(rule) = text.and_then(|text| secrets::first_rule(text)) {
                let message = format!("the {what} contains what looks like a secret ({rule})");
                return Err(Error::refused(message)
                    .hint("agents read it in every session; leave the secret out"));
            }
        }
        Ok(texts)
    }
}

fn plain(text: &str) -> String {
    strip_controls(text).trim().to_owned()
}

/// The state of planning the missing files.
struct Creation<'a> {
    project: &'a Project,
    work: &'a mut Work,
    report: InitReport,
}

impl Creation<'_> {
    /// Plans a file, unless it exists.
    fn file(&mut self, path: &Path, text: impl FnOnce() -> Result<String>) -> Result<()> {
        if !self.is_kept(path) {
            self.work.changes.write(path, text()?)?;
            self.report.created.push(self.project.relative(path).to_owned());
        }
        Ok(())
    }

    fn template(
        &mut self,
        path: &Path,
        template: Template,
        context: &impl Serialize,
    ) -> Result<()> {
        self.file(path, || templates::render(template, context))
    }

    /// Plans STATE.md, which records the installed skills and the profile of existing code.
    fn state(&mut self, path: &Path, name: &str) -> Result<()> {
        if path.symlink_metadata().is_err() {
            let (project, warnings) = (self.project, &mut self.work.warnings);
            let skills = installed_skills(project).into_value(warnings);
            let profile = CodebaseSummary::scan(project);
            let profile = profile.map(|profile| profile.lines()).unwrap_or_default();
            let carried = CarriedState {
                profile: profile.iter().map(|line| format!("- {line}")).collect(),
                ..CarriedState::default()
            };
            self.report.skills.clone_from(&skills);
            self.report.profile = profile;
            let head = (name, DEFAULT_MILESTONE, "Created the planning folder");
            return self.file(path, || texts::state(project, head, &skills, &carried));
        }
        self.is_kept(path);
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Result<()> {
        if !self.is_kept(path) {
            self.work.changes.create_dir(path)?;
            self.report.created.push(self.project.relative(path).to_owned());
        }
        Ok(())
    }

    /// Records an existing path as kept, even if it is neither a file nor a folder, and returns whether it
    /// exists.
    fn is_kept(&mut self, path: &Path) -> bool {
        let is_there = path.symlink_metadata().is_ok();
        if is_there {
            self.report.kept.push(self.project.relative(path).to_owned());
        }
        is_there
    }

    /// Returns the name in PROJECT.md, either existing or planned.
    fn name(&self) -> Result<Option<String>> {
        let folder = Parsed::clean(PlanningFolder::read(&self.project.planning_place().dir)?.value);
        Ok(Survey::read_planned(self.project, folder, &self.work.changes)?.project_file.name)
    }
}

/// Returns the state of the folder after the changes.
fn afterwards(project: &Project, changes: &Changes) -> Result<Survey> {
    Survey::read_planned(project, PlanningFolder::read(&project.planning_place().dir)?, changes)
}

/// Returns the default values: the name from an existing STATE.md, the manifest or the folder's name, and
/// the description from the manifest.
fn defaults(project: &Project, warnings: &mut Vec<Warning>) -> Result<InitDefaults> {
    let manifest = Manifest::read(&project.root, warnings)?;
    let stated = Survey::read_with(
        project,
        PlanningFolder::read(&project.planning_place().dir)?,
        &read::text,
    )?
    .state
    .project;
    let folder = || project.root.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(InitDefaults {
        name: stated.or(manifest.name).or_else(folder).unwrap_or_else(|| "project".to_owned()),
        description: manifest.description,
    })
}

impl InitRequest {
    fn says_something(&self) -> bool {
        self.name.is_some() || self.description.is_some() || self.core_value.is_some()
    }
}
