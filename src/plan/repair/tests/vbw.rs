//! Positions, rows and counts as VBW writes them.

use super::*;

/// A project of VBW with two phases, of which the first is done and ticked, with some more files.
fn with_vbw(position: &str, files: &[(&str, &str)]) -> (Tree, Project) {
    let tree = Tree::new(&[]);
    let state = format!("# State\n\n## Current Phase\n{position}\n");
    let base = [
        ("STATE.md", &*state),
        ("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Base**\n- [ ] **Phase 2: Web**\n"),
        ("phases/01-base/01-01-PLAN.md", ""),
        ("phases/01-base/01-01-SUMMARY.md", "# Summary\n"),
        ("phases/02-web/02-CONTEXT.md", ""),
    ];
    for (file, text) in base.iter().chain(files) {
        tree.write(&format!(".vbw-planning/{file}"), text);
    }
    let project = open(&tree);
    (tree, project)
}

/// Returns what is corrected, as the old and the new text.
fn corrected(position: &str, files: &[(&str, &str)]) -> Vec<String> {
    let (_dir, project) = with_vbw(position, files);
    let corrections = repaired(&project).corrections.into_iter();
    corrections.map(|one| format!("{} {}", one.stated, one.written)).collect()
}

#[test]
fn a_row_that_names_a_check_is_as_open_as_the_box() {
    let position = "Phase: 2 of 2 (Web)\nPlans: 0/0\nProgress: 0%\nStatus: ready";
    for status in ["\u{26a0} UAT Issues", "\u{25d0} Needs Verification", "needs verification"] {
        let roadmap = format!(
            "# Roadmap\n\n| Phase | Status |\n|---|---|\n| 01 | {status} |\n| 02 | Pending |\n\n\
             - [ ] **Phase 1: Base**\n- [ ] **Phase 2: Web**\n"
        );
        let roadmap = ("ROADMAP.md", roadmap.as_str());
        assert_eq!(corrected(position, &[roadmap]), [""; 0], "{status}");
        let passed = ("phases/01-base/01-UAT.md", "---\nstatus: complete\n---\n");
        let expected = [format!("{status} Complete"), "[ ] [x]".to_owned()];
        assert_eq!(corrected(position, &[roadmap, passed]), expected);
    }
}

#[test]
fn vbw_counts_partial_plans_and_gsd_does_not() {
    for (layout, expected) in [(".vbw-planning", &[][..]), (".planning", &["1 0", "1/2 0/2"])] {
        let tree = Tree::new(&[]);
        let write = |file: &str, text: &str| tree.write(&format!("{layout}/{file}"), text);
        let state = "# State\n\n## Current Phase\nPhase: 1 of 1\nPlans: 1/2\nProgress: 50%\nStatus: active\n";
        write("STATE.md", state);
        let table =
            "| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. Base | 1/2 | In progress |\n";
        write("ROADMAP.md", &format!("# Roadmap\n\n- [ ] **Phase 1: Base**\n\n{table}"));
        write("phases/01-base/01-01-PLAN.md", "");
        write("phases/01-base/01-01-SUMMARY.md", "---\nstatus: partial\n---\n");
        write("phases/01-base/01-02-PLAN.md", "");
        let corrections = repaired(&open(&tree)).corrections.into_iter();
        let corrected: Vec<_> =
            corrections.map(|one| format!("{} {}", one.stated, one.written)).collect();
        assert_eq!(corrected, expected, "{layout}");
    }
}

#[test]
fn a_phase_that_state_calls_ready_for_a_check_stays_the_current_one() {
    let position = "Phase: 1 of 2 (Base)\nPlans: 1/1\nProgress: 100%\nStatus: needs_verification";
    let roadmap = "# Roadmap\n\n- [ ] **Phase 1: Base**\n- [ ] **Phase 2: Web**\n";
    assert_eq!(corrected(position, &[("ROADMAP.md", roadmap)]), [""; 0]);
}

#[test]
fn the_phase_that_follows_a_check_may_be_the_current_one() {
    let position = "Phase: 2 of 2 (Web)\nPlans: 0/0\nProgress: 0%\nStatus: ready";
    let config = ("config.json", "{\"auto_uat\": true}");
    assert_eq!(corrected(position, &[config]), [""; 0]);
    let (_dir, project) = with_vbw(position, &[config]);
    assert_eq!(Survey::read(&project).unwrap().position.next.phase, Some(PhaseNumber::from(1)));
}

#[test]
fn vbws_position_moves_in_vbws_words() {
    let position = "Phase: 1 of 2 (Base)\nPlans: 1/1\nProgress: 100%\nStatus: active";
    for (files, expected) in [
        (&[][..], "Phase: 2 of 2 (Web)\nPlans: 0/0\nProgress: 0%\nStatus: ready\n"),
        (
            &[("phases/02-web/02-01-PLAN.md", "")],
            "Phase: 2 of 2 (Web)\nPlans: 0/1\nProgress: 0%\nStatus: ready\n",
        ),
        (
            &[
                ("phases/02-web/02-01-SUMMARY.md", "# Summary\n"),
                ("phases/02-web/02-02-PLAN.md", ""),
            ],
            "Phase: 2 of 2 (Web)\nPlans: 1/2\nProgress: 50%\nStatus: active\n",
        ),
    ] {
        let (_dir, project) = with_vbw(position, files);
        let repair = repaired(&project);
        let text = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
        assert_eq!(text, format!("# State\n\n## Current Phase\n{expected}"));
    }
}

#[test]
fn counts_left_over_from_the_phase_before_are_corrected() {
    let position = "Phase: 2 of 2 (Web)\nPlans: 1/1\nProgress: 100%\nStatus: ready";
    assert_eq!(corrected(position, &[]), ["1 0", "1 0", "100 0"]);
}
