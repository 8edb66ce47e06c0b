use chrono::NaiveDate;

use super::*;
use crate::plan::read::PhaseNumber;

fn read(text: &str) -> StateFile {
    StateFile::parse(text, Path::new("STATE.md")).value
}

/// Returns the stated numbers of complete plans and of all plans.
fn plans(state: &StateFile) -> (Option<u32>, Option<u32>) {
    let count = |says| state.claims.iter().find_map(|claim| claim.value.count(says));
    (count(Says::PlansDone), count(Says::PlansTotal))
}

#[test]
fn of_two_front_matters_the_first_counts() {
    let block = |status: &str| format!("---\ngsd_state_version: 1.0\nstatus: {status}\n---\n\n");
    let state = read(&(block("executing") + &block("planning") + "# State\n\nPhase: 2 of 3\n"));
    assert_eq!(state.phase.status.as_deref(), Some("executing"));
    assert_eq!(state.phase.number, PhaseNumber::parse("2"));
}

#[test]
fn a_value_in_a_map_on_one_line_is_not_located() {
    let state = read("---\nprogress: {total_plans: 14, percent: 4}\n---\n# State\n");
    assert!(state.claims.iter().all(|claim| claim.value.count(Says::Percent).is_none()));
}

#[test]
fn a_title_may_name_the_project() {
    for (title, expected) in [
        ("# STATE: Rate Receiver", Some("Rate Receiver")),
        ("# mail-cli State", Some("mail-cli")),
        ("# Project State", None),
        ("# State", None),
        ("# Notes", None),
    ] {
        assert_eq!(read(&format!("{title}\n")).project.as_deref(), expected, "{title}");
    }
}

#[test]
fn labels_and_a_phase_list_are_read() {
    let text = "# VBW State\n\n**Project:** demo\n**Milestone:** first\n**Current Phase:** Phase 2\n**Status:** Pending planning\n**Progress:** 25%\n\n## Phase Status\n- **Phase 1:** Complete (4 plans)\n- **Phase 2:** Pending\n\n## Key Decisions\n| Decision | Date | Rationale |\n|---|---|---|\n| Use X | 2026-02-17 | fast |\n\n## Todos\nNone.\n";
    let state = read(text);
    assert_eq!(state.project.as_deref(), Some("demo"));
    assert_eq!(state.milestone.as_deref(), Some("first"));
    assert_eq!(state.phase.number, PhaseNumber::parse("2"));
    assert_eq!(state.phase.status.as_deref(), Some("Pending planning"));
    assert_eq!(state.phase.progress_percent, Some(25));
    assert_eq!(state.decisions.len(), 1);
    assert!(state.todos.is_empty());
    let statuses: Vec<&str> =
        state.phase_statuses.iter().map(|(_, status)| &text[status.range.clone()]).collect();
    assert_eq!(statuses, ["Complete (4 plans)", "Pending"]);
}

#[test]
fn every_claim_stands_where_it_says() {
    let text = "---\nmilestone: v1.0\nstatus: executing\nprogress:\n  total_phases: 5\n  percent: 10\n---\n# Project State\n\n## Current Position\n\nPhase: 1 of 4 (Quick Log)\nPlan: 2 of 3 in current phase\nStatus: Ready\nProgress: [#---] 25%\n";
    let state = read(text);
    for claim in &state.claims {
        let written = &text[claim.range.clone()];
        let shown = match &claim.value {
            Claim::Phase(number) => number.to_string(),
            Claim::Text(_, text) => text.clone(),
            Claim::Count(_, count) => count.to_string(),
        };
        assert_eq!(written, shown);
        assert_eq!(claim.line, 1 + text[..claim.range.start].matches('\n').count());
    }
    assert_eq!(state.claims.len(), 11);
    assert_eq!(state.phase.total, Some(4));
    assert_eq!(state.phase.name.as_deref(), Some("Quick Log"));
    assert_eq!(state.phase.status.as_deref(), Some("Ready"));
    assert_eq!(state.phase.progress_percent, Some(25));
    assert_eq!(plans(&state), (None, Some(3)));
}

#[test]
fn the_front_matter_fills_what_the_body_leaves_open() {
    let state = read(
        "---\nmilestone: v1.1\nmilestone_name: Better\ncurrent_phase: 03.1\nstatus: milestone_complete\nprogress:\n  total_phases: 12\n  percent: 100\n---\n# demo State\n",
    );
    assert_eq!(state.milestone.as_deref(), Some("v1.1"));
    assert_eq!(state.milestone_name.as_deref(), Some("Better"));
    assert_eq!(state.phase.number.as_ref().map(ToString::to_string).as_deref(), Some("3.1"));
    assert_eq!(state.phase.status.as_deref(), Some("milestone_complete"));
    assert_eq!((state.phase.total, state.phase.progress_percent), (Some(12), Some(100)));
    assert!(state.no_milestone.is_none());
}

#[test]
fn a_status_behind_the_phase_counts_where_no_label_states_one() {
    for text in [
        "Phase: 2 \u{2014} Events & Base \u{2014} IN PROGRESS",
        "Phase 2: Events & Base \u{2014} IN PROGRESS",
    ] {
        let state = read(&format!("## Current Phase\n{text}\n"));
        assert_eq!(state.phase.number.as_ref().map(ToString::to_string).as_deref(), Some("2"));
        assert_eq!(state.phase.name.as_deref(), Some("Events & Base"));
        assert_eq!(state.phase.status.as_deref(), Some("IN PROGRESS"));
    }
}

#[test]
fn an_active_milestone_is_named_by_its_slug() {
    let state = read(
        "# State\n**Active Milestone:** token-offload\n**Current Phase:** 3b (planned)\n**Phase Status:** Planned\n**Plans:** 0/3 complete\n",
    );
    assert_eq!(state.active_milestone.as_deref(), Some("token-offload"));
    assert_eq!(state.milestone.as_deref(), Some("token-offload"));
    assert_eq!(state.phase.status.as_deref(), Some("Planned"));
    assert_eq!(plans(&state), (Some(0), Some(3)));
    assert_eq!(read("**Active Milestone:** ../x\n").active_milestone, None);
}

#[test]
fn only_an_ended_milestone_leaves_none_active() {
    for text in [
        "**Milestone:** _(none \u{2014} v2 shipped)_\n## Current Phase\nNone \u{2014} all phases complete.\n",
        "## Current Position\nMilestone: v1.0 Name \u{2014} SHIPPED 2026-02-10\nStatus: Complete\n",
        "**Status:** Shipped\n",
        "---\nstatus: awaiting_new_milestone\n---\n# State\n",
        "## Current Position\nNo active milestone.\n",
        "**Status:** Ready for next milestone\n",
    ] {
        assert!(read(text).no_milestone.is_some(), "{text}");
    }
    for text in [
        "**Current Phase:** All complete\n**Status:** Milestone complete\n",
        "**Current Phase:** Phase 3\n**Status:** Complete\n",
        "## Current Position\nPhase: 22 of 22 (Euro)\nStatus: Phase complete - v2.1 MILESTONE COMPLETE\n",
        "**Status:** Phase 3 shipped\n",
        "Phase: None\nStatus: Ready to plan\n",
        "**Milestone:** {milestone-name}\n",
        "**Milestone:** _(not set)_\n",
        "",
    ] {
        assert!(read(text).no_milestone.is_none(), "{text}");
    }
}

#[test]
fn malformed_text_does_not_panic() {
    for text in [
        "",
        "\u{feff}",
        "---\n",
        "Phase: \u{e9}\nProgress: %\nPlan: of\n",
        "| # |\n|---|\n| |\n",
        "**Phase\u{e9}:** (\n",
    ] {
        read(text);
    }
}

#[test]
fn a_phase_without_a_number_is_reported_unless_it_says_none() {
    let warned = |text| StateFile::parse(text, Path::new("STATE.md")).warnings;
    let found = warned("# State\n**Current Phase:** somewhere in the middle\n");
    assert_eq!(found[0].place.line, Some(2));
    let prose = read("# State\n\nWe are at the third brick.\n").prose;
    assert_eq!(prose.map(|prose| prose.line), Some(3));
    for text in [
        "# State\n\nAll phases are complete.\n",
        "**Current Phase:** None\n",
        "**Current Phase:** All phases complete\n",
        "Phase: 3\n",
        "Phase: \n",
    ] {
        assert!(warned(text).is_empty(), "{text}");
    }
}

#[test]
fn decisions_may_be_grouped_by_phase() {
    let state = read(
        "## Decisions\n- d\n### Phase 3\n- a\n### Open questions\n- b\n## Open Decisions\n- c\n",
    );
    let found: Vec<_> = state
        .decisions
        .iter()
        .map(|decision| (decision.text.as_str(), decision.heading.as_deref()))
        .collect();
    assert_eq!(found, [("d", Some("Decisions")), ("a", Some("Phase 3"))]);
}

#[test]
fn what_calls_itself_settled_is_not_open() {
    let settled = [
        "~~No key~~ done",
        "\u{2705} Key",
        "[resolved] No key",
        "(closed, see 03-01) No key",
        "**Resolved upstream** No key",
        "**Fixed** the lock",
        "FIXED 2026-07-31: no key",
        "Access \u{2014} resolved by the vendor",
        "No key. Done in 03-01",
        "No oven: cleared",
        "Port clash; obsolete",
        "The lock is now fixed",
        "The API is no longer a blocker.",
        "No key (closed)",
        "Key: resolved on May 3",
        "It was RESOLVED in 03-01",
        "Access (solved)",
        "Waiting for DNS, since fixed",
        "The queue is no longer blocked",
        "Key, not a blocker anymore",
        "Erledigt: der Schlüssel ist da",
        "None",
        "None - all cleared",
        "No active blockers.",
        "Nothing blocking",
        "There are no blockers.",
        "Currently none.",
        "All blockers resolved.",
        "Currently no blockers",
        "There is nothing blocking",
        "There are no blockers at the moment",
        "All blockers have been resolved",
        "Nothing at all",
    ];
    let open = [
        "No key",
        "CI: fixed IP is needed",
        "None of the tests run offline",
        "The port is now closed",
        "It waits until the audit is no longer blocking",
        "Fixed-width parsing fails",
        "Status of the payment: completed",
        "The keys are not all resolved",
        "We lose data; upstream closed it as wontfix",
        "Key: resolved by the vendor only if asked",
        "Nothing works on Safari",
        "Nothing at all works on Safari",
        "All blockers still not resolved",
        "There is no item endpoint yet",
    ];
    let lines = |list: &[&str]| list.iter().map(|text| format!("- {text}\n")).collect::<String>();
    let text = format!("# State\n\n## Blockers\n{}{}", lines(&settled), lines(&open));
    assert_eq!(read(&text).blockers, open);
}

#[test]
fn a_todo_may_ask_for_what_settles_a_blocker() {
    let open = [
        "Menu: closed on mobile",
        "Accordion (closed by default) needs a label",
        "Columns: open; done",
        "Fixed in place header jumps",
        "All tasks in Jira should be closed",
        "Add a button (Done)",
    ];
    let settled = [
        "~~Menu~~",
        "\u{2705} Menu",
        "[fixed, see 03-01] Menu",
        "DONE Menu",
        "Menu (done)",
        "Menu (completed 2026-01-02)",
        "Menu (Done 2026-01-02)",
        "Menu \u{2014} DONE",
    ];
    let lines = |list: &[&str]| list.iter().map(|text| format!("- {text}\n")).collect::<String>();
    let text = format!("# State\n\n## Pending Todos\n{}{}", lines(&settled), lines(&open));
    assert_eq!(read(&text).todos, open);
}

#[test]
fn ticked_boxes_below_a_bullet_settle_it() {
    let state = read("# State\n## Blockers\n- **Infra**\n  - [x] key\n- Web\n  - [ ] form\n");
    assert_eq!(state.blockers, ["Web: form"]);
}

#[test]
fn what_is_open_and_decided_is_read_in_the_languages_of_the_position() {
    let read = |[decisions, pending, todos, done, blockers]: [&str; 5]| {
        let text = format!(
            "# State\n\n### {decisions}\n- SQLite\n\n### {pending}\n- Queue?\n\n### {todos}\n- Write\n\n#### {done}\n- Read\n\n### {blockers}\n- Key\n"
        );
        let state = read(&text);
        let decisions: Vec<String> = state.decisions.into_iter().map(|one| one.text).collect();
        [decisions, state.todos, state.blockers].map(|texts| texts.join(", ")).join("; ")
    };
    for titles in [
        [
            "Entscheidungen", "Offene Entscheidungen", "Offene Aufgaben", "Erledigt",
            "Blocker/Bedenken",
        ],
        [
            "Decisiones clave", "Decisiones pendientes", "Tareas pendientes", "Completadas",
            "Bloqueos",
        ],
        ["Decisões", "Decisões pendentes", "Tarefas pendentes", "Concluídas", "Bloqueios"],
        ["Décisions", "Décisions en attente", "Tâches en attente", "Terminées", "Blocages"],
        ["Ключевые решения", "Открытые решения", "Открытые задачи", "Выполнено", "Блокеры"],
        ["关键决策", "待定决策", "待办事项", "已完成", "阻塞"],
    ] {
        assert_eq!(read(titles), "SQLite; Write; Key", "{titles:?}");
    }
}

#[test]
fn a_log_of_decisions_is_read_and_pending_ones_are_not() {
    let text = "# State\n## Decisions Log\n- 2026-03-02: Store prices in cents\n### OpenAPI\n- Generate the client\n### Open questions\n- Which currency?\n## Pending Decisions\n- Pick a queue\n";
    let state = read(text);
    let texts: Vec<&str> = state.decisions.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(texts, ["2026-03-02: Store prices in cents", "Generate the client"]);
    assert_eq!(state.decisions[0].date, NaiveDate::from_ymd_opt(2026, 3, 2));
}

#[test]
fn labels_below_a_pasted_title_are_not_about_the_position() {
    let head = "---\nstatus: executing\n---\n\n# Project State\n\nPhase: 5 of 6 (Search)\n\n";
    let pasted = "## Decisions\n\n- One index per shop\n\nrequires:\n\n# Dependency graph\n\n  - phase: 04-01\n    provides: \"parser\"\n\nstatus: complete\n\n# Phase 4 Plan 02: Parser Summary\n\n**Plan:** 2 of 2\n";
    let state = read(&(head.to_owned() + pasted));
    assert_eq!(state.phase.number, PhaseNumber::parse("5"));
    assert_eq!(state.claims.len(), 4, "{:?}", state.claims);
    // A position section counts wherever it is, and so does what precedes the title.
    let below =
        "Status: executing\n\n# State\n\n# Session\n\nPhase: 2\n\n# Current Position\n\nPhase: 3\n";
    assert_eq!(read(below).phase.number, PhaseNumber::parse("3"));
    assert_eq!(read(below).phase.status.as_deref(), Some("executing"));
}

#[test]
fn of_blockers_in_any_form_only_the_open_ones_are_read() {
    for text in [
        "## Blockers & Issues\n\n- Key missing \u{2705}\n- Host down",
        "## Blockers\n\n- Key missing \u{2192} resolved\n- **~~Key~~** missing\n- Host down",
        "## Blockers\n\n- Key missing\n  - Status: Resolved\n- Host down",
        "## Blockers\n\n**Resolved:**\n\n- Key missing\n\n**Open:**\n\n- Host down",
        "## Blockers\n\n#### Resolved\n\n- Key missing\n\n#### Open\n\n- Host down",
        "## Blockers\n\n| # | Blocker | State |\n|---|---|---|\n| 1 | Key missing | Closed |\n| 2 | Host down | Open |",
        "## Blockers (resolved)\n\n- Key missing\n\n## Blockers\n\n- Host down",
        "## Context\n\n**Blockers:**\n\n- Key missing (resolved)\n- Host down\n\nMore.\n\n- Not one",
        "## Context\n\n**Blockers:** Host down",
    ] {
        assert_eq!(read(text).blockers, ["Host down"], "{text}");
    }
    for text in ["## Blockers\n\n- [None]", "## Blockers\n\nAll clear.", "**Blockers:** None"] {
        assert!(read(text).blockers.is_empty(), "{text}");
    }
    let todos =
        "## Todos\n\n| Task | Status |\n|---|---|\n| Write docs | Done |\n| Ship it | Open |";
    assert_eq!(read(todos).todos, ["Ship it"]);
}
