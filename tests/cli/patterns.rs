//! `annals patterns`

use serde_json::json;

use crate::cli::{GSD, VBW, assert_error, assert_unchanged};
use crate::support::Case;

const PATTERNS: &str = ".vbw-planning/patterns/PATTERNS.md";

#[test]
fn entries_are_listed_and_shown_as_they_stand() {
    let case = Case::new(VBW);
    let listed = case.run("patterns list").success();
    assert!(
        listed.stdout().starts_with("  1  Phase 1: Item Store (2026-01-13): 2 worked, 1 failed\n"),
        "{}",
        listed.report()
    );
    let shown = case.run("patterns show 1").success();
    let file = String::from_utf8(case.read(".vbw-planning/patterns/PATTERNS.md").unwrap()).unwrap();
    assert!(file.contains(shown.stdout().trim_end()), "{}", shown.report());
    assert_error(
        &case.run("patterns show 99").code(3),
        "there is no entry 99",
        "`annals patterns list` shows 3",
    );
}

#[test]
fn words_are_refused_where_they_mean_nothing() {
    let case = Case::new(VBW);
    let others = "only `show`, `relevant` and `note` take words";
    for (line, message) in [
        ("patterns list a b", others),
        ("patterns check foo", others),
        ("patterns show", "`patterns show` needs an entry's number"),
        ("patterns note", "`patterns note` needs a lesson, in plain words"),
    ] {
        assert_error(&case.run(line).code(2), message, "`annals patterns --help` has examples");
    }
}

#[test]
fn none_recorded_says_what_to_do() {
    let case = Case::new(GSD);
    for (command, end) in [("list", ", --all every one."), ("check", ".")] {
        let shown = case.run(&format!("patterns {command}")).success().stdout();
        let expected =
            format!("No patterns recorded yet; annals execute records a finished phase{end}");
        assert_eq!(shown.lines().next(), Some(expected.as_str()), "{command}");
    }
}

#[test]
fn an_entry_is_fresh_only_if_a_path_that_it_names_exists() {
    let case = Case::new(VBW);
    let entry = |number: u32, lesson: &str| {
        format!("### Phase {number}: Store (2026-01-05)\n\n**What worked:**\n- {lesson}\n\n")
    };
    let lessons = [
        "Small plans, each with a test of its own",
        "`src/units.rs` before all others",
        "`src/units.rs` and `src/recipe.rs` in one plan",
        "`src/nowhere.rs` in one plan",
    ];
    let entries = (1..).zip(lessons).map(|(number, lesson)| entry(number, lesson));
    case.write(PATTERNS, entries.collect::<String>());
    let shown = case.run("patterns check").success().stdout();
    let marks: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.split_once("  Phase "))
        .map(|(mark, _)| mark)
        .collect();
    assert_eq!(
        marks,
        [
            "not checked (names no known path)",
            "fresh (1 path exists)",
            "fresh (2 paths exist)",
            "stale",
        ],
        "{shown}"
    );
}

#[test]
fn relevant_ones_come_with_their_source_and_score() {
    let case = Case::new(VBW);
    let found = case.run("patterns relevant 4 --limit 2 --json").success().json();
    let found = &found["patterns"];
    assert_eq!(found.as_array().unwrap().len(), 2);
    let scores: Vec<f64> =
        found.as_array().unwrap().iter().map(|one| one["score"].as_f64().unwrap()).collect();
    assert!(scores[0] >= scores[1], "{scores:?}");
    assert_eq!(found[0]["stale"], json!(null));
}

#[test]
fn each_bullet_is_traced_to_its_summary() {
    let case = Case::new(VBW);
    case.run("execute --all").success();
    let listed = case.run("patterns list --json").success().json();
    let entries = listed["entries"].as_array().unwrap();
    let bullets =
        entries.iter().flat_map(|entry| entry["bullets"].as_array().into_iter().flatten());
    let traced: Vec<_> = bullets.filter(|bullet| !bullet["source"].is_null()).collect();
    assert!(!traced.is_empty(), "{listed:#}");
    for bullet in traced {
        let source = &bullet["source"];
        let file = case.read(source["file"].as_str().unwrap()).unwrap();
        let file = String::from_utf8(file).unwrap();
        if let Some(line) = source["line"].as_u64() {
            assert!(usize::try_from(line).unwrap() <= file.lines().count(), "{bullet}");
        }
        assert!(!source["text"].as_str().unwrap().is_empty(), "{bullet}");
        assert!(!bullet["plans"].as_array().unwrap().is_empty(), "{bullet}");
        assert!(bullet["text"].as_str().unwrap().chars().count() <= 300, "{bullet}");
    }
}

#[test]
fn a_note_stands_below_an_empty_heading_and_never_inside_of_an_open_block() {
    let case = Case::new(VBW);
    let path = ".vbw-planning/patterns/PATTERNS.md";
    case.write(path, "# P\n\n### Notes\n");
    case.run("patterns note").args(["One thread"]).success();
    let text = String::from_utf8(case.read(path).unwrap()).unwrap();
    let line = text.strip_prefix("# P\n\n### Notes\n\n- ").unwrap_or_else(|| panic!("{text}"));
    assert!(line.ends_with(": One thread\n"), "{text}");
    let listed = case.run("patterns list --json").success().json();
    assert!(listed["loose"][0]["text"].as_str().unwrap().ends_with("One thread"));
    for open in ["# P\n\n```\ncode\n", "# P\n\n<script>\nlet a;\n"] {
        case.write(path, open);
        let before = case.tree();
        let refused = case.run("patterns note").args(["One thread"]).code(4);
        assert_unchanged(&before, &case, &refused);
    }
}

#[test]
fn a_note_is_kept_once_in_a_section_of_its_own() {
    let case = Case::new(VBW);
    let before = case.read(".vbw-planning/patterns/PATTERNS.md").unwrap();
    let note = || {
        case.run("patterns note").args([
            "Run `cargo test` with one thread",
            "--phase",
            "3",
            "--file",
            "src/lib.rs",
        ])
    };
    note().success();
    let after = case.read(".vbw-planning/patterns/PATTERNS.md").unwrap();
    assert!(after.starts_with(&before));
    let added = String::from_utf8(after[before.len()..].to_vec()).unwrap();
    assert!(added.starts_with("\n### Notes\n\n- 20"), "{added}");
    assert!(
        added.ends_with(": Run `cargo test` with one thread (phase 3, `src/lib.rs`)\n"),
        "{added}"
    );
    note().success();
    assert_eq!(case.read(".vbw-planning/patterns/PATTERNS.md").unwrap(), after);
    case.run("patterns note x --file src/none.rs").code(4);
    // The path of one machine says nothing on another.
    let absolute = case.root().join("src/lib.rs");
    let refused = case.run("patterns note x --file").args([absolute.to_str().unwrap()]).code(4);
    assert!(refused.stderr().contains("relative to the project"), "{}", refused.stderr());
}
