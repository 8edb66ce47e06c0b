//! What `.ci/run` installs and demands: all that any test asks for, and a loud word where it cannot be had.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::layering::source_files;
use crate::support::Case;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/run");

/// The names that tests pass to `require`, and the one that a unit test asks for by itself.
fn asked_for() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["scipy".to_owned()]);
    for file in source_files(Path::new("tests")) {
        let text = fs::read_to_string(file).unwrap();
        let calls = text.split("require(\"").skip(1);
        names.extend(calls.filter_map(|rest| Some(rest.split_once("\")")?.0.to_owned())));
    }
    // These are no programs but folders that a variable names.
    for name in ["corpus", "histories"] {
        names.remove(name);
    }
    names
}

fn needed() -> BTreeSet<String> {
    let script = fs::read_to_string(SCRIPT).unwrap();
    let (_, rest) = script.split_once("\nneeded=(").unwrap();
    let (names, _) = rest.split_once(')').unwrap();
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn everything_that_a_test_asks_for_is_demanded() {
    let asked = asked_for();
    assert!(asked.contains("browser") && asked.contains("chroma"));
    assert_eq!(asked, needed());
}

#[test]
fn the_clients_that_are_driven_are_those_that_the_documentation_names() {
    let script = fs::read_to_string(".ci/live").unwrap();
    let (_, rest) = script.split_once("\nclients=(").unwrap();
    let (clients, _) = rest.split_once(')').unwrap();
    let documentation = fs::read_to_string("docs/harnesses.md").unwrap();
    let versions: Vec<&str> =
        clients.split_whitespace().map(|client| client.rsplit('@').next().unwrap()).collect();
    assert_eq!(versions.len(), 6);
    for version in versions {
        assert!(documentation.contains(version), "{version}");
    }
}

#[test]
fn where_nothing_can_be_installed_that_is_said_and_the_rest_goes_on() {
    let case = Case::empty();
    let bin = case.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let find = "for name in bash sh sed grep dirname realpath git; do command -v $name; done";
    for program in case.shell(find).success().stdout().lines() {
        let name = Path::new(program).file_name().unwrap();
        symlink(program, bin.join(name)).unwrap();
    }
    let run = case
        .program(SCRIPT)
        .args(["--needs"])
        .env("PATH", &bin)
        .env("CARGO_TARGET_DIR", case.root().join("target"))
        .success();
    // Debian keeps the server's programs off the path.
    let has_server = Path::new("/usr/lib/postgresql").exists();
    let mut here = vec!["sh", "bash", "git"];
    here.extend(has_server.then_some("postgres"));
    assert_eq!(run.stdout().lines().last(), Some(&*here.join(" ")));
    for name in needed() {
        let line = format!("SKIPPED the tests that need {name}: it is not here");
        let is_here = here.contains(&name.as_str());
        assert_eq!(run.stderr().contains(&line), !is_here, "{}", run.report());
    }
}
