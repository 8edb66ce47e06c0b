//! What `cargo package` puts into the package: enough to build it and to run its unit tests, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::layering::source_files;

fn listed() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--list", "--allow-dirty", "--offline"]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    let list = cargo.assert().success().get_output().stdout.clone();
    let list = String::from_utf8(list).unwrap();
    list.lines().map(str::to_owned).collect()
}

/// The files that a source file takes in when it is compiled, relative to the package.
fn taken_in(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let folder = file.parent().unwrap();
    let calls = text.split("include_str!(\"").chain(text.split("include_bytes!(\""));
    calls
        .filter_map(|rest| rest.split_once("\")").map(|(path, _)| folder.join(path)))
        .filter_map(|path| path.canonicalize().ok())
        .map(|path| {
            let package = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
            let inside = path.strip_prefix(package).unwrap();
            inside.to_str().unwrap().replace('\\', "/")
        })
        .collect()
}

#[test]
fn the_package_has_all_that_is_compiled_in() {
    let listed = listed();
    let mut outside = 0;
    for file in source_files(Path::new("src")) {
        let name = file.to_str().unwrap().replace('\\', "/");
        assert!(listed.contains(&name), "{name}");
        for name in taken_in(&file) {
            assert!(listed.contains(&name), "{name}, taken in by {}", file.display());
            outside += usize::from(!name.starts_with("src/"));
        }
    }
    assert!(outside > 10, "{outside} files outside of src are compiled in");
    for name in ["README.md", "CHANGELOG.md", "LICENSE", "assets/NOTICE"] {
        assert!(listed.contains(name), "{name}");
    }
}

#[test]
fn the_package_leaves_out_what_only_the_repository_can_use() {
    for name in listed() {
        for folder in ["fuzz/", "benches/", "tests/", "examples/", ".ci/", "plugin/"] {
            // The unit tests compile these two in.
            let is_compiled_in =
                ["tests/embedding/vectors_check.jsonl", "tests/embedding/encoder_check.jsonl"];
            let is_left_out = !name.starts_with(folder) || is_compiled_in.contains(&name.as_str());
            assert!(is_left_out, "{name}");
        }
    }
}
