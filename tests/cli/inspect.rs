//! `annals inspect`

use insta::assert_snapshot;

use crate::cli::{VBW, assert_error};
use crate::support::{Case, require};

const SUMMARY: &str = ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md";

#[test]
fn the_model_of_a_summary_is_printed() {
    let inspected = Case::new(VBW).run("inspect").args([SUMMARY]).success();
    assert_snapshot!("inspect_summary", inspected.stdout());
    assert_eq!(inspected.stderr(), "");
}

#[test]
fn files_are_one_line_each_in_the_order_asked() {
    let inspected = Case::new(VBW)
        .run("inspect --json PROJECT.md STATE.md ROADMAP.md patterns/PATTERNS.md")
        .args(["phases/01-event-log-store/01-02-SUMMARY.md"])
        .args(["milestones/first-shelf/phases/01-item-store/01-01-SUMMARY.md"])
        .inside(".vbw-planning")
        .success();
    let lines = inspected.try_json_lines().unwrap();
    let kinds: Vec<_> = lines.iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds, ["project", "state", "roadmap", "patterns", "summary", "summary"]);
    assert_eq!(lines[1]["file"], ".vbw-planning/STATE.md");
    assert_snapshot!("inspect_lines", inspected.stdout());
    assert_eq!(inspected.stderr(), "");
}

#[test]
fn what_is_not_understood_is_a_warning_with_its_line() {
    let case = Case::new(VBW);
    case.write(SUMMARY, "---\nphase: 04\nplan: 01\n%%\nfiles:\n  - @types/x\n---\n");
    let message = "is not understood in the front matter";
    let text = case.run("inspect").args([SUMMARY]).success();
    let start = format!("warning: {SUMMARY}:4: {message}");
    assert!(text.stderr().starts_with(&start), "{}", text.report());
    assert_eq!(text.json()["files"], serde_json::json!(["@types/x"]));
    let json = case.run("inspect --json").args([SUMMARY]).success();
    let warning = &json.json()["warnings"][0];
    assert_eq!((&warning["file"], &warning["line"]), (&SUMMARY.into(), &4.into()));
    assert_eq!(json.stderr(), "");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let case = Case::new(VBW);
    let outcome =
        case.run("inspect --json missing/STATE.md notes.txt .vbw-planning/STATE.md").code(2);
    let lines = outcome.try_json_lines().unwrap();
    let [missing, other, state] = &lines[..] else { panic!("{}", outcome.report()) };
    assert_eq!(missing["error"]["kind"], "not_found");
    assert_eq!(missing["error"]["place"]["file"], "missing/STATE.md");
    assert_eq!(other["error"]["kind"], "usage");
    assert_eq!(state["kind"], "state");
    assert_eq!(outcome.stderr(), "");
}

#[test]
fn a_missing_file_and_one_of_another_kind_are_told_apart() {
    let case = Case::new(VBW);
    let missing = case.run("inspect nowhere/STATE.md").code(3);
    assert_error(&missing, "nowhere/STATE.md: no such file", "");
    let other = case.run("inspect README.md").code(2);
    assert_error(
        &other,
        "README.md: not a planning file by its name",
        "STATE.md, ROADMAP.md, PROJECT.md, PATTERNS.md, or a phase's PLAN or SUMMARY file",
    );
}

#[test]
fn a_file_outside_of_the_project_is_not_read() {
    let (case, other) = (Case::new(VBW), Case::new(VBW));
    let file = other.root().join(".vbw-planning/STATE.md");
    let refused = case.run("inspect --json").args([&file]).code(4);
    assert_eq!(refused.json()["error"]["message"], "is outside of the project");
    let found = case.run("inspect --json --outside").args([&file]).success().json();
    assert_eq!((&found["kind"], &found["file"]), (&"state".into(), &file.to_str().into()));
}

#[test]
fn a_missing_duration_is_the_span_of_the_commits() {
    if !require("git") {
        return;
    }
    let case = Case::new(VBW);
    case.git_init();
    let first = case.commit("one", "2026-02-20T10:00:00Z");
    let last = case.commit("two", "2026-02-20T10:12:00Z");
    let text = format!("---\nphase: 4\nplan: 2\ncommits: [{first}, {last}]\n---\n");
    case.write("04-02-SUMMARY.md", text);
    let found = case.run("inspect --json 04-02-SUMMARY.md").success().json();
    assert_eq!(found["duration_minutes"], 12.0);
    assert_eq!(found["duration_derived"], true);
}
