//! `annals demo`

use std::fs;

use insta::assert_snapshot;

use crate::cli::VBW;
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
    // The test above shows that it is printed.
    let printed = include_str!("snapshots/main__cli__demo__demo.snap");
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
