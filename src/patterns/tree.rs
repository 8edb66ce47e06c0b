//! Looks up the paths that texts mention among the files of the project: on disk, and in git's index.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::git::{Git, TrackedFiles};
use crate::patterns::{Mention, PathStatus, is_planning};
use crate::project::{LayoutName, manifest};
use crate::storage::{listing, read};
use crate::text::{file_name, listed, slashed};

/// Maximum number of files listed on disk.
const MAX_FILES: usize = 200_000;

/// Maximum number of manifests that are read, those of the top folders first.
const MAX_MANIFESTS: usize = 40;

/// Folders of build products, dependencies and caches: paths missing there were never part of the project.
const GENERATED: &str =
    "node_modules target dist build out coverage venv __pycache__ tmp logs bin obj";

/// The files on disk and in git's index.
pub(crate) struct Tree {
    /// The top of the repository; the project's root without git.
    pub(crate) top: PathBuf,
    root: PathBuf,
    /// The content of git's index; `None` without git.
    tracked: Option<TrackedFiles>,
    is_sparse: bool,
    ignored: listing::Rules,
    names: OnceCell<FileNames>,
    /// The lines of the manifests, which list dependencies.
    dependencies: OnceCell<Vec<String>>,
}

impl Tree {
    pub(crate) fn new(root: &Path, git: &Git) -> Result<Self> {
        Ok(Self {
            top: git.top().unwrap_or(root).to_owned(),
            root: root.to_owned(),
            tracked: git.tracked()?,
            is_sparse: git.is_sparse(),
            ignored: listing::Rules::new(root),
            names: OnceCell::new(),
            dependencies: OnceCell::new(),
        })
    }

    /// Returns the paths of the files in git's index, without git of all files, relative to the top.
    pub(crate) fn files(&self) -> &[String] {
        self.tracked.as_ref().map_or(&self.names().files, |tracked| &tracked.files)
    }

    /// Looks a path up: from the project's root, from the top, or by the end of its name.
    ///
    /// Returns `None` if it may be no path, or no file of the project.
    pub(crate) fn look_up(&self, mention: &Mention) -> Option<PathStatus> {
        let path = mention.path.as_str();
        if self.is_on_disk(path) {
            return Some(PathStatus::Ok);
        }
        if !mention.is_sure {
            return None;
        }
        if self.names().ending_in(path).into_iter().any(|home| self.has(home)) {
            return Some(PathStatus::Ok);
        }
        self.is_own(mention).then_some(PathStatus::Gone)
    }

    /// Returns whether a path relative to the top exists; a sparse checkout lacks some of its files on purpose.
    pub(crate) fn has(&self, from_top: &str) -> bool {
        self.is_sparse || self.top.join(from_top).symlink_metadata().is_ok()
    }

    /// Returns a path relative to the top as relative to the project.
    pub(crate) fn in_project<'a>(&self, from_top: &'a str) -> &'a str {
        let prefix = slashed(self.root.strip_prefix(&self.top).unwrap_or(Path::new("")));
        let inside =
            from_top.strip_prefix(prefix.as_str()).map(|rest| rest.trim_start_matches('/'));
        inside.unwrap_or(from_top)
    }

    /// Returns whether a missing path would be one of the project's own files or folders: not generated, ignored, of
    /// another repository or a package, of a hidden folder without files or of a planning folder, whose files move, and not
    /// another spelling of one that exists.
    fn is_own(&self, mention: &Mention) -> bool {
        let path = mention.path.as_str();
        let mut parts = path.split('/');
        let is_elsewhere = |part: &str| {
            listed(GENERATED, part)
                || part.starts_with('.') && self.names().ending_in(part).is_empty()
                || LayoutName::from_dir(Path::new(part)).is_some()
        };
        let whole = self.root.join(path);
        let mut folders =
            whole.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        let mut submodules = self.tracked.iter().flat_map(|tracked| &tracked.submodules);
        let first = parts.clone().next().unwrap_or(path);
        let is_known = || self.is_on_disk(first) || !self.names().ending_in(first).is_empty();
        // A folder must begin like one that exists: `and/or/`, `api/v1/users/`.
        let may_be_own = if mention.is_folder {
            is_known()
        } else {
            first == path || is_known() || !self.is_package(first)
        };
        may_be_own
            && !is_planning(path)
            && !parts.any(is_elsewhere)
            && !self.ignored.ignore(&whole, false)
            && !folders.any(|folder| self.ignored.ignore(folder, true))
            && !submodules.any(|module| whole.starts_with(self.top.join(module)))
            && !self.names().has_similar(path, |home| self.has(home))
    }

    /// Returns whether a manifest requires a package of this name.
    fn is_package(&self, name: &str) -> bool {
        let lines = self.dependencies.get_or_init(|| {
            let files = manifests(self.names().files.iter().map(String::as_str));
            // One that cannot be read lists nothing.
            let texts =
                files.into_iter().filter_map(|file| read::text(&self.top.join(file)).ok()?);
            texts.flat_map(|text| manifest::lines(&text.value)).collect()
        });
        let name = name.to_lowercase();
        lines.iter().any(|line| manifest::requires(line, &name))
    }

    fn is_on_disk(&self, path: &str) -> bool {
        let exists = |folder: &Path| folder.join(path).symlink_metadata().is_ok();
        exists(&self.root) || exists(&self.top)
    }

    fn names(&self) -> &FileNames {
        self.names.get_or_init(|| {
            // Files that were not added yet are the project's, too.
            let mut files = on_disk(&self.top);
            files.extend(self.tracked.iter().flat_map(|tracked| tracked.files.iter().cloned()));
            FileNames::new(files)
        })
    }
}

/// Lists the files of a folder, except those excluded by `.gitignore` or by name.
fn on_disk(root: &Path) -> Vec<String> {
    let walk = listing::tracked(root, |entry| {
        let name = entry.file_name().to_string_lossy();
        name != ".git" && name != "node_modules"
    });
    let entries = walk.build().flatten();
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    let paths = files
        .take(MAX_FILES)
        .filter_map(|entry| Some(slashed(entry.path().strip_prefix(root).ok()?)));
    paths.collect()
}

/// Returns the manifests among these files, at most [`MAX_MANIFESTS`].
pub(crate) fn manifests<'a>(files: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = files.filter(|path| manifest::is_manifest(path)).collect();
    found.sort_by_key(|path| (path.matches('/').count(), *path));
    found.truncate(MAX_MANIFESTS);
    found
}

/// Returns the folders above a file, deepest first.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').rev().map(|(at, _)| &path[..at])
}

/// The files of the project, which are looked up by the end of their paths.
struct FileNames {
    files: Vec<String>,
    /// The files and folders by the first part of their names, in lower case: `Login.test.ts` by `login`.
    by_stem: HashMap<String, Vec<String>>,
}

impl FileNames {
    fn new(mut files: Vec<String>) -> Self {
        files.sort_unstable();
        files.dedup();
        let mut by_stem: HashMap<String, Vec<String>> = HashMap::new();
        let mut last = "";
        for file in &files {
            // Files are sorted, so all files of a folder are adjacent.
            let is_new = |folder: &&str| {
                !last.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            for path in std::iter::once(file.as_str()).chain(folders(file).filter(is_new)) {
                by_stem.entry(stem(path)).or_default().push(path.to_owned());
            }
            last = file;
        }
        Self { files, by_stem }
    }

    /// Returns the paths that end with this one; `mod.rs` usually has several.
    fn ending_in(&self, path: &str) -> Vec<&str> {
        self.alike(path).filter(|home| ends_in(home, path)).collect()
    }

    /// Returns whether a path exists that a missing one may stand for: people omit extensions or write `.js` for
    /// `.ts`, and names in other case.
    fn has_similar(&self, path: &str, exists: impl Fn(&str) -> bool) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
        self.alike(path).any(|home| {
            let above = home.to_lowercase();
            let is_there = folder.is_empty()
                || above.rsplit_once('/').is_some_and(|(above, _)| ends_in(above, &folder));
            is_there && exists(home)
        })
    }

    fn alike(&self, path: &str) -> impl Iterator<Item = &str> {
        self.by_stem.get(&stem(path)).into_iter().flatten().map(String::as_str)
    }
}

fn stem(path: &str) -> String {
    let name = file_name(path);
    let end = name.char_indices().skip(1).find(|(_, c)| *c == '.').map_or(name.len(), |(at, _)| at);
    name[..end].to_lowercase()
}

/// Returns whether a path ends with all parts of another one.
pub(crate) fn ends_in(whole: &str, part: &str) -> bool {
    whole.strip_suffix(part).is_some_and(|head| head.is_empty() || head.ends_with('/'))
}
