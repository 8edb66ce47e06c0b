use super::*;
use crate::plan::read::{PhaseNumber, PlanNumber};

fn read(text: &str) -> Roadmap {
    Roadmap::parse(text, Path::new("ROADMAP.md")).value
}

fn shown(roadmap: &Roadmap) -> Vec<String> {
    let show = |phase: &RoadmapPhase| {
        let status = phase.status.map_or("_".to_owned(), |status| format!("{status:?}"));
        let name = phase.name.as_deref().unwrap_or("_");
        format!("{}|{name}|{status}|{}", phase.number, phase.is_shipped)
    };
    roadmap.phases.iter().map(|phase| show(phase)).collect()
}

const GSD: &str = "# Roadmap: demo\n\n## Phases\n- [x] **Phase 1: Base** - first things (completed 2026-03-06)\n- [ ] **Phase 2: More** - second\n- [ ] Phase 3: Later _(deferred to v2)_\n\n## Phase Details\n\n### Phase 1: Base\n**Goal**: Users can log in\nand out.\n**Depends on**: Nothing (first phase)\n**Requirements**: A-01, A-02\n**Success Criteria** (what must be TRUE):\n  1. One holds\n  2. Two holds\n**Plans:** 2/2 plans complete\n\nPlans:\n- [x] 01-01-PLAN.md \u{2014} login\n- [x] 01-02-PLAN.md \u{2014} logout\n\n**Security Checks:**\n- [x] no secrets\n\n### Phase 2: More (INSERTED)\n**Goal**: [To be planned]\n**Depends on**: Phase 1 (needs it)\n**Plans**: TBD\n\nPlans:\n- [ ] 02-01: TBD\n\n## Progress\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 2/2 | Complete | 2026-03-06 |\n| 2. More | 0/TBD | Not started | - |\n";

#[test]
fn a_phase_is_put_together_from_list_section_and_table() {
    let roadmap = read(GSD);
    assert_eq!(
        shown(&roadmap),
        ["1|Base|Complete|false", "2|More|NotStarted|false", "3|Later|Deferred|false"]
    );
    let first = &roadmap.phases[0];
    assert_eq!(first.goal.as_deref(), Some("Users can log in and out."));
    assert_eq!(first.requirements, ["A-01", "A-02"]);
    assert_eq!(first.success_criteria, ["One holds", "Two holds"]);
    assert_eq!(first.plans.len(), 2);
    assert_eq!(first.plans[1].plan, PlanNumber::parse("2"));
    assert_eq!(first.plan_count.as_ref().unwrap().value, "2/2 plans complete");
    let second = &roadmap.phases[1];
    assert_eq!(second.goal, None);
    assert_eq!(second.depends_on, [PhaseNumber::from(1)]);
    assert!(second.plans.is_empty());
    assert_eq!(roadmap.active_phases().count(), 2);
}

#[test]
fn what_is_repaired_knows_its_bytes() {
    let roadmap = read(GSD);
    let first = &roadmap.phases[0];
    let checkbox = first.checkbox.clone().unwrap();
    assert_eq!((&GSD[checkbox.range], checkbox.line), ("x", 4));
    let row = roadmap.phases[1].row.clone().unwrap();
    assert_eq!(&GSD[row.plans.unwrap().range], "0/TBD");
    assert_eq!(&GSD[row.status.unwrap().range], "Not started");
    assert_eq!(&GSD[row.completed.unwrap().range], "-");
}

#[test]
fn phases_of_shipped_milestones_are_told_apart() {
    let text = "# R\n## Milestones\n- \u{2705} **v1.0 MVP** \u{2014} Phases 1-2 (shipped 2026-04-05)\n## Phases\n- [ ] **Phase 1: New** - again\n<details>\n<summary>v1.0 MVP (Phases 1-2) \u{2014} SHIPPED</summary>\n\n- [x] Phase 1: Old (2/2 plans)\n- [x] Phase 2: Older\n</details>\n\n### v2.0 Next (In Progress)\n#### Phase 1: New\n**Goal:** again\n## Progress\n| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n| 1. Old | v1.0 | 2/2 | Complete | x |\n| 1. New | v2.0 | 0/1 | Not started | - |\n";
    assert_eq!(
        shown(&read(text)),
        ["1|Old|Complete|true", "2|Older|Complete|true", "1|New|NotStarted|false"]
    );
}

#[test]
fn a_list_of_milestones_ships_its_phases() {
    let text = "## Milestones\n- [v1.0](x) - Phases 1-2 (SHIPPED 2025-12-27)\n- v1.1 - Phases 3-4\n## Progress\n| Phase | Status |\n|---|---|\n| 1. A | Complete |\n| 3. B | Pending |\n";
    let roadmap = read(text);
    assert_eq!(shown(&roadmap), ["1|A|Complete|true", "3|B|NotStarted|false"]);
    assert_eq!(roadmap.milestones[0].name, "v1.0");
    assert_eq!(roadmap.phases[1].milestone, Some(1));
}

#[test]
fn a_table_names_phases_by_codes_and_may_have_no_column_for_the_status() {
    for (header, row, expected) in [
        ("Phase | Plans | Status", "B6. A | 2/2 | Complete", "B6|A|Complete|false"),
        ("Phase | Status", "**B6** - A | Pending", "B6|A|NotStarted|false"),
        ("Phase | Plans", "6. A | 2/2 Complete", "6|A|Complete|false"),
        ("Phase | Done", "6. A | 1/2", "6|A|_|false"),
        ("Phase | Plans written / executed", "6. A | 1/2 Complete", ""),
        ("# | Done | Task", "6 | yes | A", ""),
        ("# | Decision | Status", "6 | Use Rust | Pending", ""),
        ("# | Goal | Status", "6 | A | Pending", "6|_|NotStarted|false"),
        ("Phase | Goal | Done", "6 | A | no", "6|_|NotStarted|false"),
    ] {
        let rule = "---|".repeat(header.split('|').count());
        let text = format!("# R\n\n| {header} |\n|{rule}\n| {row} |\n");
        assert_eq!(shown(&read(&text)).join(" "), expected, "{header}");
    }
}

#[test]
fn a_status_behind_a_name_is_more_than_its_first_word() {
    let status = |rest: &str| {
        let roadmap = read(&format!("## Phase 1: Orders \u{2014} {rest}\n"));
        roadmap.phases[0].status
    };
    for rest in [
        "COMPLETE",
        "Complete (4 plans)",
        "complete, verified",
        "Done 2026-01-02",
        "Complete, 3/3 plans",
        "Complete, 2 plans, verified",
    ] {
        assert_eq!(status(rest), Some(PhaseProgress::Complete), "{rest}");
    }
    assert_eq!(status(&format!("{}done", "done, ".repeat(20_000))), Some(PhaseProgress::Complete));
    for rest in ["Cancelled & Refunded", "Shipped, Returned", "Done?"] {
        assert_eq!(status(rest), None, "{rest}");
    }
}

#[test]
fn the_status_of_a_part_is_not_that_of_the_phase() {
    let roadmap = read("## Phase 1: A\n### Wave 1\n**Status**: Complete\n");
    assert_eq!(roadmap.phases[0].status, None);
    let roadmap = read("## Phase 1: A\n### Status\n**Status**: Complete\n");
    assert_eq!(roadmap.phases[0].status, Some(PhaseProgress::Complete));
}

#[test]
fn boxes_below_the_entry_of_a_phase_are_its_plans() {
    let text = "- [ ] **Phase 1: A**\n  - [x] 01-01: walls\n  - [ ] 01-02: roof\n  - [ ] a note\n- [ ] **Phase 2: B**\n";
    let plans = |index: usize| read(text).phases[index].plans.clone();
    assert_eq!(
        plans(0).iter().map(|plan| plan.checked).collect::<Vec<_>>(),
        [Some(true), Some(false)]
    );
    assert_eq!(plans(1), []);
}

#[test]
fn subsections_and_wrapped_items_carry_fields_too() {
    let text = "## Phase 1: A \u{2713}\n**Goal:** one\n**Plans:** 2\n\n## Phase 2: B\n### Requirements\n- A-01, A-02\n### Success Criteria\n1. x\n   **Plans**: 3 plans\n   Plans:\n\n- [ ] 02-PLAN-01.md \u{2014} do\n      **UI hint**: yes\n";
    let roadmap = read(text);
    let first = &roadmap.phases[0];
    assert_eq!(first.goal.as_deref(), Some("one"));
    assert_eq!(first.status, Some(PhaseProgress::Complete));
    assert_eq!(first.plan_count.as_ref().unwrap().value, "2");
    let second = &roadmap.phases[1];
    assert_eq!(second.requirements, ["A-01", "A-02"]);
    assert_eq!(second.success_criteria, ["x"]);
    assert_eq!(second.plans[0].text, "02-PLAN-01.md \u{2014} do");
}

#[test]
fn requirements_are_read_in_brackets_in_backticks_and_before_a_comment() {
    for line in [
        "A-01, A-02",
        "[A-01, A-02]  <!-- brackets optional -->",
        "`A-01`, `A-02`",
        "A-01, A-02 <!-- both -->",
        "**A-01**, A-02",
    ] {
        let roadmap = read(&format!("## Phase 1: A\n**Requirements**: {line}\n"));
        assert_eq!(roadmap.phases[0].requirements, ["A-01", "A-02"], "{line}");
    }
    let roadmap = read("## Phase 1: A\n**Requirements**: [A link](x) for `all`\n");
    assert_eq!(roadmap.phases[0].requirements, ["[A link](x) for `all`"]);
}

#[test]
fn a_list_that_hangs_on_a_bullet_is_read_at_its_own_depth() {
    let text = "## Phase 1: A\n**Plans**: 2 plans\n- [x] 01-01-PLAN.md \u{2014} do\n- [x] 01-02-PLAN.md \u{2014} do\n**Success Criteria** (what must be TRUE):\n  1. x\n     - detail\n  2. y\n";
    let phase = &read(text).phases[0];
    assert_eq!(phase.success_criteria, ["x", "y"]);
    assert_eq!(phase.plans[1].text, "01-02-PLAN.md \u{2014} do");
    assert_eq!(phase.status, Some(PhaseProgress::Complete));
}

#[test]
fn a_tag_between_number_and_name_is_no_name() {
    let roadmap = read("### Phase 26 (Cluster B): Loans\n");
    assert_eq!(roadmap.phases[0].name.as_deref(), Some("Loans"));
    let roadmap = read("### Phase 26 (deferred): Loans\n");
    assert_eq!(shown(&roadmap), ["26|Loans|Deferred|false"]);
}

#[test]
fn of_a_phase_described_twice_the_first_description_counts() {
    assert_eq!(shown(&read("## Phase 1: A\n## Phase 1: B\n")), ["1|A|_|false"]);
}

#[test]
fn malformed_text_does_not_panic() {
    for text in [
        "",
        "- [x",
        "- [\u{e9}] Phase 1",
        "## Phase \u{e9}\n",
        "<details>",
        "| Phase | Status |\n|---|---|\n| 1 |\n",
        "- [x] Phase 1:",
    ] {
        read(text);
    }
}

#[test]
fn a_title_of_a_plan_keeps_its_spans_of_code() {
    for (entry, title) in [
        ("03-01-PLAN.md \u{2014} Command `list`", "Command `list`"),
        ("`03-01-PLAN.md` \u{2014} Command `list`", "Command `list`"),
        ("`03-01-PLAN.md`: `list` and `add`", "`list` and `add`"),
        ("[03-01](a.md) - `list`", "list"),
        ("**03-01**: List (wave 3)", "List (wave 3)"),
    ] {
        let text = format!("## Phase 3: List\n\n**Plans:**\n- [ ] {entry}\n");
        let roadmap = read(&text);
        let titles = roadmap.phases[0].plans.iter().map(|plan| plan.title.as_deref());
        assert_eq!(titles.collect::<Vec<_>>(), [Some(title)], "{entry}");
    }
}

#[test]
fn a_number_without_a_milestone_beside_others_with_it_is_warned_of() {
    let text = "### Phase 1-01: Core\n\n### Phase 2-01: Next\n\n### Phase 1: Added\n";
    let parsed = Roadmap::parse(text, Path::new("ROADMAP.md"));
    let numbers = parsed.value.phases.iter().map(|phase| phase.number.to_string());
    assert_eq!(numbers.collect::<Vec<_>>(), ["1", "1-01", "2-01"]);
    let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["ROADMAP.md:5: phase 1 has no milestone in its number"]);
}
