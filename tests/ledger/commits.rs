//! `ledger update --commit` refuses files that git would not commit unchanged, before anything is written.

use std::fs;

use serde_json::{Value, json};

use crate::ledger::{CONSTRAINTS, STATE, initialised, state, text};
use crate::support::{Case, require};

/// A repository with a committed ledger, and an update of it.
fn committed() -> Option<(Case, Value)> {
    if !require("git") {
        return None;
    }
    let (case, first) = initialised();
    case.commit("Keep a ledger", "2026-02-02T00:00:00Z");
    let document = json!({
        "state": state("Two"),
        "covered_through": first,
        "constraints": [{"op": "add", "section": "Rules", "bullet": "Never panic"}],
    });
    Some((case, document))
}

fn git(case: &Case, arguments: &str) -> String {
    case.program(&format!("git {arguments}")).success().stdout()
}

/// Asserts that the update with `--commit` is refused for this reason and changes nothing.
fn refused(case: &Case, document: &Value, reason: &str) {
    let before = (git(case, "status --porcelain"), git(case, "rev-parse HEAD"));
    let run = case.run("ledger update --commit").stdin(document.to_string()).code(4);
    assert!(run.stderr().contains(reason), "{}", run.report());
    let after = (git(case, "status --porcelain"), git(case, "rev-parse HEAD"));
    assert_eq!(before, after, "{}", run.report());
}

fn accepted(case: &Case, document: &Value) {
    case.run("ledger update --commit").stdin(document.to_string()).success();
}

#[test]
fn a_submodule_in_the_way_stays() {
    let Some((case, document)) = committed() else {
        return;
    };
    git(&case, "rm -q -r --cached docs");
    let head = git(&case, "rev-parse HEAD");
    git(&case, &format!("update-index --add --cacheinfo 160000,{},docs", head.trim()));
    git(&case, "commit -q -m submodule");
    refused(&case, &document, "as a submodule");
    assert!(git(&case, "ls-tree HEAD docs").starts_with("160000"));
}

#[test]
fn line_ends_are_converted_as_git_does_it() {
    let Some((case, document)) = committed() else {
        return;
    };
    git(&case, "config core.autocrlf true");
    fs::remove_dir_all(case.root().join("docs/memory")).unwrap();
    git(&case, "checkout -q -- docs/memory");
    assert!(text(&case, STATE).contains("\r\n"));
    accepted(&case, &document);
    let changed = git(&case, "show --format= --name-only HEAD");
    assert_eq!(changed, format!("{CONSTRAINTS}\n{STATE}\n"));
    assert!(!git(&case, &format!("show HEAD:{STATE}")).contains('\r'));
    assert_eq!(git(&case, "status --porcelain"), "");
}

#[test]
fn a_ledger_that_is_not_checked_out_is_not_begun_anew() {
    let Some((case, document)) = committed() else {
        return;
    };
    case.write("src/kept.rs", "");
    case.commit("Add a file", "2026-02-02T01:00:00Z");
    git(&case, "sparse-checkout set --cone src");
    assert_eq!(text(&case, STATE), "");
    let told = case.run("ledger brief").success();
    assert!(told.stdout().contains("sparse checkout"), "{}", told.report());
    let init = case.run("ledger init").code(4);
    assert!(init.stderr().contains("git sparse-checkout add docs/memory"), "{}", init.report());
    refused(&case, &document, "excluded from this sparse checkout");
}

#[test]
fn an_ignored_ledger_is_not_committed() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    case.write(".gitignore", "docs/memory\n");
    let document = json!({"state": state("Two"), "covered_through": first});
    refused(&case, &document, "git ignores it");
    assert!(!text(&case, STATE).contains("Two"));
}

#[cfg(unix)]
#[test]
fn a_tracked_link_stays_one_and_what_it_leads_to_is_committed() {
    let Some((case, document)) = committed() else {
        return;
    };
    fs::rename(case.root().join(CONSTRAINTS), case.root().join("docs/C.md")).unwrap();
    std::os::unix::fs::symlink("../C.md", case.root().join(CONSTRAINTS)).unwrap();
    case.commit("Link it", "2026-02-02T01:00:00Z");
    accepted(&case, &document);
    assert!(git(&case, &format!("ls-tree HEAD {CONSTRAINTS}")).starts_with("120000"));
    assert!(git(&case, "show HEAD:docs/C.md").contains("Never panic"));
    assert_eq!(git(&case, "status --porcelain"), "");
}

#[test]
fn both_sides_of_a_conflict_are_not_committed() {
    let Some((case, document)) = committed() else {
        return;
    };
    let before = text(&case, CONSTRAINTS);
    let both = format!("{before}<<<<<<< ours\n- One\n=======\n- Two\n>>>>>>> theirs\n");
    case.write(CONSTRAINTS, &both);
    refused(&case, &document, "contains conflict markers");
    case.write(CONSTRAINTS, &before);
    // Unmerged, although the text has no conflict.
    let blob = git(&case, &format!("rev-parse HEAD:{CONSTRAINTS}"));
    let stages = [1, 2, 3].map(|stage| format!("100644 {} {stage}\t{CONSTRAINTS}\n", blob.trim()));
    git(&case, &format!("rm -q --cached {CONSTRAINTS}"));
    case.program("git update-index --index-info").stdin(stages.concat()).success();
    refused(&case, &document, "unmerged");
}

#[test]
fn a_bisect_is_not_committed_to() {
    let Some((case, document)) = committed() else {
        return;
    };
    git(&case, "bisect start");
    refused(&case, &document, "a bisect is in progress");
}
