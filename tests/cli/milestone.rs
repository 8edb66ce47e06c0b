//! `annals milestone`

use serde_json::{Value, json};

use crate::cli::{GSD, VBW, assert_unchanged};
use crate::support::Case;

/// The example where a generation of VBW is installed that keeps the active milestone's name in ACTIVE.
fn older() -> Case {
    let case = Case::new(VBW);
    case.write(".claude/plugins/cache/vbw/vbw/1.0.0/commands/plan.md", "# Plan\n");
    case
}

#[test]
fn the_help_says_where_a_new_milestone_is() {
    let help = Case::empty().run("milestone --help").success().stdout();
    let said = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["in the planning folder itself, where no other", "in ACTIVE, it gets a folder"] {
        assert!(said.contains(part), "{help}");
    }
}

#[test]
fn a_new_milestone_is_refused_while_phases_at_the_root_are_open() {
    let case = Case::new(VBW);
    let before = case.tree();
    let refused = case.run("milestone new offline-mode").code(4);
    assert!(
        refused.stderr().contains("the current milestone is not finished: phase"),
        "{}",
        refused.report()
    );
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn a_new_milestone_stands_where_the_newest_generation_looks_for_it() {
    let case = Case::new(VBW);
    case.run("ship --force").success();
    let page = case.read(".vbw-planning/milestones/shared-pantry/SHIPPED.md").unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.ends_with("\n\n## Open\n\n- phase 4: no summary for plans 2, 3\n"), "{page}");
    let report = case.run("milestone new offline-mode --json").success().json();
    assert_eq!((&report["active"], &report["migrated"]), (&json!("offline-mode"), &json!(null)));
    assert_eq!(case.read(".vbw-planning/ACTIVE"), None);
    assert_eq!(case.read(".vbw-planning/offline-mode/STATE.md"), None);
    let state = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    assert!(state.contains("**Milestone:** offline-mode\n"), "{state}");
    assert!(case.read(".vbw-planning/ROADMAP.md").is_some());
    let listed = case.run("milestone").success();
    insta::assert_snapshot!(listed.stdout(), @r"
    default  active, 0 phases (offline-mode)
    first-shelf  archived, 3 phases
    shared-pantry  archived, 5 phases
    ");
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["command"], "/vbw:vibe");
    let once = case.tree();
    let again = case.run("milestone new offline-mode").success();
    assert!(again.stdout().contains("already: offline-mode"), "{}", again.report());
    assert_unchanged(&once, &case, &again);
    let other = case.run("milestone new second-one").code(4);
    let reason = "milestone \"offline-mode\" has been started and has no phases yet";
    assert!(other.stderr().contains(reason), "{}", other.report());
    assert_unchanged(&once, &case, &other);
}

#[test]
fn a_section_of_the_users_outlives_the_milestone() {
    let case = Case::new(VBW);
    case.run("ship --force").success();
    let state = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    let notes = "## Notes of Ruth\n\n- The tablet is in the pantry.\n";
    case.write(".vbw-planning/STATE.md", format!("{state}\n{notes}"));
    case.run("milestone new offline-mode").success();
    let state = String::from_utf8(case.read(".vbw-planning/STATE.md").unwrap()).unwrap();
    assert!(state.ends_with(&format!("\n\n{notes}")), "{state}");
    assert_eq!(
        state.matches("\n## Decisions").count() + state.matches("\n## Key Decisions").count(),
        1
    );
}

#[test]
fn a_phase_with_the_name_of_a_shipped_one_belongs_to_the_new_milestone() {
    let case = Case::empty();
    let write = |file: &str, text: &str| case.write(&format!(".vbw-planning/{file}"), text);
    let plan = |task: &str, summary: Option<&str>| {
        let roadmap = format!("# {task}\n\n- [ ] **Phase 1: Base**\n");
        write("ROADMAP.md", &roadmap);
        let state = "Phase: 1 of 1 (Base)\nPlans: 0/1\nStatus: active\n";
        write("STATE.md", &format!("# State\n\n**Milestone:** {task}\n\n{state}"));
        write("phases/01-base/01-01-PLAN.md", task);
        if let Some(summary) = summary {
            write("phases/01-base/01-01-SUMMARY.md", summary);
        }
    };
    plan("cart", Some("Sells."));
    case.run("ship").success();
    case.run("milestone new mail").success();
    plan("mail", None);
    let next = || case.run("status --json").success().json()["next"]["command"].clone();
    assert_eq!(next(), "/vbw:execute 1");
    plan("mail", Some("Sends."));
    case.run("sync --fix-state").success();
    let before = case.tree();
    let refused = case.run("milestone new search").code(4);
    assert!(refused.stderr().contains("has not been shipped"), "{}", refused.report());
    assert_unchanged(&before, &case, &refused);
    case.run("ship").success();
    assert!(case.read(".vbw-planning/milestones/mail/SHIPPED.md").is_some());
}

#[test]
fn a_state_file_that_is_not_utf_8_is_not_changed() {
    let case = Case::empty();
    case.run("init").success();
    let mut state = case.read(".vbw-planning/STATE.md").unwrap();
    state.extend(b"caf\xe9\n");
    case.write(".vbw-planning/STATE.md", state);
    let before = case.tree();
    let refused = case.run("milestone new offline-mode").code(4);
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn a_new_milestone_moves_the_work_so_far_to_default() {
    let case = older();
    let state = case.read(".vbw-planning/STATE.md");
    let before = case.tree();
    let dry = case.run("milestone new offline-mode --dry-run").success();
    assert!(dry.stdout().contains("offline-mode/ROADMAP.md"), "{}", dry.report());
    assert_unchanged(&before, &case, &dry);
    let report = case.run("milestone new offline-mode --json").success().json();
    assert_eq!(report["active"], json!("offline-mode"));
    assert_eq!(report["migrated"], json!(".vbw-planning/default"));
    assert_eq!(case.read(".vbw-planning/default/STATE.md"), state);
    assert_eq!(case.read(".vbw-planning/STATE.md"), None);
    assert_eq!(case.read(".vbw-planning/ACTIVE").unwrap(), b"offline-mode\n");
    let status = case.run("status --json").success().json();
    assert_eq!(status["milestone"]["slug"], json!("offline-mode"));
    assert_eq!(status["next"]["command"], json!("/vbw:plan 1"));
    assert_eq!(status["drift"], json!([]));
}

#[test]
fn what_a_shipped_milestone_left_open_is_carried_into_the_next_and_back() {
    let case = older();
    let path = ".vbw-planning/STATE.md";
    let state = String::from_utf8(case.read(path).unwrap()).unwrap();
    let todo = "- [HIGH] sign the archive (added 2026-01-02)";
    case.write(path, format!("{state}\n## Todos\n\n{todo}\n"));
    let before = case.run("status --json").success().json();
    case.run("ship --force").success();
    case.run("milestone new offline-mode").success();
    let carried = String::from_utf8(case.read(".vbw-planning/offline-mode/STATE.md").unwrap());
    assert!(carried.unwrap().contains(todo));
    let status = case.run("status --json").success().json();
    let texts = |status: &Value| -> Vec<String> {
        let decisions = status["decisions"].as_array().unwrap().iter();
        let text = |decision: &Value| decision["text"].as_str().unwrap().to_owned();
        decisions.map(text).collect()
    };
    assert!(!texts(&before).is_empty());
    assert_eq!(texts(&status), texts(&before));
    // What is settled in the milestone is not open again when it has shipped.
    let path = ".vbw-planning/offline-mode/STATE.md";
    let state = String::from_utf8(case.read(path).unwrap()).unwrap();
    case.write(path, state.replace(todo, "- [ ] name the next one"));
    let phase = ".vbw-planning/offline-mode/phases/01-cache/01-01";
    case.write(&format!("{phase}-PLAN.md"), "---\nphase: 1\n---\n");
    case.write(&format!("{phase}-SUMMARY.md"), "---\nstatus: complete\n---\n");
    case.run("ship --force").success();
    let status = case.run("status --json").success().json();
    let todos = status["todos"].as_array().unwrap();
    assert_eq!(todos.last().unwrap(), "name the next one");
    assert_eq!(todos.len(), 3);
}

#[test]
fn decisions_of_a_shipped_milestone_are_seen_while_another_is_active() {
    let case = older();
    let decisions = || {
        let status = case.run("status --json").success().json();
        status["decisions"].as_array().unwrap().len()
    };
    let before = decisions();
    assert!(before > 0);
    case.run("milestone new offline-mode").success();
    assert_eq!(decisions(), 0);
    case.run("milestone switch default").success();
    case.run("ship --force").success();
    assert_eq!(decisions(), before);
    let text = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    assert!(text.contains("## Key Decisions"), "{text}");
    case.run("ship --force").success();
    assert_eq!(decisions(), before);
}

#[test]
fn phases_of_an_open_milestone_are_counted_like_those_of_the_active_one() {
    let case = older();
    case.run("milestone new offline-mode").success();
    let roadmap = "# Roadmap\n\n- [ ] Phase 1: Cache\n- [ ] Phase 2: Sync\n";
    case.write(".vbw-planning/offline-mode/ROADMAP.md", roadmap);
    let listed = || case.run("milestone").success().stdout();
    assert!(listed().contains("offline-mode  active, 2 phases\n"), "{}", listed());
    case.run("milestone switch default").success();
    assert!(listed().contains("offline-mode  open, 2 phases\n"), "{}", listed());
}

#[test]
fn starting_it_twice_changes_nothing_more() {
    let case = older();
    case.run("milestone new offline-mode").success();
    let once = case.tree();
    let again = case.run("milestone new offline-mode").success();
    assert!(again.stdout().contains("already: offline-mode"), "{}", again.report());
    assert_unchanged(&once, &case, &again);
}

#[test]
fn switching_goes_back_and_forth() {
    let case = older();
    case.run("milestone new offline-mode").success();
    let listed = case.run("milestone list --json").success().json();
    let listed = &listed["milestones"];
    assert_eq!(listed[0]["slug"], json!("offline-mode"));
    assert_eq!((&listed[1]["slug"], &listed[1]["standing"]), (&json!("default"), &json!("open")));
    case.run("milestone switch default").success();
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["command"], json!("/vbw:execute 4"));
    case.run("milestone switch offline-mode").success();
    let unknown = case.run("milestone switch other").code(3);
    assert!(unknown.stderr().contains("default, offline-mode"), "{}", unknown.report());
    case.run("milestone new default").code(2);
    case.run("milestone new Bad_Name").code(2);
    case.run("milestone new patterns").code(4);
}

#[test]
fn a_gsd_folder_keeps_its_own_command() {
    let case = Case::new(GSD);
    let before = case.tree();
    let refused = case.run("milestone new next").code(4);
    assert!(refused.stderr().contains("hint: /gsd:new-milestone"), "{}", refused.report());
    assert_unchanged(&before, &case, &refused);
}

#[test]
fn the_default_milestone_is_named_only_once_it_was_chosen() {
    let case = Case::empty();
    case.write(".vbw-planning/phases/01-shelves/01-01-PLAN.md", "# Plan 01-01\n");
    let unnamed = case.run("status").success();
    assert!(!unnamed.stdout().contains("Milestone:"), "{}", unnamed.report());
    case.write(".claude/plugins/cache/vbw/vbw/1.0.0/commands/plan.md", "# Plan\n");
    case.run("milestone new offline-mode").success();
    case.run("milestone switch default").success();
    let chosen = case.run("status").success();
    assert!(chosen.stdout().contains("Milestone:  default"), "{}", chosen.report());
}

#[test]
fn gsd_starts_milestones_itself_whatever_their_names() {
    let case = Case::new(GSD);
    for name in ["v1.1", "next"] {
        let refused = case.run(&format!("milestone new {name}")).code(4);
        assert!(refused.stderr().contains("/gsd:new-milestone"), "{}", refused.report());
    }
}
