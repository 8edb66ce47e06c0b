//! Tests of the harness itself.

use std::fs;

use serde_json::json;

use crate::support::require::{browser_among, skipped};
use crate::support::threads::on_two_threads;
use crate::support::{Case, difference, require, tree};

#[test]
fn a_process_sees_a_home_and_a_time_of_its_own_and_nothing_else() {
    let case = Case::empty();
    let seen = case.program("env").success().stdout();
    for line in [
        "HOME=[HOME]",
        "XDG_DATA_HOME=[HOME]/.local/share",
        "XDG_CONFIG_HOME=[HOME]/.config",
        "ANNALS_ENCODER=false",
        "ANNALS_NOW=2026-03-01T12:00:00Z",
        "COLUMNS=80",
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_CONFIG_NOSYSTEM=1",
    ] {
        assert!(seen.lines().any(|one| one == line), "{line} not in\n{seen}");
    }
    let ours = seen.lines().filter(|line| line.starts_with("ANNALS_"));
    assert_eq!(ours.count(), 2, "{seen}");
    for absent in ["NO_COLOR=", "CARGO", "MEMORY_FILE="] {
        assert!(!seen.contains(absent), "{absent} in\n{seen}");
    }
}

#[test]
fn a_run_gets_its_variables_arguments_input_and_folder() {
    let case = Case::empty();
    case.write("sub/a file", "text");
    let seen = case.program("env").env("EXTRA", "a b").success().stdout();
    assert!(seen.contains("EXTRA=a b"));
    let echoed = case.program("cat").stdin(*b"a\xffb").success();
    assert_eq!(echoed.stdout(), "a\u{fffd}b");
    let read = case.program("cat").args(["a file"]).inside("sub").success();
    assert_eq!(read.stdout(), "text");
    let place = case.program("pwd").inside("sub").success().stdout();
    assert_eq!(place, "[ROOT]/sub\n");
}

#[test]
fn the_end_of_a_run_is_told_apart() {
    let case = Case::empty();
    case.write("shell", "echo out; echo err >&2; exit $1");
    let outcome = case.program("sh shell 3").code(3);
    assert_eq!((outcome.stdout(), outcome.stderr()), ("out\n".into(), "err\n".into()));
    assert_eq!(outcome.crash(), None);
    assert!(case.program("sh shell 101").output().crash().is_some());
    case.write("killed", "kill -ABRT $$").write("fault", "echo panicked at >&2");
    assert!(case.program("sh killed").output().crash().is_some());
    assert!(case.program("sh fault").output().crash().is_some());
}

#[test]
#[should_panic(expected = "expected exit code 0")]
fn an_unexpected_end_fails_the_test() {
    Case::empty().program("false").success();
}

#[test]
fn json_is_read_whole_or_by_line() {
    let case = Case::empty();
    case.write("one", "{\"a\": [1]}\n").write("lines", "{\"a\":1}\n{\"a\":2}\n");
    let one = case.program("cat one").success();
    assert_eq!(one.stdout_json(&json!({"a": [1]})).json()["a"][0], 1);
    let lines = case.program("cat lines").success();
    assert!(lines.try_json().is_err());
    assert_eq!(lines.try_json_lines().unwrap()[1]["a"], 2);
}

#[test]
fn the_binary_itself_runs() {
    let outcome = Case::empty().run("--version").output();
    assert_eq!(outcome.crash(), None);
}

#[test]
fn a_case_is_a_writable_copy_and_the_tree_shows_each_change() {
    let original = Case::empty();
    original.write("a/b.md", "old").write(".annals/cache", "x");
    let file = original.root().join("a/b.md");
    let mut mode = fs::metadata(&file).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&file, mode).unwrap();
    let case = Case::from(original.root());
    let before = case.tree();
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a/", "a/b.md"]);
    case.write("a/b.md", "new").write("c.md", "");
    assert_eq!(difference(&before, &case.tree()), ["changed a/b.md", "added c.md"]);
    assert_eq!(case.read("a/b.md").as_deref(), Some(&b"new"[..]));
    fs::remove_file(case.root().join("c.md")).unwrap();
    let after = tree(case.root());
    assert_eq!(difference(&after, &before), ["changed a/b.md"]);
    assert!(Case::new("tests").read("main.rs").is_some());
    assert_eq!(case.read("nowhere"), None);
}

#[test]
fn commits_are_the_same_on_every_machine() {
    if !require("git") {
        return;
    }
    let hash = || {
        let case = Case::empty();
        case.write("file", "text").git_init();
        case.commit("A message", "2026-02-01T08:00:00Z")
    };
    assert_eq!(hash(), hash());
}

#[test]
fn what_is_missing_is_skipped_or_fails_where_it_is_required() {
    assert_eq!(skipped("rg", true, "rg"), Ok(None));
    assert_eq!(skipped("no", true, ""), Ok(None));
    let line = skipped("rg", false, "corpus,git").unwrap().unwrap();
    assert!(line.starts_with("SKIPPED") && line.ends_with("no rg here\n"));
    assert!(skipped("rg", false, "corpus, rg").is_err());
}

#[test]
fn a_browser_that_cannot_be_driven_is_none() {
    assert_eq!(browser_among(|name| name == "firefox"), None);
    assert_eq!(browser_among(|_| true), Some("chromium"));
}

#[test]
fn work_on_two_threads_comes_back_in_order() {
    let items: Vec<u32> = (0..100).collect();
    let doubled = on_two_threads(&items, |item| item * 2);
    assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
}
