//! The next action of small planning folders, each with one kind of evidence that projects really have.

use crate::plan::Survey;
use crate::project::fixture::Tree;
use crate::project::{OpenRequest, Project};

/// Returns the next action and its alternative, such as `Execute 2, or Plan 3`.
fn next(files: &[(&str, &str)]) -> String {
    let tree = Tree::new(&[]);
    for (path, text) in files {
        tree.write(&format!(".planning/{path}"), text);
    }
    let request = OpenRequest { directory: tree.at(""), ..OpenRequest::default() };
    let survey = Survey::read(&Project::open(request).unwrap()).unwrap();
    let next = survey.position.next;
    let show = |action, phase: Option<_>| match phase {
        Some(phase) => format!("{action:?} {phase}"),
        None => format!("{action:?}"),
    };
    let first = show(next.action, next.phase);
    match next.alternative {
        Some(other) => format!("{first}, or {}", show(other.action, other.phase)),
        None => first,
    }
}

const THREE_PHASES: &str = "# Roadmap\n\n- [x] **Phase 1: Gauges**\n- [ ] **Phase 2: Alerts**\n- [ ] **Phase 3: Report**\n";

#[test]
fn plans_that_state_counts_as_complete_need_no_summaries() {
    let with = |plans: u32| {
        let state = format!(
            "---\nstatus: phase_complete\nprogress:\n  total_phases: 3\n  completed_phases: 2\n  total_plans: {plans}\n  completed_plans: {plans}\n---\n\n# State\n\n**Phase:** 2 of 3 (Alerts)\n"
        );
        next(&[
            ("ROADMAP.md", THREE_PHASES),
            ("STATE.md", &state),
            ("phases/01-gauges/01-01-PLAN.md", ""),
            ("phases/01-gauges/01-01-SUMMARY.md", ""),
            ("phases/02-alerts/02-01-PLAN.md", ""),
            ("phases/02-alerts/02-02-PLAN.md", ""),
        ])
    };
    assert_eq!(with(3), "Plan 3, or Execute 2");
    assert_eq!(with(1), "Execute 2");
}

#[test]
fn only_phases_999_are_the_backlog() {
    let roadmap = "# Roadmap\n\n### Phase 1200: Gauges\n\n### Phase 1201: Alerts\n\n### Phase 999.1: Some day\n";
    let files = [
        ("ROADMAP.md", roadmap),
        ("phases/1200-gauges/1200-01-PLAN.md", ""),
        ("phases/1200-gauges/1200-01-SUMMARY.md", ""),
        ("phases/1201-alerts/1201-01-PLAN.md", ""),
    ];
    assert_eq!(next(&files), "Execute 1201");
}

#[test]
fn a_checklist_with_plans_to_be_named_is_not_complete() {
    let roadmap = "# Roadmap\n\n## Phase 1: Gauges\n\n**Plans:** 1/3 plans complete\n\n- [x] Plan 01: Read them\n- [ ] Plan 02: TBD\n- [ ] Plan 03: TBD\n";
    let files = [
        ("ROADMAP.md", roadmap),
        ("MILESTONES.md", "# Milestones\n\n## v1.0 (Shipped: 2026-01-02)\n"),
        ("STATE.md", "# State\n\n**Milestone:** v1.0\n**Phase:** 1\n"),
        ("phases/01-gauges/01-01-PLAN.md", ""),
        ("phases/01-gauges/01-01-SUMMARY.md", ""),
        ("phases/01-gauges/01-02-PLAN.md", ""),
    ];
    assert_eq!(next(&files), "Execute 1");
}

#[test]
fn a_phase_in_the_block_of_a_shipped_milestone_is_shipped_whatever_its_number() {
    let roadmap = "# Roadmap\n\n## Milestones\n\n- \u{2705} **v1.0 Base** - Phases 1-2 (shipped 2026-01-02)\n- \u{1f6a7} **v1.1 More** - Phases 4-5\n\n<details>\n<summary>\u{2705} v1.0 Base (Phases 1-2) - SHIPPED</summary>\n\n- [x] Phase 1: Gauges\n- [x] Phase 2: Alerts\n- [x] Phase 3: Report, moved to phase 4\n\n</details>\n\n### v1.1 More\n\n- [ ] **Phase 4: Report**\n- [ ] **Phase 5: Export**\n";
    let files = [
        ("ROADMAP.md", roadmap),
        ("STATE.md", "# State\n\n**Milestone:** v1.1\n**Phase:** 4\n"),
        ("phases/04-report/04-01-PLAN.md", ""),
    ];
    assert_eq!(next(&files), "Execute 4");
    let over = roadmap.replace("[ ]", "[x]");
    let files = [
        ("ROADMAP.md", over.as_str()),
        ("MILESTONES.md", "# Milestones\n\n## v1.1 More (Shipped: 2026-02-03)\n"),
        ("STATE.md", "# State\n\n**Milestone:** v1.1\n**Phase:** 5\n"),
    ];
    assert_eq!(next(&files), "None");
}

#[test]
fn a_row_belongs_to_the_phase_whose_name_it_bears() {
    let roadmap = "# Roadmap\n\n<details>\n<summary>\u{2705} v1.0 Base (Phases 1-2) - SHIPPED</summary>\n\n- [x] Phase 1: Gauges\n- [x] Phase 2: Alert rules\n\n</details>\n\n### v1.1 More\n\n- [ ] **Phase 2: Export files**\n- [ ] **Phase 3: Report**\n\n## Progress\n\n| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n| 2. Alert rules | 2/2 | Complete   | 2026-01-02 | - |\n";
    let files = [
        ("ROADMAP.md", roadmap),
        ("STATE.md", "# State\n\n**Phase:** 2 (Export files)\n**Plan:** 2 of 3\n"),
        ("phases/02-export-files/02-01-PLAN.md", ""),
        ("phases/02-export-files/02-01-SUMMARY.md", ""),
        ("phases/02-export-files/02-02-PLAN.md", ""),
    ];
    assert_eq!(next(&files), "Execute 2");
}

#[test]
fn ticked_plans_contest_a_phase_unless_a_summary_says_otherwise() {
    let roadmap = "# Roadmap\n\n- [ ] **Phase 1: Gauges**\n- [ ] **Phase 2: Alerts**\n\n## Phase 1: Gauges\n\nPlans:\n- [x] 01-01: read\n- [x] 01-02: show\n\n## Phase 2: Alerts\n";
    let with = |summary: &str| {
        let mut files = vec![
            ("ROADMAP.md", roadmap),
            ("phases/01-gauges/01-01-PLAN.md", ""),
            ("phases/01-gauges/01-01-SUMMARY.md", ""),
            ("phases/01-gauges/01-02-PLAN.md", ""),
        ];
        if !summary.is_empty() {
            files.push(("phases/01-gauges/01-02-SUMMARY.md", summary));
        }
        next(&files)
    };
    assert_eq!(with(""), "Execute 1, or Plan 2");
    assert_eq!(with("---\nstatus: failed\n---\n"), "Execute 1");
}
