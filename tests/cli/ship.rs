//! `annals ship`

use serde_json::json;

use crate::cli::{GSD, VBW, assert_error, assert_unchanged};
use crate::support::Case;

const ARCHIVE: &str = ".vbw-planning/milestones/shared-pantry";

#[test]
fn an_unfinished_milestone_is_refused() {
    let case = Case::new(VBW);
    let before = case.tree();
    let refused = case.run("ship").code(4);
    assert_error(
        &refused,
        "the milestone is not complete: phase 4: no summary for plans 2, 3",
        "finish or drop what is open, or ship it as it is with --force",
    );
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn a_milestone_of_which_no_phase_has_a_folder_is_refused() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] **Phase 7: Dial**\n- [ ] **Phase 8: Hands**\n",
    );
    case.write(".planning/STATE.md", "# State\n\nPhase: 7 of 8 (Dial)\nStatus: Ready to plan\n");
    let before = case.tree();
    let refused = case.run("ship").code(4);
    assert_error(
        &refused,
        "the milestone is not complete: phase 7 is not planned; phase 8 is not planned",
        "finish or drop what is open; /gsd:complete-milestone archives the milestone then",
    );
    assert_unchanged(&before, &case, &refused);
    // A new folder has no roadmap to complete.
    case.write(".planning/ROADMAP.md", "# Roadmap\n");
    case.write(".planning/STATE.md", "# State\n\nPhase: 1\n");
    let blank = case.run("ship").success();
    let said = blank.stdout();
    assert!(said.starts_with("No milestone to archive.\n"), "{said}");
}

#[test]
fn a_summary_that_says_partial_or_failed_is_refused() {
    for status in ["partial", "failed"] {
        let case = Case::empty();
        let phase = ".vbw-planning/phases/01-dial/01-01";
        case.write(".vbw-planning/STATE.md", "# State\n\n**Project:** sundial\n");
        case.write(&format!("{phase}-PLAN.md"), "# Plan\n");
        let summary = format!("---\nphase: 01\nplan: 01\nstatus: {status}\n---\n\n# Summary\n");
        case.write(&format!("{phase}-SUMMARY.md"), summary);
        let before = case.tree();
        let refused = case.run("ship").code(4);
        assert_error(
            &refused,
            &format!("the milestone is not complete: {phase}-SUMMARY.md has the status {status:?}"),
            "finish or drop what is open, or ship it as it is with --force",
        );
        assert_unchanged(&before, &case, &refused);
        case.run("ship --force").success();
    }
}

#[test]
fn shipping_moves_the_milestone_and_keeps_what_outlives_it() {
    let case = Case::new(VBW);
    case.run("pause stale").success();
    let roadmap = case.read(".vbw-planning/ROADMAP.md");
    let project = case.read(".vbw-planning/PROJECT.md");
    let report = case.run("ship --force --json").success().json();
    assert_eq!(report["archived"]["slug"], json!("shared-pantry"));
    assert_eq!(report["archived"]["plans"], json!({"total": 15, "complete": 13}));
    assert_eq!(case.read(&format!("{ARCHIVE}/ROADMAP.md")), roadmap);
    assert_eq!(case.read(".vbw-planning/PROJECT.md"), project);
    assert_eq!(case.read(".vbw-planning/RESUME.md"), None);
    assert!(case.read(&format!("{ARCHIVE}/SHIPPED.md")).is_some());
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["action"], json!("none"));
    assert_eq!(status["decisions"].as_array().unwrap().len(), 11);
    assert_eq!(status["todos"].as_array().unwrap().len(), 2);
    let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(context.contains("**Next action:** /vbw:vibe\n"), "{context}");
}

#[test]
fn shipping_twice_changes_nothing_more() {
    let case = Case::new(VBW);
    case.run("ship --force").success();
    let shipped = case.tree();
    let second = case.run("ship").success();
    assert!(second.stdout().starts_with("No milestone to archive.\n"), "{}", second.report());
    assert_unchanged(&shipped, &case, &second);
}

#[test]
fn a_clean_up_says_that_it_leaves_the_milestone() {
    let case = Case::new(VBW);
    let cleaned = case.run("ship --cleanup-only").success();
    assert!(
        cleaned.stdout().starts_with("Shared Pantry stays as it is.\n"),
        "{}",
        cleaned.report()
    );
    case.run("ship --force").success();
    let cleaned = case.run("ship --cleanup-only").success();
    assert!(cleaned.stdout().starts_with("No milestone to archive.\n"), "{}", cleaned.report());
}

#[test]
fn what_shipped_is_listed_with_its_requirements_and_phases_without_lessons_apart() {
    let case = Case::empty();
    let write = |file: &str, text: &str| case.write(&format!(".vbw-planning/{file}"), text);
    let roadmap = "# Sundial Roadmap\n\n- [x] Phase 1: Dial\n\n### Phase 1: Dial\n\n**Requirements:** REQ-01, REQ-02\n";
    write("ROADMAP.md", roadmap);
    write("REQUIREMENTS.md", "# Requirements\n\n- [x] **REQ-01**: The dial tells the hour\n");
    write("phases/01-dial/01-01-PLAN.md", "# Plan\n");
    write("phases/01-dial/01-01-SUMMARY.md", "---\nstatus: complete\n---\n");
    let shipped = case.run("ship").success().stdout();
    assert_eq!(shipped.lines().nth(1), Some("Recorded without lessons: 01-dial."));
    let page = case.read(".vbw-planning/milestones/sundial/SHIPPED.md").unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.ends_with("- REQ-01: The dial tells the hour\n- REQ-02\n"), "{page}");
}

#[test]
fn of_two_milestones_shipped_on_one_day_the_later_one_is_the_last() {
    let case = Case::empty();
    let write = |file: &str, text: &str| case.write(&format!(".vbw-planning/{file}"), text);
    for name in ["Zeta", "Alpha"] {
        write("ROADMAP.md", &format!("# {name} Roadmap\n\n- [x] Phase 1: {name}\n"));
        let plan = format!("phases/01-{}/01-01", name.to_lowercase());
        write(&format!("{plan}-PLAN.md"), "# Plan\n");
        write(&format!("{plan}-SUMMARY.md"), &format!("---\nstatus: complete\n---\n# {name}\n"));
        case.run("ship").success();
        let shipped = format!("**Milestone:** none (shipped: {name}, ");
        for _ in 0..2 {
            let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
            assert!(context.contains(&shipped), "{context}");
            case.run("sync").success();
        }
    }
}

#[test]
fn lessons_of_phases_with_one_number_name_their_milestones() {
    let case = Case::empty();
    let write = |file: &str, text: &str| case.write(&format!(".vbw-planning/{file}"), text);
    let lessons = [
        ("Alpha", "The store needs WAL mode before a second writer opens it"),
        ("Beta", "Queries time out unless the planner is told the row count"),
    ];
    for (name, lesson) in lessons {
        write("ROADMAP.md", &format!("# {name} Roadmap\n\n- [x] Phase 1: Base\n"));
        write(&format!("phases/01-{name}/01-01-PLAN.md"), "# Plan\n");
        let summary = format!("---\nstatus: complete\n---\n# {name}\n");
        write(&format!("phases/01-{name}/01-01-SUMMARY.md"), &summary);
        let lessons = json!({"failed": [{"text": lesson, "plans": ["01"]}]});
        case.run("execute 1 --lessons -").stdin(lessons.to_string()).success();
        case.run("ship").success();
        case.run("sync --check").success();
    }
    let learned = |part: &str| -> Vec<String> {
        let text = case.run(part).success().stdout();
        let lines = text.lines().filter(|line| line.contains("plan 01)"));
        lines.map(|line| line[line.rfind('(').unwrap()..].to_owned()).collect()
    };
    let cited = ["(beta phase 1, plan 01)", "(alpha phase 1, plan 01)"];
    assert_eq!(learned("sync --stdout"), cited);
    write("ROADMAP.md", "# Gamma Roadmap\n\n- [ ] Phase 1: Base\n");
    write("phases/01-base/01-01-PLAN.md", "# Plan\n");
    assert_eq!(learned("plan 1"), cited);
}

#[test]
fn phases_that_were_archived_and_left_in_place_are_not_archived_again() {
    let case = Case::empty();
    case.write(".vbw-planning/STATE.md", "# State\n\n**Project:** sundial\n");
    for folder in [".vbw-planning/phases", ".vbw-planning/milestones/sundial"] {
        for file in ["01-01-PLAN.md", "01-01-SUMMARY.md"] {
            case.write(&format!("{folder}/01-dial/{file}"), "# Plan\n");
        }
    }
    case.run("sync").success();
    let before = case.tree();
    let report = case.run("ship --json").success();
    assert_eq!(report.json()["archived"], json!(null));
    assert_unchanged(&before, &case, &report);
}

#[test]
fn the_line_ending_of_state_md_is_kept() {
    let case = Case::empty();
    let write = |file: &str, text: &str| {
        case.write(&format!(".vbw-planning/{file}"), text.replace('\n', "\r\n"));
    };
    write("STATE.md", "# State\n\n**Milestone:** dial\n\n## Todos\n\n- [ ] Oil it:\n  - twice\n");
    write("ROADMAP.md", "# Roadmap\n\n- [x] Phase 1: Dial\n");
    write("phases/01-dial/01-01-PLAN.md", "# Plan\n");
    write("phases/01-dial/01-01-SUMMARY.md", "# Summary\n");
    for command in ["ship", "milestone new hands"] {
        case.run(command).success();
        let state = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
        assert!(state.contains("- [ ] Oil it:\r\n  - twice\r\n"), "{state}");
        assert_eq!(state.matches('\n').count(), state.matches("\r\n").count(), "{state:?}");
    }
}

#[test]
fn an_undone_ship_brings_every_byte_back() {
    let case = Case::new(VBW);
    case.run("execute --all").success();
    let before = case.tree();
    case.run("ship --force").success();
    case.run("undo").success();
    assert_eq!(case.tree(), before);
}

#[test]
fn a_named_milestone_makes_way_for_the_next() {
    let case = Case::empty();
    for slug in ["alpha", "beta"] {
        case.write(&format!(".vbw-planning/{slug}/STATE.md"), "# State\n\n**Project:** sundial\n");
        case.write(&format!(".vbw-planning/{slug}/ROADMAP.md"), "# Roadmap\n");
        case.write(&format!(".vbw-planning/{slug}/phases/01-dial/01-01-PLAN.md"), "# Plan\n");
    }
    case.write(".vbw-planning/alpha/phases/01-dial/01-01-SUMMARY.md", "# Done\n");
    case.write(".vbw-planning/ACTIVE", "alpha\n");
    case.run("ship --milestone gamma").code(3);
    let report = case.run("ship --json").success().json();
    assert_eq!(report["active"], json!("beta"));
    assert_eq!(case.read(".vbw-planning/ACTIVE").unwrap(), b"beta\n");
    assert!(case.read(".vbw-planning/milestones/alpha/SHIPPED.md").is_some());
    let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(context.contains("**Next action:** /vbw:execute 1\n"), "{context}");
}

#[test]
fn an_open_milestone_of_another_workflow_is_refused_as_it_is() {
    let case = Case::new(GSD);
    case.run("pause halfway").success();
    let before = case.tree();
    let refused = case.run("ship").code(4);
    assert_error(
        &refused,
        "the milestone is not complete: phase 2: no summary for plan 2; \
         phase 3 is not planned",
        "finish or drop what is open; /gsd:complete-milestone archives the milestone then",
    );
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn a_finished_milestone_of_another_workflow_is_cleaned_up_and_not_archived() {
    let case = Case::new(GSD);
    case.write(".planning/RESUME.md", "stale\n");
    let refused = case.run("ship --force").code(4);
    assert_eq!(
        refused.stderr(),
        "error: the planning tool archives this milestone itself; annals only cleans up\n\
         hint: /gsd:complete-milestone\n"
    );
    // What was done all the same is printed.
    assert_eq!(refused.stdout(), "Removed .planning/RESUME.md.\nCLAUDE.md created (25 lines).\n");
    assert_eq!(case.read(".planning/RESUME.md"), None);
    assert!(case.read(".planning/ROADMAP.md").is_some());
}

#[test]
fn a_note_stays_where_there_is_no_milestone_to_ship() {
    let case = Case::empty();
    case.run("init").success();
    case.run("pause thoughts").success();
    let shipped = case.run("ship").success();
    let said = shipped.stdout();
    assert!(said.starts_with("No milestone to archive.\n"), "{said}");
    let notes = [".vbw-planning/RESUME.md", ".planning/RESUME.md"];
    assert!(notes.iter().any(|note| case.read(note).is_some()));
}
