//! `annals resume`

use serde_json::json;

use crate::cli::VBW;
use crate::support::{Case, require};

#[test]
fn without_a_note_there_is_nothing_to_resume() {
    let outcome = Case::new(VBW).run("resume").code(3);
    assert!(outcome.stderr().contains("annals pause"), "{}", outcome.report());
}

#[test]
fn what_progressed_since_is_said() {
    if !require("git") {
        return;
    }
    let case = Case::new(VBW);
    case.git_init();
    case.commit("One", "2026-02-28T12:00:00Z");
    case.run("pause").args(["Look at the parser."]).success();
    let fresh = case.run("resume --json").success().json();
    assert_eq!(fresh["is_own"], json!(true));
    let note = fresh["note"].as_str().unwrap();
    assert!(note.starts_with("# Resume\n"), "{note}");
    assert!(note.ends_with("\n\nLook at the parser."), "{note}");
    assert_eq!(fresh["since"], json!({"plans": [], "commits": 0}));
    case.write(".vbw-planning/phases/04-low-stock-alerts/04-02-SUMMARY.md", "# Done\n");
    case.commit("Two", "2026-03-01T12:00:00Z");
    let later = case.run("resume --json").success().json();
    assert_eq!(later["since"], json!({"plans": ["4/2"], "commits": 1}));
    let shown = case.run("resume").success().stdout();
    assert!(shown.contains("Done since: plan 4/2\nCommits since: 1\n"), "{shown}");
}

#[test]
fn a_note_of_another_tool_is_shown_as_it_is() {
    let case = Case::new(VBW);
    let note = "---\nphase: 02-recipes\n---\n\nStopped in the middle.";
    case.write(".vbw-planning/RESUME.md", format!("{note}\n"));
    let report = case.run("resume --json").success().json();
    assert_eq!((&report["is_own"], &report["note"]), (&json!(false), &json!(note)));
    assert_eq!(report["since"], json!({"plans": null, "commits": null}));
}
