use super::*;
use crate::plan::{Decision, Skill};

fn decision(text: &str, rationale: Option<&str>) -> Decision {
    Decision {
        text: text.to_owned(),
        rationale: rationale.map(str::to_owned),
        ..Decision::default()
    }
}

/// Returns the remaining text of a file, and the warnings.
fn kept(text: &str) -> (String, Vec<String>) {
    let decisions = [decision("Use SQLite", Some("One file")), decision("Ship weekly", None)];
    let skills = [Skill { name: "testing".to_owned(), scope: Some("global".to_owned()) }];
    let known = RecordedContent {
        project: "shop",
        core_value: Some("Sell things"),
        layout: LayoutName::Vbw,
        ..RecordedContent::default()
    }
    .with_lists(decisions.iter(), &skills, &["Tests first find more".to_owned()])
    .with_shipped(&["# Shipped: The Till\n\n**Date:** 2026-02-24\n**Phases:** 4\n".to_owned()]);
    let generated = generated(text, 0, Path::new("CLAUDE.md"), &known);
    let left = without(text.as_bytes(), 0, &generated.ranges).into_owned();
    let warnings = generated.warnings.iter().map(Warning::to_string).collect();
    (String::from_utf8(left).unwrap(), warnings)
}

#[track_caller]
fn replaced(section: &str) {
    let text = format!("# Own\n\ntext\n\n{section}\n## After\n\nmore\n");
    let (left, warnings) = kept(&text);
    assert_eq!(left, "# Own\n\ntext\n\n## After\n\nmore\n");
    assert_eq!(warnings, [""; 0]);
}

#[track_caller]
fn stays(section: &str) {
    let text = format!("# Own\n\ntext\n\n{section}\n## After\n\nmore\n");
    assert_eq!(kept(&text), (text, Vec::new()));
}

/// Asserts that the section is kept, and that `what` is given as the reason.
#[track_caller]
fn holds(section: &str, what: &str) {
    let text = format!("# Own\n\ntext\n\n{section}\n## After\n\nmore\n");
    let (left, warnings) = kept(&text);
    assert_eq!(left, text);
    let [warning] = &warnings[..] else {
        panic!("one warning: {warnings:?}");
    };
    assert!(warning.contains(&format!("it contains {what};")), "{warning}");
}

#[test]
fn a_position_is_replaced() {
    replaced(
        "## Active Context\n\n**Work:** No active milestone\n**Last shipped:** _(none yet)_\n\
         **Next action:** Run /vbw:vibe to start a new milestone, or /vbw:status to review progress\n",
    );
    replaced(
        "## Active Context\n\n**Milestone:** default\n**Phase:** 5.1 - Cart (in progress)\n**Next action:** /vbw:execute 5.1\n",
    );
    replaced(
        "## State\n- Planning directory: `.vbw-planning/`\n- Milestone: shop (4 phases)\n- Current Phase: Phase 1\n- Status: Pending planning\n",
    );
}

#[test]
fn a_last_shipped_line_is_recorded_nowhere_else_and_stays() {
    let text = "## Active Context\n\n**Work:** No active milestone\n**Last shipped:** 0.6.0 (2026-07-13), the cart\n\
                **Next action:** Run /vbw:vibe to start a new milestone\n";
    let (left, warnings) = kept(text);
    assert_eq!(left, text);
    assert_eq!(
        warnings,
        [
            "CLAUDE.md:1: \"## Active Context\" is kept next to the block because it contains a `Last shipped` line that is recorded nowhere else; \
          move that line elsewhere and delete the section"
        ]
    );
}

#[test]
fn a_last_shipped_line_that_the_archive_records_is_replaced() {
    let section = |shipped: &str| {
        format!("## Active Context\n\n**Work:** No active milestone\n**Last shipped:** {shipped}\n")
    };
    replaced(&section("The Till (2026-02-24) \u{2014} 4 phases"));
    holds(
        &section("The Till (2026-02-24) \u{2014} 4 phases, 31 plans"),
        "a `Last shipped` line that is recorded nowhere else",
    );
}

#[test]
fn a_position_in_the_users_own_words_stays() {
    stays("## Active Context\n\nWe are moving the shop to Postgres.\n");
    stays("## Active Context\n\n**Milestone:** default\n\nAsk Ada before touching billing.\n");
    stays("## Active Context\n");
    stays("### Active Context\n\n**Milestone:** default\n");
    stays("## Active context\n\n**Milestone:** default\n");
    stays("## Active Context\n\n**Milestone:** default\n\n### Detail\n\nown\n");
    stays(
        "## State\n- Planning directory: `.vbw-planning/`\n- Codebase map: `.vbw-planning/codebase/`\n",
    );
    stays("## State\n\nWe keep state in Redux.\n");
    stays("> ## Active Context\n>\n> **Milestone:** default\n");
    assert_eq!(kept("## Active Context\n\n**Work:** Rewriting the cart\n").1.len(), 1);
}

#[test]
fn a_heading_in_a_code_fence_is_not_a_heading() {
    stays("```markdown\n## Active Context\n\n**Milestone:** default\n```\n");
    stays(
        "~~~\n## Commands\n\nRun /vbw:status for current progress.\nRun /vbw:help for all commands.\n~~~\n",
    );
}

#[test]
fn recorded_decisions_are_replaced_and_others_stay() {
    let table =
        "## Key Decisions\n\n| Decision | Date | Rationale |\n|----------|------|-----------|\n";
    replaced(table);
    replaced(&format!("{table}| _(No decisions yet)_ | | |\n"));
    replaced(&format!(
        "{table}| Use SQLite | 2026-02-17 | One file |\n| Ship weekly | 2026-02-18 | |\n"
    ));
    replaced("## Key Decisions\n\n- Ship weekly\n- Use  SQLite\n");
    holds(
        &format!("{table}| Use SQLite | 2026-02-17 | One file |\n| Own | 2026-02-18 | |\n"),
        "a decision that is not recorded: Own",
    );
    holds(
        &format!("{table}| Use SQLite | 2026-02-17 | Another reason |\n"),
        "a decision that is not recorded: Use SQLite",
    );
    stays(&format!(
        "{table}| Use SQLite | 2026-02-17 | One file |\n\nAsk before changing these.\n"
    ));
    holds(
        "## Key Decisions\n\n- Use SQLite\n- We deploy by hand\n",
        "a decision that is not recorded: We deploy by hand",
    );
    stays("## Key Decisions\n\nUse SQLite\n");
    stays("## Key Decisions\n\n| What | Why |\n|---|---|\n");
}

#[test]
fn recorded_skills_are_replaced_and_others_stay() {
    replaced("## Installed Skills\n- testing (global)\n");
    replaced("## Installed Skills\n\n_(Run /vbw:skills to list)_\n");
    holds(
        "## Installed Skills\n- testing (global)\n- own-skill (project)\n",
        "a skill that is not recorded: own-skill (project)",
    );
    stays("## Installed Skills\n\n13 global skills installed (run /vbw:skills to list).\n");
}

#[test]
fn recorded_patterns_are_replaced_and_others_stay() {
    replaced("## Learned Patterns\n\n- Tests first find more\n");
    replaced("## Learned Patterns\n\n- Tests first find more (phase 3, plan 01)\n");
    holds(
        "## Learned Patterns\n\n- Tests first find more\n- Ask Ada\n",
        "a pattern that is not recorded: Ask Ada",
    );
    stays("## Learned Patterns\n\nWe learned to test first.\n");
}

#[test]
fn the_generators_commands_are_replaced_and_a_users_stay() {
    let lines =
        "Run /vbw:status for current progress.\nRun /vbw:help for all available commands.\n";
    replaced(&format!("## Commands\n\n{lines}"));
    replaced(&format!("## VBW Commands\n{lines}"));
    replaced(
        "## VBW Commands\n\nThis project uses VBW (Vibe Better with Claude Code).\n\
         Run /vbw:status for current progress.\nRun /vbw:help for all commands.\n",
    );
    stays("## Commands\n\n- `make test` runs the tests\n");
    stays(&format!("## Commands\n\n{lines}Run `make test` first.\n"));
    stays(
        "## Commands\n\nRun /yolo:status for current progress.\nRun /yolo:help for all available commands.\n",
    );
    stays("## Commands\n");
}

#[test]
fn rules_and_sections_of_other_tools_stay() {
    for section in [
        "## VBW Rules\n\n- **Always use VBW commands** for project work.\n",
        "## Project Conventions\n\n_(To be defined during project setup)_\n",
        "## Plugin Isolation\n\n- GSD agents MUST NOT read any files in `.vbw-planning/`\n",
        "<!-- GSD:project-start source:PROJECT.md -->\n## Project\n\nown\n<!-- GSD:project-end -->\n",
        "<!-- x:start -->\n## Active Context\n\n**Milestone:** default\n<!-- x:end -->\n",
    ] {
        stays(section);
    }
}

#[test]
fn the_generators_head_is_removed_if_the_block_repeats_it() {
    assert_eq!(kept("# Shop\n\n**Core value:** Sell things\n\n## Own\n").0, "## Own\n");
    for text in [
        "# Shop\n\n**Core value:** Sell other things\n\n## Own\n",
        "# Shop\n\n**Core value:** Sell things\n\nOwn text.\n",
        "# Other\n\n**Core value:** Sell things\n\n## Own\n",
        "Own text.\n\n# Shop\n\n**Core value:** Sell things\n\n## Own\n",
        "# Shop\n\n## Own\n",
    ] {
        assert_eq!(kept(text).0, text);
    }
}

#[test]
fn the_end_of_the_file_stays_as_it_was() {
    let section =
        "## Commands\n\nRun /vbw:status for current progress.\nRun /vbw:help for all commands.";
    for (text, left) in [
        (format!("own  \n\n{section}\n"), "own  \n"),
        (format!("own  \n\n{section}"), "own  "),
        (format!("{section}\n"), ""),
        (format!("own\r\n\r\n{}\r\n", section.replace('\n', "\r\n")), "own\r\n"),
        (format!("own\n\n{section}\n\n---\n\nmore\n"), "own\n\n---\n\nmore\n"),
    ] {
        assert_eq!(kept(&text).0, left, "{text:?}");
    }
}

#[test]
fn a_different_core_value_is_kept_with_a_warning() {
    let (left, warnings) = kept("# Shop\n\n**Core value:** Sell other things\n\n## Own\n");
    assert!(left.contains("Sell other things"), "{left}");
    assert_eq!(
        warnings,
        [
            "CLAUDE.md:3: the core value \"Sell other things\" is kept next to a different one in the block; \
          delete the one that no longer applies"
        ]
    );
}

#[test]
fn a_section_without_recorded_lines_is_kept_with_a_warning() {
    for (section, what) in [
        ("## Key Decisions\n\n- We deploy by hand\n", "decision"),
        ("## Learned Patterns\n\n- 3-task plans are faster\n", "pattern"),
    ] {
        // Without other signs of the generator in the file, the section was written by the user.
        assert_eq!(kept(section), (section.to_owned(), Vec::new()));
        let (left, warnings) =
            kept(&format!("## Active Context\n\n**Milestone:** default\n\n{section}"));
        assert!(left.ends_with(section), "{left}");
        let heading = section.lines().next().unwrap();
        let expected = format!(
            "CLAUDE.md:5: \"{heading}\" is kept next to the block because none of its {what}s is recorded"
        );
        assert_eq!(warnings, [expected]);
    }
}
