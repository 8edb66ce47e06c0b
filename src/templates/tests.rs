use serde_json::{Value as Json, json};

use super::*;

fn built_in(template: Template, context: &Json) -> String {
    render(template, context).unwrap()
}

/// Values for every field of the ledger's STATE.md, once filled and once empty.
fn ledger_state() -> [Json; 2] {
    [
        json!({"objective": "Bread by seven", "active_work": ["Ovens"], "blockers": ["No flour"],
                "next_actions": ["Buy flour"], "reference": ["Run: `make`"], "out_of_scope": ["Cakes"],
                "date": "2026-02-17", "anchor": "84e9493", "comments": ["<!-- t:last-commit:84e9493 -->"]}),
        json!({"objective": "Bread", "active_work": [], "blockers": [], "next_actions": [], "reference": [],
                "out_of_scope": [], "date": "2026-02-17", "anchor": "none yet", "comments": []}),
    ]
}

/// Values for every field of the ledger's procedure.
fn ledger_skill() -> [Json; 2] {
    ["Log what matters.", "Log nothing."].map(|threshold| json!({"threshold": threshold}))
}

/// Values for every field of a new planning folder's STATE.md, once filled and once empty.
fn init_state() -> [Json; 2] {
    let skills = json!([{"name": "rust", "scope": "global"}, {"name": "lint", "scope": "project"}]);
    [
        json!({"name": "Bakery", "milestone": "default", "event": "Opened", "date": "2026-02-17", "skills": skills,
            "carried": {
                "decisions": [{"text": "Use rye", "date": "2026-02-16", "rationale": "It keeps"}, {"text": "Never freeze", "date": null, "rationale": null}],
                "todos": ["- [ ] Buy salt"], "blockers": ["- No oven"], "profile": ["- 12 Rust files"]}}),
        json!({"name": "Bakery", "milestone": "default", "event": "Opened", "date": "2026-02-17", "skills": [],
            "carried": {"decisions": [], "todos": [], "blockers": [], "profile": []}}),
    ]
}

/// Values for every field of every template, once filled and once empty.
fn contexts(template: Template) -> [Json; 2] {
    let skills = json!([{"name": "rust", "scope": "global"}, {"name": "lint", "scope": "project"}]);
    match template {
        Template::ContextFile => [
            json!({"title": "Bakery", "core_value": "Bread by seven", "has_workflow": true, "code": [], "milestone": "v2",
                "phase": "5.1 - Ovens (in progress)",
                "next_action": "/vbw:execute 5.1", "contested": "phase 6 has no plans", "also_open": "/vbw:verify 4", "blockers": ["No flour"], "decisions": ["Use rye", "Never freeze"],
                "skills": ["rust (global)", "lint (project)"], "patterns": ["Small plans finish (plans 01, 03)"],
                "commands_heading": "VBW Commands", "commands": ["Run /vbw:help for all commands."]}),
            json!({"title": null, "core_value": null, "has_workflow": true, "code": [], "milestone": null, "phase": null,
                "next_action": null, "contested": null, "also_open": null, "blockers": [], "decisions": [], "skills": [],
                "patterns": [], "commands_heading": "", "commands": []}),
        ],
        Template::InitProject => [
            json!({"name": "Bakery", "description": "Plans ovens.", "core_value": "Bread by seven"}),
            json!({"name": "Bakery", "description": null, "core_value": null}),
        ],
        Template::InitRequirements => [json!({"date": "2026-02-17"}), json!({"date": ""})],
        Template::InitRoadmap => [json!({"name": "Bakery"}), json!({"name": ""})],
        Template::InitState => init_state(),
        Template::InitConfig
        | Template::PatternsHeader
        | Template::LedgerConstraints
        | Template::LedgerDecisions
        | Template::LedgerThreshold
        | Template::LedgerSchema => [json!({}), json!({})],
        Template::PatternsEntry => [
            json!({"number": "2", "name": "Dough", "date": "2026-02-17",
                "trace": "<!-- annals: phase-dir=02-dough plans=01,02 digest=ab12 -->",
                "worked": ["Both plans done"], "failed": ["Plan 02 deviated"], 
                "plans": 2, "average": "4m", "total": "8m", "effort": "balanced",
                "deviations": 3, "kinds": "2 minor, 1 blocking", "silent": "1 of 2 plans do not say"}),
            json!({"number": "2", "name": "Dough", "date": "2026-02-17",
                "trace": "<!-- annals: phase-dir=02-dough plans=01 digest=ab12 -->",
                "worked": [], "failed": [], "plans": 1, "average": null, "total": null,
                "effort": null, "deviations": null, "kinds": null, "silent": null}),
        ],
        Template::LedgerState => ledger_state(),
        Template::LedgerSkill => ledger_skill(),
        Template::Shipped => [
            json!({"milestone": "Version 2", "slug": "v2", "date": "2026-02-17",
                "phases": [{"number": "1", "name": "Dough | crust", "plans": 2, "deviations": 1}],
                "plans": {"total": 2, "complete": 2}, "deviations": {"count": 1, "kinds": "1 minor", "summaries": 2, "silent": 1},
                "requirements": ["REQ-01: bread"], "commits": {"count": 9, "first": "84e9493", "last": "0753326"}}),
            json!({"milestone": "Version 2", "slug": "v2", "date": "2026-02-17", "phases": [],
                "plans": {"total": 0, "complete": 0}, "deviations": {"count": null, "kinds": null, "summaries": 0, "silent": 0},
                "requirements": [], "commits": null}),
        ],
        Template::ShippedState => [
            json!({"project": "Bakery", "shipped": {"milestone": "Version 2", "slug": "v2", "date": "2026-02-17"},
                "skills": skills, "carried": {
                    "decisions": [{"text": "Rye | wheat", "date": "2026-01-02", "rationale": "Taste"},
                                  {"text": "No yeast", "date": null, "rationale": null}],
                    "todos": ["Buy salt"], "blockers": ["No oven"], "profile": ["- 12 Rust files"]}}),
            json!({"project": "Bakery", "shipped": {"milestone": "Version 2", "slug": "v2", "date": "2026-02-17"},
                "skills": [], "carried": {"decisions": [], "todos": [], "blockers": [], "profile": []}}),
        ],
    }
}

#[test]
fn every_template_renders_with_all_fields_and_with_none() {
    for template in Template::ALL.iter().copied() {
        for context in contexts(template) {
            let text = built_in(template, &context);
            let name = template.name();
            assert!(text.ends_with('\n'), "{name} ends its last line:\n{text}");
            assert!(!text.ends_with("\n\n"), "{name} ends in a blank line:\n{text}");
            assert!(!text.contains("\n\n\n"), "{name} leaves a gap:\n{text}");
            assert!(!text.starts_with('\n'), "{name} starts with a blank line:\n{text}");
            assert!(!text.contains("{%") && !text.contains(" (none)"), "{name}:\n{text}");
        }
    }
}

#[test]
fn the_context_file_has_the_structure_of_the_memory_protocol() {
    let [full, empty] = contexts(Template::ContextFile);
    assert_eq!(
        built_in(Template::ContextFile, &full),
        "# Bakery

**Core value:** Bread by seven

## Active Context

**Milestone:** v2
**Phase:** 5.1 - Ovens (in progress)
**Next action:** /vbw:execute 5.1
**Contested:** phase 6 has no plans
**Also open:** /vbw:verify 4
**Blocker:** No flour

## Key Decisions

- Use rye
- Never freeze

## Installed Skills

- rust (global)
- lint (project)

## Learned Patterns

- Small plans finish (plans 01, 03)

## VBW Commands

Run /vbw:help for all commands.
"
    );
    assert_eq!(
        built_in(Template::ContextFile, &empty),
        "**Core value:** not recorded

## Active Context

**Phase:** none
**Next action:** none
"
    );
}

#[test]
fn a_pattern_entry_is_the_block_of_the_memory_protocol() {
    let [full, empty] = contexts(Template::PatternsEntry);
    assert_eq!(
        built_in(Template::PatternsEntry, &full),
        "### Phase 2: Dough (2026-02-17)
<!-- annals: phase-dir=02-dough plans=01,02 digest=ab12 -->

**What worked:**
- Both plans done

**What failed:**
- Plan 02 deviated

**Timing:**
- Plans: 2, Average: 4m, Total: 8m
- Effort: balanced

**Deviations:** 3 (2 minor, 1 blocking; 1 of 2 plans do not say)
"
    );
    let text = built_in(Template::PatternsEntry, &empty);
    assert!(text.contains("digest=ab12 -->"), "{text}");
    assert_eq!(text.matches("- none recorded\n").count(), 2);
    assert!(text.contains("Average: unknown, Total: unknown"), "{text}");
    assert!(text.ends_with("**Deviations:** unknown\n"), "{text}");
}

#[test]
fn a_table_keeps_its_cells() {
    let [full, _] = contexts(Template::Shipped);
    let text = built_in(Template::Shipped, &full);
    assert!(text.contains("| 1 | Dough \\| crust | 2 | 1 |"), "{text}");
    let [full, _] = contexts(Template::ShippedState);
    let text = built_in(Template::ShippedState, &full);
    assert!(text.contains("| No yeast |  |  |"), "{text}");
}

#[test]
fn the_new_planning_configuration_is_json() {
    let text = built_in(Template::InitConfig, &json!({}));
    let value: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(value["effort"], "balanced");
}
