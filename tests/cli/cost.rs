//! `annals cost`

use std::fs;

use serde_json::Value;

use crate::cli::VBW;
use crate::support::Case;

fn sources(cost: &Value) -> Vec<(&str, &str)> {
    let parts = cost["parts"].as_array().unwrap().iter();
    parts
        .map(|part| {
            let word = |name: &str| part[name].as_str().unwrap();
            (word("kind"), word("source"))
        })
        .collect()
}

#[test]
fn each_text_is_measured_and_added_up() {
    let case = Case::new(VBW);
    fs::create_dir_all(case.home().join(".claude")).unwrap();
    fs::write(case.home().join(".claude/CLAUDE.md"), "Be brief.\n").unwrap();
    case.write("CLAUDE.md", "# Mine\n<!-- for editors -->\n@AGENTS.md and @docs/none.md\n");
    case.write("AGENTS.md", "Use tabs.\nTest first.\n");
    case.write("CLAUDE.local.md", "local\n");
    let before = case.whole_tree();
    let cost = case.run("cost --json").success().json();
    assert_eq!(case.whole_tree(), before, "nothing is written");
    assert_eq!(
        sources(&cost),
        [
            ("file", "[HOME]/.claude/CLAUDE.md"),
            ("file", "CLAUDE.md"),
            ("import", "AGENTS.md"),
            ("file", "CLAUDE.local.md"),
            ("hook", "annals hook session-start"),
            ("tools", "annals mcp"),
        ]
    );
    let parts = cost["parts"].as_array().unwrap();
    assert_eq!((&parts[2]["bytes"], &parts[2]["lines"]), (&22.into(), &2.into()));
    // The comment is not told to the model.
    assert_eq!(parts[1]["lines"], 2);
    for measure in ["bytes", "lines", "tokens"] {
        let sum: u64 = parts.iter().map(|part| part[measure].as_u64().unwrap()).sum();
        assert_eq!(cost["total"][measure], sum, "{measure}");
        assert!(sum > 0);
    }
}

#[test]
fn a_clone_counts_no_file_outside_of_it_whose_folder_is_the_project() {
    let case = Case::empty();
    case.git_init();
    fs::write(case.home().join("id_rsa"), "mine\n").unwrap();
    case.write("sub/.vbw-planning/STATE.md", "# State\n");
    case.write("sub/notes.md", "Notes.\n");
    case.write("CLAUDE.md", "@~/id_rsa and @sub/notes.md\n");
    let run = case.run("cost --json").inside("sub").success();
    let cost = run.json();
    let imports = || sources(&cost).into_iter().filter(|(kind, _)| *kind == "import");
    assert_eq!(imports().collect::<Vec<_>>(), [("import", "notes.md")]);
    assert!(run.stderr().is_empty() || run.stderr().contains("id_rsa"));
    // A file above the repository is the user's own, and may import what it likes.
    let above = case.root().parent().unwrap().join("CLAUDE.md");
    fs::write(above, "@~/id_rsa\n").unwrap();
    let cost = case.run("cost --json").inside("sub").success().json();
    assert!(sources(&cost).contains(&("import", "[HOME]/id_rsa")));
}

#[test]
fn so_many_imports_are_counted_and_a_warning_says_so() {
    let case = Case::empty();
    case.git_init();
    let imports: Vec<String> = (0..1_001).map(|n| format!("@docs/{n}.md\n")).collect();
    case.write("docs/999.md", "Last.\n");
    case.write("docs/1000.md", "One too many.\n");
    case.write("CLAUDE.md", imports.concat());
    let run = case.run("cost --json").success();
    let cost = run.json();
    let counted = sources(&cost);
    assert!(counted.contains(&("import", "docs/999.md")));
    assert!(!counted.contains(&("import", "docs/1000.md")));
    let warnings = cost["warnings"].to_string();
    assert!(warnings.contains("more than 1000 imports"), "{warnings}");
}

#[test]
fn the_hook_is_measured_as_it_answers() {
    let case = Case::new(VBW);
    let cost = case.run("cost --json").success().json();
    let answer = case
        .run("hook session-start --harness claude")
        .stdin("{\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}")
        .success()
        .json();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let parts = cost["parts"].as_array().unwrap();
    let hook = parts.iter().find(|part| part["kind"] == "hook").unwrap();
    assert_eq!(hook["bytes"], text.len());
    let tools = parts.iter().find(|part| part["kind"] == "tools").unwrap();
    assert!(tools["bytes"].as_u64().unwrap() > 1000);
}

#[test]
fn every_harness_reads_its_own_files() {
    let case = Case::empty();
    case.write("CLAUDE.md", "c\n");
    case.write("GEMINI.md", "g\n");
    case.write("AGENTS.md", "a\n".repeat(40_000));
    for (harness, file) in [
        ("claude", "CLAUDE.md"),
        ("codex", "AGENTS.md"),
        ("gemini", "GEMINI.md"),
        ("opencode", "AGENTS.md"),
    ] {
        let cost = case.run(&format!("cost --json --harness {harness}")).success().json();
        assert_eq!(sources(&cost), [("file", file), ("tools", "annals mcp")], "{harness}");
        if harness == "codex" {
            assert_eq!(cost["parts"][0]["bytes"], 32 * 1024, "it reads no further");
        }
    }
    let page = case.run("cost --harness gemini").success().stdout();
    assert!(page.starts_with("   bytes  lines  tokens\n       2      1       "), "{page}");
    assert!(page.ends_with("total at the start of a gemini session\n"), "{page}");
}
