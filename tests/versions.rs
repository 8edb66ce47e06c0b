//! What an earlier build wrote is read or made anew, and what a later one wrote is left alone; docs/formats.md,
//! "Versions", lists every format.

use rusqlite::Connection;
use serde_json::json;

use crate::support::Case;

/// The version of the tables of the facts.
const VERSION: u32 = 6;

const FACT: &str = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, valid_from, status, \
    source_turn_id, source_excerpt, created_at, updated_at, last_mentioned_at) VALUES ('f1', 'ada', 'city', 'Rome', \
    'identity', 0.7, '2026-01-02T03:04:05Z', 'active', 't1', 'I live in Rome', '2026-01-02T03:04:05Z', \
    '2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z')";

#[test]
fn facts_of_another_version_are_refused_and_not_touched() {
    let case = Case::empty();
    let path = case.home().join("other.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("../src/facts/schema.sql")).unwrap();
    connection.execute(FACT, []).unwrap();
    for (version, reason) in
        [(1, "of an earlier build"), (VERSION - 1, "of an earlier build"), (99, "which is newer")]
    {
        connection.pragma_update(None, "user_version", version.to_string()).unwrap();
        let before = std::fs::read(&path).unwrap();
        for line in ["facts list", "facts add --key city --value Oslo"] {
            let run = case.run(line).env("ANNALS_DB", &path).env("ANNALS_USER", "ada").code(1);
            let reason = format!("the database has version {version}, {reason}");
            assert!(run.stderr().contains(&reason), "{}", run.report());
        }
        assert!(std::fs::read(&path).unwrap() == before);
    }
    connection.pragma_update(None, "user_version", VERSION.to_string()).unwrap();
    drop(connection);
    let found = case.run("facts retrieve --query Rome --json").env("ANNALS_DB", &path);
    let found = found.env("ANNALS_USER", "ada").success().json();
    assert_eq!(found["hits"][0]["fact"]["value_text"], "Rome", "{found}");
}

#[test]
fn a_search_cache_of_another_version_is_built_anew() {
    let case = Case::new("examples/gsd-project");
    let first = case.run("recall sessions --json").success().json();
    assert_ne!(first["hits"], json!([]));
    let cache = case.root().join(".annals/index.db");
    let connection = Connection::open(&cache).unwrap();
    connection.execute("UPDATE owner SET identity = replace(identity, 'a', 'b')", []).unwrap();
    connection.execute("DELETE FROM files", []).unwrap();
    drop(connection);
    let again = case.run("recall sessions --json").success();
    assert_eq!(again.json()["hits"], first["hits"], "{}", again.report());
}

#[test]
fn notices_in_a_form_that_is_not_known_are_begun_anew() {
    let case = Case::new("examples/vbw-project");
    case.write(".annals/notices.json", "{\"version\": 7, \"sessions\": []}");
    let start = case
        .run("hook session-start")
        .stdin("{\"session_id\": \"s1\", \"hook_event_name\": \"SessionStart\", \"source\": \"startup\"}")
        .success();
    assert_eq!(start.stderr(), "", "{}", start.report());
    assert!(start.stdout().contains("additionalContext"), "{}", start.report());
}
