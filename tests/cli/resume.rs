//! `annals resume`

use serde_json::json;

use crate::cli::{GSD, VBW};
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
    assert_eq!(fresh["notes"], json!("Look at the parser."));
    assert_eq!(fresh["since"], json!({"plans": [], "phase": null, "commits": 0}));
    let pending = fresh["next_pending"].as_str().unwrap();
    case.write(&pending.replace("PLAN", "SUMMARY"), "# Done\n");
    case.commit("Two", "2026-03-01T12:00:00Z");
    let later = case.run("resume --json").success().json();
    assert_eq!(later["since"], json!({"plans": ["4/2"], "phase": null, "commits": 1}));
    let shown = case.run("resume").success().stdout();
    assert!(shown.contains("Done since: plan 4/2\nCommits since: 1\n"), "{shown}");
}

#[test]
fn a_handoff_of_the_planning_tool_is_read_until_the_work_goes_on() {
    let case = Case::new(GSD);
    case.write(
        ".planning/HANDOFF.json",
        r#"{"timestamp":"2026-07-11T23:51:51.000Z","phase_dir":".planning/phases/02-moves","next_action":"Ask Ann,\nthen **Commit:** it"}"#,
    );
    let report = case.run("resume --json").success().json();
    assert_eq!(report["file"], json!(".planning/HANDOFF.json"));
    assert_eq!(report["notes"], json!("Ask Ann, then **Commit:** it"));
    let shown = case.run("resume").success().stdout();
    assert!(
        shown.starts_with("Paused: 2026-07-11\nPhase: 02-moves\n\nAsk Ann, then **Commit:** it\n"),
        "{shown}"
    );
    case.write(
        ".planning/.continue-here.md",
        "---\nlast_updated: 2026-07-12\n---\n\n## Next action\n\nAsk Bob.\n",
    );
    let shown = case.run("resume").success().stdout();
    assert!(shown.contains("Ask Bob."), "{shown}");
    let state = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
    let later = format!("{state}\n## Session Continuity\n\nLast session: 2026-07-13\n");
    case.write(".planning/STATE.md", later);
    let outcome = case.run("resume").code(3);
    assert!(outcome.stderr().contains("annals pause"), "{}", outcome.report());
}

#[test]
fn a_note_of_another_tool_is_read_as_far_as_it_goes() {
    let case = Case::new(VBW);
    case.write(
        ".vbw-planning/RESUME.md",
        "---\nphase: 02-recipes\nlast_updated: 2026-02-01\n---\n\nStopped in the middle.\n",
    );
    let report = case.run("resume --json").success().json();
    assert_eq!(report["is_own"], json!(false));
    assert_eq!(report["phase"], json!("02-recipes"));
    assert_eq!(report["paused"], json!("2026-02-01"));
    assert_eq!(report["notes"], json!("Stopped in the middle."));
    assert_eq!(report["since"]["plans"], json!(null));
    assert_eq!(report["since"]["phase"], json!("4"));
}
