//! Paths in real planning files against the real trees beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use annals::git::Git;
use annals::patterns::{LoosePattern, PathStatus, Patterns, Staleness};
use tempfile::TempDir;

use crate::support::corpus;

/// A path that the tree has is never gone, however the text around it is written.
#[test]
fn nothing_that_is_in_the_tree_is_called_gone() {
    let Some(corpus) = corpus() else {
        return;
    };
    let mut paths = 0;
    // Every third folder: each has thousands of files to make.
    for folder in folders_with_trees(&corpus).iter().step_by(3) {
        let tree = fs::read_to_string(folder.join("tree.txt")).unwrap();
        let names: BTreeSet<String> = tree.lines().flat_map(ends).collect();
        let texts = texts(folder);
        let found = check(texts, tree.lines());
        for report in found.entries.iter().flat_map(|entry| &entry.paths) {
            paths += 1;
            let is_there = names.contains(&report.path.to_lowercase());
            assert!(
                report.status != PathStatus::Gone || !is_there,
                "{}: {}",
                folder.display(),
                report.path
            );
        }
    }
    assert!(paths > 2_000, "only {paths} paths were found");
}

#[test]
fn paths_are_found_without_git() {
    let tree = ["src/main.rs", "src/web/Button.tsx", "docs/a.md", "web/a.md"];
    let text = "`src/main.rs:3`, `Button.tsx`, `a.md`, `src/gone.rs`, and/or, `src/web/Button`";
    let found = check(vec![text.to_owned()], tree);
    let statuses: Vec<(&str, PathStatus)> =
        found.entries[0].paths.iter().map(|report| (report.path.as_str(), report.status)).collect();
    assert_eq!(
        statuses,
        [
            ("src/main.rs", PathStatus::Ok),
            ("Button.tsx", PathStatus::Ok),
            ("a.md", PathStatus::Ok),
            ("src/gone.rs", PathStatus::Gone),
        ]
    );
}

/// Checks texts in a folder with these files, without git.
fn check<'a>(texts: Vec<String>, files: impl IntoIterator<Item = &'a str>) -> Staleness {
    let root = TempDir::new().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let loose =
        texts.into_iter().map(|text| LoosePattern { section: None, text, range: 0..0, line: 1 });
    let patterns = Patterns { loose: loose.collect(), ..Patterns::default() };
    Staleness::check(&patterns, root.path(), &Git::default()).unwrap()
}

/// Returns a path and all its ends: `src/a.rs` and `a.rs`, in lower case.
fn ends(path: &str) -> Vec<String> {
    let path = path.to_lowercase();
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    let ends = std::iter::once(0).chain(starts);
    ends.map(|start| path[start..].to_owned()).collect()
}

fn folders_with_trees(corpus: &Path) -> Vec<PathBuf> {
    let kinds = ["vbw", "gsd", "ledger"].map(|kind| fs::read_dir(corpus.join(kind)).unwrap());
    let folders = kinds.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> =
        folders.filter(|folder| folder.join("tree.txt").is_file()).collect();
    folders.sort();
    folders
}

/// The texts that tell of what was done and learned: they name the most files.
const TOLD: &[&str] = &["SUMMARY", "PATTERNS", "STRUCTURE", "DECISIONS", "CONSTRAINTS"];

fn texts(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(self::texts(&path));
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        if is_markdown && TOLD.iter().any(|told| name.contains(told)) {
            texts.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
    texts
}
