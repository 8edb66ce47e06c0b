//! Tests of what a move of the current phase, or of its row, must not leave behind.

use super::*;

#[test]
fn a_folder_of_an_earlier_milestone_with_the_same_number_is_no_obstacle() {
    let (tree, project) = project("# State\n\nPhase: 1 of 2 (Base)\n");
    tree.write(".vbw-planning/phases/02-older/02-01-PLAN.md", "");
    tree.write(".vbw-planning/phases/02-older/02-01-SUMMARY.md", "");
    let repair = repaired(&project);
    let state = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
    assert_eq!(state, "# State\n\nPhase: 2 of 2 (Cli)\n");
}

/// Returns STATE.md after the repair; `None` if it stays as it is.
fn repaired_state(state: &str, roadmap: &str) -> Option<String> {
    let (_dir, project) = partly_committed(state, roadmap);
    let repair = repaired(&project);
    let is_state = |one: &Correction| one.file.ends_with("STATE.md");
    let is_changed = repair.corrections.iter().any(is_state);
    is_changed.then(|| String::from_utf8_lossy(new_bytes(&repair, "STATE.md")).into_owned())
}

#[test]
fn a_phase_is_not_moved_if_a_remark_about_the_old_one_would_stay() {
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Base** - first\n- [ ] **Phase 2: Cli** - second\n";
    for (state, expected) in [
        (
            "Phase: 1 of 2 (Base)\nStatus: In progress\n",
            Some("Phase: 2 of 2 (Cli)\nStatus: In progress\n"),
        ),
        ("Phase: 1 of 2 (Base)\nStatus: Roadmap created, ready for planning\n", None),
        ("Phase: 1 of 2 (Base)\nPlan: 3/3 (complete)\n", None),
        ("Phase: 1 of 1 (Base)\n", None),
        (
            "Phase: 1 of 2 (Base) \u{2014} EXECUTED\n",
            Some("Phase: 2 of 2 (Cli) \u{2014} IN PROGRESS\n"),
        ),
        (
            "Phase: 1 of 2 (Base) \u{2014} Not started\n",
            Some("Phase: 2 of 2 (Cli) \u{2014} In progress\n"),
        ),
        ("Phase: 1 of 2 (Base)\nPlan: 3 of 3\n", Some("Phase: 2 of 2 (Cli)\nPlan: 1 of 3\n")),
    ] {
        let state = format!("# State\n\n{state}");
        let expected = expected.map(|text| format!("# State\n\n{text}"));
        assert_eq!(repaired_state(&state, roadmap), expected, "{state}");
    }
}

#[test]
fn a_row_that_is_set_back_loses_its_date() {
    let roadmap = "# Roadmap\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 3/3 | Complete | 2026-01-02 |\n| 2. Cli | 1/3 | Complete | 2026-01-03 |\n";
    let (tree, project) = partly_committed("# State\n\nPhase: 2\n", roadmap);
    tree.write(".planning/phases/02-cli/02-04-PLAN.md", "");
    let repair = repaired(&project);
    let text = String::from_utf8_lossy(new_bytes(&repair, "ROADMAP.md"));
    let row = text.lines().last().unwrap();
    assert_eq!(row, "| 2. Cli | 1/4 | In progress | - |");
}

#[test]
fn nothing_is_written_that_would_change_what_comes_next() {
    // Beside the number of the last phase, the status would call that one finished.
    let (_dir, project) = before_the_last_phase("Finished, waiting for the vendor");
    let survey = Survey::read(&project).unwrap();
    let error = repair(&project, &survey).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.to_string().contains("after correcting STATE.md"), "{error}");
}
