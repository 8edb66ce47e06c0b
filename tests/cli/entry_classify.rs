//! `annals entry classify`

use serde_json::json;

use crate::cli::assert_unchanged;
use crate::support::Case;

#[test]
fn a_finding_is_answered_in_the_format_and_nothing_is_written() {
    let case = Case::empty();
    let before = case.tree();
    let finding = "We chose \"SQLite\" because one file is enough";
    let said = case.run("entry classify").args([finding]).success();
    assert_eq!(
        said.stdout(),
        "finding: \"We chose \\\"SQLite\\\" because one file is enough\"\nproposed:\n  surface: entry\n  key: sqlite-one-file-enough\n  type: decision\n  tags: []\n  confidence: medium\n  reason: a choice with its rationale\n"
    );
    assert_unchanged(&before, &case, &said);
    let none = case.run("entry classify").args(["the button is blue"]).success();
    assert_eq!(
        none.stdout(),
        "finding: \"the button is blue\"\nproposed:\n  surface: none\n  key: null\n  type: null\n  tags: []\n  confidence: low\n  reason: no sign that it is durable and reusable\n"
    );
    let document = case.run("entry classify --json").args([finding]).success().json();
    assert_eq!(document["finding"], json!(finding));
    assert_eq!(document["proposed"]["type"], json!("decision"));
    assert_eq!(document["proposed"]["surface"], json!("entry"));
}

#[test]
fn an_empty_finding_is_wrong_usage() {
    Case::empty().run("entry classify").args([" "]).code(2);
}
