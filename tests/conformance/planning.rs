//! The rules of the planning folder that its seed states.

use serde_json::json;

use crate::support::Case;

const VBW: &str = "examples/vbw-project";

#[test]
fn cleaning_up_after_a_ship_removes_the_moved_note_and_moves_active_on() {
    let case = Case::empty();
    let state = "# State\n\n## Current Phase\n\nPhase: 1\n";
    case.write(".vbw-planning/PROJECT.md", "# Shop\n");
    case.write(".vbw-planning/ACTIVE", "first\n");
    case.write(".vbw-planning/milestones/first/STATE.md", state);
    let paused = Case::new(VBW);
    paused.run("pause").success();
    let note = paused.read(".vbw-planning/RESUME.md").unwrap();
    case.write(".vbw-planning/milestones/first/RESUME.md", note);
    case.write(".vbw-planning/milestones/older/RESUME.md", "not ours to judge\n");
    case.write(".vbw-planning/second/STATE.md", state);
    case.write(
        ".vbw-planning/second/phases/01-cart/01-01-PLAN.md",
        "---\nphase: 01\nplan: 01\n---\n",
    );
    let report = case.run("ship --cleanup-only --json").success().json();
    assert_eq!(report["removed"], json!([".vbw-planning/milestones/first/RESUME.md"]));
    assert_eq!(report["active"], json!("second"));
    assert_eq!(case.read(".vbw-planning/ACTIVE").unwrap(), b"second\n");
    assert!(case.read(".vbw-planning/milestones/older/RESUME.md").is_some());
    let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(context.contains("**Milestone:** second"), "{context}");
    let before = case.tree();
    case.run("ship --cleanup-only").success();
    assert_eq!(case.tree(), before, "twice is once");
}

#[test]
fn performance_metrics_are_updated_with_the_position_lines_and_init_writes_the_section() {
    let case = Case::new(VBW);
    let mut state = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    state.push_str("\n## Performance Metrics\n\n- Total plans completed: 2\n- **Average duration:** 1 min\n- Total execution time: 0.1 hours\n- Trend: steady, as I see it\n");
    case.write(".vbw-planning/STATE.md", &state);
    case.run("sync --fix-state").success();
    let after = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    let section = after.split("## Performance Metrics").nth(1).unwrap();
    assert!(section.contains("- Total plans completed: 13\n"), "{section}");
    assert!(section.contains(" min\n") && section.contains(" hours\n"), "{section}");
    assert!(section.contains("- Trend: steady, as I see it\n"), "{section}");
    case.run("sync --fix-state").success();
    assert_eq!(case.read(".vbw-planning/STATE.md").unwrap(), after.into_bytes());

    let new = Case::empty();
    new.run("init --name Shop").success();
    let made = String::from_utf8(new.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    assert!(made.contains("## Performance Metrics\n\n- Total plans completed: 0\n"), "{made}");
}

#[test]
fn a_path_deleted_in_the_entrys_own_commit_is_stale() {
    let case = Case::empty();
    case.git_init();
    case.write(".vbw-planning/PROJECT.md", "# Shop\n");
    for file in ["src/old.rs", "src/till.rs", "src/a.rs", "src/b.rs"] {
        case.write(file, format!("// {file}\n"));
    }
    case.commit("Start", "2026-02-01T12:00:00Z");
    std::fs::remove_file(case.root().join("src/old.rs")).unwrap();
    let own = case.commit("Drop it", "2026-02-02T12:00:00Z");
    let bullets = ["Lock `src/old.rs` before each write", "Removed `src/old.rs`"];
    for (bullet, is_stale) in bullets.into_iter().zip([true, false]) {
        let entry = format!(
            "### Phase 1: Cart (2026-02-02)\n\n<!-- annals: phase-dir=01-cart plans=01 digest=3f commit={own} -->\n\n**What worked:**\n- {bullet}\n"
        );
        let patterns = format!("# Patterns\n\n{entry}");
        case.write(".vbw-planning/patterns/PATTERNS.md", patterns);
        let checked = case.run("patterns check --json").output();
        let found = checked.json();
        assert_eq!(found["entries"][0]["is_stale"], json!(is_stale), "{found}");
    }
}

#[test]
fn two_phases_with_identical_summaries_are_two_phases() {
    let case = Case::empty();
    case.write(".vbw-planning/PROJECT.md", "# Shop\n");
    let summary = "---\nstatus: complete\nduration: 5 min\n---\n# Done\n\n## Deviations\n\nNone\n";
    for phase in ["01-cart", "02-till"] {
        let plan = &phase[..2];
        let dir = format!(".vbw-planning/phases/{phase}/{plan}-01");
        case.write(&format!("{dir}-PLAN.md"), "---\nwave: 1\n---\n# Plan\n");
        case.write(&format!("{dir}-SUMMARY.md"), summary);
    }
    let first = case.run("execute 1 --json").success().json();
    assert_eq!(first["recorded"], json!(["01-cart"]));
    let second = case.run("execute 2 --json").success().json();
    assert_eq!(second["recorded"], json!(["02-till"]));
    let listed = case.run("patterns list --json").success().json();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2);
}
