//! The rules of the context file and of the memory's life that their seed states, a test each.

use crate::support::Case;

const VBW: &str = "examples/vbw-project";

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap_or_default()).unwrap()
}

/// The context file of the example after a sync.
fn synced() -> (Case, String) {
    let case = Case::new(VBW);
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    (case, page)
}

/// The lines of a section.
fn section<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let after = page.split_once(&format!("## {heading}\n\n")).map_or("", |(_, after)| after);
    after.lines().take_while(|line| !line.is_empty() && !line.starts_with("<!--")).collect()
}

/// A project with nothing but what a phase needs.
fn bare() -> Case {
    let case = Case::empty();
    case.write(".vbw-planning/PROJECT.md", "# Kiosk\n\n**Core value:** Coins are never lost.\n")
        .write(
            ".vbw-planning/ROADMAP.md",
            "# Roadmap\n\n- [ ] Phase 1: Base\n- [ ] Phase 2: Shelf\n",
        )
        .write(".vbw-planning/phases/01-base/01-01-PLAN.md", "---\nphase: 1\nplan: 1\n---\n");
    case
}

fn finish(case: &Case) {
    case.write(
        ".vbw-planning/phases/01-base/01-01-SUMMARY.md",
        "---\nphase: 1\nplan: 1\nstatus: complete\ncompleted: 2026-02-01\n---\n\nDone.\n",
    );
}

#[test]
fn claude_md_lives_at_the_project_root() {
    let (case, _) = synced();
    assert!(case.read("CLAUDE.md").is_some() && case.read(".vbw-planning/CLAUDE.md").is_none());
}

#[test]
fn the_sections_follow_the_structure() {
    let (_, page) = synced();
    let parts = [
        "**Core value:** ",
        "## Active Context\n\n**Milestone:** ",
        "\n**Phase:** ",
        "\n**Next action:** ",
        "## Key Decisions",
        "## Learned Patterns",
        "## VBW Commands",
    ];
    let places: Vec<_> =
        parts.map(|part| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"))).into();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("annals:begin") && page.contains("\n# larderbook\n"), "{page}");
}

#[test]
fn the_core_value_is_the_one_line_of_project_md() {
    let case = bare();
    case.run("sync").success();
    assert!(text(&case, "CLAUDE.md").contains("**Core value:** Coins are never lost.\n"));
}

#[test]
fn a_milestone_without_a_name_is_default() {
    let case = bare();
    case.run("sync").success();
    assert!(
        text(&case, "CLAUDE.md").contains("**Milestone:** default\n"),
        "{}",
        text(&case, "CLAUDE.md")
    );
}

#[test]
fn the_phase_has_number_name_and_status() {
    let (_, page) = synced();
    assert!(
        page.contains("**Phase:** 4 - Low-Stock Alerts (in progress, 1 of 3 plans)\n"),
        "{page}"
    );
}

#[test]
fn the_next_action_is_a_command() {
    let (_, page) = synced();
    assert!(page.contains("**Next action:** /vbw:vibe --execute 4\n"), "{page}");
}

#[test]
fn key_decisions_are_five_to_ten_and_newest_first() {
    let case = bare();
    let rows: String =
        (1..=14).map(|n| format!("| Choice {n} holds | 2026-01-{n:02} | |\n")).collect();
    let state = format!(
        "# State\n\n## Key Decisions\n\n| Decision | Date | Rationale |\n|---|---|---|\n{rows}"
    );
    case.write(".vbw-planning/STATE.md", state);
    case.run("sync").success();
    let expected: Vec<String> = (5..=14).rev().map(|n| format!("- Choice {n} holds")).collect();
    assert_eq!(section(&text(&case, "CLAUDE.md"), "Key Decisions"), expected);
}

#[test]
fn installed_skills_come_from_state_md_with_their_scope() {
    let case = bare();
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Skills\n\n**Installed:**\n- testing (global)\n- own (project)\n",
    );
    case.run("sync").success();
    assert_eq!(
        section(&text(&case, "CLAUDE.md"), "Installed Skills"),
        ["- testing (global)", "- own (project)"]
    );
}

#[test]
fn learned_patterns_are_at_most_five_of_patterns_md() {
    let (_, page) = synced();
    let patterns = section(&page, "Learned Patterns");
    assert!(!patterns.is_empty() && patterns.len() <= 5, "{patterns:?}");
    assert!(patterns.iter().all(|line| line.starts_with("- ")), "{patterns:?}");
}

#[test]
fn the_commands_are_those_of_vbw() {
    let (_, page) = synced();
    let commands = section(&page, "VBW Commands");
    assert_eq!(commands[0], "This project uses VBW (Vibe Better with Claude Code).");
    assert!(commands[1..].iter().all(|line| line.starts_with("Run /vbw:")), "{commands:?}");
}

#[test]
fn the_file_has_at_most_200_lines() {
    let case = Case::new(VBW);
    case.write("CLAUDE.md", "Own rule.\n".repeat(160));
    case.run("sync").success();
    assert!(text(&case, "CLAUDE.md").lines().count() <= 200);
}

#[test]
fn core_value_and_active_context_are_mandatory_and_empty_sections_are_left_out() {
    let case = bare();
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("**Core value:**") && page.contains("## Active Context"), "{page}");
    for section in ["Key Decisions", "Installed Skills", "Learned Patterns"] {
        assert!(!page.contains(section), "{page}");
    }
}

#[test]
fn the_block_is_regenerated_and_never_appended_to() {
    let (case, page) = synced();
    case.write(".vbw-planning/PROJECT.md", "# larderbook\n\n**Core value:** Something else.\n");
    case.run("sync").success();
    let after = text(&case, "CLAUDE.md");
    assert_eq!(after.matches("**Core value:**").count(), 1, "{after}");
    assert_ne!(after, page);
}

#[test]
fn without_a_planning_folder_no_claude_md_is_generated() {
    let case = Case::empty();
    case.run("sync").code(3);
    assert_eq!(case.read("CLAUDE.md"), None);
}

#[test]
fn init_creates_claude_md_for_the_first_time() {
    let case = Case::empty();
    case.run("init --name Shop --layout vbw").success();
    assert!(text(&case, "CLAUDE.md").contains("# Shop\n"));
}

#[test]
fn plan_updates_claude_md_with_the_new_phase_context() {
    let case = bare();
    case.run("plan 1").success();
    assert!(text(&case, "CLAUDE.md").contains("**Phase:** 1 - Base ("));
}

#[test]
fn execute_updates_claude_md_after_the_phase() {
    let case = bare();
    finish(&case);
    case.run("execute 1").success();
    assert!(
        text(&case, ".vbw-planning/patterns/PATTERNS.md")
            .contains("### Phase 1: Base (2026-02-01)\n")
    );
    assert!(text(&case, "CLAUDE.md").contains("## Active Context"));
}

#[test]
fn ship_keeps_patterns_deletes_the_note_and_regenerates_claude_md() {
    let (case, _) = synced();
    case.run("pause later").success();
    let patterns = text(&case, ".vbw-planning/patterns/PATTERNS.md");
    case.run("ship --force").success();
    assert!(text(&case, ".vbw-planning/patterns/PATTERNS.md").starts_with(&patterns));
    assert!(!case.tree().keys().any(|path| path.ends_with("RESUME.md")));
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("**Milestone:** none (shipped: Shared Pantry, "), "{page}");
}

#[test]
fn a_milestone_that_is_archived_is_not_archived_again() {
    let (case, _) = synced();
    case.run("ship --force").success();
    let before = case.tree();
    let again = case.run("ship").success();
    assert!(again.stdout().starts_with("No milestone to archive."), "{}", again.report());
    assert_eq!(case.tree(), before);
}

#[test]
fn state_md_has_the_lifetime_of_its_milestone_and_claude_md_that_of_the_project() {
    let (case, _) = synced();
    case.run("ship --force").success();
    assert!(case.read(".vbw-planning/milestones/shared-pantry/STATE.md").is_some());
    assert!(case.read("CLAUDE.md").is_some());
}

#[test]
fn stale_patterns_stay_and_the_check_does_not_block() {
    let case = Case::new(VBW);
    let path = ".vbw-planning/patterns/PATTERNS.md";
    let patterns = text(&case, path);
    case.run("plan 4").success();
    case.run("patterns check").success();
    assert_eq!(text(&case, path), patterns);
}
