//! `annals demo`

use std::fs;

use insta::assert_snapshot;

use crate::cli::{VBW, assert_error};
use crate::support::Case;

#[test]
fn the_demo_shows_commands_and_files_and_leaves_nothing() {
    let case = Case::empty();
    let temporary = case.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let shown = case.run("demo").env("TMPDIR", temporary.to_str().unwrap()).success();
    assert_snapshot!("demo", shown.stdout());
    assert_eq!(shown.stderr(), "");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(case.whole_tree().is_empty());
}

#[test]
fn the_readme_shows_parts_of_the_demo() {
    let printed = Case::empty().run("demo").success().stdout();
    let readme = fs::read_to_string("README.md").unwrap();
    let (_, rest) = readme.split_once("<!-- demo-run:").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let blocks: Vec<&str> = section.split("```text\n").skip(1).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let (block, _) = block.split_once("```").unwrap();
        assert!(printed.contains(block), "{block}\n---\n{printed}");
    }
}

#[test]
fn what_is_kept_is_a_project_that_was_shipped() {
    let case = Case::empty();
    let report = case.run("demo --keep tried --json").success().json();
    assert!(report["kept"].as_str().unwrap().ends_with("/tried"));
    assert_eq!(report["steps"].as_array().unwrap().len(), 9);
    let status = case.run("-C tried status --json").success().json();
    assert_eq!(status["milestone"]["archived"][1], "shared-pantry");
    case.run("-C tried undo").success();
    let status = case.run("-C tried status --json").success().json();
    assert_eq!(status["next"]["action"], "ship");
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let case = Case::new(VBW);
    let before = case.whole_tree();
    assert_error(
        &case.run("demo --keep .vbw-planning").code(4),
        "[ROOT]/.vbw-planning: this folder is not empty",
        "name a new folder, or an empty one",
    );
    case.run("demo --keep new --dry-run").success();
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn the_bundled_example_is_the_one_in_the_repository() {
    let folder = Case::new(VBW);
    let mut bundle = Vec::new();
    let files = folder.tree().into_iter().filter(|(path, _)| {
        !path.ends_with('/') && !path.ends_with("Cargo.lock") && !path.starts_with("target")
    });
    for (path, bytes) in files {
        bundle.extend(format!("{path}\t{}\n", bytes.len()).into_bytes());
        bundle.extend(bytes);
        bundle.push(b'\n');
    }
    if std::env::var("UPDATE").is_ok() {
        fs::write("assets/example.txt", &bundle).unwrap();
    }
    let bundled = fs::read("assets/example.txt").unwrap();
    assert!(
        bundled == bundle,
        "assets/example.txt is not examples/vbw-project; `UPDATE=1 cargo test bundled_example` writes it anew"
    );
}
