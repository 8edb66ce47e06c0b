//! Phases numbered by milestone, as GSD does with `phase_id_convention` set to `milestone-prefixed`: the ids in the
//! roadmap show it.

use crate::support::Case;

const FOLDER: &str = "tests/corpus/planning/gsd_milestone_prefixed";

const ALERTS: &str = ".planning/phases/02-02-alerts";

fn replace(case: &Case, path: &str, from: &str, to: &str) {
    let text = String::from_utf8(case.read(path).unwrap()).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}");
    case.write(path, text.replace(from, to));
}

/// Adds the summary that completes phase 2-02.
fn complete_alerts(case: &Case) {
    let first = case.read(&format!("{ALERTS}/02-02-01-SUMMARY.md")).unwrap();
    let text = String::from_utf8(first).unwrap();
    let second = text.replace("plan: 01", "plan: 02");
    case.write(&format!("{ALERTS}/02-02-02-SUMMARY.md"), second);
}

fn known_phases(case: &Case) -> String {
    let refused = case.run("plan 9").code(3);
    let hint = refused.stderr();
    let known = hint.split_once("known phases: ").unwrap().1;
    known.lines().next().unwrap().to_owned()
}

#[test]
fn the_position_is_printed_with_the_numbers_of_the_project() {
    let case = Case::new(FOLDER);
    let status = case.run("status --json").success().json();
    assert_eq!(status["phase"]["number"], "2-02");
    assert_eq!(status["derived"]["number"], "2-02");
    assert_eq!(status["derived"]["total"], 3);
    assert_eq!(status["plans"]["total"], 3);
    assert_eq!(status["plans"]["complete"], 2);
    assert_eq!(status["next"]["command"], "/gsd:execute-phase 2-02");
    assert_eq!(status["next"]["conflict"], false);
    for list in ["drift", "findings", "warnings"] {
        assert_eq!(status[list].as_array().unwrap().len(), 0, "{list}: {status}");
    }
    assert_eq!(known_phases(&case), "1-01, 1-02, 2-01, 2-02, 2-03");
}

#[test]
fn the_roadmap_alone_shows_how_phases_are_numbered() {
    let known = known_phases(&Case::new(FOLDER));
    let case = Case::new(FOLDER);
    replace(&case, ".planning/config.json", "\"milestone-prefixed\"", "null");
    assert_eq!(known_phases(&case), known);
    // Without a roadmap, `01-02` is a range, whatever the setting says.
    let case = Case::new(FOLDER);
    std::fs::remove_file(case.root().join(".planning/ROADMAP.md")).unwrap();
    let status = case.run("status --json").success().json();
    assert_eq!(status["phase"]["number"], "2");
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("01-02-tide-page"), "{warnings}");
}

#[test]
fn a_milestone_with_its_own_folder_is_numbered_as_its_roadmap_shows() {
    let case = Case::new(FOLDER);
    let planning = case.root().join(".planning");
    std::fs::create_dir(planning.join("tides")).unwrap();
    for name in ["ROADMAP.md", "STATE.md", "phases"] {
        std::fs::rename(planning.join(name), planning.join("tides").join(name)).unwrap();
    }
    case.write(".planning/ACTIVE", "tides\n");
    let status = case.run("status --json").success().json();
    assert_eq!(status["milestone"]["slug"], "tides", "{status}");
    assert_eq!(status["derived"]["number"], "2-02", "{status}");
    assert_eq!(status["warnings"].as_array().unwrap().len(), 0, "{status}");
    assert_eq!(known_phases(&case), "1-01, 1-02, 2-01, 2-02, 2-03");
}

#[test]
fn without_a_state_the_numbers_are_those_of_the_project() {
    let case = Case::new(FOLDER);
    let known = known_phases(&case);
    std::fs::remove_file(case.root().join(".planning/STATE.md")).unwrap();
    let refused = case.run("plan 2-07").code(3).stderr();
    assert!(refused.contains("there is no phase 2-07"), "{refused}");
    assert!(refused.contains(&known), "{refused}");
}

#[test]
fn plans_listed_in_a_plain_roadmap_do_not_number_its_phases() {
    let case = Case::new("examples/gsd-project");
    let roadmap = String::from_utf8(case.read(".planning/ROADMAP.md").unwrap()).unwrap();
    let known = known_phases(&case);
    let list = "\n## Notes\n\n- [ ] Phase 2-01: write it\n\n```\n### Phase 7-01: example\n```\n";
    case.write(".planning/ROADMAP.md", roadmap + list);
    case.write(".planning/phases/42-49-review/.gitkeep", "");
    assert_eq!(known_phases(&case), known);
}

#[test]
fn a_note_names_a_phase_as_the_project_does() {
    let plain = Case::new("examples/gsd-project");
    let refused = plain.run("patterns note text --phase 1-04").code(2);
    let refused = refused.stderr();
    assert!(refused.contains("\"1-04\" is not a phase number"), "{refused}");
    assert!(
        plain
            .read(".planning/patterns/PATTERNS.md")
            .is_none_or(|text| { !String::from_utf8(text).unwrap().contains("1-04") })
    );
    plain.run("patterns note text --phase 99").success();
    let case = Case::new(FOLDER);
    let noted = case.run("patterns note text --phase 2-02").success();
    assert!(noted.stdout().contains("text (phase 2-02)"));
}

#[test]
fn a_project_code_may_stand_before_the_number() {
    let case = Case::new(FOLDER);
    let phases = case.root().join(".planning/phases");
    for entry in phases.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::rename(&path, phases.join(format!("TW-{name}"))).unwrap();
    }
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["command"], "/gsd:execute-phase 2-02");
    assert_eq!(status["plans"]["total"], 3);
    assert_eq!(status["warnings"].as_array().unwrap().len(), 0, "{status}");
}

#[test]
fn a_brief_knows_the_plans_of_its_phase_and_those_before_it() {
    let case = Case::new(FOLDER);
    for argument in ["2-02", "02-02"] {
        let brief = case.run(&format!("plan {argument} --json")).success().json();
        assert_eq!(brief["phase"], "2-02");
        let before: Vec<_> = brief["depends_on"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| (phase["phase"].as_str(), phase["status"].as_str()))
            .collect();
        let complete = Some("complete");
        assert_eq!(before, [(Some("1-01"), complete), (Some("2-01"), complete)]);
        let plans = brief["plans"].as_array().unwrap();
        assert_eq!(plans.len(), 2);
        let problems = brief["problems"].to_string();
        assert!(!problems.contains("not a plan of this phase"), "{problems}");
    }
    let missing = case.run("plan 2-07").code(3).stderr();
    assert!(missing.contains("there is no phase 2-07"), "{missing}");
}

#[test]
fn a_project_with_plain_numbers_has_no_such_phase() {
    let case = Case::new("examples/gsd-project");
    for command in ["plan 2-01", "execute 2-01"] {
        let refused = case.run(command).code(2).stderr();
        assert!(refused.contains("\"2-01\" is not a phase number"), "{refused}");
    }
}

#[test]
fn a_finished_phase_is_recorded_once_and_the_state_moves_on() {
    let case = Case::new(FOLDER);
    complete_alerts(&case);
    let next = &case.run("status --json").success().json()["next"];
    assert_eq!(next["command"], "/gsd:plan-phase 2-03");
    case.run("sync --fix-state").success();
    let state = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
    assert!(state.contains("\nPhase: 2-03 of 3 (Quiet Hours)\n"), "{state}");
    let roadmap = String::from_utf8(case.read(".planning/ROADMAP.md").unwrap()).unwrap();
    assert!(roadmap.contains("- [x] **Phase 2-02: Alerts**"), "{roadmap}");
    assert!(roadmap.contains("| 2-02. Alerts | v2.0 | 2/2 | Complete | - |"));
    let status = case.run("status --json").success().json();
    assert_eq!(status["drift"].as_array().unwrap().len(), 0, "{status}");

    case.run("execute 2-02").success();
    let patterns = case.read(".planning/patterns/PATTERNS.md").unwrap();
    let patterns = String::from_utf8(patterns).unwrap();
    assert!(patterns.contains("\n### Phase 2-02: Alerts ("), "{patterns}");
    let again = case.run("execute --all --json").success().json();
    assert_eq!(again["recorded"].as_array().unwrap().len(), 3, "{again}");
    let listed = case.run("patterns list --json").success().json();
    let listed = listed.to_string();
    for phase in ["1-01", "1-02", "2-01", "2-02"] {
        assert!(listed.contains(&format!("\"phase\":\"{phase}\"")), "{listed}");
    }
}

#[test]
fn a_padded_number_in_the_state_is_replaced_as_well() {
    let case = Case::new(FOLDER);
    complete_alerts(&case);
    replace(&case, ".planning/STATE.md", "Phase: 2-02 of", "Phase: 02-02 of");
    case.run("sync --fix-state").success();
    let state = String::from_utf8(case.read(".planning/STATE.md").unwrap()).unwrap();
    assert!(state.contains("\nPhase: 2-03 of 3 (Quiet Hours)\n"), "{state}");
}

#[test]
fn the_last_phase_of_the_milestone_leads_to_shipping_it() {
    let case = Case::new(FOLDER);
    complete_alerts(&case);
    let hours = ".planning/phases/02-03-quiet-hours";
    for (from, to) in
        [("02-02-01-PLAN.md", "02-03-01-PLAN.md"), ("02-02-01-SUMMARY.md", "02-03-01-SUMMARY.md")]
    {
        let text = case.read(&format!("{ALERTS}/{from}")).unwrap();
        case.write(&format!("{hours}/{to}"), text);
    }
    let next = &case.run("status --json").success().json()["next"];
    assert_eq!(next["action"], "ship");
    // GSD archives its milestones itself; the part of annals is done without a complaint about phases.
    let refused = case.run("ship").code(4).stderr();
    assert!(refused.contains("the planning tool archives this milestone itself"), "{refused}");

    // Archived as GSD does it, the phases are still read, and can be recorded.
    let planning = case.root().join(".planning");
    std::fs::create_dir(planning.join("milestones")).unwrap();
    std::fs::rename(planning.join("phases"), planning.join("milestones/v2.0-phases")).unwrap();
    let roadmap = planning.join("ROADMAP.md");
    std::fs::rename(roadmap, planning.join("milestones/v2.0-ROADMAP.md")).unwrap();
    let recorded = case.run("execute --all --json").success().json();
    assert_eq!(recorded["recorded"].as_array().unwrap().len(), 5, "{recorded}");
}

#[test]
fn one_file_is_inspected_with_the_numbers_of_its_folder() {
    let case = Case::new(FOLDER);
    let state = case.run("inspect .planning/STATE.md --json").success().json();
    assert_eq!(state["phase"]["number"], "2-02", "{state}");
    let plan = format!("inspect {ALERTS}/02-02-02-PLAN.md --json");
    let plan = case.run(&plan).success().json();
    assert_eq!(plan["phase"], "2-02", "{plan}");
    assert_eq!(plan["plan"], "2", "{plan}");
}

#[test]
fn a_phase_that_gsd_adds_without_a_milestone_leaves_the_others_what_they_are() {
    let case = Case::new(FOLDER);
    let path = ".planning/ROADMAP.md";
    let text = String::from_utf8(case.read(path).unwrap()).unwrap();
    case.write(path, format!("{text}\n### Phase 2: Extra\n\n**Goal**: more\n"));
    let status = case.run("status --json").success().json();
    assert_eq!(status["derived"]["number"], "2-02");
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("phase 2 has no milestone in its number"), "{warnings}");
    assert_eq!(known_phases(&case), "2, 1-01, 1-02, 2-01, 2-02, 2-03");
}
