//! `annals milestone`

use serde_json::json;

use crate::cli::GSD;
use crate::cli::VBW;
use crate::cli::assert_unchanged;
use crate::support::Case;

#[test]
fn a_new_milestone_moves_the_work_so_far_to_default() {
    let case = Case::new(VBW);
    let state = case.read(".vbw-planning/STATE.md");
    let before = case.tree();
    let dry = case.run("milestone new offline-mode --dry-run").success();
    assert!(
        dry.stdout().contains("offline-mode/ROADMAP.md"),
        "{}",
        dry.report()
    );
    assert_unchanged(&before, &case, &dry);
    let report = case
        .run("milestone new offline-mode --json")
        .success()
        .json();
    assert_eq!(report["active"], json!("offline-mode"));
    assert_eq!(report["migrated"], json!(".vbw-planning/default"));
    assert_eq!(case.read(".vbw-planning/default/STATE.md"), state);
    assert_eq!(case.read(".vbw-planning/STATE.md"), None);
    assert_eq!(
        case.read(".vbw-planning/ACTIVE").unwrap(),
        b"offline-mode\n"
    );
    let status = case.run("status --json").success().json();
    assert_eq!(status["milestone"]["slug"], json!("offline-mode"));
    assert_eq!(status["next"]["command"], json!("/vbw:plan 1"));
    assert_eq!(status["drift"], json!([]));
}

#[test]
fn starting_it_twice_changes_nothing_more() {
    let case = Case::new(VBW);
    case.run("milestone new offline-mode").success();
    let once = case.tree();
    let again = case.run("milestone new offline-mode").success();
    assert!(
        again.stdout().contains("already: offline-mode"),
        "{}",
        again.report()
    );
    assert_unchanged(&once, &case, &again);
}

#[test]
fn switching_goes_back_and_forth() {
    let case = Case::new(VBW);
    case.run("milestone new offline-mode").success();
    let listed = case.run("milestone list --json").success().json();
    let listed = &listed["milestones"];
    assert_eq!(listed[0]["slug"], json!("offline-mode"));
    assert_eq!(
        (&listed[1]["slug"], &listed[1]["standing"]),
        (&json!("default"), &json!("open"))
    );
    case.run("milestone switch default").success();
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["command"], json!("/vbw:execute 4"));
    case.run("milestone switch offline-mode").success();
    let unknown = case.run("milestone switch other").code(3);
    assert!(
        unknown.stderr().contains("default, offline-mode"),
        "{}",
        unknown.report()
    );
    case.run("milestone new default").code(2);
    case.run("milestone new Bad_Name").code(2);
    case.run("milestone new patterns").code(4);
}

#[test]
fn a_gsd_folder_keeps_its_own_command() {
    let case = Case::new(GSD);
    let before = case.tree();
    let refused = case.run("milestone new next").code(4);
    assert!(
        refused.stderr().contains("hint: /gsd:new-milestone"),
        "{}",
        refused.report()
    );
    assert_unchanged(&before, &case, &refused);
}
