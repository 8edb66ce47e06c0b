//! `annals pause`

use serde_json::json;

use crate::cli::{VBW, assert_unchanged};
use crate::support::Case;

const NOTE: &str = ".vbw-planning/RESUME.md";

#[test]
fn the_note_says_where_the_work_stands() {
    let case = Case::new(VBW);
    let report = case
        .run("pause --json")
        .args(["Half of it is done.\n\n## Details\n\nSee src."])
        .success()
        .json();
    assert_eq!(report["file"], json!(NOTE));
    assert_eq!(report["next"], json!("/vbw:vibe --execute 4"));
    let note = String::from_utf8(case.read(NOTE).unwrap()).unwrap();
    for line in [
        "**Paused:** 2026-03-01T12:00:00Z\n",
        "**Next command:** /vbw:vibe --execute 4\n",
        "\n## Notes\n\nHalf of it is done.\n\n## Details\n\nSee src.\n",
    ] {
        assert!(note.contains(line), "{line:?} in\n{note}");
    }
}

#[test]
fn the_files_of_the_note_can_be_opened_from_the_project() {
    let case = Case::new(VBW);
    let report = case.run("pause --json").success().json();
    let note = String::from_utf8(case.read(NOTE).unwrap()).unwrap();
    for (field, label) in [("last_completed", "Last completed"), ("next_pending", "Next pending")] {
        let file = report[field].as_str().unwrap();
        assert!(case.read(file).is_some(), "{file}");
        assert!(note.contains(&format!("**{label}:** {file}\n")), "{note}");
    }
    let resumed = case.run("resume").success().stdout();
    let pending = report["next_pending"].as_str().unwrap();
    assert!(resumed.contains(pending), "{resumed}");
}

#[test]
fn an_own_note_is_replaced_and_an_edited_one_is_not() {
    let case = Case::new(VBW);
    case.run("pause").args(["first"]).success();
    let second = case.run("pause").args(["second"]).success();
    assert!(second.stderr().contains("replaced an earlier note (first)"), "{}", second.report());
    let mut note = case.read(NOTE).unwrap();
    assert!(String::from_utf8_lossy(&note).contains("second"));
    note.extend(b"mine\n");
    case.write(NOTE, &note);
    let before = case.tree();
    let refused = case.run("pause").args(["third"]).code(4);
    assert!(refused.stderr().contains("someone else"), "{}", refused.report());
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn a_dry_run_and_a_secret_write_nothing() {
    let case = Case::new(VBW);
    let before = case.tree();
    let dry = case.run("pause --dry-run").success();
    assert!(dry.stdout().contains("+# Resume"), "{}", dry.report());
    assert_unchanged(&before, &case, &dry);
    let secret = format!("key AKIA{}", "IOSFODNN7EXAMPL3");
    let refused = case.run("pause").args([secret]).code(4);
    assert_unchanged(&before, &case, &refused);
}
