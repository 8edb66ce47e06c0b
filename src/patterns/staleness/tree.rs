//! Resolves paths in the project's current files.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::git::Git;
use crate::patterns::staleness::listing::FileNames;
use crate::patterns::{Certainty, Mention, PathForm};
use crate::storage::walk;
use crate::text::slashed;

/// Maximum number of files listed in a folder without git.
const MAX_FILES: usize = 200_000;

/// Folders of build products, dependencies and caches: paths missing there were never part of the project.
const GENERATED: &[&str] = &[
    "node_modules", "target", "dist", "build", "out", "coverage", "venv", "__pycache__", "tmp",
    "logs", "bin", "obj",
];

/// The project's current files, on disk and in git's index.
#[derive(Debug)]
pub(crate) struct Tree {
    source: FileSource,
    listing: OnceCell<FileNames>,
    submodules: OnceCell<Vec<String>>,
}

/// The source of the files.
#[derive(Debug)]
enum FileSource {
    Disk(PathBuf),
    Repository {
        git: Git,
        top: PathBuf,
        /// The project's root relative to the top, with a trailing slash; empty at the top itself.
        prefix: String,
    },
}

/// The result of resolving a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// One file or folder.
    Exists,
    /// Several; the name alone is ambiguous.
    Ambiguous(Vec<String>),
    /// In a submodule or otherwise outside of the project.
    Outside,
    /// No file or folder.
    Missing,
}

impl Tree {
    /// Returns the tree of a project; files are only listed when needed.
    pub(crate) fn new(root: &Path, git: &Git) -> Self {
        let source = match git.top() {
            Some(top) => FileSource::Repository {
                git: git.clone(),
                top: top.to_owned(),
                prefix: prefix(top, root),
            },
            None => FileSource::Disk(root.to_owned()),
        };
        Self { source, listing: OnceCell::new(), submodules: OnceCell::new() }
    }

    /// Returns a mention of an absolute path in the project as a path relative to its root.
    pub(crate) fn inside(&self, mention: Mention) -> Mention {
        let root = match &self.source {
            FileSource::Disk(root) => root.clone(),
            FileSource::Repository { top, prefix, .. } => top.join(prefix),
        };
        let below = Path::new(&mention.path).strip_prefix(&root).ok();
        match below.and_then(Path::to_str).filter(|path| !path.is_empty()) {
            Some(path) if mention.form == PathForm::Outside => Mention {
                path: path.replace('\\', "/"),
                form: PathForm::Plain,
                certainty: Certainty::Sure,
            },
            _ => mention,
        }
    }

    /// Converts a path relative to the project to one relative to the repository.
    pub(crate) fn in_repository(&self, path: &str) -> String {
        format!("{}{path}", self.prefix())
    }

    /// Converts a path relative to the repository to one relative to the project.
    pub(crate) fn in_project<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.prefix()).unwrap_or(path)
    }

    /// Resolves a path; an unsure one is only compared literally.
    pub(crate) fn locate(&self, mention: &Mention) -> Result<Resolution> {
        let path = mention.path.as_str();
        let is_literal = mention.form != PathForm::Glob;
        if is_literal && self.is_on_disk(path) {
            return Ok(Resolution::Exists);
        }
        let listing = self.listing()?;
        if self.is_in_submodule(path) {
            return Ok(Resolution::Outside);
        }
        if !is_literal {
            let is_there = !listing.matches(path).is_empty();
            return Ok(if is_there { Resolution::Exists } else { Resolution::Missing });
        }
        let is_listed =
            listing.has(path, mention.form) || listing.has(&self.in_repository(path), mention.form);
        if is_listed && self.may_be_absent() {
            return Ok(Resolution::Exists);
        }
        if mention.certainty == Certainty::Unsure {
            return Ok(Resolution::Missing);
        }
        let mut homes: Vec<String> = listing
            .paths_ending_in(path, mention.form)
            .into_iter()
            .filter(|home| self.may_be_absent() || self.is_on_disk(self.in_project(home)))
            .map(|home| self.in_project(home).to_owned())
            .collect();
        Ok(match homes.len() {
            0 => Resolution::Missing,
            1 => Resolution::Exists,
            _ => {
                homes.sort();
                Resolution::Ambiguous(homes)
            }
        })
    }

    /// Returns whether a path relative to the repository exists now.
    pub(crate) fn has(&self, from_top: &str, form: PathForm) -> Result<bool> {
        let path = self.in_project(from_top);
        let is_listed =
            || -> Result<bool> { Ok(self.listing()?.has(from_top, form) && self.may_be_absent()) };
        Ok(self.is_on_disk(path) || is_listed()?)
    }

    /// Returns whether there is another path that this one may stand for.
    pub(crate) fn has_similar(&self, path: &str) -> Result<bool> {
        Ok(self.listing()?.has_similar(path))
    }

    /// Returns whether a missing path would be in a generated, downloaded or hidden folder.
    pub(crate) fn is_generated(path: &str) -> bool {
        path.split('/').any(|part| GENERATED.contains(&part) || part.starts_with('.'))
    }

    /// Returns whether the first folder of a path exists in the project.
    pub(crate) fn has_first_folder(&self, path: &str) -> Result<bool> {
        let Some((first, _)) = path.split_once('/') else {
            return Ok(true);
        };
        Ok(self.is_on_disk(first)
            || !self.listing()?.paths_ending_in(first, PathForm::Folder).is_empty())
    }

    /// Returns the paths of all files, relative to the top of the repository, or to the project without git.
    pub(crate) fn listing(&self) -> Result<&FileNames> {
        if let Some(listing) = self.listing.get() {
            return Ok(listing);
        }
        let files = match &self.source {
            FileSource::Disk(root) => on_disk(root),
            FileSource::Repository { git, .. } => {
                let tracked = git.tracked()?.unwrap_or_default();
                self.submodules.get_or_init(|| tracked.submodules);
                tracked.files
            }
        };
        Ok(self.listing.get_or_init(|| FileNames::new(files)))
    }

    fn prefix(&self) -> &str {
        match &self.source {
            FileSource::Repository { prefix, .. } => prefix,
            FileSource::Disk(_) => "",
        }
    }

    /// Returns whether a path exists on disk, relative to the project's root or the repository's top.
    fn is_on_disk(&self, path: &str) -> bool {
        let exists = |folder: &Path| fs::symlink_metadata(folder.join(path)).is_ok();
        match &self.source {
            FileSource::Disk(root) => exists(root),
            FileSource::Repository { top, prefix, .. } => {
                exists(&top.join(prefix)) || (!prefix.is_empty() && exists(top))
            }
        }
    }

    /// Returns whether a listed file counts as existing even if it is not on disk.
    fn may_be_absent(&self) -> bool {
        match &self.source {
            FileSource::Disk(_) => false,
            FileSource::Repository { git, .. } => git.is_sparse(),
        }
    }

    fn is_in_submodule(&self, path: &str) -> bool {
        let inside = |path: &str| {
            self.submodules.get().into_iter().flatten().any(|module| {
                path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        inside(path) || inside(&self.in_repository(path))
    }
}

fn prefix(top: &Path, root: &Path) -> String {
    let below = root.strip_prefix(top).unwrap_or(Path::new(""));
    match slashed(below) {
        prefix if prefix.is_empty() => prefix,
        prefix => prefix + "/",
    }
}

/// Lists the files of a folder, except those excluded by `.gitignore` or by name.
fn on_disk(root: &Path) -> Vec<String> {
    let walk = walk::tracked(root, |entry| {
        let name = entry.file_name().to_string_lossy();
        name != ".git" && name != "node_modules"
    });
    let walk = walk.build();
    // Unreadable folders are skipped.
    walk.flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
        .take(MAX_FILES)
        .filter_map(|entry| Some(slashed(entry.path().strip_prefix(root).ok()?)))
        .collect()
}
