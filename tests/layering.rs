//! The layers of `docs/architecture.md`: a module uses only lower layers.

use std::fs;
use std::path::{Path, PathBuf};

/// Bottom first; a module is above every module of the rows before its own.
const LAYERS: &[&[&str]] = &[
    &["error", "warning", "clock", "text", "secrets", "progress", "parallel", "process"],
    &["storage", "markdown", "git", "service", "search"],
    &["project", "templates"],
    &["plan", "patterns", "knowledge", "ledger", "journal", "facts"],
    &["sessions", "recall", "claude_md"],
    &["lifecycle", "context", "audit", "report", "merge", "share"],
    &["mcp", "hooks", "cli"],
];

/// The dependencies within a layer: one thing in two files, or one that cannot do without the other.
const SIDEWAYS: &[(&str, &str)] = &[
    ("error", "warning"),
    ("clock", "error"),
    ("parallel", "error"),
    ("text", "secrets"),
    ("secrets", "text"),
    ("secrets", "error"),
    ("search", "service"),
    ("search", "storage"),
    ("patterns", "plan"),
    ("recall", "sessions"),
    ("audit", "lifecycle"),
    ("audit", "context"),
    ("context", "lifecycle"),
    ("cli", "mcp"),
    ("cli", "hooks"),
];

/// The two files that are in no layer: the list of the modules and the entry point.
const ROOTS: &[&str] = &["lib", "main"];

#[test]
fn modules_use_only_lower_layers() {
    let mut faults = Vec::new();
    for file in source_files(Path::new("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let module = module_of(&file);
        if !ROOTS.contains(&module.as_str()) {
            for (line, fault) in faults_in(&module, &text) {
                faults.push(format!("{}:{line}: {fault}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_rules_catch_what_they_are_for() {
    let caught = |module, code| !faults_in(module, code).is_empty();
    assert!(caught("plan", "use crate::claude_md::Content;"));
    assert!(caught("plan", "use crate::ledger::State;"));
    assert!(caught("plan", "let phase = crate::cli::main();"));
    assert!(caught("plan", "use crate::{error, claude_md::Content};"));
    assert!(caught("plan", "use crate::{\n    error,\n    ledger,\n};"));
    assert!(caught("plan", "use super::Plan;"));
    assert!(caught("glossary", "use crate::error::Error;"));
    assert!(!caught("plan", "use crate::plan::Plan;"));
    assert!(!caught("plan", "use crate::error::Error;"));
    assert!(!caught("plan", "use crate::{error, text};"));
    assert!(!caught("plan", "use crate::plan::{Plan, Summary};"));
    assert!(!caught("plan", "/// See [`crate::cli::main`]."));
    assert!(!caught("plan", "    use super::*;"));
    assert!(!caught("patterns", "use crate::plan::Summary;"));
    assert!(caught("plan", "use crate::patterns::Entry;"));
}

#[test]
fn the_architecture_document_lists_every_layer() {
    let document = fs::read_to_string("docs/architecture.md").unwrap();
    for (layer, modules) in LAYERS.iter().enumerate() {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| {layer} ")))
            .unwrap_or_else(|| panic!("docs/architecture.md has no row for layer {layer}"));
        let drawn: Vec<&str> = row.split('|').nth(2).unwrap().split('`').collect();
        let drawn: Vec<&str> = drawn.into_iter().filter(|name| !name.trim().is_empty()).collect();
        assert_eq!(&drawn, modules, "layer {layer} of docs/architecture.md");
    }
}

/// The lines of a module's file that break a rule, with what is wrong.
fn faults_in(module: &str, text: &str) -> Vec<(usize, String)> {
    let Some(own) = layer(module) else {
        return vec![(1, format!("{module} has no layer: give it one in tests/layering.rs"))];
    };
    let code = without_comments(text);
    let line_of = |at: usize| code[..at].matches('\n').count().saturating_add(1);
    let mut faults = Vec::new();
    for (at, _) in code.match_indices("super::") {
        if !code[at..].starts_with("super::*;") {
            faults.push((line_of(at), format!("write crate::{module}::… for super::")));
        }
    }
    for (at, used) in modules_named_in(&code) {
        let below = layer(used).is_some_and(|other| other < own);
        if used != module && !below && !SIDEWAYS.contains(&(module, used)) {
            faults.push((line_of(at), format!("{module} may not use {used}")));
        }
    }
    faults
}

/// The first part of each `crate::` path, alone or in a group, with its place.
fn modules_named_in(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices("crate::")
        .flat_map(move |(at, root)| {
            let path = &code[at.saturating_add(root.len())..];
            let members = match path.strip_prefix('{') {
                Some(group) => group.split('}').next().unwrap_or_default(),
                None => path.split(',').next().unwrap_or_default(),
            };
            members.split(',').map(move |member| (at, leading_name(member)))
        })
        .filter(|(_, name)| !name.is_empty())
}

fn leading_name(path: &str) -> &str {
    let path = path.trim_start();
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
    &path[..end.unwrap_or(path.len())]
}

/// The text with the comments blanked, so that documentation may link upwards.
fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// The module a file belongs to: `plan` for `src/plan/drift.rs` and for `src/plan.rs`.
fn module_of(file: &Path) -> String {
    let below_src = file.strip_prefix("src").unwrap();
    let first = below_src.components().next().unwrap().as_os_str();
    Path::new(first).file_stem().unwrap().to_string_lossy().into_owned()
}

/// Every Rust file below a folder, in order of path.
pub(crate) fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
