use super::*;
use crate::error::ErrorKind;
use crate::plan::{PhaseNumber, StatusReport, drift};
use crate::project::OpenRequest;
use crate::project::fixture::Tree;

mod vbw;

const ROADMAP: &str = "# Roadmap\r\n\r\n- [ ] **Phase 1: Base** - first\r\n- [x] **Phase 2: Cli** - second\r\n\r\n| Phase | Plans Complete | Status | Completed |\r\n|---|---|---|---|\r\n| 1. Base | 0 / 1 | Pending | - |\r\n| 2. Cli | 1/1 | Done | x |\r\n";

/// Phase 1 is complete; phase 2 has one complete and one open plan.
fn project(state: impl AsRef<[u8]>) -> (Tree, Project) {
    let tree = Tree::new(&[]);
    tree.write(".vbw-planning/STATE.md", state);
    tree.write(".vbw-planning/ROADMAP.md", ROADMAP);
    for file in [
        "01-base/01-01-PLAN.md",
        "01-base/01-01-SUMMARY.md",
        "02-cli/02-01-PLAN.md",
        "02-cli/02-01-SUMMARY.md",
        "02-cli/02-02-PLAN.md",
    ] {
        tree.write(&format!(".vbw-planning/phases/{file}"), "# Text\n");
    }
    let project = open(&tree);
    (tree, project)
}

fn open(tree: &Tree) -> Project {
    Project::open(OpenRequest { directory: tree.at(""), ..OpenRequest::default() }).unwrap()
}

/// A repair with the old and new bytes of the files that it changes.
struct Repaired {
    corrections: Vec<Correction>,
    remaining: Vec<Drift>,
    survey: Survey,
    files: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
}

fn repaired(project: &Project) -> Repaired {
    let mut changes = Changes::new();
    let survey = Survey::read(project).unwrap();
    let Repair { corrections, remaining, survey } = repair(project, &survey, &mut changes).unwrap();
    let paths = ["STATE.md", "ROADMAP.md"].map(|name| survey.folder.active.dir.join(name));
    let files = paths.into_iter().filter_map(|path| {
        let (old, new) = (read::bytes(&path).unwrap()?, changes.current(&path).unwrap()?);
        (old != new).then_some((path, old, new))
    });
    Repaired { corrections, remaining, files: files.collect(), survey }
}

fn new_bytes<'a>(repair: &'a Repaired, name: &str) -> &'a [u8] {
    let found = repair.files.iter().find(|(path, ..)| path.ends_with(name));
    &found.unwrap().2
}

#[test]
fn only_the_bytes_of_wrong_statements_change() {
    let state = "\u{feff}# State\r\n\r\nCaf\u{e9}\r\n\r\n## Current Phase\r\nPhase: 01 of 2 (Base)\r\nPlans: 1/1\r\nProgress: [##########] 100%\r\nStatus: COMPLETE\r\n\r\n## Phase Status\r\n- **Phase 1:** Pending planning\r\n- **Phase 2:** Pending\r\n\r\nPhase: 9 in prose\r\n";
    let (_dir, project) = project(state);
    let repair = repaired(&project);
    assert_eq!(repair.remaining, []);
    let expected = "\u{feff}# State\r\n\r\nCaf\u{e9}\r\n\r\n## Current Phase\r\nPhase: 2 of 2 (Cli)\r\nPlans: 1/2\r\nProgress: [#####-----] 50%\r\nStatus: In progress\r\n\r\n## Phase Status\r\n- **Phase 1:** Complete\r\n- **Phase 2:** In progress\r\n\r\nPhase: 9 in prose\r\n";
    assert_eq!(String::from_utf8_lossy(new_bytes(&repair, "STATE.md")), expected);
    let roadmap = ROADMAP
        .replace("[ ] **Phase 1", "[x] **Phase 1")
        .replace("[x] **Phase 2", "[ ] **Phase 2")
        .replace("| 0 / 1 | Pending |", "| 1/1 | Complete |")
        .replace("| 1/1 | Done | x |", "| 1/2 | In progress | x |");
    assert_eq!(String::from_utf8_lossy(new_bytes(&repair, "ROADMAP.md")), roadmap);
}

#[test]
fn a_file_that_is_not_utf_8_stays_as_it_is() {
    let (_dir, project) = project(b"# State\n\nCaf\xe9\n\nPhase: 1 of 2 (Base)\n");
    let repair = repaired(&project);
    assert!(repair.files.iter().all(|(path, ..)| !path.ends_with("STATE.md")));
    assert_eq!(repair.remaining[0].kind, Some(DriftKind::Phase));
}

#[test]
fn each_correction_names_its_evidence() {
    let (_dir, project) = project("# State\n\nPhase: 1 of 2 (Base)\n");
    let repair = repaired(&project);
    let first = &repair.corrections[0];
    assert_eq!((first.stated.as_str(), first.written.as_str(), first.line), ("1", "2", 3));
    assert_eq!(first.because, ".vbw-planning/phases/02-cli/02-02-PLAN.md: plan 2 has no summary");
}

#[test]
fn the_evidence_of_a_percentage_yields_it() {
    let front = "---\nprogress:\n  total_phases: 2\n  completed_phases: 1\n  percent: 100\n---\n\n# State\n\n## Current Phase\nPhase: 2 of 2 (Cli)\n";
    let body = "# State\n\n## Current Phase\nPhase: 2 of 2 (Cli)\nProgress: 100%\n";
    for (state, expected) in [
        (body.to_owned(), "66 .vbw-planning/phases: 2 of 3 plans done"),
        (front.to_owned(), "50 .vbw-planning/STATE.md: 1 of 2 phases done"),
        (
            body.replace("Progress", "Plans: 2/2\nProgress"),
            "50 .vbw-planning/phases: 1 of 2 plans of the current phase done",
        ),
    ] {
        let (_dir, project) = project(&state);
        let corrections = repaired(&project).corrections;
        let of_percent = corrections.iter().find(|one| one.stated == "100").unwrap();
        assert_eq!(format!("{} {}", of_percent.written, of_percent.because), expected);
    }
}

#[test]
fn a_sentence_is_left_and_reported() {
    let (_dir, project) =
        project("# State\n\nPhase: 2 of 2 (Cli)\nStatus: Complete, as Ann asked us to say\n");
    let repair = repaired(&project);
    assert_eq!(repair.remaining.len(), 1);
    assert!(repair.remaining[0].stated.contains("as Ann asked"));
    let is_roadmap = |(path, ..): &(PathBuf, Vec<u8>, Vec<u8>)| path.ends_with("ROADMAP.md");
    assert!(repair.files.iter().all(is_roadmap));
}

#[test]
fn a_mark_or_a_true_status_is_not_written_over() {
    for (status, left) in [
        ("\u{2705}", 1),
        ("\u{23f3}", 0),
        ("Planning complete, executing plan 2", 0),
        ("Pending execution of plan 2", 0),
    ] {
        let (_dir, project) =
            project(format!("# State\n\nPhase: 2 of 2 (Cli)\nStatus: {status}\n"));
        let repair = repaired(&project);
        assert_eq!(repair.remaining.len(), left, "{status}: {:?}", repair.remaining);
        let is_roadmap = |(path, ..): &(PathBuf, Vec<u8>, Vec<u8>)| path.ends_with("ROADMAP.md");
        assert!(repair.files.iter().all(is_roadmap), "{status}");
    }
}

#[test]
fn what_no_file_settles_is_refused() {
    let state = "# State\n\nPhase: 1 of 2 (Base)\n";
    let refusal = |change: &dyn Fn(&Tree)| {
        let (tree, project) = project(state);
        change(&tree);
        let survey = Survey::read(&project).unwrap();
        let error = repair(&project, &survey, &mut Changes::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{error}");
        error.message
    };
    let touch = |tree: &Tree, file: &str| tree.write(&format!(".vbw-planning/{file}"), "# Text\n");
    let doubled = refusal(&|tree| touch(tree, "phases/02-other/02-01-PLAN.md"));
    assert!(doubled.contains("two folders carry the number 2"), "{doubled}");
    let later = refusal(&|tree| touch(tree, "phases/03-x/03-01-PLAN.md"));
    assert!(later.contains("02-02-PLAN.md: plan 2 has no summary, but"), "{later}");
    let active = refusal(&|tree| touch(tree, "ACTIVE"));
    assert!(active.contains("ACTIVE names no milestone"), "{active}");
}

#[test]
fn a_plan_left_behind_is_reported_and_nothing_is_written() {
    let (tree, project) = project("# State\n\nPhase: 1 of 2 (Base)\n");
    let roadmap = ROADMAP.replace("| 1/1 | Done |", "| 2/2 | Done |");
    tree.write(".vbw-planning/ROADMAP.md", &roadmap);
    let survey = Survey::read(&project).unwrap();
    let drift = drift(&survey);
    let left = drift.iter().find(|drift| drift.file.ends_with("02-02-PLAN.md"));
    assert!(left.unwrap().sentence().starts_with("plan 2 has no summary, but "), "{drift:?}");
    let error = repair(&project, &survey, &mut Changes::new()).unwrap_err();
    assert!(error.message.contains("02-02-PLAN.md: plan 2 has no summary"), "{error}");
}

/// A folder with two phases: phase 1 has plans 1, 2 and 4; in phase 2, only plan 2 of 3 has a summary.
fn partly_committed(state: &str, roadmap: &str) -> (Tree, Project) {
    let tree = Tree::new(&[]);
    tree.write(".planning/STATE.md", state);
    tree.write(".planning/ROADMAP.md", roadmap);
    for file in [
        "01-base/01-01-PLAN.md",
        "01-base/01-01-SUMMARY.md",
        "01-base/01-02-PLAN.md",
        "01-base/01-02-SUMMARY.md",
        "01-base/01-04-PLAN.md",
        "01-base/01-04-SUMMARY.md",
        "02-cli/02-01-PLAN.md",
        "02-cli/02-02-PLAN.md",
        "02-cli/02-02-SUMMARY.md",
        "02-cli/02-03-PLAN.md",
    ] {
        tree.write(&format!(".planning/phases/{file}"), "# Text\n");
    }
    let project = open(&tree);
    (tree, project)
}

#[test]
fn counts_that_files_may_be_missing_for_are_left_alone() {
    let state = "---\nprogress:\n  total_plans: 7\n  completed_plans: 6\n---\n# State\n\nPhase: 2 of 2 (Cli)\nPlan: 3 of 3\n";
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Base** - first\n- [ ] **Phase 2: Cli** - second\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 4/4 | Complete | x |\n| 2. Cli | 2/3 | In progress | - |\n";
    let (_dir, project) = partly_committed(state, roadmap);
    assert_eq!(repaired(&project).corrections, []);
    // Numbers above what exists or is declared, or below what exists, are still wrong.
    let wrong = state.replace(": 7", ": 9").replace(": 6", ": 3");
    let (_dir, project) = partly_committed(&wrong, &roadmap.replace("4/4", "5/5"));
    let written: Vec<String> = repaired(&project)
        .corrections
        .into_iter()
        .map(|one| format!("{} {}", one.stated, one.written))
        .collect();
    assert_eq!(written, ["9 6", "3 4"]);
}

#[test]
fn what_has_shipped_is_not_held_against_the_folders_it_left() {
    let roadmap = "# Roadmap\n\n<details>\n<summary>v1 (Phases 1-1) - SHIPPED 2026-01-02</summary>\n\n- [x] **Phase 1: Base** - first (2/2 plans)\n\n</details>\n\n- [ ] **Phase 2: Cli** - second\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 2/2 | Complete | x |\n| 2. Cli | 1/3 | In progress | - |\n";
    let (tree, project) = partly_committed("# State\n\nPhase: 2\n", roadmap);
    tree.write(".planning/phases/01-base/01-03-PLAN.md", "");
    assert_eq!(repaired(&project).corrections, []);
}

#[test]
fn a_tools_word_for_the_phase_that_is_left_does_not_stay_with_the_next() {
    let state = "# State\n\nPhase: 1 of 2 (Base)\nStatus: needs_remediation\n";
    let (_dir, project) = project(state);
    let repair = repaired(&project);
    let text = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
    assert!(text.contains("Phase: 2 of 2 (Cli)\nStatus: active\n"), "{text}");
}

#[test]
fn a_phase_without_plans_is_not_ready_to_execute() {
    for (status, written) in [
        ("Ready to execute", "Ready to plan"),
        ("Planned", "Ready to plan"),
        ("EXECUTING", "Ready to plan"),
        ("executing", "ready"),
        ("In progress", "Ready to plan"),
    ] {
        let state = format!("# State\n\nPhase: 2 of 3 (Cli)\nPlan: 2 of 2\nStatus: {status}\n");
        let (tree, project) = project(&state);
        let roadmap =
            ROADMAP.replace("| Phase |", "- [ ] **Phase 3: Web Pages** - third\r\n\r\n| Phase |");
        tree.write(".vbw-planning/ROADMAP.md", roadmap);
        tree.write(".vbw-planning/phases/02-cli/02-02-SUMMARY.md", "# Summary\n");
        let repair = repaired(&project);
        let text = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
        let expected = format!("Phase: 3 of 3 (Web Pages)\nPlan: 0 of 0\nStatus: {written}\n");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn the_position_follows_a_phase_from_its_first_plan_to_its_last() {
    for (layout, before, planned, begun, done) in [
        (
            ".planning",
            "Phase: 3 (web) \u{2014} Ready to plan\nPlan: 0 of TBD\nStatus: Ready to plan",
            "Phase: 3 (web) \u{2014} Ready to plan\nPlan: 0 of 2\nStatus: Ready to plan",
            "Phase: 3 (web) \u{2014} In progress\nPlan: 2 of 2\nStatus: In progress",
            "Phase: 3 (web) \u{2014} Complete\nPlan: 2 of 2\nStatus: Complete",
        ),
        (
            ".vbw-planning",
            "Phase: 3 of 3 (Web)\nPlans: 0/TBD\nStatus: planning",
            "Phase: 3 of 3 (Web)\nPlans: 0/2\nStatus: planning",
            "Phase: 3 of 3 (Web)\nPlans: 1/2\nStatus: active",
            "Phase: 3 of 3 (Web)\nPlans: 2/2\nStatus: complete",
        ),
    ] {
        let tree = Tree::new(&[]);
        let write = |file: &str, text: &str| tree.write(&format!("{layout}/{file}"), text);
        write("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 2: Cli**\n- [ ] **Phase 3: Web**\n");
        write("phases/02-cli/02-01-PLAN.md", "");
        write("phases/02-cli/02-01-SUMMARY.md", "# Summary\n");
        let state = format!("# State\n\n## Current Position\n{before}\n");
        write("STATE.md", &state);
        let steps: [(&[&str], &str); 4] = [
            (&[], before),
            (&["01-PLAN", "02-PLAN"], planned),
            (&["01-SUMMARY"], begun),
            (&["02-SUMMARY"], done),
        ];
        for (files, expected) in steps {
            for file in files {
                write(&format!("phases/03-web/03-{file}.md"), "# Text\n");
            }
            let project = open(&tree);
            for (path, _, new) in repaired(&project).files {
                tree.write(project.relative(&path).to_str().unwrap(), new);
            }
            let state = read::text(&tree.at(&format!("{layout}/STATE.md"))).unwrap().unwrap();
            assert_eq!(state.value, format!("# State\n\n## Current Position\n{expected}\n"));
            assert_eq!(repaired(&project).corrections, []);
        }
    }
}

#[test]
fn a_status_before_the_plans_is_out_of_date_once_one_is_done() {
    for (status, expected) in [
        ("Ready to plan", &["Ready to plan In progress"][..]),
        ("ready_to_plan", &["ready_to_plan active"]),
        ("PLANNING", &["PLANNING In progress"]),
        ("Not started", &["Not started In progress"]),
        ("Planned", &[]),
        ("Ready for plan 2", &[]),
        ("Ready to execute", &[]),
        ("Ready to plan the visit of Ada", &[]),
    ] {
        let state = format!("# State\n\nPhase: 2 of 2 (Cli)\nStatus: {status}\n");
        assert_eq!(written(&state), expected, "{status}");
    }
    // It may be that of the milestone.
    assert_eq!(written("# State\n\nStatus: planning\n"), [""; 0]);
}

#[test]
fn gsds_front_matter_gets_gsds_own_words() {
    let (planned, begun) = (&["01-PLAN", "02-PLAN"][..], &["01-PLAN", "01-SUMMARY", "02-PLAN"]);
    let done: &[&str] = &["01-PLAN", "01-SUMMARY"];
    for (stated, status, files, expected) in [
        (1, "executing", &[][..], "planning"),
        (1, "executing", planned, "executing"),
        (1, "completed", planned, "executing"),
        (2, "planning", begun, "executing"),
        (2, "completed", begun, "executing"),
        (2, "in_progress", begun, "in_progress"),
        (2, "executing", done, "completed"),
    ] {
        let tree = Tree::new(&[]);
        let write = |file: &str, text: &str| tree.write(&format!(".planning/{file}"), text);
        write("ROADMAP.md", "# Roadmap\n\n- [x] **Phase 1: Base**\n- [ ] **Phase 2: Cli**\n");
        for file in done {
            write(&format!("phases/01-base/01-{file}.md"), "# Text\n");
        }
        for file in files {
            write(&format!("phases/02-cli/02-{file}.md"), "# Text\n");
        }
        let text = |phase: u32, status: &str| {
            format!(
                "---\ngsd_state_version: 1.0\nstatus: {status}\n---\n# State\n\nPhase: {phase}\n"
            )
        };
        write("STATE.md", &text(stated, status));
        let repair = repaired(&open(&tree));
        let written = repair.files.iter().find(|(path, ..)| path.ends_with("STATE.md"));
        let written = written.map(|(_, _, new)| String::from_utf8_lossy(new).into_owned());
        let written = written.unwrap_or_else(|| text(stated, status));
        assert_eq!(written, text(2, expected), "{status}");
    }
}

#[test]
fn zeros_in_the_row_of_a_finished_phase_become_what_its_summaries_count() {
    let (tree, project) = project("# State\n");
    let roadmap = "# Roadmap\n\n| Phase | Status | Plans | Tasks | Commits |\n|---|---|---|---|---|\n\
                   | 1 | Pending | 0 | 0 | 0 |\n| 2 | Pending | 0 | 0 | 0 |\n";
    tree.write(".vbw-planning/ROADMAP.md", roadmap);
    let written = |done: &str, commits: &str| {
        let done = format!("---\nstatus: complete\n{done}commits: [{commits}]\n---\n");
        tree.write(".vbw-planning/phases/01-base/01-01-SUMMARY.md", done);
        String::from_utf8(new_bytes(&repaired(&project), "ROADMAP.md").to_vec()).unwrap()
    };
    let expected = |row: &str| {
        let rows = roadmap.replace("| 1 | Pending | 0 | 0 | 0 |", row);
        rows.replace("| 2 | Pending |", "| 2 | In progress |")
    };
    let counted = written("tasks_completed: 4\n", "a1b2c3d, b2c3d4e");
    assert_eq!(counted, expected("| 1 | Complete | 1 | 4 | 2 |"));
    // What the summaries do not say stays.
    assert_eq!(written("", "a1b2c3d"), expected("| 1 | Complete | 1 | 0 | 1 |"));
}

#[test]
fn the_progress_of_a_phase_without_a_folder_is_zero() {
    let state = "# State\n\nPhase: 3 of 3 (Web)\nPlans: 0/0\nProgress: 0%\n";
    let (tree, project) = project(state);
    let roadmap = ROADMAP.replace("| Phase |", "- [ ] **Phase 3: Web** - third\r\n\r\n| Phase |");
    tree.write(".vbw-planning/ROADMAP.md", roadmap);
    tree.write(".vbw-planning/phases/02-cli/02-02-SUMMARY.md", "# Summary\n");
    let survey = Survey::read(&project).unwrap();
    let drift = StatusReport::from_survey(&project, &survey).drift;
    let mut of_state = drift.iter().filter(|one| one.file.ends_with("STATE.md"));
    assert_eq!(of_state.next(), None);
}

#[test]
fn plans_of_a_superseded_phase_are_neither_left_nor_counted() {
    let tree = Tree::new(&[]);
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Base** - first\n- [ ] **Phase 2: Cli** (superseded by Phase 3)\n- [ ] **Phase 3: Web** - third\n";
    tree.write(".planning/ROADMAP.md", roadmap);
    let state =
        "---\nprogress:\n  total_plans: 1\n  completed_plans: 1\n---\n# State\n\nPhase: 3\n";
    tree.write(".planning/STATE.md", state);
    for file in [
        "01-base/01-01-PLAN.md",
        "01-base/01-01-SUMMARY.md",
        "02-cli/02-01-PLAN.md",
        "02-cli/02-01-SUMMARY.md",
        "02-cli/02-02-PLAN.md",
    ] {
        tree.write(&format!(".planning/phases/{file}"), "# Text\n");
    }
    let project = open(&tree);
    let survey = Survey::read(&project).unwrap();
    let report = StatusReport::from_survey(&project, &survey);
    assert_eq!(report.drift, []);
    assert_eq!((report.plans.complete, report.plans.total), (1, 1));
}

#[test]
fn todos_in_files_are_listed_after_those_of_the_state() {
    let tree = Tree::new(&[]);
    let state = "# State\n\nPhase: 1\n\n### Pending Todos\n\n- See 2026-03-10-labels.md\n";
    tree.write(".planning/STATE.md", state);
    let todo = |name: &str, title: &str| {
        let text = format!("---\ntitle: {title}\n---\n");
        tree.write(&format!(".planning/todos/pending/{name}.md"), text);
    };
    todo("2026-03-10-labels", "Print all labels at once");
    todo("2026-03-11-search", "Search in the drug form");
    let project = open(&tree);
    let report = StatusReport::from_survey(&project, &Survey::read(&project).unwrap());
    assert_eq!(report.todos, ["See 2026-03-10-labels.md", "Search in the drug form"]);
}

#[test]
fn a_phase_that_waits_for_a_person_is_not_ticked_off() {
    let tree = Tree::new(&[]);
    let roadmap = "# Roadmap\n\n- [ ] **Phase 1: Base** - first\n- [ ] **Phase 2: Web** - second\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 1/1 | In Progress | - |\n";
    tree.write(".planning/ROADMAP.md", roadmap);
    for file in ["01-base/01-01-PLAN.md", "01-base/01-01-SUMMARY.md"] {
        tree.write(&format!(".planning/phases/{file}"), "# Text\n");
    }
    let stated = |status: &str| {
        let text = format!("---\nstatus: {status}\n---\n");
        tree.write(".planning/phases/01-base/01-VERIFICATION.md", text);
        repaired(&open(&tree)).corrections.len()
    };
    assert_eq!(stated("human_needed"), 0);
    assert_eq!(stated("passed"), 2);
}

#[test]
fn a_shipped_milestone_is_marked_and_its_phases_are_found() {
    let tree = Tree::new(&[]);
    let state = "# State\n\nMilestone: v1.0\nStatus: awaiting next milestone\n";
    tree.write(".planning/STATE.md", state);
    tree.write(".planning/milestones/v1.0-ROADMAP.md", "# v1.0\n");
    tree.write(".planning/milestones/v1.0-phases/03-web/03-01-PLAN.md", "");
    let project = open(&tree);
    let survey = Survey::read(&project).unwrap();
    let milestone = StatusReport::from_survey(&project, &survey).milestone;
    assert_eq!(milestone.display_name().as_deref(), Some("none (shipped: v1.0)"));
    let error = survey.phase(&PhaseNumber::from(3)).unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("the milestone has no phases yet"));
}

#[test]
fn a_milestone_without_phases_has_no_progress_to_correct() {
    let tree = Tree::new(&[]);
    let state = "# State\n\n**Current focus:** v1.0 shipped, awaiting next milestone\n\nProgress: [##########] 100%\n";
    tree.write(".planning/STATE.md", state);
    let roadmap = "# Roadmap\n\n<details>\n<summary>v1.0 - SHIPPED 2026-01-02</summary>\n\n- [x] **Phase 1: Base** - first\n\n</details>\n";
    tree.write(".planning/ROADMAP.md", roadmap);
    for file in ["01-01-PLAN.md", "01-01-SUMMARY.md"] {
        tree.write(&format!(".planning/phases/01-base/{file}"), "# Text\n");
    }
    let repair = repaired(&open(&tree));
    assert!(repair.corrections.is_empty(), "{:?}", repair.corrections);
}

/// Returns the old and new texts of the corrections of a STATE.md.
fn written(state: &str) -> Vec<String> {
    let (_dir, project) = project(state);
    let of_state = |one: &Correction| one.file.ends_with("STATE.md");
    let corrections = repaired(&project).corrections.into_iter();
    corrections.filter(of_state).map(|one| format!("{} {}", one.stated, one.written)).collect()
}

#[test]
fn a_phase_whose_check_is_to_come_is_not_called_complete() {
    let tree = Tree::new(&[]);
    let state = "# State\n\nPhase: 01 (base) \u{2014} EXECUTING\nPlan: 1 of 1\nStatus: Phase complete \u{2014} ready for verification\n";
    tree.write(".planning/STATE.md", state);
    tree.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] **Phase 1: Base**\n- [ ] **Phase 2: Web**\n",
    );
    for file in ["01-base/01-01-PLAN.md", "01-base/01-01-SUMMARY.md"] {
        tree.write(&format!(".planning/phases/{file}"), "# Text\n");
    }
    assert_eq!(repaired(&open(&tree)).corrections, []);
    // Once it passed, the roadmap and STATE.md say what the files show.
    tree.write(".planning/phases/01-base/01-VERIFICATION.md", "---\nstatus: passed\n---\n");
    assert_eq!(repaired(&open(&tree)).corrections.len(), 2);
}

#[test]
fn a_percentage_that_some_measure_gives_is_left() {
    let state = |progress: &str| format!("# State\n\nPhase: 2 of 2 (Cli)\n{progress}\n");
    // 2 of 3 plans, 1 of 2 phases, a value in between by an unknown measure, and a percentage with counts.
    for right in ["66%", "50%", "60%", "[####--] 40% (1 of 2 phases)"] {
        assert!(written(&state(&format!("Progress: {right}"))).is_empty(), "{right}");
    }
    // Below every measure; 100 % while work remains.
    assert_eq!(written(&state("Progress: 10%")), ["10 50"]);
    assert_eq!(written(&state("Progress: 100%")), ["100 66"]);
    // The stated counts are the measure, once corrected.
    let counted = "---\nprogress:\n  total_phases: 2\n  completed_phases: 0\n  percent: 0\n---\n";
    assert_eq!(written(&(counted.to_owned() + &state(""))), ["0 1", "0 50"]);
}

#[test]
fn a_total_never_falls_below_the_current_phase() {
    let (tree, project) = project("# State\n\nPhase: 3 of 3 (Web)\n");
    tree.write(".vbw-planning/phases/03-web/03-01-PLAN.md", "");
    tree.write(".vbw-planning/phases/02-cli/02-02-SUMMARY.md", "# Summary\n");
    let corrections = repaired(&project).corrections;
    let is_total = |one: &Correction| one.kind == Some(DriftKind::Total);
    assert!(!corrections.iter().any(is_total), "{corrections:?}");
}

#[test]
fn nothing_to_repair_changes_nothing() {
    let tree = Tree::new(&[]);
    tree.write(".vbw-planning/STATE.md", "# State\n\nPhase: 4\n");
    let project = open(&tree);
    let repair = repaired(&project);
    assert!(repair.files.is_empty() && repair.corrections.is_empty());
}

/// Phases 1 and 2 are done, and phase 3 has no folder.
fn before_the_last_phase(status: &str) -> (Tree, Project) {
    let tree = Tree::new(&[]);
    let roadmap =
        "# Roadmap\n\n- [x] **Phase 1: Base**\n- [x] **Phase 2: Cli**\n- [ ] **Phase 3: Web**\n";
    tree.write(".vbw-planning/ROADMAP.md", roadmap);
    let state = format!("# State\n\n## Current Phase\nPhase: 1 of 3 (Base)\nStatus: {status}\n");
    tree.write(".vbw-planning/STATE.md", state);
    for file in [
        "01-base/01-01-PLAN.md",
        "01-base/01-01-SUMMARY.md",
        "02-cli/02-01-PLAN.md",
        "02-cli/02-01-SUMMARY.md",
    ] {
        tree.write(&format!(".vbw-planning/phases/{file}"), "# Text\n");
    }
    let project = open(&tree);
    (tree, project)
}

#[test]
fn a_check_that_the_phase_left_behind_waits_for_is_not_that_of_the_next_one() {
    for (status, expected) in [
        ("Verifying", "Ready to plan"),
        ("verifying", "ready"),
        ("Phase complete \u{2014} ready for verification", "Ready to plan"),
    ] {
        let (_dir, project) = before_the_last_phase(status);
        let repair = repaired(&project);
        let state = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
        let expected = format!("Phase: 3 of 3 (Web)\nStatus: {expected}\n");
        assert!(state.ends_with(&expected), "{status}: {state}");
        assert_eq!(repair.survey.position.next.phase, PhaseNumber::parse("3"));
    }
}

#[test]
fn a_name_is_written_without_what_might_end_it() {
    let name = "Cards \u{2014} List & \"Search\" (mobile)";
    let renamed = |roadmap: &str, name: &str| {
        roadmap.replace("**Phase 2: Cli**", &format!("**Phase 2: {name}**"))
    };
    let written = |state: &str, name: &str| {
        let (tree, project) = project(state);
        tree.write(".vbw-planning/ROADMAP.md", renamed(ROADMAP, name));
        String::from_utf8(new_bytes(&repaired(&project), "STATE.md").to_vec()).unwrap()
    };
    let body = "# State\n\nPhase: 1 of 2 (Base)\n";
    let plain = "Cards List & Search mobile";
    // A dash or a bracket might end the name.
    assert_eq!(written(body, name), format!("# State\n\nPhase: 2 of 2 ({plain})\n"));
    let expected = "# State\n\nPhase: 2 of 2 (1 Cards 2 List)\n";
    assert_eq!(written(body, "1) Cards 2) List"), expected);
    let front = "---\ncurrent_phase: 1\ncurrent_phase_name: Base\n---\n# State\n";
    let expected = "---\ncurrent_phase: 2\ncurrent_phase_name: Cards a\n---\n# State\n";
    assert_eq!(written(front, "Cards (a)"), expected);
    let slug = "# State\n\nPhase: 1 (first-base) - EXECUTING\n";
    assert!(written(slug, name).contains("Phase: 2 (cli)"));
}

#[test]
fn a_slug_is_followed_by_one_before_the_phase_has_a_folder() {
    let (tree, project) = before_the_last_phase("Complete");
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Base**\n- [x] **Phase 2: Cli**\n- [ ] ";
    for (name, old, written) in [
        ("Reports & Mail v1.0", "first-base", "reports-mail-v1-0"),
        ("Reports", "base", "reports"),
        ("Reports & Mail", "Pre-base", "Reports & Mail"),
        // No letter of it is in a slug.
        ("\u{62a5}\u{544a}", "first-base", "\u{62a5}\u{544a}"),
    ] {
        tree.write(".vbw-planning/ROADMAP.md", format!("{roadmap}**Phase 3: {name}**\n"));
        let state = format!("# State\n\nPhase: 02 ({old}) \u{2014} EXECUTING\n");
        tree.write(".vbw-planning/STATE.md", state);
        let repair = repaired(&project);
        let state = String::from_utf8_lossy(new_bytes(&repair, "STATE.md"));
        let expected = format!("# State\n\nPhase: 3 ({written}) \u{2014} Ready to plan\n");
        assert_eq!(state, expected);
    }
}

#[test]
fn a_name_that_would_break_the_front_matter_is_written_without_its_marks() {
    let front = "---\ncurrent_phase: 1\ncurrent_phase_name: Base\n---\n# State\n";
    let (tree, project) = project(front);
    let file = "phases/02-cli";
    tree.write(&format!(".vbw-planning/{file}/02-CONTEXT.md"), "");
    let roadmap = ROADMAP.replace("**Phase 2: Cli**", "**Phase 2: Cards: the \"list\"**");
    tree.write(".vbw-planning/ROADMAP.md", roadmap);
    let written = String::from_utf8(new_bytes(&repaired(&project), "STATE.md").to_vec()).unwrap();
    assert!(written.contains("current_phase_name: Cards the list\n"), "{written}");
}

#[test]
fn a_summary_of_a_phase_without_plans_is_no_plan() {
    let metrics = |count: u32| {
        format!(
            "# State\n\nPhase: 3\n\n## Performance Metrics\n\n- Total plans completed: {count}\n"
        )
    };
    let tree = Tree::new(&[]);
    let roadmap = "# Roadmap\n\n- [x] **Phase 1: Base** - first\n- [x] **Phase 2: Cli** - second\n- [ ] **Phase 3: Web** - third\n";
    tree.write(".planning/ROADMAP.md", roadmap);
    for file in [
        "01-base/01-01-PLAN.md",
        "01-base/01-01-SUMMARY.md",
        "02-cli/02-SUMMARY.md",
        "03-web/03-01-SUMMARY.md",
        "03-web/03-02-PLAN.md",
    ] {
        tree.write(&format!(".planning/phases/{file}"), "# Text\n");
    }
    let drift = |count: u32| {
        tree.write(".planning/STATE.md", metrics(count));
        let project = open(&tree);
        let survey = Survey::read(&project).unwrap();
        let report = StatusReport::with_metrics(&project, &survey);
        assert_eq!((report.plans.complete, report.plans.total), (2, 3));
        let drift = report.drift.iter().map(Drift::sentence);
        drift.collect::<Vec<_>>()
    };
    // Whoever counts the summary is not contradicted.
    assert_eq!(drift(2), Vec::<String>::new());
    assert_eq!(drift(3), Vec::<String>::new());
    let expected = "the total of completed plans is 1, but the files show 2";
    assert_eq!(drift(1), [expected]);
}

#[test]
fn a_number_is_not_moved_before_text_about_the_phase_that_is_left() {
    for line in [
        "Phase: 1 executed \u{2014} base tables (Settings)",
        "Phase: 1 of 2 (Base) \u{2014} COMPLETE, see the notes of Ada",
    ] {
        let (_dir, project) = project(format!("# State\n\n## Current Phase\n{line}\nPlans: 1/1\n"));
        let repair = repaired(&project);
        assert!(repair.files.iter().all(|(path, ..)| !path.ends_with("STATE.md")));
        assert_eq!(repair.remaining[0].kind, Some(DriftKind::Phase), "{line}");
    }
}

#[test]
fn a_row_with_free_text_as_its_status_is_left_whole() {
    let (tree, _) = project("# State\n");
    let row = "| 1. Base | 0 / 1 | Not started (parallel with 2) | - |";
    tree.write(
        ".vbw-planning/ROADMAP.md",
        ROADMAP.replace("| 1. Base | 0 / 1 | Pending | - |", row),
    );
    let repair = repaired(&open(&tree));
    let text = String::from_utf8_lossy(new_bytes(&repair, "ROADMAP.md")).into_owned();
    assert!(text.contains("[x] **Phase 1") && text.contains(row), "{text}");
}

#[test]
fn a_folder_of_an_earlier_milestone_with_the_same_number_is_no_obstacle() {
    let (tree, project) = project("# State\n\nPhase: 1 of 2 (Base)\n");
    tree.write(".vbw-planning/phases/02-older/02-01-PLAN.md", "");
    tree.write(".vbw-planning/phases/02-older/02-01-SUMMARY.md", "# Summary\n");
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
            Some("Phase: 2 of 2 (Cli) \u{2014} In progress\n"),
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
fn a_dated_row_is_left_to_a_person_once_a_plan_is_added() {
    let roadmap = "# Roadmap\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 3/3 | Complete | 2026-01-02 |\n| 2. Cli | 1/3 | Complete | 2026-01-03 |\n";
    let (tree, project) = partly_committed("# State\n\nPhase: 2\n", roadmap);
    tree.write(".planning/phases/02-cli/02-04-PLAN.md", "");
    let repair = repaired(&project);
    assert!(repair.files.is_empty(), "{:?}", repair.corrections);
    let left: Vec<String> = repair.remaining.iter().map(Drift::sentence).collect();
    assert_eq!(
        left,
        [
            "the number of plans is 1/3, but the files show 1/4",
            "the status is \"Complete\", but the files show \"In progress\""
        ]
    );
}

#[test]
fn a_number_is_not_moved_beside_a_status_in_free_text() {
    // Beside the number of the last phase, the status would call that one finished.
    let (_dir, project) = before_the_last_phase("Finished, waiting for the vendor");
    let repair = repaired(&project);
    assert!(repair.files.is_empty());
    assert_eq!(repair.remaining[0].kind, Some(DriftKind::Phase));
}
