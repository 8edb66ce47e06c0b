//! Creates a planning folder from the templates, with a summary of the existing code, and writes the context files for the
//! first time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use ignore::DirEntry;
use serde::Serialize;
use serde_json::json;

use crate::error::Result;
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::ship::{CarriedState, planned_text};
use crate::lifecycle::sync::refresh;
use crate::plan::{
    DEFAULT_MILESTONE, PlanningFolder, ProjectFile, Skill, StateFile, Survey, installed_skills,
};
use crate::project::manifest::Manifest;
use crate::project::{LayoutName, Project, vocabulary};
use crate::storage::{Store, listing, read};
use crate::templates::Template;
use crate::text::{listed, one_line, strip_controls};
use crate::warning::Warning;
use crate::{secrets, templates};

/// The options of `annals init`.
#[derive(Args, Clone, Debug, Default)]
pub struct InitRequest {
    /// What the project is, in one sentence
    pub description: Option<String>,
    /// The project's name
    #[arg(long)]
    pub name: Option<String>,
    /// The one thing that must always work
    #[arg(long, value_name = "TEXT")]
    pub core_value: Option<String>,
    /// Which workflow's planning folder to create, if there is none [default: asked on a terminal, else vbw]
    #[arg(long, value_name = "NAME")]
    pub layout: Option<LayoutName>,
}

/// The planning folder that `annals init` created or found.
#[derive(Debug, Default, Serialize)]
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
#[derive(Debug)]
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
    let home = PlanningFolder::read(&project.planning_place().dir)?.value.active.dir;
    // Warnings are dropped: the command itself reads the manifest again and reports them.
    defaults(&project, &home, &mut Vec::new()).map(Some)
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
        let folder = PlanningFolder::read(&project.planning_place().dir)?;
        let after = Survey::read_folder(project, folder, Some(&work.changes));
        report.project = after.name(project);
        work.point_to(after.position.next.clone());
        work.warnings.extend(after.warnings.iter().cloned());
        refresh(project, &after, work)?;
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
    let defaults = defaults(project, home, &mut new.work.warnings)?;
    let texts = Texts::with_defaults(request, defaults)?;
    let date = project.clock.today().to_string();
    let project_file = root.join(vocabulary::PROJECT);
    let says = [&request.name, &request.description, &request.core_value];
    if project_file.exists() && says.into_iter().any(Option::is_some) {
        let message =
            "already exists and is left as it is; the description is only for a new project";
        new.work.warnings.push(Warning::file(&project_file, message));
    }
    new.file(&project_file, || templates::render(Template::InitProject, &texts))?;
    let requirements = root.join(vocabulary::REQUIREMENTS);
    let date = json!({ "date": date });
    new.file(&requirements, || templates::render(Template::InitRequirements, &date))?;
    // The remaining files belong to the active milestone, which may have a separate folder.
    let text = planned_text(&new.work.changes, &project_file)?;
    let name = ProjectFile::parse(&text, &project_file).value.name.unwrap_or(texts.name);
    new.file(&home.join(vocabulary::ROADMAP), || new_roadmap(&name))?;
    new.state(&home.join(vocabulary::STATE), &name)?;
    // If the planning tool keeps milestones itself, its settings have a different format, and its commands
    // write them.
    if !place.layout.name.keeps_milestones() {
        new.file(&root.join(vocabulary::CONFIG), || config(request.layout))?;
    }
    new.folder(&home.join(vocabulary::PHASES))?;
    Ok(new.report)
}

/// Returns the settings of a new planning folder. A workflow that was named stands in them: nothing reads the name, but
/// settings that differ from the template are those of a workflow in use, before the first phase, too.
fn config(workflow: Option<LayoutName>) -> Result<String> {
    let text = templates::render(Template::InitConfig, &json!({}))?;
    Ok(match workflow {
        Some(name) => {
            text.replacen("{\n", &format!("{{\n  \"layout\": \"{}\",\n", name.as_str()), 1)
        }
        None => text,
    })
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
            ("the name", Some(&texts.name)),
            ("the description", texts.description.as_ref()),
            ("the core value", texts.core_value.as_ref()),
        ] {
            secrets::refuse(what, text.map_or("", String::as_str))?;
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

    /// Plans STATE.md, which records the installed skills and the profile of existing code.
    fn state(&mut self, path: &Path, name: &str) -> Result<()> {
        if path.symlink_metadata().is_err() {
            let (project, warnings) = (self.project, &mut self.work.warnings);
            let skills = installed_skills(project).into_value(warnings);
            let profile = code_profile(&project.root, &project.planning_place().dir);
            let carried = CarriedState {
                profile: profile.iter().map(|line| format!("- {line}")).collect(),
                ..CarriedState::default()
            };
            self.report.skills.clone_from(&skills);
            self.report.profile = profile;
            let head = (name, DEFAULT_MILESTONE, "Created the planning folder");
            return self.file(path, || new_state(project, head, &skills, &carried));
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
}

/// Returns the default values: the name from an existing STATE.md, the manifest or the folder's name, and
/// the description from the manifest.
fn defaults(project: &Project, home: &Path, warnings: &mut Vec<Warning>) -> Result<InitDefaults> {
    let manifest = Manifest::read(&project.root, warnings)?;
    let state = home.join(vocabulary::STATE);
    let text = read::text_or_warning(&state, warnings).unwrap_or_default();
    let stated = StateFile::parse(&text, &state).value.project;
    let folder = || project.root.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(InitDefaults {
        name: stated.or(manifest.name).or_else(folder).unwrap_or_else(|| "project".to_owned()),
        description: manifest.description,
    })
}

/// Returns the STATE.md of a milestone in which nothing is planned yet.
pub(crate) fn new_state(
    project: &Project,
    (name, milestone, event): (&str, &str, &str),
    skills: &[Skill],
    carried: &CarriedState,
) -> Result<String> {
    let date = project.clock.today().to_string();
    let context = json!({
        "name": name, "milestone": milestone, "event": event, "date": date, "skills": skills,
        "carried": carried,
    });
    templates::render(Template::InitState, &context)
}

/// Returns the ROADMAP.md of a milestone in which nothing is planned yet.
pub(crate) fn new_roadmap(name: &str) -> Result<String> {
    templates::render(Template::InitRoadmap, &json!({ "name": name }))
}

/// Maximum number of entries counted; a larger tree is counted in part, since an estimate suffices.
const MAX_ENTRIES: usize = 200_000;

/// Folders of third-party code, which a project may contain without ignoring it.
const VENDORED: &str = "__pycache__ bower_components node_modules third_party vendor venv";

/// Maximum number of languages listed on a line.
const LANGUAGES: usize = 6;

/// Maximum number of folders listed on a line.
const FOLDERS: usize = 8;

/// Endings of file names with their languages, one language a line; data formats and prose are not included.
const ENDINGS: &str = include_str!("../../templates/languages.txt");

/// Returns what code a project has, without figures that change with every new file: languages, the build and test
/// commands, and the top-level folders with code; nothing for a project without code.
pub(crate) fn code_profile(root: &Path, planning: &Path) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in walk(root, planning).take(MAX_ENTRIES).flatten() {
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let Some(language) = language(path).filter(|_| is_file) else { continue };
        *counts.entry(language).or_insert(0) += 1;
        let mut parts = path.components();
        if let (Some(first), Some(_)) = (parts.next(), parts.next()) {
            folders.insert(PathBuf::from(first.as_os_str()));
        }
    }
    if counts.is_empty() {
        return Vec::new();
    }
    let mut languages: Vec<(&str, usize)> = counts.into_iter().collect();
    languages.sort_by_key(|(_, files)| Reverse(*files));
    let languages = languages.into_iter().map(|(name, _)| name.to_owned());
    let mut lines = vec![format!("Languages: {}", first_names(languages, LANGUAGES))];
    // A broken manifest is reported where its name is asked for.
    let commands = Manifest::read(root, &mut Vec::new()).unwrap_or_default();
    for (what, command) in [("Build", commands.build), ("Test", commands.test)] {
        lines.extend(command.map(|command| format!("{what}: `{command}`")));
    }
    if !folders.is_empty() {
        let folders = folders.iter().map(|path| format!("`{}/`", path.display()));
        lines.push(format!("Code in: {}", first_names(folders, FOLDERS)));
    }
    lines
}

/// Returns the language of a source file.
fn language(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (stem, ending) = name.rsplit_once('.')?;
    // Minified files are generated, so they do not count as source.
    if stem.is_empty() || stem.rsplit_once('.').is_some_and(|(_, inner)| inner == "min") {
        return None;
    }
    let mut rows = ENDINGS.lines().filter_map(|line| line.split_once(": "));
    rows.find(|(_, endings)| listed(endings, ending)).map(|(language, _)| language)
}

/// Walks the files that git would track, sorted by name.
fn walk(root: &Path, planning: &Path) -> ignore::Walk {
    let planning = planning.to_owned();
    let is_counted = move |entry: &DirEntry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let name = entry.file_name().to_string_lossy();
        let is_vendored = listed(VENDORED, &name);
        !(name.starts_with('.') || is_dir && (is_vendored || entry.path() == planning))
    };
    listing::tracked(root, is_counted).sort_by_file_name(Ord::cmp).build()
}

/// Returns at most `most` of the names, and the number of the rest.
fn first_names(names: impl Iterator<Item = String>, most: usize) -> String {
    let names: Vec<String> = names.collect();
    match names.len() {
        all if all <= most => names.join(", "),
        all => format!("{}, {} more", names[..most].join(", "), all - most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    fn scanned(tree: &Tree) -> Vec<String> {
        code_profile(&tree.at(""), &tree.at("plan"))
    }

    #[test]
    fn code_is_counted_by_language_without_what_is_ignored() {
        let tree = Tree::new(&[]);
        for file in [
            "src/main.rs",
            "src/lib.rs",
            "tests/cli.rs",
            "ui/app.d.ts",
            "ui/jquery.min.js",
            "README.md",
            "build/out.rs",
            "plan/notes.py",
            ".vbw-planning/x.py",
            ".annals/x.py",
            "node_modules/left/pad.js",
            "Dockerfile",
        ] {
            tree.write(file, "");
        }
        tree.write(".gitignore", "/build/\n");
        tree.write(".github/workflows/ci.yml", "");
        tree.write("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
        tree.write("a/Cargo.toml", "");
        let code = "Code in: `src/`, `tests/`, `ui/`";
        assert_eq!(
            scanned(&tree),
            ["Languages: Rust, TypeScript", "Build: `cargo build`", "Test: `cargo test`", code]
        );
    }

    #[test]
    fn a_project_without_code_has_no_profile() {
        let tree = Tree::new(&[".git"]);
        tree.write("README.md", "# New\n");
        tree.write(".github/workflows/ci.yml", "");
        assert_eq!(scanned(&tree), [""; 0]);
    }
}
