//! Summarises the code of a project: languages, tests, and the commands that build and test it.
//!
//! Only the names of the files that git would track are counted; no file is opened except root manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::DirEntry;

use crate::lifecycle::codebase::language::{language, test_home};
use crate::project::Project;
use crate::project::manifest::Manifest;
use crate::storage::walk;
use crate::text::quantity;
use crate::warning::{Parsed, Warning};

mod language;

/// Maximum number of entries counted; a larger tree is counted in part, since an estimate suffices.
const MAX_ENTRIES: usize = 200_000;

/// Folders of third-party code, which a project may contain without ignoring it.
const VENDORED: &[&str] =
    &["__pycache__", "bower_components", "node_modules", "third_party", "vendor", "venv"];

/// Maximum number of names listed on a line.
const NAMED: usize = 3;

/// Maximum number of languages listed on a line.
const LANGUAGES: usize = 6;

/// Maximum number of folders listed on a line.
const FOLDERS: usize = 8;

/// A summary of existing code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodebaseSummary {
    /// The languages with their file counts, in descending order of count.
    pub(crate) languages: Vec<(&'static str, usize)>,
    /// Number of these files that are tests.
    pub(crate) tests: usize,
    /// The locations of the tests, in descending order of the number of tests.
    pub(crate) test_folders: Vec<PathBuf>,
    /// The build and test commands.
    pub(crate) commands: Manifest,
    /// The top-level folders that contain code.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether only a part of the tree was counted, because it is too large.
    pub(crate) is_partial: bool,
}

impl CodebaseSummary {
    /// Scans a project's files; `None` if there is no code yet.
    pub(crate) fn scan(project: &Project) -> Parsed<Option<Self>> {
        Self::count(&project.root, &project.planning_place().dir, MAX_ENTRIES)
    }

    fn count(root: &Path, planning: &Path, most: usize) -> Parsed<Option<Self>> {
        let mut names = Names::default();
        let mut summary = Self::default();
        let mut warnings = Vec::new();
        for (index, entry) in walk(root, planning).enumerate() {
            if index > most {
                summary.is_partial = true;
                break;
            }
            match entry {
                Ok(entry) => names.add(root, &entry),
                Err(error) => warnings.push(Warning::file(root, error.to_string())),
            }
        }
        summary.fill(root, names);
        Parsed::new(Some(summary).filter(|summary| !summary.languages.is_empty()), warnings)
    }

    fn fill(&mut self, root: &Path, names: Names) {
        self.tests = names.test_folders.values().sum();
        self.test_folders =
            fullest_first(names.test_folders).into_iter().map(|(folder, _)| folder).collect();
        self.languages = fullest_first(names.languages);
        // A broken manifest is reported where its name is asked for.
        self.commands = Manifest::read(root, &mut Vec::new()).unwrap_or_default();
        self.folders = names.folders.into_iter().collect();
    }

    /// Returns a summary for an agent, without figures that change with every new file.
    pub(crate) fn summary(&self) -> Vec<String> {
        let languages = self.languages.iter().map(|(name, _)| (*name).to_owned());
        let code = |command: &String| format!("`{command}`");
        let folders = self.folders.iter().map(|path| format!("`{}`", folder(path)));
        let folders = Some(first_names(folders, FOLDERS)).filter(|_| !self.folders.is_empty());
        let lines = [
            ("Languages", Some(first_names(languages, LANGUAGES))),
            ("Build", self.commands.build.as_ref().map(code)),
            ("Test", self.commands.test.as_ref().map(code)),
            ("Code in", folders),
        ];
        let lines = lines.into_iter();
        lines.filter_map(|(what, said)| Some(format!("{what}: {}", said?))).collect()
    }

    /// Returns the summary as lines of STATE.md.
    pub(crate) fn lines(&self) -> Vec<String> {
        let files: usize = self.languages.iter().map(|(_, files)| files).sum();
        let languages = self.languages.iter().map(|(name, files)| format!("{name} {files}"));
        let part = if self.is_partial {
            format!(" at least; counting stopped at {MAX_ENTRIES} entries")
        } else {
            String::new()
        };
        let folders = first_names(self.test_folders.iter().map(|path| folder(path)), NAMED);
        let tests = match self.tests {
            0 => "none found".to_owned(),
            files => format!("{} in {folders}", quantity(files, "file")),
        };
        let mut lines = vec![
            format!("Source files: {files}{part} ({})", first_names(languages, LANGUAGES)),
            format!("Tests: {tests}"),
        ];
        lines.extend(self.commands.build.iter().map(|command| format!("Build: `{command}`")));
        lines.extend(self.commands.test.iter().map(|command| format!("Test: `{command}`")));
        lines
    }
}

/// What the file names reveal, collected during the walk.
#[derive(Debug, Default)]
struct Names {
    languages: BTreeMap<&'static str, usize>,
    test_folders: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
}

impl Names {
    fn add(&mut self, root: &Path, entry: &DirEntry) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let Ok(path) = entry.path().strip_prefix(root) else {
            return;
        };
        if !is_file {
            return;
        }
        if let Some(language) = language(path) {
            *self.languages.entry(language).or_default() += 1;
            let mut parts = path.components();
            if let (Some(first), Some(_)) = (parts.next(), parts.next()) {
                self.folders.insert(PathBuf::from(first.as_os_str()));
            }
            if let Some(home) = test_home(path) {
                *self.test_folders.entry(home.to_owned()).or_default() += 1;
            }
        }
    }
}

/// Walks the files that git would track, sorted by name.
fn walk(root: &Path, planning: &Path) -> ignore::Walk {
    let planning = planning.to_owned();
    let is_counted = move |entry: &DirEntry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let name = entry.file_name().to_string_lossy();
        let is_vendored = VENDORED.contains(&name.as_ref());
        !(name.starts_with('.') || is_dir && (is_vendored || entry.path() == planning))
    };
    let mut walk = walk::tracked(root, is_counted);
    walk.sort_by_file_name(Ord::cmp).build()
}

/// Returns the counts in descending order, equal ones sorted by name.
fn fullest_first<K: Ord>(counts: BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(_, a), (_, b)| b.cmp(a));
    counts
}

/// Returns at most `most` of the names, and the number of the rest.
fn first_names(names: impl Iterator<Item = String>, most: usize) -> String {
    let names: Vec<String> = names.collect();
    match names.len() {
        0 => "none".to_owned(),
        all if all <= most => names.join(", "),
        all => format!("{}, {} more", names[..most].join(", "), all - most),
    }
}

fn folder(path: &Path) -> String {
    match path.to_str() {
        Some("") => "the root".to_owned(),
        _ => format!("{}/", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    fn lines(tree: &Tree) -> Vec<String> {
        let found = CodebaseSummary::count(&tree.at(""), &tree.at("plan"), MAX_ENTRIES);
        assert_eq!(found.warnings, []);
        found.value.map(|summary| summary.lines()).unwrap_or_default()
    }

    #[test]
    fn code_is_counted_by_language_without_what_is_ignored() {
        let tree = Tree::new(&[]);
        for file in [
            "src/main.rs",
            "src/lib.rs",
            "tests/cli.rs",
            "ui/app.ts",
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
        assert_eq!(
            lines(&tree),
            [
                "Source files: 4 (Rust 3, TypeScript 1)",
                "Tests: 1 file in tests/",
                "Build: `cargo build`",
                "Test: `cargo test`",
            ]
        );
    }

    #[test]
    fn a_summary_says_what_to_run_and_where_the_code_is() {
        let tree = Tree::new(&[]);
        for file in ["src/main.rs", "tests/cli.rs", "build.rs", "docs/a.md"] {
            tree.write(file, "");
        }
        tree.write("Cargo.toml", "");
        let found = CodebaseSummary::count(&tree.at(""), &tree.at("plan"), MAX_ENTRIES);
        assert_eq!(
            found.value.unwrap().summary(),
            [
                "Languages: Rust",
                "Build: `cargo build`",
                "Test: `cargo test`",
                "Code in: `src/`, `tests/`",
            ]
        );
    }

    #[test]
    fn a_project_without_code_has_no_profile() {
        let tree = Tree::new(&[".git"]);
        tree.write("README.md", "# New\n");
        tree.write(".github/workflows/ci.yml", "");
        assert_eq!(lines(&tree), [""; 0]);
    }

    #[test]
    fn long_lists_name_the_first_and_count_the_rest() {
        let tree = Tree::new(&[]);
        for folder in ["a", "b", "c", "d"] {
            tree.write(&format!("{folder}/x_test.go"), "");
        }
        tree.write("d/y_test.go", "");
        assert_eq!(lines(&tree)[1], "Tests: 5 files in d/, a/, b/, 1 more");
    }

    #[test]
    fn a_tree_too_large_is_counted_in_part_and_says_so() {
        let tree = Tree::new(&[]);
        for number in 0..6 {
            tree.write(&format!("{number}.py"), "");
        }
        let summary = CodebaseSummary::count(&tree.at(""), &tree.at("plan"), 4).value.unwrap();
        assert_eq!(summary.languages, [("Python", 4)]);
        assert!(summary.lines()[0].starts_with("Source files: 4 at least; counting stopped at "));
    }
}
