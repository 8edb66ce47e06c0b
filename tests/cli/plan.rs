//! `annals plan`.

use crate::support::{Case, difference, require};

#[test]
fn the_brief_says_what_the_phase_is_for_what_is_known_and_what_there_is() {
    let case = Case::new("examples/vbw-project");
    let brief = case.run("plan").success().stdout();
    let mut sections = brief.lines().filter(|line| !line.starts_with("  - "));
    let first = sections.next().unwrap();
    assert_eq!(first, "Phase 4: Low-Stock Alerts (in progress, 1 of 3 plans)");
    let rest: Vec<&str> = sections.map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(
        rest,
        [
            "Goal",
            "Builds on",
            "Requirements",
            "Done when",
            "What to know",
            "2 more lessons may be out of date",
            "Files to be careful with",
            "Of 23 finished plans whose summary mentions deviations, 10 deviated.",
            "What the history shows",
            "Phases like this one",
            "Plans",
            "CLAUDE.md updated (69 lines).",
            "Next"
        ]
    );
    assert!(brief.contains("  - REQ-08: A warning before something runs out\n"), "{brief}");
    assert!(
        brief.contains(
            "  - 2 open: The low command and its exit code (wave 2 after 04-01, 3 tasks, 6 files)\n"
        ),
        "{brief}"
    );
    assert!(brief.ends_with("Next: /vbw:vibe --execute 4\n"), "{brief}");
    assert!(brief.lines().count() <= 60, "{brief}");
}

#[test]
fn the_document_has_it_all_and_a_second_run_changes_nothing() {
    let case = Case::new("examples/vbw-project");
    let brief = case.run("plan 2.1 --json").success().json();
    assert_eq!(brief["phase"], "2.1");
    assert_eq!(brief["status"], "complete");
    assert_eq!(brief["depends_on"][0]["status"], "complete");
    assert_eq!(brief["requirements"][0]["id"], "REQ-04");
    let know = brief["know"].as_array().unwrap();
    assert!((3..=5).contains(&know.len()), "{know:?}");
    assert!(know.iter().all(|known| !known["source"].as_str().unwrap().is_empty()));
    let plans = brief["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 2);
    let rate = &brief["rate"];
    assert_eq!((&rate["deviated"]["count"], &rate["deviated"]["of"]), (&10.into(), &23.into()));
    assert_eq!(rate["unreported"], 0);
    let before = case.tree();
    case.run("plan 2.1").success();
    assert_eq!(difference(&before, &case.tree()), [""; 0]);
}

#[test]
fn what_an_entry_once_computed_is_no_lesson() {
    let case = Case::empty();
    let write = |file: &str, text: &str| case.write(&format!(".vbw-planning/{file}"), text);
    write("ROADMAP.md", "# Roadmap\n\n- [ ] Phase 3: Hands\n");
    write(
        "patterns/PATTERNS.md",
        "### Phase 1: Dial (2026-02-01)\n\n**What failed:**\n- Plans with 5 or more tasks deviated in 6 of 6, smaller \
         ones in 0 of 6\n- The dial needs its pin before the hands (plan 02)\n",
    );
    let known = case.run("plan 3").success().stdout();
    let known: Vec<&str> = known.lines().filter(|line| line.starts_with("  - ")).collect();
    assert_eq!(known, ["  - failed: The dial needs its pin before the hands (phase 1, plan 02)"]);
}

#[test]
fn a_phase_that_is_only_called_complete_says_so() {
    let case = Case::new("examples/vbw-project");
    for plan in ["01", "02", "03"] {
        case.remove(&format!(".vbw-planning/phases/03-shopping-lists/03-{plan}-SUMMARY.md"));
    }
    let brief = case.run("plan 3").success().stdout();
    assert!(
        brief.starts_with("Phase 3: Shopping Lists (called complete, 3 plans without a summary)\n"),
        "{brief}"
    );
}

#[test]
fn what_state_notes_for_the_phase_is_in_its_brief() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n### Phase 1: Tides\n\n**Goal:** Read\n\n### Phase 2: Ferries\n\n**Objetivo**: Ship\n\
         **Depende de**: Fase 1\n**Critérios de sucesso**: all ferries are listed\n",
    )
    .write(
        ".planning/STATE.md",
        "# Project State\n\nPhase: 1 of 2\n\n### Blockers/Concerns\n\n- Phase 1: the clock\n\
         - No key for the harbour in Phase 2\n- No paper\n",
    );
    let brief = case.run("plan 2 --json").success().json();
    assert_eq!(brief["notes"], serde_json::json!(["No key for the harbour in Phase 2"]));
    assert_eq!(brief["goal"], "Ship");
    assert_eq!(brief["depends_on"][0]["phase"], "1");
    assert_eq!(brief["success_criteria"][0], "all ferries are listed");
    let page = case.run("plan 2").success().stdout();
    assert!(
        page.contains("Noted for this phase:\n  - No key for the harbour in Phase 2\n"),
        "{page}"
    );
}

#[test]
fn open_plans_are_checked_and_finished_ones_left_alone() {
    let case = Case::empty();
    let plan = |depends: &str| {
        format!(
            "---\nphase: 1\nplan: 1\nwave: 1\ndepends_on: [{depends}]\nmust_haves: [\"it runs\"]\nfiles_modified: [src/a.rs]\n---\n\n\
             ## Task 1: Do it\n\nWrite it.\n\n**Verify:** run it\n"
        )
    };
    let dir = ".vbw-planning/phases/01-first";
    case.write(".vbw-planning/ROADMAP.md", "# Roadmap\n\n## Phase 1: First\n\n**Goal:** Begin\n");
    case.write(&format!("{dir}/01-01-PLAN.md"), plan("").replace("src/a.rs", "src/b.rs"))
        .write(&format!("{dir}/01-02-PLAN.md"), plan("3").replace("plan: 1", "plan: 2"))
        .write(&format!("{dir}/01-03-PLAN.md"), plan("2").replace("plan: 1", "plan: 3"))
        .write(&format!("{dir}/01-04-PLAN.md"), "# No fields\n")
        .write(&format!("{dir}/01-05-PLAN.md"), "# Done\n")
        .write(&format!("{dir}/01-05-SUMMARY.md"), "---\nstatus: complete\n---\n");
    let brief = case.run("plan 1").success().stdout();
    for problem in [
        "01-02-PLAN.md:5: in wave 1, depends on 3, which is in wave 1",
        "01-04-PLAN.md: the plan does not state wave, depends_on, must_haves",
        "01-04-PLAN.md: the plan has no tasks",
    ] {
        assert!(brief.contains(&format!("  - {problem}\n")), "{problem}:\n{brief}");
    }
    assert!(!brief.contains("01-05-PLAN.md") && !brief.contains("01-01-PLAN.md"), "{brief}");
}

#[test]
fn an_unknown_phase_names_the_known_ones() {
    let case = Case::new("examples/vbw-project");
    let before = case.tree();
    let unknown = case.run("plan 9").code(3);
    assert_eq!(
        unknown.stderr(),
        "error: there is no phase 9\nhint: known phases: 1, 2, 2.1, 3, 4\n"
    );
    assert_eq!(unknown.stdout(), "");
    case.run("plan nine").code(2);
    assert_eq!(difference(&before, &case.tree()), [""; 0]);
    let failure = case.run("plan 9 --json").code(3).json();
    assert_eq!(failure["error"]["kind"], "not_found");
}

#[test]
fn a_folder_of_its_first_day_and_one_between_milestones_say_so() {
    let case = Case::empty();
    let missing = case.run("plan").code(3);
    assert!(missing.stderr().contains("annals init"), "{}", missing.stderr());
    assert!(case.tree().is_empty());
    case.run("init").success();
    let first = case.run("plan").success().stdout();
    assert_eq!(
        first,
        "Phase 1 (not planned)\nGoal: not stated in ROADMAP.md\nNext: plan phase 1\n"
    );
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Current Phase\n\nStatus: awaiting new milestone\n",
    );
    let none = case.run("plan").code(3);
    assert_eq!(
        none.stderr(),
        "error: no phase to plan: .vbw-planning/STATE.md:5: Status: awaiting new milestone\nhint: start a milestone\n"
    );
}

#[test]
fn the_archived_copy_of_a_phase_is_not_like_it() {
    let case = Case::empty();
    let summary = "---\nstatus: complete\ndeviations: 0\n---\n# Base of the dial\n";
    for phase in [
        "phases/01-dial",
        "milestones/clock/phases/01-dial",
        "milestones/clock/phases/02-dial-hands",
    ] {
        let number = &phase[phase.len() - phase.rsplit('/').next().unwrap().len()..][..2];
        case.write(&format!(".vbw-planning/{phase}/{number}-01-PLAN.md"), "# Plan\n");
        case.write(&format!(".vbw-planning/{phase}/{number}-01-SUMMARY.md"), summary);
    }
    let similar = case.run("plan 1 --json").success().json()["similar"].clone();
    let names: Vec<&str> =
        similar.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Dial hands"]);
}

#[test]
fn the_brief_is_told_although_the_context_file_is_refused() {
    let case = Case::new("examples/vbw-project");
    case.run("sync").success();
    let context = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    case.write("CLAUDE.md", context + "<!-- annals:end -->\n");
    let outcome = case.run("plan").code(4);
    assert!(outcome.stdout().starts_with("Phase 4: "), "{}", outcome.stdout());
    assert!(outcome.stderr().contains("CLAUDE.md"), "{}", outcome.stderr());
}

#[test]
fn the_brief_says_which_context_file_it_updated() {
    let case = Case::new("examples/gsd-project");
    let said = |run: &str| {
        let brief = case.run(run).success().stdout();
        brief.lines().filter(|line| line.starts_with("CLAUDE.md")).map(str::to_owned).collect()
    };
    let first: Vec<String> = said("plan 3");
    assert!(first.len() == 1 && first[0].contains("ed ("), "{first:?}");
    let second: Vec<String> = said("plan 3");
    assert_eq!(second, [""; 0]);
}

#[test]
fn an_unfinished_phase_is_no_model() {
    let case = Case::new("examples/gsd-project");
    let brief = case.run("plan 3").success().stdout();
    let (_, models) = brief.split_once("Phases like this one:\n").unwrap();
    assert!(models.starts_with("  - phase 1 Trail Reports: 2 plans "), "{models}");
    assert!(!models.contains("Fading Conditions"), "{models}");
}

#[test]
fn a_file_that_moved_has_its_new_name() {
    if !require("git") {
        return;
    }
    let case = Case::empty();
    case.git_init();
    case.write("src/cli.ts", "the same\nlines\nas\nbefore\n")
        .write(".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: A\n\n### Phase 2: B\n");
    for plan in ["01", "02"] {
        let place = format!(".planning/phases/01-a/01-{plan}");
        case.write(&format!("{place}-PLAN.md"), "# Plan\n").write(
            &format!("{place}-SUMMARY.md"),
            "---\ncompleted: 2026-02-01\ndeviations:\n  - \"`src/cli.ts` fails without a terminal\"\n---\n",
        );
    }
    case.commit("Begin", "2026-02-01T00:00:00Z");
    case.shell("git mv src/cli.ts src/terminal.ts").success();
    case.commit("Move", "2026-02-02T00:00:00Z");
    let brief = case.run("plan 2 --json").success().json();
    assert_eq!(brief["careful"][0]["file"], "src/terminal.ts");
}
