//! `annals merge-file`, as git calls it to merge two branches.

use std::path::Path;

use crate::cli::{VBW, assert_error};
use crate::support::{Case, Invocation, require};

const PATTERNS: &str = ".vbw-planning/patterns/PATTERNS.md";

/// Runs git with the program under test on its path, as a user has it.
fn git<'c>(case: &'c Case, script: &str) -> Invocation<'c> {
    let binary = Path::new(env!("CARGO_BIN_EXE_annals"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    case.shell(script).env("PATH", path)
}

/// A repository in which `annals setup git` was run.
fn repository() -> Option<Case> {
    if !require("git") {
        return None;
    }
    let case = Case::new(VBW);
    case.git_init();
    let said = case.run("setup git").success().stdout();
    let (_, command) = said.trim_end().split_once("Run once in this clone: ").unwrap();
    case.shell(command).success();
    case.commit("Begin", "2026-02-01T00:00:00Z");
    Some(case)
}

fn append(case: &Case, text: &str) {
    let mut all = case.read(PATTERNS).unwrap();
    all.extend_from_slice(text.as_bytes());
    case.write(PATTERNS, all);
}

fn entry(phase: &str, lesson: &str) -> String {
    format!(
        "\n### Phase 9: {phase} (2026-02-02)\n<!-- annals: phase-dir=09-{phase} plans=1 digest=00 -->\n\n- {lesson}\n"
    )
}

#[test]
fn entries_of_two_branches_merge_without_a_conflict() {
    let Some(case) = repository() else { return };
    case.shell("git checkout -q -b side").success();
    append(&case, &entry("side", "from the side"));
    case.commit("Side", "2026-02-02T00:00:00Z");
    case.shell("git checkout -q -").success();
    append(&case, &entry("main", "from main"));
    case.commit("Main", "2026-02-02T00:00:00Z");
    let expected = [case.read(PATTERNS).unwrap(), entry("side", "from the side").into_bytes()];
    let merged = git(&case, "git merge -q --no-edit side").success();
    assert_eq!(case.read(PATTERNS).unwrap(), expected.concat(), "{}", merged.report());
    assert_eq!(case.shell("git status --porcelain").success().stdout(), "");
}

#[test]
fn the_list_of_knowledge_entries_merges_by_line() {
    let Some(case) = repository() else { return };
    let write = |text: &str, day: &str| {
        case.run(&format!("remember {text}")).success();
        case.commit(text, day);
    };
    write("the build needs clang", "2026-02-02T00:00:00Z");
    case.shell("git checkout -q -b side").success();
    write("invoices are in cents", "2026-02-02T00:00:00Z");
    case.shell("git checkout -q -").success();
    write("dates are in local time", "2026-02-02T00:00:00Z");
    git(&case, "git merge -q --no-edit side").success();
    let listed = case.run("entry list").success();
    assert_eq!(listed.stdout().matches("key: ").count(), 3, "{}", listed.report());
    assert_eq!(listed.stderr(), "");
}

#[test]
fn one_entry_written_twice_is_a_conflict_for_git() {
    let Some(case) = repository() else { return };
    case.shell("git checkout -q -b side").success();
    append(&case, &entry("same", "one way"));
    case.commit("Side", "2026-02-02T00:00:00Z");
    case.shell("git checkout -q -").success();
    append(&case, &entry("same", "another way"));
    case.commit("Main", "2026-02-02T00:00:00Z");
    git(&case, "git merge -q --no-edit side").code(1);
    let text = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert!(
        text.contains("<<<<<<< ours\n- another way\n=======\n- one way\n>>>>>>> theirs\n"),
        "{text}"
    );
    let status = case.shell("git status --porcelain").success().stdout();
    assert!(status.contains(&format!("UU {PATTERNS}")), "{status}");
}

#[test]
fn invalid_utf_8_is_left_unchanged() {
    let case = Case::empty();
    case.write("base", "a\n").write("ours", b"a\n\xff\n").write("theirs", "a\nb\n");
    let refused = case.run("merge-file base ours theirs").code(4);
    assert_error(
        &refused,
        "ours: is not UTF-8 text, so it cannot be split into entries",
        "merge it by hand: git left our side in place",
    );
    assert_eq!(case.read("ours").unwrap(), b"a\n\xff\n");
}

#[test]
fn a_dry_run_shows_the_merge_and_writes_nothing() {
    let case = Case::empty();
    case.write("base", "# A\n").write("ours", "# A\n\n## B\n").write("theirs", "# A\n\n## C\n");
    let before = case.whole_tree();
    let shown = case.run("merge-file base ours theirs --dry-run").success();
    assert!(shown.stdout().ends_with(" ## B\n+\n+## C\n"), "{}", shown.report());
    assert_eq!(case.whole_tree(), before);
    case.run("merge-file base ours theirs").success();
    assert_eq!(case.read("ours").unwrap(), b"# A\n\n## B\n\n## C\n");
}
