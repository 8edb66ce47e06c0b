//! What a repository plants where annals reads tells nothing of what lies outside.

use crate::attack::{Form, HOOKS, Hostile, Planting, READS, SECRET, WRITES, Way, tool_calls};
use crate::support::on_two_threads;

/// Every place of a project that some reader opens or lists.
const PLACES: &[&str] = &[
    ".vbw-planning",
    ".planning",
    ".yolo-planning",
    ".vbw-planning/STATE.md",
    ".vbw-planning/ROADMAP.md",
    ".vbw-planning/PROJECT.md",
    ".vbw-planning/REQUIREMENTS.md",
    ".vbw-planning/RESUME.md",
    ".vbw-planning/SHIPPED.md",
    ".vbw-planning/ACTIVE",
    ".vbw-planning/config.json",
    ".vbw-planning/patterns",
    ".vbw-planning/patterns/PATTERNS.md",
    ".vbw-planning/phases",
    ".vbw-planning/phases/04-low-stock-alerts",
    ".vbw-planning/phases/04-low-stock-alerts/04-01-PLAN.md",
    ".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md",
    ".vbw-planning/phases/04-low-stock-alerts/04-CONTEXT.md",
    ".vbw-planning/milestones",
    ".vbw-planning/milestones/v0/phases",
    ".vbw-planning/milestones/v0/STATE.md",
    ".vbw-planning/codebase",
    ".vbw-planning/codebase/CONVENTIONS.md",
    ".vibekit",
    ".vibekit/notepad.md",
    ".vibekit/memory",
    ".vibekit/memory/first.md",
    ".vibekit/memory/linked.md",
    ".vibekit/memory/INDEX.md",
    ".vibekit/memory/log.md",
    "docs",
    "docs/memory",
    "docs/memory/STATE.md",
    "docs/memory/CONSTRAINTS.md",
    "docs/memory/DECISIONS.md",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "annals.toml",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "README.md",
    ".github/workflows",
    ".claude",
    ".claude/settings.json",
    ".claude/skills",
    ".claude/skills/linked",
    ".claude/skills/linked/SKILL.md",
    ".agents/skills",
    ".mcp.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    "opencode.json",
    ".gitattributes",
    ".gitignore",
    ".annals",
    ".annals/hook.log",
    ".annals/index.db",
    ".serena/memories/stock.md",
];

#[test]
fn links_that_lead_outside_are_read_by_nobody() {
    let ways: Vec<Way> = [READS, WRITES, HOOKS].into_iter().flat_map(Way::all).collect();
    on_two_threads(&Planting::all(PLACES, &[Form::File]), |planting| {
        let hostile = Hostile::new();
        planting.plant(&hostile);
        for way in planting.turn(&ways).chain([&tool_calls()]) {
            let report = hostile.run(way).output().report();
            let leaks = hostile.leaks();
            assert!(
                leaks.is_empty() && !report.contains(SECRET),
                "{planting:?}: {leaks:?}\n{report}"
            );
        }
    });
}

#[test]
fn a_linked_file_counts_as_missing_and_is_named() {
    let hostile = Hostile::new();
    hostile.link(".vbw-planning/ROADMAP.md", Form::Relative);
    let told = hostile.case.run("status").output().report();
    assert!(told.contains(".vbw-planning/ROADMAP.md: leads outside the project"), "{told}");
    let allowed = hostile.case.root().parent().unwrap().join("outside");
    hostile.link(".vibekit/notepad.md", Form::File);
    let run = hostile.case.run("notepad read");
    assert!(!run.output().report().contains(SECRET));
    let allowed = std::fs::canonicalize(allowed).unwrap();
    let run = hostile.case.run("notepad read");
    let told = run.env("ANNALS_LINKED_ROOTS", allowed).output().report();
    assert!(told.contains(SECRET), "{told}");
}
