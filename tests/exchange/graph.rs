//! The knowledge graph of MCP's reference server.

use serde_json::json;

use crate::exchange::{case, counts, entry, import, reasons, twice};
use crate::support::Case;

const SAMPLE: &str = "server-memory graph/memory.jsonl";

#[test]
fn entities_become_entries_and_every_line_is_accounted_for() {
    let case = case("graph");
    let report = twice(&case, SAMPLE);
    // Of 14 lines: 4 entities with 1 repeated, 4 relations; 1 starts at nothing; 4 are not understood.
    assert_eq!(counts(&report), [9, 0, 1, 4], "{report:#}");
    let ada = entry(&case, "ada-lovelace");
    assert!(ada.contains("type: contact") && ada.contains("confidence: low"), "{ada}");
    assert!(ada.contains("- Prefers short functions\n"), "{ada}");
    assert!(ada.contains("- maintains [[engine]]\n"), "{ada}");
    assert!(ada.ends_with("Imported from server-memory: Ada Lovelace\n"), "{ada}");
    let engine = entry(&case, "engine");
    assert!(engine.contains("- Reads cards\n  in batches\n- Has a mill\n"), "{engine}");
    assert!(engine.contains("- feeds [[engine]]\n- needs Card punch\n"), "{engine}");
    assert!(entry(&case, "ada-lovelace-2").contains("Another spelling"));
    assert!(entry(&case, "etc-passwd").contains("A name with slashes"));
    let reasons = reasons(&report);
    for (line, reason) in [
        (7, "not an entity of this graph"),
        (11, "a name that is not text"),
        (12, "observations that are not a list"),
        (13, "unknown type"),
        (14, "not JSON"),
    ] {
        let found = reasons.lines().any(|told| {
            told.starts_with(&format!("graph/memory.jsonl:{line}: ")) && told.contains(reason)
        });
        assert!(found, "{line}: {reason}\n{reasons}");
    }
    let audit = case.run("entry audit --json").success();
    let audit = audit.json();
    assert_eq!(audit["broken_links"].as_array().map(Vec::len), Some(0), "{audit:#}");
}

#[test]
fn one_undo_takes_the_whole_import_back() {
    let case = case("graph");
    let source = case.read("graph/memory.jsonl");
    import(&case, SAMPLE);
    case.run("undo").success();
    assert_eq!(case.read("graph/memory.jsonl"), source);
    // The index is made anew and the log only grows; of the entries nothing is left.
    let left: Vec<_> = case.tree().into_keys().collect();
    let is_entry = |path: &&String| {
        let generated = ["INDEX.md", "log.md"];
        path.starts_with(".vibekit/memory/")
            && !path.ends_with('/')
            && !generated.iter().any(|name| path.ends_with(name))
    };
    assert_eq!(left.iter().find(is_entry), None, "{left:?}");
    assert_eq!(case.run("entry list").success().stdout(), "entries: []\n");
}

#[test]
fn a_secret_keeps_out_its_own_item_only() {
    let case = Case::empty();
    let key = ["gh", "p_", "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo"].concat();
    let line = |name: &str, said: &str| {
        format!(
            "{{\"type\":\"entity\",\"name\":\"{name}\",\"entityType\":\"x\",\"observations\":[\"{said}\"]}}\n"
        )
    };
    case.write("m.jsonl", line("One", "fine") + &line("Two", &key) + &line("Three", "fine too"));
    let report = twice(&case, "server-memory m.jsonl");
    assert_eq!(counts(&report), [2, 0, 1, 0]);
    assert!(
        reasons(&report)
            .contains("m.jsonl:2: refused: contains what looks like a secret (github-token)")
    );
    assert_eq!(counts(&import(&case, "server-memory m.jsonl --allow-secret")), [1, 2, 0, 0]);
}

#[test]
fn entries_of_others_are_never_written_over() {
    let case = Case::empty();
    let graph = |said: &str| {
        format!(
            "{{\"type\":\"entity\",\"name\":\"Engine\",\"entityType\":\"x\",\"observations\":[\"{said}\"]}}\n"
        )
    };
    case.run("entry write --key engine --type gotcha --confidence high --body-stdin")
        .stdin("# Engine\n\nOur own words.\n")
        .success();
    case.write("m.jsonl", graph("Theirs"));
    let own = entry(&case, "engine");
    twice(&case, "server-memory m.jsonl");
    assert_eq!(entry(&case, "engine"), own);
    assert!(entry(&case, "engine-2").contains("Theirs"));
    case.write("m.jsonl", graph("Theirs, changed"));
    let report = import(&case, "server-memory m.jsonl");
    assert_eq!(counts(&report), [0, 0, 1, 0]);
    assert!(
        reasons(&report).contains("was imported as engine-2; the source or the entry has changed")
    );
}

#[test]
fn a_folder_with_the_name_of_an_entry_does_not_block_an_import() {
    let case = Case::empty();
    case.write(".vibekit/memory/mill.md/notes.txt", "mine\n");
    let entity = json!({"type": "entity", "name": "Mill", "observations": ["It turns"]});
    case.write("m.jsonl", entity.to_string() + "\n");
    twice(&case, "server-memory m.jsonl");
    assert!(entry(&case, "mill-2").contains("It turns"));
}

#[test]
fn what_an_entry_says_already_is_skipped_with_the_reason() {
    let case = Case::empty();
    let said: Vec<String> = (1..=9).map(|n| format!("It turns {n} times")).collect();
    case.run("entry write --key mill --type gotcha --confidence high --body-stdin")
        .stdin(format!("# Mill\n\n- {}\n", said.join("\n- ")))
        .success();
    let entity = json!({"type": "entity", "name": "Mill", "observations": said});
    case.write("m.jsonl", entity.to_string() + "\n");
    let report = twice(&case, "server-memory m.jsonl");
    assert_eq!(counts(&report), [0, 0, 1, 0], "{report:#}");
    assert!(reasons(&report).contains("near-duplicate of the entry mill ("), "{report:#}");
}

#[test]
fn statements_become_facts_only_where_that_is_asked_for() {
    let case = case("graph");
    let wrong = case.run("import server-memory graph/memory.jsonl --as facts").code(2);
    assert!(wrong.stderr().contains("--user"), "{}", wrong.report());
    let line = "server-memory graph/memory.jsonl --as facts --user ada --db facts.db";
    let would = import(&case, &format!("{line} --dry-run"));
    assert!(case.read("facts.db").is_none());
    let first = import(&case, line);
    assert_eq!(counts(&first), counts(&would), "{first:#}");
    // The name with "passwd" in it is refused as a key.
    assert_eq!(counts(&first)[0], 5, "{first:#}");
    let second = import(&case, line);
    assert_eq!(counts(&second)[..2], [0, 5], "{second:#}");
    assert!(case.read(".vibekit/memory/engine.md").is_none());
    let facts = case.run("facts list --user ada --db facts.db").success();
    assert!(facts.stdout().contains("Prefers short functions"), "{}", facts.report());
}

#[test]
fn huge_deep_and_broken_graphs_end_in_an_account() {
    let case = Case::empty();
    let deep = format!("{}1{}\n", "[".repeat(50_000), "]".repeat(50_000));
    let long = "x".repeat(2 << 20);
    let name = "n".repeat(5_000);
    let lines = [
        deep,
        format!("{{\"type\":\"entity\",\"name\":\"Long\",\"observations\":[\"{long}\"]}}\n"),
        format!("{{\"type\":\"entity\",\"name\":\"{name}\",\"observations\":[\"a long name\"]}}\n"),
        "{\"type\":\"entity\",\"name\":\"日本\",\"observations\":[\"letters\"]}\n".to_owned(),
        "{\"type\":\"entity\",\"name\":\"Index\",\"observations\":[\"a name of the store's own\"]}\n".to_owned(),
        "{\"type\":\"entity\",\"name\":\"\\u001b[2J\\n# x\",\"observations\":[\"controls\"]}\n".to_owned(),
    ];
    let mut bytes = lines.concat().into_bytes();
    bytes.extend(b"\xff\xfe\0\n");
    case.write("m.jsonl", bytes);
    let report = twice(&case, "server-memory m.jsonl");
    assert_eq!(counts(&report)[0], 4, "{:?}", reasons(&report));
    assert!(reasons(&report).contains("larger than 1 MiB"));
    assert!(entry(&case, "index-2").contains("a name of the store's own"));
    case.write("big.jsonl", vec![b'\n'; 9 << 20]);
    let big = case.run("import server-memory big.jsonl").code(1);
    assert!(big.stderr().contains("big.jsonl"), "{}", big.report());
}

#[test]
fn a_graph_of_too_many_entities_or_statements_is_refused() {
    let case = Case::empty();
    let entity =
        |name: usize| format!("{{\"type\":\"entity\",\"name\":\"e{name}\",\"observations\":[]}}\n");
    let entities: Vec<String> = (0..=20_000).map(entity).collect();
    case.write("many.jsonl", entities.concat());
    let refused = case.run("import server-memory many.jsonl --dry-run").code(1);
    let told = "many.jsonl: contains more than 20000 notes";
    assert!(refused.stderr().contains(told), "{}", refused.report());
    let observations = vec!["\"a\""; 20_001].join(",");
    case.write(
        "long.jsonl",
        format!("{{\"type\":\"entity\",\"name\":\"e\",\"observations\":[{observations}]}}\n"),
    );
    let refused =
        case.run("import server-memory long.jsonl --as facts --user ada --db m.db").code(1);
    let told = "long.jsonl: contains more than 20000 statements";
    assert!(refused.stderr().contains(told), "{}", refused.report());
    case.run("import server-memory long.jsonl --dry-run").success();
}

#[test]
fn another_format_is_refused_with_one_document() {
    let case = Case::empty();
    case.write("notes.jsonl", "{\"note\":\"tides\"}\n");
    let refused = case.run("import server-memory notes.jsonl --json").code(1);
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("nothing that annals understands"), "{message}");
    let told = case.run("import server-memory notes.jsonl").code(1);
    assert!(told.stdout().contains("notes.jsonl:1"), "{}", told.report());
}
