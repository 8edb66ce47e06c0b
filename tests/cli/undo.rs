//! `annals undo`

use std::fs;

use serde_json::json;

use crate::cli::{VBW, assert_error};
use crate::support::{Case, require};

#[test]
fn undo_restores_the_exact_bytes_and_can_be_undone() {
    let case = Case::new(VBW);
    case.write("CLAUDE.md", b"# Mine\r\n\xff no end");
    let before = case.tree();
    case.run("sync").success();
    let synced = case.tree();
    let undone = case.run("undo").success();
    assert_eq!(undone.stdout(), "Undid operation 1 (sync).\n  CLAUDE.md\n");
    assert_eq!(undone.stderr(), "");
    assert_eq!(case.tree(), before);
    let again = case.run("undo --json").success();
    assert_eq!(again.json()["undone"]["operation"], "undo 1");
    assert_eq!(again.json()["changed"], json!(["CLAUDE.md"]));
    assert_eq!(case.tree(), synced);
}

/// A project with a committed ledger, and an update of the ledger.
fn committed_ledger() -> Option<(Case, String)> {
    if !require("git") {
        return None;
    }
    let case = Case::new(VBW);
    case.git_init();
    case.commit("Begin", "2026-02-20T10:00:00Z");
    case.run("ledger init").success();
    let head = case.commit("Add the ledger", "2026-02-21T10:00:00Z");
    let update = format!(
        r#"{{"state":{{"objective":"Ship it","active_work":["Read"]}},"covered_through":"{head}"}}"#
    );
    Some((case, update))
}

#[test]
fn undo_succeeds_where_the_objects_of_git_are_gone() {
    let Some((case, update)) = committed_ledger() else {
        return;
    };
    let before = case.tree();
    case.run("ledger update").stdin(update).success();
    case.shell("rm -r .git/objects/??").success();
    case.run("undo").success();
    assert_eq!(case.tree(), before);
}

#[test]
fn a_dry_run_shows_the_restored_content() {
    let case = Case::new(VBW);
    case.write("CLAUDE.md", "own\n").run("sync").success();
    let before = case.whole_tree();
    let undo = case.run("undo --dry-run").success();
    let diff = undo.stdout();
    assert!(diff.starts_with("--- a/CLAUDE.md\n+++ b/CLAUDE.md\n"), "{diff}");
    assert!(diff.ends_with("-\n own\n"), "{diff}");
    let added = diff.lines().skip(2).filter(|line| line.starts_with('+')).count();
    assert_eq!(added, 0, "{diff}");
    assert_eq!(before, case.whole_tree());
}

#[test]
fn files_changed_since_are_not_overwritten() {
    let case = Case::new(VBW);
    case.run("sync").success();
    case.write("CLAUDE.md", "all new\n");
    let refused = case.run("undo").code(4);
    assert_error(
        &refused,
        "CLAUDE.md: has changed since then; nothing was undone",
        "take back what was changed since, then undo it; the record in .annals/history/ has the content before and after, as JSON",
    );
    assert_eq!(case.read("CLAUDE.md").unwrap(), b"all new\n");
}

#[test]
fn an_operation_that_is_already_undone_says_so() {
    let case = Case::new(VBW);
    case.run("sync").success();
    let undone = |id: u32| format!("operation {id} is already undone, by operation {}", id + 1);
    case.run("undo 1").success();
    assert_error(&case.run("undo 1").code(4), &undone(1), "`annals undo 2` brings it back");
    // What brings it back can be undone in turn; then the file, which differs, is what matters.
    case.run("undo 2").success();
    assert_error(&case.run("undo 2").code(4), &undone(2), "`annals undo 3` brings it back");
    case.write("CLAUDE.md", "all new\n");
    assert_error(
        &case.run("undo 1").code(4),
        "CLAUDE.md: has changed since then; nothing was undone",
        "take back what was changed since, then undo it; the record in .annals/history/ has the content before and after, as JSON",
    );
}

#[test]
fn records_without_their_key_are_named() {
    let case = Case::new(VBW);
    case.run("sync").success();
    fs::remove_file(case.home().join(".local/share/annals/key")).unwrap();
    assert_error(
        &case.run("undo").code(3),
        "nothing to undo",
        ".annals/history/ has 1 file not written by you with this version; a copied project needs the file `key` of your data folder, too",
    );
}

#[test]
fn a_missing_operation_cannot_be_undone() {
    let case = Case::new(VBW);
    let none = case.run("undo").code(3);
    assert_error(&none, "nothing to undo", "");
    case.run("undo 7 --json").code(3).stdout_json(&json!({"error": {
        "kind": "not_found", "message": "there is no operation 7", "place": null,
        "hint": "`annals log` lists the operations that can be undone"
    }}));
    let wrong = case.run("undo seven").code(2);
    assert_error(
        &wrong,
        "ID takes a positive whole number, not 'seven'",
        "`annals undo --help` has an example",
    );
}
