//! `annals notepad`

use serde_json::json;

use crate::cli::{assert_error, assert_unchanged};
use crate::support::Case;

const FILE: &str = ".vibekit/notepad.md";
const LOG: &str = ".vibekit/memory/log.md";

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

#[test]
fn notes_go_to_their_sections_and_each_has_a_line_in_the_log() {
    let case = Case::empty();
    case.run("notepad priority").args(["a fact"]).success();
    case.run("notepad working").args(["first"]).success();
    case.run("notepad working").args(["second"]).success();
    case.run("notepad manual").args(["free\n\nform"]).success();
    assert_eq!(
        text(&case, FILE),
        "# Vibekit Notepad\n\n## Priority Context\n- a fact\n\n## Working Memory\n- [2026-03-01T12:00Z] second\n- [2026-03-01T12:00Z] first\n\n## Manual\nfree\n\nform\n"
    );
    assert_eq!(
        text(&case, LOG),
        "- 2026-03-01T12:00:00Z notepad priority\n- 2026-03-01T12:00:00Z notepad working\n- 2026-03-01T12:00:00Z notepad working\n- 2026-03-01T12:00:00Z notepad manual\n"
    );
    let read = case.run("notepad read --section manual").success();
    assert_eq!(read.stdout(), "free\n\nform\n");
    assert_eq!(case.run("notepad read").success().stdout(), text(&case, FILE));
    let read = case.run("notepad read --section priority --json").success().json();
    assert_eq!(read["text"], json!("- a fact\n"));
}

#[test]
fn each_write_prints_one_line() {
    let case = Case::empty();
    let said = |line: &str| case.run(line).args(["text"]).success().stdout();
    assert_eq!(said("notepad priority"), "Notepad priority updated (6/500 chars).\n");
    assert_eq!(said("notepad working"), "Notepad working updated.\n");
    assert_eq!(said("notepad manual"), "Notepad manual updated.\n");
    let report = case.run("notepad priority --json").args(["more"]).success().json();
    assert_eq!(report["characters"], json!(13));
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let case = Case::empty();
    let before = case.whole_tree();
    let dry = case.run("notepad working --dry-run").args(["x"]).success();
    assert!(dry.stdout().contains("+- [2026-03-01T12:00Z] x"), "{}", dry.report());
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn missing_sections_are_not_found() {
    let case = Case::empty();
    let none = case.run("notepad read").code(3);
    assert_error(
        &none,
        ".vibekit/notepad.md: there is no notepad yet",
        "`annals notepad working TEXT` creates it",
    );
    case.write(FILE, "# Notes\n\nmine\n");
    let before = case.tree();
    let none = case.run("notepad read --section working").code(3);
    assert!(none.stderr().contains("no section Working Memory"), "{}", none.report());
    assert_unchanged(&before, &case, &none);
}

#[test]
fn a_repeated_request_is_answered_and_not_executed_again() {
    let case = Case::empty();
    let ask = || case.run("notepad priority --request-id 4f1c --json").args(["a fact"]);
    let first = ask().success();
    let before = case.tree();
    case.run("notepad priority").args(["another"]).success();
    case.run("undo").success();
    let again = ask().success();
    assert_eq!(again.stdout(), first.stdout());
    assert_eq!(text(&case, FILE).matches("a fact").count(), 1);
    assert_eq!(case.read(FILE), before.get(FILE).cloned());
    case.run("notepad manual --request-id 4f1c").args(["x"]).code(4);
}

#[test]
fn the_check_for_secrets_is_switched_off_only_before_the_text() {
    let case = Case::empty();
    let key = ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat();
    case.run("notepad working use --allow-secret").args([&key]).code(4);
    case.run("notepad working").args(["- bullet", "--allow-secret", &key]).code(2);
    let noted = case.run("notepad manual use --allow-secret always --json").success();
    assert_eq!(
        noted.stderr(),
        "--allow-secret was read as part of the text; put options before it\n"
    );
    case.run("notepad manual --allow-secret").args([&key]).success();
    case.run("notepad --allow-secret manual").args([&key]).success();
    let manual = case.run("notepad read --section manual").success().stdout();
    assert_eq!(manual, format!("use --allow-secret always\n{key}\n{key}\n"));
}

#[test]
fn options_may_follow_the_text_and_a_bullet_is_text() {
    let case = Case::empty();
    case.run("notepad manual run pytest --json").success();
    case.run("notepad manual -q").args(["--release takes long"]).success();
    case.run("notepad priority").args(["- a bullet"]).success();
    case.run("notepad manual").args(["- set x = 3", "--request-id", "7"]).success();
    case.run("notepad manual").args(["- b", "--dry-run"]).success();
    case.run("notepad manual").args(["- c", "--reqest-id", "1"]).code(2);
    case.run("notepad manual --reqest-id 1").code(2);
    let manual = case.run("notepad read --section manual").success();
    assert_eq!(manual.stdout(), "run pytest\n--release takes long\n- set x = 3\n");
    assert!(text(&case, FILE).contains("## Priority Context\n- a bullet\n"));
}
