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
fn key_decisions_are_omitted_only_if_there_are_none() {
    let case = bare();
    let long = format!("Coins are counted twice{}", ", since the scale drifts".repeat(15));
    case.write(".vbw-planning/STATE.md", format!("# State\n\n## Decisions\n\n- {long}\n"));
    case.run("sync").success();
    assert_eq!(section(&text(&case, "CLAUDE.md"), "Key Decisions"), [format!("- {long}")]);
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
    let page = text(&case, "CLAUDE.md");
    let context = "## Active Context\n\n**Milestone:** default\n**Phase:** none\n**Next action:** /vbw:plan 1\n";
    assert!(page.contains("# Shop\n") && page.contains(context), "{page}");
    let commands = section(&page, "VBW Commands");
    assert_eq!(commands.len(), 3, "{page}");
    // The workflow stays known until there is a phase.
    case.run("sync --check").success();
    assert_eq!(case.run("status --json").success().json()["next"]["command"], "/vbw:plan 1");
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

#[test]
fn the_title_is_the_name_of_the_project() {
    let case = bare();
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert_eq!(page.lines().nth(1), Some("# Kiosk"), "{page}");
}

#[test]
fn an_older_decision_with_more_impact_keeps_its_place() {
    let case = bare();
    let mut rows = String::from("| The API must never drop a coin | 2026-01-01 | Trust |\n");
    for n in 2..=14 {
        rows += &format!("| Choice {n} holds | 2026-01-{n:02} | |\n");
    }
    let head = "# State\n\n## Key Decisions\n\n| Decision | Date | Rationale |\n|---|---|---|\n";
    case.write(".vbw-planning/STATE.md", format!("{head}{rows}"));
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    let decisions = section(&page, "Key Decisions");
    assert_eq!(decisions.len(), 10);
    assert!(decisions[9].starts_with("- The API must never drop a coin"), "{decisions:?}");
}

#[test]
fn learned_patterns_are_those_relevant_to_the_current_work() {
    let case = bare();
    case.write(
        ".vbw-planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] Phase 1: Base\n\n## Phase 1: Base\n\n**Goal:** Coins are sorted by weight\n",
    );
    let others: String =
        (1..=6).map(|n| format!("- Lesson {n} is about something else\n")).collect();
    let entry = format!(
        "# Patterns\n\n### Phase 0: Start (2026-01-01)\n\n**What failed:**\n{others}- Sorted coins need a scale\n"
    );
    case.write(".vbw-planning/patterns/PATTERNS.md", entry);
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    let patterns = section(&page, "Learned Patterns");
    assert!((3..=5).contains(&patterns.len()), "{patterns:?}");
    assert_eq!(patterns[0], "- Sorted coins need a scale (phase 0)");
}

#[test]
fn execute_brings_new_patterns_into_claude_md() {
    let case = bare();
    finish(&case);
    let lessons = r#"{"failed":[{"text":"The coin slot needs a lock of its own","plans":["01"]}]}"#;
    case.shell(&format!("printf '%s' '{lessons}' > lessons.json")).success();
    case.run("execute 1 --lessons lessons.json").success();
    let page = text(&case, "CLAUDE.md");
    let patterns = section(&page, "Learned Patterns");
    assert_eq!(patterns, ["- The coin slot needs a lock of its own (phase 1, plan 01)"]);
}

/// A project with two milestones in folders of their own, the first of which is finished.
fn two_milestones() -> Case {
    let case = bare();
    case.write(".vbw-planning/ACTIVE", "alpha\n");
    for slug in ["alpha", "beta"] {
        let home = format!(".vbw-planning/{slug}");
        case.write(&format!("{home}/ROADMAP.md"), "# Roadmap\n\n- [ ] Phase 1: Base\n")
            .write(&format!("{home}/STATE.md"), "# State\n\n**Current Phase:** Phase 1\n")
            .write(
                &format!("{home}/phases/01-base/01-01-PLAN.md"),
                "---\nphase: 1\nplan: 1\n---\n",
            );
    }
    let done = "---\nphase: 1\nplan: 1\nstatus: complete\ncompleted: 2026-02-01\n---\n\nDone.\n";
    case.write(".vbw-planning/alpha/phases/01-base/01-01-SUMMARY.md", done);
    case.shell("rm -r .vbw-planning/phases .vbw-planning/ROADMAP.md").success();
    case
}

#[test]
fn ship_deletes_the_note_of_a_milestone_with_a_folder_of_its_own() {
    let case = two_milestones();
    case.write(".vbw-planning/alpha/RESUME.md", "# Resume\n\nGo on.\n");
    case.run("ship").success();
    let left: Vec<String> =
        case.tree().keys().filter(|path| path.ends_with("RESUME.md")).cloned().collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn after_ship_claude_md_shows_the_next_milestone() {
    let case = two_milestones();
    case.run("ship").success();
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("**Milestone:** beta\n**Phase:** 1 - Base"), "{page}");
}

#[test]
fn state_md_is_for_humans_and_no_update_of_claude_md_changes_it() {
    let case = Case::new(VBW);
    let path = ".vbw-planning/STATE.md";
    let before = text(&case, path);
    for command in ["sync", "plan 4", "execute 3"] {
        case.run(command).success();
        assert_eq!(text(&case, path), before, "{command}");
    }
}

#[test]
fn state_md_may_be_of_any_size() {
    let case = bare();
    let log: String = (0..5_000).map(|n| format!("- 2026-01-01: Step {n}\n")).collect();
    let state = "# State\n\n## Key Decisions\n\n- Coins are counted twice\n\n## Activity Log\n\n";
    case.write(".vbw-planning/STATE.md", format!("{state}{log}"));
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert_eq!(section(&page, "Key Decisions"), ["- Coins are counted twice"]);
    assert!(page.lines().count() <= 200 && !page.contains("Step 1"), "{page}");
}

#[test]
fn claude_md_names_open_blockers_and_none_of_finished_phases() {
    let case = bare();
    finish(&case);
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Blockers\n\n- [Phase 1]: no coin box yet\n- [Phase 2]: the shelf is too short\n- Resolved: no power\n",
    );
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("\n**Blocker:** [Phase 2]: the shelf is too short\n"), "{page}");
    assert_eq!(page.matches("**Blocker:**").count(), 1, "{page}");
}

#[test]
fn a_block_whose_end_another_generator_cut_off_is_found_again() {
    let case = bare();
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Key Decisions\n\n- Coins are counted twice\n",
    );
    case.write("CLAUDE.md", "## Rules\n\nUse tabs.\n");
    case.run("sync").success();
    let whole = text(&case, "CLAUDE.md");
    let (start, rest) = whole.split_once("## VBW Commands").unwrap();
    let (_, rules) = rest.split_once("<!-- annals:end -->\n").unwrap();
    case.write("CLAUDE.md", format!("{start}{rules}"));
    case.run("sync").success();
    // The blank lines on both sides of what was cut off stay.
    assert_eq!(text(&case, "CLAUDE.md"), whole.replace("\n\n## Rules", "\n\n\n## Rules"));
}

#[test]
fn a_block_without_its_end_leaves_no_old_copy_without_a_word() {
    let (case, page) = synced();
    let (block, below) = page.split_once("<!-- annals:end -->").unwrap();
    let open = block.replacen("\n## ", "\nUse tabs.\n\n## ", 1);
    case.write("CLAUDE.md", format!("{open}\n## Mine\n\nAsk Noor.\n{below}"));
    let told = case.run("sync").success().stderr();
    assert!(told.contains("1 line added to the block by hand, kept below it"), "{told}");
    let end = "<!-- annals:end -->";
    let expected = format!("{block}{end}\n\nUse tabs.\n\n## Mine\n\nAsk Noor.\n{below}");
    assert_eq!(text(&case, "CLAUDE.md"), expected);
    // Of a block that was cut as well, nobody knows which lines are old.
    let (first, rest) = open.split_once("**Next action:**").unwrap();
    let cut = format!("{first}{}", rest.split_once('\n').unwrap().1);
    case.write("CLAUDE.md", cut);
    let told = case.run("sync").success().stderr();
    assert!(told.contains("kept below it from the line \"Use tabs.\" on may be old"), "{told}");
    assert!(text(&case, "CLAUDE.md").split_once(end).unwrap().1.starts_with("\n\nUse tabs."));
    // Below a heading of the user's, a line of the block is theirs.
    let last = block.trim_end().lines().last().unwrap();
    let theirs = format!("\n## Mine\n\nAsk Noor.\n{last}\n");
    let cut = block.trim_end().strip_suffix(last).unwrap();
    case.write("CLAUDE.md", format!("{cut}{theirs}"));
    case.run("sync").success();
    assert!(text(&case, "CLAUDE.md").ends_with(&theirs));
}

#[test]
fn the_file_reflects_the_current_state_and_not_history() {
    let case = bare();
    case.run("sync").success();
    assert!(text(&case, "CLAUDE.md").contains("**Phase:** 1 - Base ("));
    finish(&case);
    case.write(".vbw-planning/phases/02-shelf/02-01-PLAN.md", "---\nphase: 2\nplan: 1\n---\n");
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("**Phase:** 2 - Shelf (") && !page.contains("1 - Base"), "{page}");
}

#[test]
fn a_file_of_an_earlier_generator_is_replaced_and_what_is_left_of_it_is_named() {
    let case = bare();
    let old = "# Kiosk\n\n**Core value:** Coins are never lost.\n\n## Active Context\n\n**Milestone:** default\n\
               **Phase:** 1 - Base (planned)\n**Next action:** /vbw:plan 1\n\n## Key Decisions\n\n- Coins are copper\n";
    case.write("CLAUDE.md", old);
    let told = case.run("sync").success().stderr();
    assert!(told.contains("\"## Active Context\": written by VBW, replaced"), "{told}");
    assert!(told.contains("\"## Key Decisions\": left as your own"), "{told}");
    let page = text(&case, "CLAUDE.md");
    assert_eq!(page.matches("## Active Context").count(), 1, "{page}");
    assert!(page.ends_with("- Coins are copper\n"), "{page}");
    assert_eq!(case.run("sync").success().stderr(), "");
}

#[test]
fn metrics_and_todos_stay_in_state_md() {
    let case = bare();
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Todos\n\n- Polish the coin slot\n\n## Metrics\n\n- Velocity: 12 min per plan\n",
    );
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    assert!(!page.contains("Polish") && !page.contains("Velocity"), "{page}");
}

#[test]
fn nobody_maintains_the_block_and_what_a_person_adds_to_it_is_kept_below() {
    let (case, page) = synced();
    case.write("CLAUDE.md", page.replace("## Key Decisions", "Use tabs.\n\n## Key Decisions"));
    case.run("sync").success();
    let after = text(&case, "CLAUDE.md");
    let (block, below) = after.split_once("<!-- annals:end -->").unwrap();
    assert!(!block.contains("Use tabs.") && below.contains("Use tabs."), "{after}");
    case.run("sync --check").success();
}

#[test]
fn installed_skills_stand_between_decisions_and_commands() {
    let case = bare();
    case.write(
        ".vbw-planning/STATE.md",
        "# State\n\n## Key Decisions\n\n- Coins are counted twice\n\n## Skills\n\n**Installed:** testing (global)\n",
    );
    case.run("sync").success();
    let page = text(&case, "CLAUDE.md");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    let all = ["## Active Context", "## Key Decisions", "## Installed Skills", "## VBW Commands"];
    assert_eq!(headings, all);
}

#[test]
fn execute_brings_new_decisions_and_the_next_phase_into_claude_md() {
    let case = bare();
    case.run("sync").success();
    finish(&case);
    let state = "# State\n\n## Key Decisions\n\n- Coins are counted twice\n";
    case.write(".vbw-planning/STATE.md", state);
    case.run("execute 1").success();
    let page = text(&case, "CLAUDE.md");
    assert_eq!(section(&page, "Key Decisions"), ["- Coins are counted twice"]);
    assert!(page.contains("**Phase:** 2 - Shelf ("), "{page}");
}

#[test]
fn after_ship_no_work_is_active() {
    let (case, _) = synced();
    case.run("ship --force").success();
    let page = text(&case, "CLAUDE.md");
    assert!(page.contains("**Phase:** none\n"), "{page}");
}

#[test]
fn state_md_is_updated_after_every_plan_completion() {
    let case = bare();
    case.write("annals.toml", "fix_state = true\n")
        .write(".vbw-planning/STATE.md", "# State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\nPlan: 0 of 1 in current phase\nStatus: In progress\n");
    finish(&case);
    let summary = case.root().join(".vbw-planning/phases/01-base/01-01-SUMMARY.md");
    let input = serde_json::json!({"hook_event_name": "PostToolUse", "tool_name": "Write",
        "cwd": case.root(), "tool_input": {"file_path": summary}});
    let hook = case.run("hook post-tool-use --harness claude");
    let told = hook.stdin(input.to_string()).success().stdout();
    assert!(told.contains("annals corrected"), "{told}");
    let state = text(&case, ".vbw-planning/STATE.md");
    assert!(state.contains("Phase: 2 of 2 (Shelf)\n"), "{state}");
}

#[test]
fn a_session_that_reads_claude_md_is_not_told_the_same_again() {
    let (case, page) = synced();
    let input = serde_json::json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": case.root()});
    let hook = case.run("hook session-start --harness claude");
    let told = hook.stdin(input.to_string()).success().stdout();
    for line in section(&page, "Active Context") {
        assert!(!told.contains(&line.replace("**", "")), "{line}: {told}");
    }
    for line in section(&page, "Key Decisions") {
        assert!(!told.contains(line.trim_start_matches("- ")), "{line}: {told}");
    }
}
