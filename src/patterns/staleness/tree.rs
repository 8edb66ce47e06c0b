//! Resolves paths in the project's current files.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::error::Result;
use crate::git::Git;
use crate::patterns::staleness::dependencies::is_manifest;
use crate::patterns::staleness::history::folders;
use crate::patterns::{Certainty, Mention, PathForm};
use crate::storage::walk;
use crate::text::{file_name, slashed};

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
    git: Git,
    /// The top of the repository; the project's root without git.
    top: PathBuf,
    /// The project's root relative to the top, with a trailing slash; empty at the top itself.
    prefix: String,
    ignored: walk::Rules,
    listing: OnceCell<Listing>,
}

#[derive(Debug)]
struct Listing {
    files: FileNames,
    submodules: Vec<String>,
    counts: Counts,
    manifests: Vec<String>,
}

/// The size of the tree, without top-level files and folders whose names begin with a dot.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) files: usize,
    /// The number of files below each folder.
    pub(crate) folders: HashMap<String, usize>,
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
        let top = git.top().unwrap_or(root).to_owned();
        let prefix = slashed(root.strip_prefix(&top).unwrap_or(Path::new("")));
        let prefix = if prefix.is_empty() { prefix } else { prefix + "/" };
        let ignored = walk::Rules::new(root);
        Self { git: git.clone(), top, prefix, ignored, listing: OnceCell::new() }
    }

    /// Returns a mention of an absolute path in the project as a path relative to its root.
    pub(crate) fn inside(&self, mention: Mention) -> Mention {
        let below = Path::new(&mention.path).strip_prefix(self.top.join(&self.prefix)).ok();
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
        format!("{}{path}", self.prefix)
    }

    /// Converts a path relative to the repository to one relative to the project.
    pub(crate) fn in_project<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.prefix.as_str()).unwrap_or(path)
    }

    /// Resolves a path; an unsure one is only compared literally.
    pub(crate) fn locate(&self, mention: &Mention) -> Result<Resolution> {
        let path = mention.path.as_str();
        if mention.form == PathForm::Outside {
            return Ok(Resolution::Outside);
        }
        let is_glob = mention.form == PathForm::Glob;
        if !is_glob && self.is_on_disk(path) {
            return Ok(Resolution::Exists);
        }
        let listing = self.listing()?;
        let whole = self.in_repository(path);
        let is_inside = |module: &String| {
            [path, &whole].iter().any(|path| {
                path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        if listing.submodules.iter().any(is_inside) {
            return Ok(Resolution::Outside);
        }
        if is_glob {
            let is_there = listing.files.has_match(path);
            return Ok(if is_there { Resolution::Exists } else { Resolution::Missing });
        }
        // Some files of a sparse checkout are absent on purpose.
        let files = &listing.files;
        let is_listed = files.has(path, mention.form) || files.has(&whole, mention.form);
        if is_listed && self.git.is_sparse() {
            return Ok(Resolution::Exists);
        }
        if mention.certainty == Certainty::Unsure {
            return Ok(Resolution::Missing);
        }
        let homes = files.paths_ending_in(path, mention.form).into_iter();
        let homes =
            homes.filter(|home| self.has(home)).map(|home| self.in_project(home).to_owned());
        let homes: Vec<String> = homes.collect();
        Ok(match homes.len() {
            0 => Resolution::Missing,
            1 => Resolution::Exists,
            _ => Resolution::Ambiguous(homes),
        })
    }

    /// Returns whether a listed path relative to the repository exists now.
    pub(crate) fn has(&self, from_top: &str) -> bool {
        self.git.is_sparse() || self.is_on_disk(self.in_project(from_top))
    }

    /// Returns whether there is another path that this one may stand for.
    pub(crate) fn has_similar(&self, path: &str) -> Result<bool> {
        Ok(self.listing()?.files.has_similar(path))
    }

    /// Returns whether a missing path would be in a generated, downloaded or hidden folder, or ignored.
    pub(crate) fn is_generated(&self, path: &str) -> bool {
        let whole = self.top.join(self.in_repository(path));
        let mut above = folders(path).map(|folder| self.top.join(self.in_repository(folder)));
        path.split('/').any(|part| GENERATED.contains(&part) || part.starts_with('.'))
            || self.ignored.ignore(&whole, false)
            || above.any(|folder| self.ignored.ignore(&folder, true))
    }

    /// Returns whether the first folder of a path exists in the project.
    pub(crate) fn has_first_folder(&self, path: &str) -> Result<bool> {
        let first = path.split('/').next().unwrap_or(path);
        Ok(self.is_on_disk(first)
            || !self.listing()?.files.paths_ending_in(first, PathForm::Folder).is_empty())
    }

    /// Returns the number of files, in all and of each folder.
    pub(crate) fn counts(&self) -> Result<&Counts> {
        Ok(&self.listing()?.counts)
    }

    /// Returns the paths of the manifests, sorted.
    pub(crate) fn manifests(&self) -> Result<&[String]> {
        Ok(&self.listing()?.manifests)
    }

    fn listing(&self) -> Result<&Listing> {
        if let Some(listing) = self.listing.get() {
            return Ok(listing);
        }
        let (files, submodules) = match self.git.tracked()? {
            Some(tracked) => (tracked.files, tracked.submodules),
            None => (on_disk(&self.top), Vec::new()),
        };
        let files = FileNames::new(files);
        let counted = files.files.iter().filter(|file| !file.starts_with('.'));
        let mut counts = Counts { files: counted.clone().count(), folders: HashMap::new() };
        for folder in counted.clone().flat_map(|file| folders(file)) {
            match counts.folders.get_mut(folder) {
                Some(count) => *count += 1,
                None => drop(counts.folders.insert(folder.to_owned(), 1)),
            }
        }
        let manifests = counted.filter(|file| is_manifest(file)).cloned().collect();
        Ok(self.listing.get_or_init(|| Listing { files, submodules, counts, manifests }))
    }

    /// Returns whether a path exists on disk, relative to the project's root or the repository's top.
    fn is_on_disk(&self, path: &str) -> bool {
        let exists = |folder: &Path| fs::symlink_metadata(folder.join(path)).is_ok();
        exists(&self.top.join(&self.prefix)) || (!self.prefix.is_empty() && exists(&self.top))
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

/// Paths of files relative to one folder, separated by `/`, sorted bytewise; searchable by the ends of the paths.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    files: Vec<String>,
    by_name: HashMap<String, Vec<String>>,
    /// The files in lower case; created on first use.
    lower: OnceCell<Vec<String>>,
}

impl FileNames {
    pub(crate) fn new(mut files: Vec<String>) -> Self {
        files.sort_unstable();
        files.dedup();
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        let mut add = |path: &str| {
            by_name.entry(file_name(path).to_owned()).or_default().push(path.to_owned());
        };
        let mut last = "";
        for file in &files {
            add(file);
            // Files are sorted, so all files of a folder are adjacent.
            let is_new = |folder: &&str| {
                let rest = last.strip_prefix(folder);
                !rest.is_some_and(|rest| rest.starts_with('/'))
            };
            folders(file).filter(is_new).for_each(&mut add);
            last = file;
        }
        Self { files, by_name, lower: OnceCell::new() }
    }

    /// Returns whether exactly this path exists.
    pub(crate) fn has(&self, path: &str, form: PathForm) -> bool {
        let is_file = self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
        let start = format!("{path}/");
        let first = self.files.partition_point(|file| *file < start);
        (form == PathForm::Plain && is_file)
            || self.files.get(first).is_some_and(|file| file.starts_with(&start))
    }

    /// Returns the paths that end with this one, sorted; `mod.rs` usually has several.
    pub(crate) fn paths_ending_in(&self, path: &str, form: PathForm) -> Vec<&str> {
        let homes = self.by_name.get(file_name(path)).into_iter().flatten().map(String::as_str);
        let ends = |home: &&str| {
            home.strip_suffix(path).is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        let mut homes: Vec<&str> =
            homes.filter(|home| ends(home) && self.has(home, form)).collect();
        homes.sort_unstable();
        homes
    }

    /// Returns whether a glob matches a file or folder, from the root or below any folder.
    fn has_match(&self, pattern: &str) -> bool {
        let anywhere = format!("**/{pattern}");
        let Ok(glob) = GlobBuilder::new(&anywhere).literal_separator(true).build() else {
            return false;
        };
        let matcher = glob.compile_matcher();
        self.files.iter().any(|file| {
            matcher.is_match(file) || folders(file).any(|folder| matcher.is_match(folder))
        })
    }

    /// Returns whether there is a path that a missing one may stand for.
    ///
    /// Imports omit extensions or use `.js` for `.ts`, and people write names with different case.
    fn has_similar(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        let script =
            [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|ending| lower.strip_suffix(ending));
        let lower_files =
            self.lower.get_or_init(|| self.files.iter().map(|file| file.to_lowercase()).collect());
        lower_files.iter().any(|file| {
            let of_stem = rest_after(file, &lower).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || rest.starts_with('.')
            });
            let of_script = script
                .and_then(|stem| rest_after(file, stem))
                .is_some_and(|rest| [".ts", ".tsx", ".mts", ".cts", ".jsx"].contains(&rest));
            of_stem || of_script
        })
    }
}

/// Returns the rest of a file's path after `part`, if `part` starts at the beginning of a name.
fn rest_after<'a>(file: &'a str, part: &str) -> Option<&'a str> {
    let at = file.find(part)?;
    let is_start = at == 0 || file[..at].ends_with('/');
    is_start.then(|| &file[at + part.len()..])
}
