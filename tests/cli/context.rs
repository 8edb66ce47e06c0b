//! `annals context`

use crate::cli::VBW;
use crate::cli::assert_error;
use crate::support::Case;

#[test]
fn a_session_is_told_where_the_work_stands_first() {
    let case = Case::new(VBW);
    let before = case.tree();
    let digest = case.run("context").success();
    let text = digest.stdout();
    let order = [
        "## Position",
        "Next: /vbw:execute 4",
        "## Blockers",
        "## Decisions",
        "## Learned Patterns",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(digest.stderr(), "");
    assert_eq!(case.tree(), before);
}

#[test]
fn what_does_not_fit_is_counted_with_the_command_that_prints_it() {
    let case = Case::new(VBW);
    let digest = case.run("context --budget 200 --json").success().json();
    assert!(digest["tokens"].as_u64().unwrap() <= 200, "{digest}");
    let left = digest["left_out"].as_array().unwrap();
    assert!(
        left.iter()
            .any(|left| left["command"] == "annals patterns relevant"),
        "{digest}"
    );
    let text = digest["text"].as_str().unwrap();
    assert!(text.contains("Lines left out: "), "{text}");
}

#[test]
fn the_topic_chooses_the_patterns() {
    let case = Case::new(VBW);
    let about = |topic: &str| {
        case.run("context")
            .args(["--for", topic])
            .success()
            .stdout()
    };
    let text = about("round-trip tests of the missing trailing newline");
    let patterns = text.split("## Learned Patterns\n").nth(1).unwrap();
    assert!(
        patterns.lines().next().unwrap().contains("round-trip"),
        "{patterns}"
    );
}

#[test]
fn the_notepad_is_there_without_its_marks_and_without_keys() {
    let case = Case::new(VBW);
    let key = ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat();
    case.write(
        ".vibekit/notepad.md",
        format!("# Vibekit Notepad\n\n## Priority Context\n- Ship on Friday\n* token {key}\n\n## Working Memory\n- [2026-02-28T10:00Z] looked\n"),
    );
    let text = case.run("context").success().stdout();
    assert!(
        text.contains("## Notepad\n- Ship on Friday\n- token "),
        "{text}"
    );
    assert!(!text.contains(&key), "{text}");
    assert!(!text.contains("looked"), "{text}");
}

#[test]
fn where_nothing_is_remembered_that_is_said() {
    let case = Case::empty();
    let digest = case.run("context").success();
    assert_eq!(digest.stdout(), "");
    assert!(
        digest.stderr().contains("nothing is remembered here yet"),
        "{}",
        digest.report()
    );
    assert_error(
        &case.run("context --budget 10").code(2),
        "a budget of 10 tokens holds no digest",
        "give it 100 or more; 2000 is the default",
    );
}
