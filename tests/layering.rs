//! The layers of `docs/architecture.md`: a module uses only lower layers.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

/// Bottom first; a module is above every module of the rows before its own.
const LAYERS: &[&[&str]] = &[
    &["error", "warning", "clock", "text", "secrets", "progress"],
    &["storage", "markdown", "git", "service", "embedding", "ranking"],
    &["project", "templates"],
    &["planning", "position", "patterns", "knowledge", "ledger", "journal", "facts"],
    &["recall", "claude_md"],
    &["lifecycle", "context", "audit", "report", "exchange", "merge", "share"],
    &["mcp", "hooks", "cli"],
];

/// The dependencies within a layer: one thing in two files, or one that cannot do without the other.
const SIDEWAYS: &[(&str, &str)] = &[
    ("error", "warning"),
    ("clock", "error"),
    ("text", "secrets"),
    ("embedding", "service"),
    ("ranking", "embedding"),
    ("templates", "project"),
    ("position", "planning"),
    ("patterns", "planning"),
    ("patterns", "position"),
    ("audit", "lifecycle"),
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
            let found = text.lines().enumerate().flat_map(|(index, line)| {
                let faults = line_faults(&module, code_of(line));
                faults.into_iter().map(move |fault| (index.saturating_add(1), fault))
            });
            faults.extend(found.map(|(line, fault)| format!("{}:{line}: {fault}", file.display())));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_rules_catch_what_they_are_for() {
    let caught = |module, code| !line_faults(module, code).is_empty();
    assert!(caught("planning", "use crate::claude_md::Content;"));
    assert!(caught("planning", "use crate::ledger::State;"));
    assert!(caught("planning", "let phase = crate::cli::main();"));
    assert!(caught("planning", "use crate::{error::Error, text::Line};"));
    assert!(caught("planning", "use crate::planning::{Plan, Summary};"));
    assert!(caught("planning", "pub(crate) use crate::planning::{"));
    assert!(caught("planning", "use super::Plan;"));
    assert!(caught("glossary", "use crate::error::Error;"));
    assert!(!caught("planning", "use crate::planning::Plan;"));
    assert!(!caught("planning", "use crate::error::Error;"));
    assert!(!caught("planning", "    use super::*;"));
    assert!(!caught("patterns", "use crate::planning::Summary;"));
    assert!(caught("planning", "use crate::patterns::Entry;"));
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

/// What is wrong with one line of a module's code.
fn line_faults(module: &str, code: &str) -> Vec<String> {
    let Some(own) = layer(module) else {
        return vec![format!("{module} has no layer: give it one in tests/layering.rs")];
    };
    let mut faults = Vec::new();
    let statement = code.trim();
    if code.contains("super::") && statement != "use super::*;" {
        faults.push(format!("write crate::{module}::… for super::"));
    }
    if is_grouped_import(statement) {
        faults.push("write one path a line: use crate::module::Name;".to_owned());
    }
    for used in modules_named_in(code) {
        let below = layer(used).is_some_and(|other| other < own);
        let allowed = used == module || below || SIDEWAYS.contains(&(module, used));
        if !allowed {
            faults.push(format!("{module} may not use {used}"));
        }
    }
    faults
}

/// Whether an import of ours names several things: then the head of the file hides what it rests on.
fn is_grouped_import(statement: &str) -> bool {
    statement.contains("use crate::") && statement.contains('{')
}

/// The first part of each `crate::` path in a line.
fn modules_named_in(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).filter_map(|path| {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &path[..end.unwrap_or(path.len())];
        (!name.is_empty()).then_some(name)
    })
}

/// A line without its comment, so that documentation may link upwards.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// The module a file belongs to: `planning` for `src/planning/state.rs` and for `src/planning.rs`.
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
