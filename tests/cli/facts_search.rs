//! `annals facts retrieve` and `annals facts metrics --eval`

use serde_json::{Value, json};

use crate::support::Case;

fn with_facts() -> Case {
    let case = Case::empty();
    for line in [
        "--user ada --key preference.editor --value helix",
        "--user ada --key preference.indent --value tabs",
        "--user grace --key preference.editor --value emacs",
    ] {
        case.run(&format!("facts add {line}")).success();
    }
    case
}

fn values(document: &Value) -> Vec<&str> {
    let hits = document["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["fact"]["value_text"].as_str().unwrap()).collect()
}

#[test]
fn facts_are_found_for_their_user_alone() {
    let case = with_facts();
    let found = case.run("facts retrieve --user ada --query editors --json").success().json();
    assert_eq!(values(&found)[0], "helix");
    assert_eq!(found["method"], "fused");
    assert_eq!(found["degraded"], false);
    let other = case.run("facts retrieve --user grace --query editors --json").success().json();
    assert_eq!(values(&other), ["emacs"]);
}

#[test]
fn the_query_is_taken_literally() {
    let case = with_facts();
    let found = case
        .run("facts retrieve --user ada --limit 1 --explain")
        .args(["--query", "\"indent\" AND (NOT* ^col:"])
        .success();
    let shown = found.stdout();
    assert!(shown.starts_with("method: fused\n"), "{shown}");
    assert!(shown.contains("preference.indent: tabs\n    score "), "{shown}");
    assert!(shown.contains("= words 0.350 + meaning "), "{shown}");
}

#[test]
fn an_endpoint_that_is_away_leaves_words() {
    let case = with_facts();
    case.write(
        "../home/.config/annals/config.toml",
        "[embedding]\nurl = \"http://127.0.0.1:9\"\nmodel = \"m\"\n",
    );
    let found = case.run("facts retrieve --user ada --query editor").success();
    assert!(found.stdout().ends_with("preference.editor: helix\n"));
    assert!(found.stderr().starts_with("searched by words only: "), "{}", found.stderr());
    let found = case.run("facts retrieve --user ada --query editor --json -q").success().json();
    assert_eq!((&found["degraded"], &found["method"]), (&json!(true), &json!("lexical")));
}

#[test]
fn the_seed_weights_are_a_setting() {
    let case = with_facts();
    case.write("../home/.config/annals/config.toml", "[facts]\nfusion = \"seed\"\n");
    let found = case.run("facts retrieve --user ada --query editor --json").success().json();
    assert_eq!(found["method"], "seed");
    assert_eq!(found["hits"][0]["components"]["recency"], json!(0.1));
}

const DATASET: &str = r#"{"kind":"item","id":"1","group":"a","text":"Ada: The tram in Lisbon was lovely.","ts":"2026-01-01T10:00:00","prev":null,"next":"2"}
{"kind":"item","id":"2","group":"a","text":"Bo: Tell me more.","ts":"2026-01-01T10:00:00","prev":"1","next":null}
{"kind":"item","id":"3","group":"b","text":"Ada: The tram in Turin was late.","ts":"2026-01-02T10:00:00","prev":null,"next":null}
{"kind":"query","id":"q1","group":"a","text":"Which tram did Ada like?","category":"single-hop","relevant":["1"]}
{"kind":"query","id":"q2","group":"b","text":"Which tram did Bo like?","category":"adversarial","relevant":["3"]}
"#;

#[test]
fn retrieval_is_measured_method_by_method() {
    let case = Case::empty();
    case.write("questions.jsonl", DATASET);
    let found = case.run("facts metrics --eval questions.jsonl --json").success().json();
    assert_eq!(found["queries"], 2);
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["set"].as_str().unwrap(), row["method"].as_str().unwrap()))
        .collect();
    let methods = ["lexical", "vector", "seed", "fused"];
    let expected = ["main", "adversarial"].map(|set| methods.map(|method| (set, method)));
    assert_eq!(names, expected.concat());
    assert_eq!(
        rows[3],
        json!({"method": "fused", "set": "main", "r_at_5": 1.0, "r_at_10": 1.0, "r_at_20": 1.0, "mrr": 1.0,
               "ndcg_at_10": 1.0, "queries": 1, "delta": {"r_at_10": 0.0, "mrr": 0.0}})
    );
    let shown = case.run("facts metrics --eval questions.jsonl").success().stdout();
    assert!(shown.contains("main: 1 query"), "{shown}");
    assert!(
        shown.contains("  fused     100.0  100.0  100.0  100.0    100.0  +0.0        +0.0"),
        "{shown}"
    );
    assert!(!case.home().join(".local").exists(), "no database is made");
}

#[test]
fn a_dataset_that_is_none_is_refused_with_its_line() {
    let case = Case::empty();
    case.write("questions.jsonl", "{\"kind\":\"item\"}\n");
    let outcome = case.run("facts metrics --eval questions.jsonl").code(1);
    assert!(
        outcome.stderr().contains("questions.jsonl:1: is neither an item nor a query"),
        "{}",
        outcome.stderr()
    );
    case.write("questions.jsonl", DATASET.replacen("2026-01-01T10:00:00", "8 May", 1));
    let outcome = case.run("facts metrics --eval questions.jsonl").code(1);
    let error = "questions.jsonl:1: ts: \"8 May\" is not an ISO 8601 time\n";
    assert!(outcome.stderr().contains(error), "{}", outcome.stderr());
    case.run("facts metrics --eval absent.jsonl").code(3);
}
