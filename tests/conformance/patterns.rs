//! The rules of seed 001 on pattern learning (MEMO-02, MEMO-03) and memory validation (MEMO-07).

use std::fmt::Write;

use serde_json::json;

use crate::support::Case;

const PATTERNS: &str = ".vbw-planning/patterns/PATTERNS.md";

/// Writes a finished plan: its number of tasks, and its deviations as a YAML value.
fn plan(case: &Case, phase: usize, plan: usize, tasks: usize, deviations: &str) {
    let stem = format!(".vbw-planning/phases/{phase:02}-p{phase}/{phase:02}-{plan:02}");
    let list: String = (1..=tasks).fold(String::new(), |mut text, at| {
        let written = write!(text, "\n<task type=\"auto\"><name>T{at}</name></task>");
        assert!(written.is_ok());
        text
    });
    let head = format!("phase: {phase:02}\nplan: {plan:02}\n");
    case.write(&format!("{stem}-PLAN.md"), format!("---\n{head}---\n{list}\n"));
    case.write(
        &format!("{stem}-SUMMARY.md"),
        format!(
            "---\n{head}status: complete\ncompleted: 2026-02-{phase:02}\nduration: {} min\n\
             tasks_completed: {tasks}\ntasks_total: {tasks}\nfiles_modified: [src/a.rs]\n\
             patterns-established:\n  - \"Importers report every row that they drop, with its line\"\n\
             deviations: {deviations}\n---\n\nDone.\n",
            plan * 10,
        ),
    );
}

/// Returns a project with these phases on its roadmap.
fn project(phases: usize) -> Case {
    let case = Case::empty();
    case.write(".vbw-planning/PROJECT.md", "# Shop\n\n**Core value:** Shops run.\n");
    let list: String =
        (1..=phases).map(|phase| format!("- [ ] Phase {phase}: P{phase}\n")).collect();
    case.write(".vbw-planning/ROADMAP.md", format!("# Roadmap\n\n{list}"));
    case.write(".vbw-planning/STATE.md", format!("# State\n\n**Current Phase:** Phase {phases}\n"));
    case
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

const DEVIATION: &str = "\n  - \"DEVN-02 (critical): The importer fails on rows without a date. Changed it to keep them.\"";

#[test]
fn each_phase_produces_one_entry_in_the_form_of_the_seed() {
    let case = project(2);
    plan(&case, 1, 1, 2, "[]");
    plan(&case, 1, 2, 3, DEVIATION);
    case.run("execute 1").success();
    let written = text(&case, PATTERNS);
    let (_, entry) = written.split_once("### Phase 1: P1 (2026-02-01)\n<!-- annals:").unwrap();
    let (_, entry) = entry.split_once("-->\n").unwrap();
    insta::assert_snapshot!(entry, @r"

    **What worked:**
    - Importers report every row that they drop, with its line (plans 01, 02)

    **What failed:**
    - The importer fails on rows without a date. Changed it to keep them (plan 02)

    **Timing:**
    - Plans: 2, Average: 15m, Total: 30m
    - Effort: unknown

    **Deviations:** 1 (1 DEVN-02 critical)
    ");
    case.run("execute 1").success();
    assert_eq!(text(&case, PATTERNS), written, "appended once");
}

#[test]
fn patterns_accumulate_in_the_order_in_which_they_were_recorded() {
    let case = project(3);
    for phase in 1..=3 {
        plan(&case, phase, 1, 2, "[]");
    }
    case.run("execute 2").success();
    let before = text(&case, PATTERNS);
    assert!(before.contains("in the order in which they were recorded"), "{before}");
    case.run("execute --all").success();
    let after = text(&case, PATTERNS);
    assert!(after.starts_with(&before));
    let place = |phase: usize| after.find(&format!("### Phase {phase}:")).unwrap();
    assert!(place(2) < place(1) && place(1) < place(3));
}

#[test]
fn what_worked_is_what_was_built_to_be_reused_else_none_recorded() {
    let case = project(2);
    let stem = ".vbw-planning/phases/01-p1/01-01";
    case.write(&format!("{stem}-PLAN.md"), "---\nphase: 1\nplan: 1\n---\n# Plan\n");
    case.write(&format!("{stem}-SUMMARY.md"), "---\nstatus: complete\n---\n# Done\n");
    case.run("execute 1").success();
    let entry = text(&case, PATTERNS);
    for empty in ["**What worked:**\n- none recorded\n", "**What failed:**\n- none recorded\n"] {
        assert!(entry.contains(empty), "{entry}");
    }
    // Unknown is not zero.
    assert!(entry.contains("**Deviations:** unknown\n"), "{entry}");
    assert!(entry.contains("Average: unknown, Total: unknown\n- Effort: unknown\n"), "{entry}");
}

#[test]
fn completion_patterns_are_identified_and_considered_before_planning() {
    let case = project(9);
    for phase in 1..=8 {
        plan(&case, phase, 1, 7, DEVIATION);
        plan(&case, phase, 2, 2, "[]");
    }
    let open = "---\nphase: 09\nplan: 01\nfiles_modified: [src/b.rs]\n---\n";
    let tasks = "<task type=\"auto\"><name>T</name></task>\n".repeat(6);
    case.write(".vbw-planning/phases/09-p9/09-01-PLAN.md", format!("{open}{tasks}"));
    case.run("execute --all").success();
    let statement = "Plans with 5 or more tasks deviated in 8 of 8, smaller ones in 0 of 8";
    let entries = text(&case, PATTERNS);
    assert_eq!(entries.matches(&format!("- {statement}\n")).count(), 1, "{entries}");
    let brief = case.run("plan 9").success().stdout();
    assert!(brief.contains(&format!("{statement} (open: 1)")), "{brief}");
    assert!(text(&case, "CLAUDE.md").contains(statement), "{}", text(&case, "CLAUDE.md"));
}

#[test]
fn the_brief_says_how_phases_like_this_one_were_cut_and_how_they_went() {
    let case = project(3);
    plan(&case, 1, 1, 2, "[]");
    plan(&case, 1, 2, 3, DEVIATION);
    plan(&case, 2, 1, 1, "[]");
    let phases = case.root().join(".vbw-planning/phases");
    std::fs::rename(phases.join("01-p1"), phases.join("01-importer-of-rows")).unwrap();
    std::fs::rename(phases.join("02-p2"), phases.join("02-colours")).unwrap();
    case.write(
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n- [x] Phase 1: Importer of rows\n- [x] Phase 2: Colours\n- [ ] Phase 3: Importer of columns\n",
    );
    let brief = case.run("plan 3").success().stdout();
    let line = "phase 1 Importer of rows: 2 plans of 2-3 tasks and 1 file; 1 of 2 deviated, 2 of 2 completed";
    assert!(brief.contains(line), "{brief}");
}

#[test]
fn the_brief_says_how_the_latest_phases_went_if_none_is_like_this_one() {
    let case = project(3);
    plan(&case, 1, 1, 2, "[]");
    plan(&case, 2, 1, 1, DEVIATION);
    plan(&case, 2, 2, 3, "[]");
    case.write(
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n- [x] Phase 1: Till\n- [x] Phase 2: Shelf\n- [ ] Phase 3: Gateway\n",
    );
    let phases = case.root().join(".vbw-planning/phases");
    std::fs::rename(phases.join("01-p1"), phases.join("01-till")).unwrap();
    std::fs::rename(phases.join("02-p2"), phases.join("02-shelf")).unwrap();
    let brief = case.run("plan 3").success().stdout();
    let shapes = "Latest phases:\n  \
        - phase 2 Shelf: 2 plans of 1-3 tasks and 1 file; 1 of 2 deviated, 2 of 2 completed\n  \
        - phase 1 Till: 1 plan of 2 tasks and 1 file; 0 of 1 deviated, 1 of 1 completed\n";
    assert!(brief.contains(shapes), "{brief}");
}

#[test]
fn path_validity_is_the_same_with_and_without_git_and_stale_patterns_stay() {
    let entry = "# Patterns\n\n### Phase 1: A (2026-01-02)\n\n**What worked:**\n- `src/keep.rs` needed no retry\n\n\
                 **What failed:**\n- `src/gone.rs` was edited twice\n- `out/a.js`, `src/skip.log` and and/or are none\n";
    let found = [false, true].map(|has_git| {
        let case = project(1);
        case.write("src/keep.rs", "fn a() {}\n").write("src/gone.rs", "fn b() {}\n");
        case.write(".gitignore", "*.log\n");
        case.write(PATTERNS, entry);
        if has_git {
            case.git_init();
            case.commit("Start", "2026-02-01T12:00:00Z");
        }
        // Git's list has it until the deletion is committed.
        case.remove("src/gone.rs");
        let checked = case.run("patterns check --json").output().json();
        // It never blocks, and nothing is deleted.
        let listed = case.run("patterns relevant --json").success().json();
        let last = listed
            .as_array()
            .or_else(|| listed["patterns"].as_array())
            .unwrap()
            .last()
            .unwrap()
            .clone();
        assert!(last["text"].as_str().unwrap().contains("gone.rs"), "{listed}");
        case.run("plan 1").success();
        assert_eq!(text(&case, PATTERNS), entry);
        checked["entries"][0]["reasons"].clone()
    });
    assert_eq!(found[0], json!(["`src/gone.rs` no longer exists"]));
    assert_eq!(found[0], found[1]);
}

#[test]
fn patterns_are_stored_in_the_planning_folder_and_outlive_the_milestone() {
    let case = project(1);
    plan(&case, 1, 1, 2, "[]");
    case.run("execute 1").success();
    let recorded = text(&case, PATTERNS);
    case.run("ship --force").success();
    assert!(text(&case, PATTERNS).starts_with(&recorded));
}

#[test]
fn a_phase_is_recorded_when_all_its_plans_are_complete() {
    let case = project(2);
    plan(&case, 1, 1, 2, "[]");
    case.write(".vbw-planning/phases/01-p1/01-02-PLAN.md", "---\nphase: 01\nplan: 02\n---\n");
    case.run("execute 1").code(4);
    assert_eq!(case.read(PATTERNS), None);
}

#[test]
fn timing_and_deviations_come_from_every_summary_of_the_phase() {
    let case = project(1);
    plan(&case, 1, 1, 2, DEVIATION);
    plan(&case, 1, 2, 2, "[\"DEVN-01 (minor): Renamed a file\"]");
    plan(&case, 1, 3, 2, "[]");
    case.run("execute 1 --effort thorough").success();
    let entry = text(&case, PATTERNS);
    assert!(
        entry.contains("- Plans: 3, Average: 20m, Total: 1h 00m\n- Effort: thorough\n"),
        "{entry}"
    );
    assert!(entry.contains("**Deviations:** 2 (1 DEVN-02 critical, 1 DEVN-01 minor)\n"), "{entry}");
}

#[test]
fn planning_reads_the_recorded_patterns_and_works_without_any() {
    let case = project(2);
    case.run("plan 1").success();
    plan(&case, 1, 1, 2, DEVIATION);
    case.run("execute 1").success();
    let brief = case.run("plan 2").success().stdout();
    assert!(brief.contains("failed: The importer fails on rows without a date."), "{brief}");
}

#[test]
fn a_new_framework_makes_earlier_patterns_stale_and_they_are_marked() {
    let case = project(2);
    case.write("package.json", r#"{"dependencies": {"vue": "3"}}"#).write("src/a.js", "1\n");
    plan(&case, 1, 1, 2, DEVIATION);
    case.git_init();
    case.commit("Vue", "2026-02-01T12:00:00Z");
    case.run("execute 1").success();
    case.write("package.json", r#"{"dependencies": {"react": "19"}}"#);
    case.commit("React", "2026-02-02T12:00:00Z");
    let checked = case.run("patterns check --json").success().json();
    let reason = checked["entries"][0]["reasons"][0].as_str().unwrap();
    assert!(
        reason.starts_with("structure changed since ")
            && reason.ends_with("react added, vue removed"),
        "{reason}"
    );
    let brief = case.run("plan 2").success().stdout();
    assert!(brief.contains("possibly stale: structure changed"), "{brief}");
}

#[test]
fn a_major_refactor_makes_earlier_patterns_stale_and_they_stay_available() {
    let case = project(2);
    for part in 0..6 {
        case.write(&format!("old/part_{part}/a.rs"), format!("// part {part}\n").repeat(9));
    }
    plan(&case, 1, 1, 2, DEVIATION);
    case.git_init();
    case.commit("Old parts", "2026-02-01T12:00:00Z");
    case.run("execute 1").success();
    case.shell("rm -r old").success();
    case.write("new/b.rs", "fn b() {}\n");
    case.commit("Rewrite", "2026-02-02T12:00:00Z");
    let checked = case.run("patterns check --json").success().json();
    let reason = checked["entries"][0]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("structure changed since "), "{reason}");
    let recorded = text(&case, PATTERNS);
    let brief = case.run("plan 2").success().stdout();
    assert!(brief.contains("possibly stale: structure changed"), "{brief}");
    assert_eq!(text(&case, PATTERNS), recorded);
}

#[test]
fn task_counts_are_held_against_success_and_file_counts_against_deviations() {
    let case = project(9);
    let many: Vec<String> = (1..=9).map(|file| format!("src/f{file}.rs")).collect();
    for phase in 1..=8 {
        plan(&case, phase, 1, 7, DEVIATION);
        plan(&case, phase, 2, 2, "[]");
        let path = format!(".vbw-planning/phases/{phase:02}-p{phase}/{phase:02}-01-SUMMARY.md");
        let large = text(&case, &path)
            .replace("status: complete", "status: partial")
            .replace("[src/a.rs]", &format!("[{}]", many.join(", ")));
        case.write(&path, large);
    }
    case.run("execute 1 --partial").success();
    let entry = text(&case, PATTERNS);
    for statement in [
        "- Plans with 5 or more tasks were completed in 0 of 8, smaller ones in 8 of 8\n",
        "- Plans with 6 or more files deviated in 8 of 8, smaller ones in 0 of 8\n",
    ] {
        assert!(entry.contains(statement), "{statement}: {entry}");
    }
}
