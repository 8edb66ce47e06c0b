//! Every store as plain files, and back.

use crate::exchange::{case, entry};
use crate::support::Case;

fn filled() -> Case {
    let case = case("graph");
    case.run("import server-memory graph/memory.jsonl").success();
    case.run("notepad working").args(["Look at the feeder"]).success();
    case.run("journal write").stdin(r#"{"type":"note","content":"Cards jam"}"#).success();
    case.run("facts add --key likes.tea --value yes --user ada --db facts.db").success();
    case
}

#[test]
fn every_store_is_copied_and_listed() {
    let case = filled();
    let exported = case.run("export out --user ada --db facts.db --json").success().json();
    let files: Vec<&str> = exported["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    for file in
        ["entries/INDEX.md", "entries/engine.md", "facts.jsonl", "journal.jsonl", "notepad.md"]
    {
        assert!(files.contains(&file), "{files:?}");
    }
    let manifest = String::from_utf8(case.read("out/MANIFEST.md").unwrap()).unwrap();
    for file in &exported["files"].as_array().unwrap()[..] {
        let (name, sum) = (file["file"].as_str().unwrap(), file["sha256"].as_str().unwrap());
        assert!(manifest.contains(name) && manifest.contains(sum), "{manifest}");
        assert!(case.read(&format!("out/{name}")).is_some());
    }
    assert_eq!(case.read("out/entries/engine.md").unwrap(), entry(&case, "engine").into_bytes());
    assert_eq!(exported["empty"], serde_json::json!(["ledger", "patterns"]));
}

#[test]
fn what_was_exported_can_be_read_back() {
    let case = filled();
    case.run("export out --user ada --db facts.db").success();
    let journal = case.run("journal import out/journal.jsonl --json").success().json();
    assert_eq!((&journal["imported"], &journal["duplicates"]), (&0.into(), &1.into()));
    let lines = case.read("out/facts.jsonl").unwrap();
    let facts = case.run("facts import --user ada --db other.db --json").stdin(lines).success();
    assert_eq!(facts.json()["imported"], 1);
}

#[test]
fn facts_go_only_where_their_user_is_named() {
    let case = filled();
    case.run("export out").success();
    assert!(case.read("out/facts.jsonl").is_none());
}

#[test]
fn nothing_is_written_where_something_is() {
    let case = filled();
    case.write("out/own.txt", "mine");
    let before = case.tree();
    let outcome = case.run("export out").code(4);
    assert!(outcome.stderr().contains("is not empty"), "{}", outcome.report());
    let outcome = case.run("export facts.db").code(4);
    assert!(outcome.stderr().contains("is not a folder"), "{}", outcome.report());
    case.run("export new/deep --dry-run").success();
    assert_eq!(case.tree(), before);
    case.run("export new/deep").success();
    assert!(case.read("new/deep/MANIFEST.md").is_some());
}
