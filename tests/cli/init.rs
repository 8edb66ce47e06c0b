//! `annals init`.

use crate::support::{Case, difference, require};

const CREATED: &str = "PROJECT.md, REQUIREMENTS.md, ROADMAP.md, STATE.md, config.json, phases";

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

#[test]
fn a_new_project_gets_a_planning_folder_and_a_context_file_and_a_second_run_changes_nothing() {
    let case = Case::empty();
    case.write(
        "Cargo.toml",
        "[package]\nname = \"pantry\"\ndescription = \"Knows what is in stock\"\n",
    );
    let first = case.run("init --core-value").args(["Nobody buys twice"]).success();
    assert_eq!(
        first.stdout(),
        format!(
            "Created in .vbw-planning: {CREATED}.\nCLAUDE.md created (10 lines).\nNext: plan phase 1\n"
        )
    );
    assert_eq!(first.stderr(), "");
    let project = text(&case, ".vbw-planning/PROJECT.md");
    assert!(
        project.starts_with(
            "# pantry\n\nKnows what is in stock\n\n**Core value:** Nobody buys twice\n"
        )
    );
    assert!(
        text(&case, ".vbw-planning/STATE.md")
            .contains("- 2026-03-01: Created the planning folder\n")
    );
    let context = text(&case, "CLAUDE.md");
    assert!(context.contains("# pantry\n\n**Core value:** Nobody buys twice\n"), "{context}");
    assert!(context.contains("**Next action:** plan phase 1\n"), "{context}");

    let before = case.tree();
    let second = case.run("init").success();
    assert_eq!(difference(&before, &case.tree()), [""; 0]);
    assert_eq!(
        second.stdout(),
        ".vbw-planning is complete already; nothing created.\nCLAUDE.md unchanged (10 lines).\nNext: plan phase 1\n"
    );
    let status = case.run("status --json").success().json();
    assert_eq!(status["next"]["command"], "plan phase 1");
    assert_eq!(status["next"]["conflict"], false);
    assert_eq!(status["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn skills_and_existing_code_are_recorded_in_a_new_state() {
    let case = Case::empty();
    std::fs::create_dir_all(case.home().join(".claude/skills/testing")).unwrap();
    std::fs::write(
        case.home().join(".claude/skills/testing/SKILL.md"),
        "---\nname: testing\n---\n",
    )
    .unwrap();
    case.write(".claude/skills/own/SKILL.md", "# Own\n")
        .write("src/main.py", "")
        .write("tests/test_main.py", "")
        .write("built/out.py", "")
        .write(".gitignore", "built/\n")
        .write("Dockerfile", "");
    let report = case.run("init --json").success().json();
    assert_eq!(report["skills"][0]["name"], "testing");
    let state = text(&case, ".vbw-planning/STATE.md");
    let recorded = "## Skills\n\n**Installed:**\n- testing (global)\n- own (project)\n\n\
        ## Codebase Profile\n\n- Languages: Python\n";
    assert!(state.contains(recorded), "{state}");
    let context = text(&case, "CLAUDE.md");
    assert!(context.contains("- testing (global)\n- own (project)\n"), "{context}");
}

#[test]
fn where_no_workflow_works_the_context_file_speaks_of_the_code_and_of_no_foreign_command() {
    let case = Case::empty();
    case.write("src/main.rs", "fn main() {}\n")
        .write("Cargo.toml", "[package]\nname = \"pantry\"\n");
    case.run("init").success();
    let bare = text(&case, "CLAUDE.md");
    let expected = "# pantry\n\n## Code\n\n- Languages: Rust\n- Build: `cargo build`\n\
        - Test: `cargo test`\n- Code in: `src/`\n\n## Active Context\n\n\
        **Phase:** none\n**Next action:** plan phase 1\n<!--";
    assert!(bare.contains(expected), "{bare}");
    assert!(case.run("sync --check").success().stdout().contains("unchanged"));
    // A phase in the folder shows that a workflow is at work.
    case.write(".vbw-planning/phases/01-shelves/01-01-PLAN.md", "# Shelves\n");
    case.run("sync").success();
    let used = text(&case, "CLAUDE.md");
    assert!(
        used.contains("**Next action:** /vbw:execute 1\n") && used.contains("/vbw:help"),
        "{used}"
    );
    assert!(!used.contains("## Code"), "{used}");
}

#[test]
fn what_exists_is_kept_byte_for_byte_and_only_what_is_missing_is_created() {
    let case = Case::empty();
    case.write(".vbw-planning/PROJECT.md", b"# Mine\r\n\xff\r\n")
        .write(".vbw-planning/ACTIVE", "two\n")
        .write(".vbw-planning/two/phases/01-a/01-01-PLAN.md", "# A\n")
        .write("CLAUDE.md", "# Mine\n\nUse tabs.\n");
    let before = case.tree();
    let outcome = case.run("init --name Other").success();
    assert!(
        outcome.stderr().contains("PROJECT.md: already exists and is left as it is"),
        "{}",
        outcome.stderr()
    );
    let changed = difference(&before, &case.tree());
    assert_eq!(
        changed,
        [
            "added .vbw-planning/REQUIREMENTS.md",
            "added .vbw-planning/config.json",
            "added .vbw-planning/two/ROADMAP.md",
            "added .vbw-planning/two/STATE.md",
            "changed CLAUDE.md",
        ]
    );
    assert!(text(&case, "CLAUDE.md").ends_with("# Mine\n\nUse tabs.\n"));
    assert!(text(&case, ".vbw-planning/two/STATE.md").contains("**Project:** Mine\n"));
}

#[test]
fn a_dry_run_shows_every_file_and_writes_none() {
    let case = Case::empty();
    let diff = case.run("init --dry-run --layout yolo").success().stdout();
    for file in ["PROJECT.md", "REQUIREMENTS.md", "ROADMAP.md", "STATE.md", "config.json"] {
        assert!(diff.contains(&format!("+++ b/.yolo-planning/{file}\n")), "{file}:\n{diff}");
    }
    assert!(diff.contains("new directory .yolo-planning/phases\n"), "{diff}");
    assert!(
        diff.contains("+++ b/CLAUDE.md\n")
            && diff.contains("+**Next action:** /yolo:vibe --plan 1\n"),
        "{diff}"
    );
    assert!(case.tree().is_empty());
}

#[test]
fn a_folder_of_another_tool_is_used_and_never_joined_by_a_second() {
    let case = Case::new("examples/gsd-project");
    let before = case.tree();
    case.run("init").success();
    let added = difference(&before, &case.tree());
    assert_eq!(added, ["added CLAUDE.md"]);
    let refused = case.run("init --layout vbw").code(4);
    assert!(
        refused.stderr().contains("the planning folder here belongs to gsd, not vbw"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn a_context_file_that_a_rule_protects_stops_nothing_else() {
    let case = Case::empty();
    case.write("CLAUDE.md", "<!-- annals:begin v1 -->\n<!-- annals:begin v1 -->\n");
    let outcome = case.run("init").code(4);
    assert!(outcome.stdout().starts_with("Created in .vbw-planning: "), "{}", outcome.stdout());
    assert!(outcome.stderr().contains("error: CLAUDE.md:"), "{}", outcome.stderr());
    assert!(case.read(".vbw-planning/STATE.md").is_some());
    assert_eq!(
        case.read("CLAUDE.md").unwrap(),
        b"<!-- annals:begin v1 -->\n<!-- annals:begin v1 -->\n"
    );
    let failure = case.run("init --json").code(4).json();
    assert_eq!(failure["error"]["kind"], "refused");
}

#[test]
fn a_secret_is_not_written_where_agents_read_it() {
    let case = Case::empty();
    let key = ["ghp", "_q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo"].concat();
    let refused = case.run("init").args([format!("Talks to {key}")]).code(4);
    assert!(refused.stderr().contains("github-token"), "{}", refused.stderr());
    assert!(case.tree().is_empty());
}

#[test]
fn the_name_of_a_workflow_is_no_description() {
    let case = Case::empty();
    let refused = case.run("init gsd").code(2);
    assert!(refused.stderr().contains("annals init --layout gsd"), "{}", refused.report());
    assert!(case.tree().is_empty());
}

#[test]
fn a_terminal_is_asked_for_what_is_not_given() {
    if !require("script") {
        return;
    }
    let case = Case::empty();
    let command = format!("{} init --core-value Warm", env!("CARGO_BIN_EXE_annals"));
    let asked = case
        .program("script -qec")
        .args([command.as_str(), "/dev/null"])
        .stdin("yes\nVBW\nBakery\nBread by seven\n")
        .success();
    assert!(
        asked.stdout().contains("\"yes\" is not one of vbw, yolo, gsd, ariadna"),
        "{}",
        asked.stdout()
    );
    assert!(
        asked.stdout().contains("Planning folder of which workflow (vbw, "),
        "{}",
        asked.stdout()
    );
    assert!(asked.stdout().contains("Project name [project]: "), "{}", asked.stdout());
    let project = text(&case, ".vbw-planning/PROJECT.md");
    assert!(
        project.starts_with("# Bakery\n\nBread by seven\n\n**Core value:** Warm\n"),
        "{project}"
    );
}
