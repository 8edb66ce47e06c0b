//! `docs/examples.md`: what annals writes for small projects, made again and compared.

use std::fs;

use crate::cli::{ARIADNA, GSD, VBW, YOLO};
use crate::support::Case;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples.md");

const HEAD: &str = "# Examples\n\nWhat `annals` writes for the projects in `examples/` and two smaller ones, all\ninvented. \
    A test makes this page again and compares it; `UPDATE=1` writes it.\n\n\
    Where an agent words the lessons (`annals execute N --lessons`), its words stand in place of\nthe summaries' below.\n";

/// As many entries are shown.
const ENTRIES: usize = 10;

#[test]
fn the_page_shows_what_is_written() {
    let mut page = HEAD.to_owned();
    let mut entries = Vec::new();
    page.push_str("\n## The block in CLAUDE.md\n");
    for (name, folder) in [
        ("A VBW project with two milestones", "tests/corpus/examples/hivelog"),
        ("A VBW project", VBW),
        ("A YOLO project", YOLO),
        ("A GSD project", GSD),
        ("An Ariadna project", ARIADNA),
    ] {
        let case = Case::new(folder);
        case.run("execute --all").success();
        page.push_str(&shown(name, &block(&case)));
        entries.extend(taught(&case));
    }
    page.push_str(&shown("Code without a planning workflow", &block(&plain())));
    assert!(entries.len() >= ENTRIES, "{} entries teach something", entries.len());
    page.push_str("\n## Entries of PATTERNS.md\n\n```markdown\n");
    page.push_str(&entries[..ENTRIES].join("\n\n"));
    page.push_str("\n```\n");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    assert_eq!(page, fs::read_to_string(PAGE).unwrap());
}

/// A project of nothing but code, on its first day with annals.
fn plain() -> Case {
    let case = Case::empty();
    case.write("Cargo.toml", "[package]\nname = \"tidetable\"\n")
        .write("src/main.rs", "fn main() {}\n")
        .write("tests/tables.rs", "")
        .write("Makefile", "test:\n\tcargo test --locked\n");
    case.run("init --core-value").args(["The tide is never later than the table says"]).success();
    case
}

fn shown(name: &str, block: &str) -> String {
    format!("\n### {name}\n\n```markdown\n{block}\n```\n")
}

/// Returns what stands between the markers.
fn block(case: &Case) -> String {
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    let (_, rest) = text.split_once("-->\n").unwrap();
    rest.split_once("\n<!-- annals:end").unwrap().0.to_owned()
}

/// Returns the entries that annals made of a project and that hold a lesson.
fn taught(case: &Case) -> Vec<String> {
    let tree = case.tree();
    let (_, log) = tree.iter().find(|(path, _)| path.ends_with("patterns/PATTERNS.md")).unwrap();
    let log = String::from_utf8(log.clone()).unwrap();
    let entries = log.split("\n### ").skip(1).map(str::trim_end);
    let teaches = |entry: &&str| entry.contains("sources=") && entry.contains("phase-dir=");
    entries.filter(teaches).map(|entry| format!("### {entry}")).collect()
}
