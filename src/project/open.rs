//! Opens a project: its environment, its root above a directory, and its planning folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::git::Git;
use crate::progress::Progress;
use crate::project::layout::{Layout, LayoutName};
use crate::project::settings::Settings;
use crate::project::sources;
use crate::storage::{Applied, Boundary, Changes, Storage, Store, listing, real_path};
use crate::text::sha256;
use crate::warning::Warning;

/// What an interface passes in to open the project.
#[derive(Args, Clone, Debug, Default)]
pub struct OpenRequest {
    /// The working directory, absolute; relative flags are resolved against it, `--planning-dir` against
    /// `--project` if given.
    #[arg(skip)]
    pub directory: PathBuf,
    /// The project's folder; paths are relative to it then [default: nearest parent with a planning folder or .git]
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,
    /// Planning folder, if it has a non-standard name
    #[arg(long, value_name = "DIR", global = true)]
    pub planning_dir: Option<PathBuf>,
    /// Show what would change (a unified diff, for text files), and change nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Do not record this change for `annals undo`
    #[arg(long, global = true)]
    pub no_history: bool,
    /// Receiver of progress reports for long tasks.
    #[arg(skip)]
    pub progress: Progress,
    /// The environment.
    #[arg(skip)]
    pub environment: Environment,
}

/// The project in which a run works, with its settings.
#[derive(Clone, Debug)]
pub struct Project {
    /// Root folder, absolute and without links.
    pub root: PathBuf,
    /// The settings in force.
    pub settings: Settings,
    /// The time of this run.
    pub clock: Clock,
    /// The repository that contains the project, if any.
    pub git: Git,
    /// The environment of this run.
    pub environment: Environment,
    /// Whether changes are shown instead of made.
    pub dry_run: bool,
    /// Receiver of progress reports for long tasks.
    pub progress: Progress,
    /// Problems found while opening the project.
    pub warnings: Vec<Warning>,
    planning: Planning,
    /// Whether the working directory is a folder below it.
    is_opened_below: bool,
    /// Limits the files that are read for the project.
    boundary: Arc<Boundary>,
}

impl Project {
    /// Finds the project and reads its settings; a planning folder is not required.
    pub fn open(request: OpenRequest) -> Result<Self> {
        let root = root(&request.directory, request.project.as_deref(), &request.environment)?;
        Self::open_at(root.clone(), request).map_err(|error| error.relative_to(&root))
    }

    fn open_at(root: PathBuf, request: OpenRequest) -> Result<Self> {
        let directory = fs::canonicalize(&request.directory).ok();
        let is_opened_below = request.project.is_none() && directory.is_some_and(|dir| dir != root);
        let environment = request.environment;
        let boundary = Boundary::open(&root);
        let mut settings = sources::settings(&root, &environment)?;
        for folder in &settings.linked_roots {
            boundary.allow(folder);
        }
        if let Some(dir) = request.planning_dir {
            let base = request.project.as_ref().map_or(&request.directory, |_| &root);
            settings.planning_dir = Some(base.join(dir));
            settings.set_flag_origin("planning_dir", "--planning-dir");
        }
        if request.no_history {
            settings.history = false;
            settings.set_flag_origin("history", "--no-history");
        }
        let mut warnings = Vec::new();
        let mut planning = Planning::locate(&root, &settings, &mut warnings)?;
        for folder in settings.user_set_folders() {
            boundary.allow(&root.join(folder));
        }
        boundary.limit(&planning.dir);
        let home = environment.home().map(|home| home.join(CLAUDE_FOLDER));
        let harness = environment.get(CLAUDE_FOLDER_VARIABLE).map(PathBuf::from).or(home);
        planning.layout.use_generation(&root, &planning.dir, harness.as_deref())?;
        let git = Git::discover(&root);
        warnings.extend(git.warning());
        Ok(Self {
            clock: Clock::new(environment.get("ANNALS_NOW"))?,
            git,
            dry_run: request.dry_run,
            progress: request.progress,
            root,
            settings,
            environment,
            warnings,
            planning,
            is_opened_below,
            boundary,
        })
    }

    /// Returns what to say of a write into a memory that is found in a folder above, and that nothing else makes a project.
    pub(crate) fn memory_above(&self) -> Option<Warning> {
        let is_alone = !self.git.is_repository()
            && !self.planning.exists()
            && !self.root.join(sources::PROJECT_FILE).exists();
        let message = "the memory of this folder above is used; `git init` or an annals.toml here begins one of its own";
        (self.is_opened_below && is_alone).then(|| Warning::file(&self.root, message))
    }

    /// Returns the same project with dry run switched on or off.
    #[must_use]
    pub fn dry_run(&self, dry_run: bool) -> Self {
        Self { dry_run, ..self.clone() }
    }

    /// Returns the planning folder, or an error if it does not exist.
    pub fn planning(&self) -> Result<&Planning> {
        if self.planning.exists() {
            return Ok(&self.planning);
        }
        if self.settings.planning_dir.is_some() {
            let origin = self.settings.origin("planning_dir");
            return Err(Error::not_found("no planning folder here")
                .about(&self.planning.dir)
                .hint(format!("the path comes from {origin}; `annals init` creates the folder")));
        }
        let names = LayoutName::ALL.map(LayoutName::dir).join(", ");
        Err(Error::not_found("no planning folder here").about(&self.root).hint(format!(
            "looked for {names}; `annals init` creates one, --planning-dir names another"
        )))
    }

    /// Returns the planning folder, which need not exist: `init` would create it there.
    pub fn planning_place(&self) -> &Planning {
        &self.planning
    }

    /// Says that planning folders of other tools exist, too, if nobody chose between them.
    pub(crate) fn unchosen(&self) -> Option<String> {
        let others = others(&self.root).filter(|_| self.settings.planning_dir.is_none())?;
        Some(format!("{} {others}", self.planning.layout.name.dir()))
    }

    /// Returns the same project as if it had a new planning folder with this layout.
    pub fn in_layout(&self, name: LayoutName) -> Result<Self> {
        let own = &self.planning.layout;
        let dir = if own.name == name {
            if own.is_in_use || self.planning.exists() {
                return Ok(self.clone());
            }
            // A tool that is named is in use, although nothing here tells.
            self.planning.dir.clone()
        } else if self.planning.exists() || self.settings.planning_dir.is_some() {
            let (own, name) = (own.name.as_str(), name.as_str());
            return Err(Error::refused(format!(
                "the planning folder here belongs to {own}, not {name}"
            ))
            .about(self.relative(&self.planning.dir))
            .hint("a project has one planning folder, whose name determines the tool"));
        } else {
            self.root.join(name.dir())
        };
        let planning = Planning { dir, layout: Layout::load(name)? };
        Ok(Self { planning, ..self.clone() })
    }

    /// Returns the storage for writing in this project, configured by the settings.
    pub fn storage(&self) -> Storage {
        self.storage_in(&self.root, self.environment.data_dir())
            .linked_roots(&self.settings.linked_roots)
    }

    fn storage_in(&self, root: &Path, key_folder: Option<PathBuf>) -> Storage {
        Storage::new(root, self.clock)
            .key_in(key_folder)
            .dry_run(self.dry_run)
            .keep_history(self.settings.history)
            .wait(self.settings.lock_wait)
    }

    /// Runs a transaction in this project's storage; the paths of the changed files are relative to the project.
    pub fn transact<T>(
        &self,
        operation: &str,
        stores: &[Store],
        work: impl FnMut() -> Result<(T, Changes)>,
    ) -> Result<(T, Applied)> {
        let (value, mut applied) = self.storage().transact(operation, stores, work)?;
        for path in &mut applied.changed {
            *path = self.relative(path).to_owned();
        }
        Ok((value, applied))
    }

    /// Returns the storage for writing the user's own settings in a folder, which need not exist.
    ///
    /// Writes are confined to the home directory, or to the nearest existing parent of a folder outside of it.
    pub(crate) fn storage_of_user(&self, folder: &Path) -> Result<Storage> {
        let unknown = || {
            Error::failed("HOME is not set to an absolute path, so your settings cannot be located")
        };
        let home = self.environment.home().ok_or_else(unknown)?;
        let own = real_path(&self.environment.data_dir().ok_or_else(unknown)?)?;
        let root = if folder.starts_with(&home) {
            home
        } else {
            folder.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(folder).to_owned()
        };
        // The paths in records of changes are relative to the root.
        let name = &sha256(root.as_os_str().as_encoded_bytes())[..16];
        let records = own.join("changes").join(name);
        Ok(self.storage_in(&root, Some(own)).with_folder(&records))
    }

    /// Returns a path for display: relative to the project if inside it.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Returns the distinct warnings, with the paths of their files for display, and with the warnings about
    /// links that were not followed since the last call.
    pub fn named(&self, warnings: Vec<Warning>) -> Vec<Warning> {
        let mut seen = BTreeSet::new();
        let unfollowed = self.boundary.take_warnings();
        warnings
            .into_iter()
            .chain(unfollowed)
            .filter_map(|mut warning| {
                let file = self.relative(&warning.place.file).to_owned();
                warning.place.file = file;
                // Two readers of the same file report the same warning.
                seen.insert(warning.clone()).then_some(warning)
            })
            .collect()
    }
}

fn root(directory: &Path, flag: Option<&Path>, environment: &Environment) -> Result<PathBuf> {
    if let Some(named) = flag {
        let named = directory.join(named);
        return match fs::canonicalize(&named) {
            Ok(root) if root.is_dir() => Ok(root),
            found => {
                let what = if found.is_ok() { "is not a folder" } else { "no such folder" };
                Err(Error::not_found(what)
                    .about(&named)
                    .hint("--project names the folder of a project"))
            }
        };
    }
    let start = fs::canonicalize(directory)
        .map_err(|_| Error::not_found("the working directory no longer exists").about(directory))?;
    // The home directory may be reached through a link; the start has already been resolved.
    let home = environment.home().map(|home| fs::canonicalize(&home).unwrap_or(home));
    Ok(root_above(&start, home.as_deref()))
}

/// Returns the root of the project that a folder belongs to.
///
/// The nearest folder that contains a planning folder, `.git`, the project's settings or one of its stores is
/// the project; all are checked at each level, so that a worktree or a nested repository never resolves to the
/// project around it. A planning folder is never a project itself, even if it is a separate repository.
///
/// The home directory and the root of the file system count only as the starting directory: a `~/.git` for
/// dotfiles must not collect the memory of everything below it. If nothing is found, the starting directory
/// is the project.
fn root_above(start: &Path, home: Option<&Path>) -> PathBuf {
    for dir in start.ancestors() {
        let is_top = Some(dir) == home || dir.parent().is_none();
        if is_top && dir != start {
            break;
        }
        let is_marked = || MARKS.iter().any(|mark| dir.join(mark).exists());
        if LayoutName::from_dir(dir).is_none() && (is_marked() || !layouts(dir).is_empty()) {
            return dir.to_owned();
        }
        if is_top {
            break;
        }
    }
    start.to_owned()
}

/// What only a project's folder contains: a repository, settings, entries or a ledger.
const MARKS: [&str; 6] = [
    ".git",
    "annals.toml",
    ".vibekit",
    "docs/memory/STATE.md",
    "docs/memory/CONSTRAINTS.md",
    "docs/memory/DECISIONS.md",
];

/// Returns the layouts whose planning folders exist in a project, the one to use first.
pub(crate) fn layouts(root: &Path) -> Vec<LayoutName> {
    let dir = |layout: &LayoutName| root.join(layout.dir());
    let mut found: Vec<_> = LayoutName::ALL.into_iter().filter(|one| dir(one).is_dir()).collect();
    // Beside a folder that is in use, an empty one is none.
    let is_empty = |one: &LayoutName| listing::entries(&dir(one)).is_ok_and(|all| all.is_empty());
    if found.len() > 1 && !found.iter().all(is_empty) {
        found.retain(|one| !is_empty(one));
    }
    found
}

/// A project's planning folder with its layout.
#[derive(Clone, Debug)]
pub struct Planning {
    /// The folder.
    pub dir: PathBuf,
    /// The tool's wording and commands.
    pub layout: Layout,
}

impl Planning {
    /// Returns the planning folder in force, which need not exist: without a setting, the first that exists, otherwise the
    /// one that would be created; warns if those of several tools exist.
    pub(crate) fn locate(
        root: &Path,
        settings: &Settings,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let (dir, name) = match &settings.planning_dir {
            Some(dir_setting) => {
                let dir = root.join(dir_setting);
                let name = LayoutName::from_dir(&dir);
                // Resolved like the root, so that paths are displayed relative to it.
                let dir = fs::canonicalize(&dir).unwrap_or_else(|_| dir.components().collect());
                (dir, name)
            }
            None => {
                let name = layouts(root).first().copied().unwrap_or_default();
                warnings
                    .extend(others(root).map(|what| Warning::file(Path::new(name.dir()), what)));
                (root.join(name.dir()), Some(name))
            }
        };
        if !settings.origin("planning_dir").is_users() {
            confine(&dir, &settings.folders(root))?;
        }
        let name = name.unwrap_or_else(|| LayoutName::from_content(&dir));
        let layout = Layout::load(name)?;
        Ok(Self { dir, layout })
    }

    /// Returns whether the folder exists.
    pub fn exists(&self) -> bool {
        self.dir.is_dir()
    }
}

/// Says that planning folders of other tools exist beside the one in use.
fn others(root: &Path) -> Option<String> {
    let others: Vec<_> = layouts(root).into_iter().skip(1).map(LayoutName::dir).collect();
    let exist = if others.len() == 1 { "exists" } else { "exist" };
    (!others.is_empty()).then(|| {
        let others = others.join(" and ");
        format!("is in use, but {others} {exist} too; set planning_dir in annals.toml to choose")
    })
}

/// Returns an error if a path that a cloned repository names leads out of these folders through links.
pub(crate) fn confine(path: &Path, folders: &[&Path]) -> Result<()> {
    // A path that does not exist leads nowhere yet; the code that reads it reports that.
    let Ok(real) = fs::canonicalize(path) else {
        return Ok(());
    };
    if folders.iter().any(|folder| fs::canonicalize(folder).is_ok_and(|f| real.starts_with(f))) {
        return Ok(());
    }
    Err(Error::refused(format!("leads outside the project, to {}", real.display()))
        .about(path)
        .hint(
            "if that is intended, set it in your own settings, in the environment or with a flag; \
                 linked_roots in your own settings allows links into a folder",
        ))
}

/// The name of Claude Code's folder, in a project and in the home directory.
pub(crate) const CLAUDE_FOLDER: &str = ".claude";

/// The environment variable that moves Claude Code's folder out of the home directory.
pub(crate) const CLAUDE_FOLDER_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The environment of this run, as passed in by the interface.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Returns the environment with these variables; invalid UTF-8 is replaced, not dropped.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let text = |os: OsString| os.to_string_lossy().into_owned();
        variables.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// Returns a variable's value; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.absolute("HOME")
    }

    /// Returns the directory of the user's configuration.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the directory of the user's data, which is shared by all projects.
    pub fn data_dir(&self) -> Option<PathBuf> {
        self.base("XDG_DATA_HOME", ".local/share")
    }

    /// Returns the directory of the user's caches.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CACHE_HOME", ".cache")
    }

    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.absolute(variable)
            .or_else(|| self.home().map(|home| home.join(below_home)))
            .map(|base| base.join("annals"))
    }

    /// Returns the absolute path in a variable. The XDG base directory specification requires relative paths to be ignored.
    pub(crate) fn absolute(&self, variable: &str) -> Option<PathBuf> {
        self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::project::fixture::Tree;

    fn open(tree: &Tree, directory: &str) -> Result<Project> {
        Project::open(request(tree, directory))
    }

    fn request(tree: &Tree, directory: &str) -> OpenRequest {
        OpenRequest { directory: tree.at(directory), ..OpenRequest::default() }
    }

    fn with(name: &str, value: &str) -> Environment {
        std::iter::once((name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_first_planning_folder_decides_the_layout_and_a_second_is_a_warning() {
        let tree = Tree::new(&[".planning/", "src/"]);
        let project = open(&tree, "src").unwrap();
        assert_eq!(project.root, tree.at(""));
        let planning = project.planning().unwrap();
        assert_eq!(planning.dir, tree.at(".planning"));
        assert_eq!(planning.layout.name, LayoutName::Gsd);
        assert_eq!(planning.layout.commands.plan.replace("{phase}", "2"), "/gsd:plan-phase 2");
        assert_eq!(project.warnings, []);

        let tree = Tree::new(&[".planning/", ".vbw-planning/"]);
        let project = open(&tree, "").unwrap();
        assert_eq!(project.planning().unwrap().layout.name, LayoutName::Vbw);
        let [warning] = &project.warnings[..] else {
            panic!("one warning, not {:?}", project.warnings);
        };
        let warning = warning.to_string();
        assert!(warning.contains(".vbw-planning: is in use"));
        assert!(warning.contains(".planning exists too"), "{warning}");
    }

    #[test]
    fn without_a_planning_folder_the_error_names_init() {
        let tree = Tree::new(&[".git/"]);
        let project = open(&tree, "").unwrap();
        let error = project.planning().unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert!(error.hint.unwrap().contains("annals init"));
        assert_eq!(project.planning_place().dir, tree.at(".vbw-planning"));
        assert_eq!(project.planning_place().layout.commands.ship, "ship the milestone");
    }

    #[test]
    fn another_layout_can_be_chosen_without_a_planning_folder() {
        let tree = Tree::new(&[".git/"]);
        let project = open(&tree, "").unwrap();
        let project = project.in_layout(LayoutName::Yolo).unwrap();
        assert_eq!(project.planning_place().dir, tree.at(".yolo-planning"));
        let commands = &project.planning_place().layout.commands;
        assert_eq!(commands.plan.replace("{phase}", "2"), "/yolo:vibe --plan 2");
        let project = open(&tree, "").unwrap();
        assert_eq!(
            project.planning_place().layout.commands.plan.replace("{phase}", "2"),
            "plan phase 2"
        );
        let project = project.in_layout(LayoutName::Vbw).unwrap();
        assert_eq!(
            project.planning_place().layout.commands.plan.replace("{phase}", "2"),
            "/vbw:plan 2"
        );

        let tree = Tree::new(&[".planning/"]);
        let project = open(&tree, "").unwrap();
        assert!(project.in_layout(LayoutName::Gsd).is_ok());
        let error = project.in_layout(LayoutName::Vbw).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_eq!(error.place.unwrap().file, Path::new(".planning"));
    }

    #[test]
    fn the_planning_folder_can_be_named_by_flag_variable_and_file() {
        let tree = Tree::new(&[".git/", ".planning/", "a/.yolo-planning/", "b/", "c/"]);
        tree.write("annals.toml", "planning_dir = \"c\"\n");
        let mut request = request(&tree, "");
        let dir = |request: &OpenRequest| {
            let project = Project::open(request.clone()).unwrap();
            let planning = project.planning().unwrap();
            (planning.dir.clone(), planning.layout.name)
        };
        assert_eq!(dir(&request), (tree.at("c"), LayoutName::Vbw));
        tree.write("annals.toml", "planning_dir = \"./a/./.yolo-planning/\"\n");
        let normal = (tree.at("a/.yolo-planning"), LayoutName::Yolo);
        assert_eq!(dir(&request), normal);
        request.environment = with("ANNALS_PLANNING_DIR", "b");
        assert_eq!(dir(&request), (tree.at("b"), LayoutName::Vbw));
        request.planning_dir = Some(PathBuf::from("a/.yolo-planning"));
        let flagged = (tree.at("a/.yolo-planning"), LayoutName::Yolo);
        assert_eq!(dir(&request), flagged, "relative to the working directory");
        request.project = Some(PathBuf::from("a/.."));
        assert_eq!(dir(&request), flagged, "relative to --project");
        request.directory = tree.at("b");
        request.project = Some(PathBuf::from(".."));
        assert_eq!(dir(&request), flagged, "not to the working directory then");
        assert_eq!(Project::open(request).unwrap().warnings, []);
    }

    #[test]
    fn a_missing_planning_folder_error_names_the_source_of_the_setting() {
        let tree = Tree::new(&[".vbw-planning/"]);
        tree.write("annals.toml", "\nplanning_dir = \"plan\"\n");
        let project = open(&tree, "").unwrap();
        let error = project.planning().unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert_eq!(error.place.unwrap().file, tree.at("plan"));
        assert!(error.hint.unwrap().contains("annals.toml:2"));
    }

    #[cfg(unix)]
    #[test]
    fn a_cloned_link_out_of_the_project_is_refused_and_a_named_one_is_not() {
        let tree = Tree::new(&["project/.git/", "elsewhere/"]);
        let link = |name: &str| {
            std::os::unix::fs::symlink(tree.at("elsewhere"), tree.at("project").join(name))
                .unwrap();
        };
        link(".vbw-planning");
        link("plan");
        let refused = open(&tree, "project").unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Refused);
        assert!(refused.message.contains("leads outside the project"));
        let mut request = request(&tree, "project");
        request.planning_dir = Some(PathBuf::from(".vbw-planning"));
        assert!(Project::open(request.clone()).unwrap().planning().is_ok());
        request.planning_dir = None;
        let elsewhere = tree.at("elsewhere").display().to_string();
        request.environment = with("ANNALS_LINKED_ROOTS", &elsewhere);
        assert!(Project::open(request.clone()).unwrap().planning().is_ok());
        request.environment = with("ANNALS_LINKED_ROOTS", "elsewhere");
        assert_eq!(Project::open(request).unwrap_err().kind, ErrorKind::Usage);
        tree.write("project/annals.toml", "planning_dir = \"plan\"");
        assert_eq!(open(&tree, "project").unwrap_err().kind, ErrorKind::Refused);
        let own_roots = format!("linked_roots = [\"{elsewhere}\"]");
        tree.write("project/annals.toml", &own_roots);
        assert_eq!(open(&tree, "project").unwrap_err().kind, ErrorKind::Refused);
    }

    #[test]
    fn the_project_flag_names_the_root_itself() {
        let tree = Tree::new(&[".git/", ".vbw-planning/", "sub/"]);
        let mut request = request(&tree, "sub");
        request.project = Some(PathBuf::from("."));
        assert_eq!(Project::open(request.clone()).unwrap().root, tree.at("sub"));
        request.project = Some(PathBuf::from("missing"));
        assert_eq!(Project::open(request).unwrap_err().kind, ErrorKind::NotFound);
    }

    #[test]
    fn paths_are_printed_relative_to_the_project() {
        let tree = Tree::new(&[".git/"]);
        let project = open(&tree, "").unwrap();
        let inside = tree.at("a/b.md");
        assert_eq!(project.relative(&inside), Path::new("a/b.md"));
        assert_eq!(project.relative(Path::new("/elsewhere")), Path::new("/elsewhere"));
    }

    #[test]
    fn writes_follow_the_flag_and_the_settings() {
        let tree = Tree::new(&[".git/", "home/"]);
        let home = tree.at("home").display().to_string();
        let note = |dry_run, no_history, text: &str| {
            let project = Project::open(OpenRequest {
                dry_run,
                no_history,
                environment: [("ANNALS_HISTORY", "true"), ("HOME", &home)]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into_iter()
                    .collect(),
                ..request(&tree, "")
            });
            let storage = project.unwrap().storage();
            let written = storage.transact("note", &[Store::Entries], || {
                let mut changes = Changes::new();
                changes.write(&tree.at("notes.md"), text)?;
                Ok(((), changes))
            });
            written.unwrap();
            let recorded = storage.history().list().unwrap().value.len();
            (tree.at("notes.md").exists(), recorded)
        };
        assert_eq!(note(true, false, "one\n"), (false, 0));
        assert_eq!(note(false, true, "one\n"), (true, 0));
        assert_eq!(note(false, false, "two\n"), (true, 1));
    }

    #[test]
    fn the_time_comes_from_the_environment() {
        let tree = Tree::new(&[]);
        let mut request = request(&tree, "");
        request.environment = with("ANNALS_NOW", "2026-02-17T10:11:12Z");
        let project = Project::open(request).unwrap();
        assert_eq!(project.clock.timestamp(), "2026-02-17T10:11:12Z");
    }

    #[test]
    fn the_nearest_planning_folder_or_repository_is_the_project() {
        let tree = Tree::new(&[".git/", ".vbw-planning/", "src/deep/", "packages/a/.planning/"]);
        assert_eq!(root_above(&tree.at("src/deep"), None), tree.at(""));
        assert_eq!(root_above(&tree.at(".vbw-planning"), None), tree.at(""));
        assert_eq!(root_above(&tree.at("packages/a"), None), tree.at("packages/a"));
        assert_eq!(root_above(&tree.at("packages"), None), tree.at(""));
    }

    #[test]
    fn a_worktree_or_nested_repository_never_resolves_to_the_project_around_it() {
        let tree = Tree::new(&[".git/", ".vbw-planning/", "nested/.git/", "nested/src/"]);
        tree.write("tree/.git", "gitdir: ../.git/worktrees/tree\n");
        tree.write("tree/src/main.rs", "");
        assert_eq!(root_above(&tree.at("nested/src"), None), tree.at("nested"));
        assert_eq!(root_above(&tree.at("tree/src"), None), tree.at("tree"));
    }

    #[test]
    fn a_planning_folder_that_is_a_repository_belongs_to_the_project_around_it() {
        let tree = Tree::new(&[".vbw-planning/.git/", ".vbw-planning/phases/"]);
        assert_eq!(root_above(&tree.at(".vbw-planning/phases"), None), tree.at(""));
    }

    #[test]
    fn home_is_a_project_only_as_the_working_directory() {
        let tree = Tree::new(&[".git/", "home/.git/", "home/notes/today/"]);
        let home = tree.at("home");
        let today = tree.at("home/notes/today");
        assert_eq!(root_above(&today, Some(&home)), today);
        assert_eq!(root_above(&home, Some(&home)), home);
        let bare = Tree::new(&[".git/", "home/"]);
        let home = bare.at("home");
        assert_eq!(root_above(&home, Some(&home)), home, "never above home");
    }

    #[test]
    fn a_store_is_found_from_a_folder_below_it_without_git() {
        for store in [".vibekit/memory/", "docs/memory/"] {
            let tree = Tree::new(&[store, "src/deep/"]);
            tree.write("docs/memory/STATE.md", "");
            assert_eq!(root_above(&tree.at("src/deep"), None), tree.at(""), "{store}");
            assert_eq!(root_above(&tree.at(store), None), tree.at(""), "{store}");
        }
    }

    #[test]
    fn a_file_of_that_name_is_not_a_planning_folder() {
        let tree = Tree::new(&[".planning/"]);
        tree.write(".vbw-planning", "");
        assert_eq!(layouts(&tree.at("")), [LayoutName::Gsd]);
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_config_directory_follows_xdg_and_falls_back_to_home() {
        let config = |variables: &[_]| environment(variables).config_dir();
        assert_eq!(
            config(&[("HOME", "/users/ada"), ("XDG_CONFIG_HOME", "/etc/ada")]),
            Some(PathBuf::from("/etc/ada/annals"))
        );
        for ignored in ["", "relative/path"] {
            assert_eq!(
                config(&[("HOME", "/users/ada"), ("XDG_CONFIG_HOME", ignored)]),
                Some(PathBuf::from("/users/ada/.config/annals")),
                "{ignored:?}"
            );
        }
        assert_eq!(config(&[]), None);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = environment(&[("ANNALS_TARGETS", "")]);
        assert_eq!(environment.get("ANNALS_TARGETS"), None);
    }
}
