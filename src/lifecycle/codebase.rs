//! Summarises the code of a project: languages, where the code is, and the commands that build and test it.
//!
//! Only the names of the files that git would track are counted; no file is opened except root manifests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::DirEntry;

use crate::project::Project;
use crate::project::manifest::Manifest;
use crate::storage::listing;
use crate::text::listed;

/// Maximum number of entries counted; a larger tree is counted in part, since an estimate suffices.
const MAX_ENTRIES: usize = 200_000;

/// Folders of third-party code, which a project may contain without ignoring it.
const VENDORED: &str = "__pycache__ bower_components node_modules third_party vendor venv";

/// Maximum number of languages listed on a line.
const LANGUAGES: usize = 6;

/// Maximum number of folders listed on a line.
const FOLDERS: usize = 8;

/// Endings of file names with their languages, one language a line; data formats and prose are not included.
const ENDINGS: &str = "\
C: c h
C#: cs
C++: cc cpp cxx hh hpp hxx
CSS: css less sass scss
Clojure: clj cljc cljs
Dart: dart
Elixir: ex exs heex
Erlang: erl hrl
F#: fs fsx
Go: go
HCL: hcl tf
HTML: htm html
Haskell: hs
Java: java
JavaScript: cjs js jsx mjs
Julia: jl
Kotlin: kt kts
Lua: lua
Nix: nix
Notebook: ipynb
OCaml: ml mli
Objective-C: m mm
PHP: php
Perl: pl pm
PowerShell: ps1 psm1
Protocol Buffers: proto
Python: py pyi
R: r
Ruby: erb rake rb
Rust: rs
SQL: sql
Scala: sc scala
Shell: bash bats fish sh zsh
Solidity: sol
Svelte: svelte
Swift: swift
TypeScript: cts mts ts tsx
Vue: vue
Zig: zig";

/// A summary of existing code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodebaseSummary {
    /// The languages with their file counts, in descending order of count.
    languages: Vec<(&'static str, usize)>,
    /// The build and test commands.
    commands: Manifest,
    /// The top-level folders that contain code.
    folders: BTreeSet<PathBuf>,
}

impl CodebaseSummary {
    /// Reads what code a project has; returns `None` for a project without code.
    pub(crate) fn scan(project: &Project) -> Option<Self> {
        Self::of_folder(&project.root, &project.planning_place().dir)
    }

    fn of_folder(root: &Path, planning: &Path) -> Option<Self> {
        // A broken manifest is reported where its name is asked for.
        let commands = Manifest::read(root, &mut Vec::new()).unwrap_or_default();
        let mut summary = Self { commands, ..Self::default() };
        let mut languages = BTreeMap::new();
        for entry in walk(root, planning).take(MAX_ENTRIES).flatten() {
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let Some(language) = language(path).filter(|_| is_file) else { continue };
            *languages.entry(language).or_insert(0) += 1;
            let mut parts = path.components();
            if let (Some(first), Some(_)) = (parts.next(), parts.next()) {
                summary.folders.insert(PathBuf::from(first.as_os_str()));
            }
        }
        summary.languages = languages.into_iter().collect();
        summary.languages.sort_by_key(|(_, files)| Reverse(*files));
        Some(summary).filter(|summary| !summary.languages.is_empty())
    }

    /// Returns the summary, without figures that change with every new file.
    pub(crate) fn lines(&self) -> Vec<String> {
        let languages = self.languages.iter().map(|(name, _)| (*name).to_owned());
        let mut lines = vec![format!("Languages: {}", first_names(languages, LANGUAGES))];
        for (what, command) in [("Build", &self.commands.build), ("Test", &self.commands.test)] {
            lines.extend(command.as_ref().map(|command| format!("{what}: `{command}`")));
        }
        if !self.folders.is_empty() {
            let folders = self.folders.iter().map(|path| format!("`{}/`", path.display()));
            lines.push(format!("Code in: {}", first_names(folders, FOLDERS)));
        }
        lines
    }
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
    let row = rows.find(|(_, endings)| listed(endings, ending));
    row.map(|(language, _)| language)
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

    fn scanned(tree: &Tree) -> Option<CodebaseSummary> {
        CodebaseSummary::of_folder(&tree.at(""), &tree.at("plan"))
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
        let summary = scanned(&tree).unwrap();
        let code = "Code in: `src/`, `tests/`, `ui/`";
        assert_eq!(
            summary.lines(),
            ["Languages: Rust, TypeScript", "Build: `cargo build`", "Test: `cargo test`", code]
        );
    }

    #[test]
    fn a_project_without_code_has_no_profile() {
        let tree = Tree::new(&[".git"]);
        tree.write("README.md", "# New\n");
        tree.write(".github/workflows/ci.yml", "");
        assert_eq!(scanned(&tree), None);
    }
}
