//! What an earlier build wrote is read or made anew, and what a later one wrote is left alone; docs/formats.md,
//! "Versions", lists every format.

use rusqlite::Connection;
use serde_json::json;

use crate::support::Case;

/// The version of the tables of the facts.
const VERSION: u32 = 7;

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
    connection.execute_batch(include_str!("../src/facts/triggers.sql")).unwrap();
    connection.execute(FACT, []).unwrap();
    for (version, reason) in
        [(1, "of an earlier build"), (VERSION - 2, "of an earlier build"), (99, "which is newer")]
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

/// What version 6 had besides: an index of parts of words, and a list of servers with what they must still erase.
const VERSION_6: &str = "
    CREATE VIRTUAL TABLE facts_trigram USING fts5 (key, value_text, source_excerpt,
      content = 'facts', content_rowid = 'seq', tokenize = 'trigram');
    CREATE TABLE vector_places (place INTEGER PRIMARY KEY, server TEXT, collection TEXT);
    CREATE TABLE vector_copies (fact_id TEXT, place INTEGER REFERENCES vector_places (place));
    CREATE TABLE vector_erasures (place INTEGER REFERENCES vector_places (place), fact_id TEXT);
    UPDATE vector_index SET server = 'http://127.0.0.1:9';
    INSERT INTO vector_places SELECT 1, server, collection FROM vector_index;
    INSERT INTO vector_places VALUES (2, 'http://127.0.0.1:9', 'another');
    INSERT INTO vector_erasures VALUES (1, 'f2'), (2, 'f3');
    PRAGMA user_version = 6;";

#[test]
fn facts_of_the_version_before_are_upgraded_by_the_first_write() {
    let case = Case::empty();
    let path = case.home().join("other.db");
    let connection = Connection::open(&path).unwrap();
    for sql in [
        include_str!("../src/facts/schema.sql"),
        include_str!("../src/facts/triggers.sql"),
        FACT,
        VERSION_6,
    ] {
        connection.execute_batch(sql).unwrap();
    }
    let version = || -> u32 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    let run = |line: &str| {
        let run = case.run(line).env("ANNALS_DB", &path).env("ANNALS_USER", "ada");
        run.env("ANNALS_CHROMA_URL", "http://127.0.0.1:9")
    };
    assert!(run("facts list").success().stdout().contains("city: Rome"));
    assert_eq!(version(), 6);
    run("facts add --key tea --value green").success();
    assert_eq!(version(), 7);
    let found = run("facts retrieve --query Rome --json").success().json();
    assert_eq!(found["hits"][0]["fact"]["value_text"], "Rome", "{found}");
    // What the server in use must still erase stays.
    let check = run("facts check").code(1).stdout();
    assert!(check.contains("perhaps still on the server: 1 vector"), "{check}");
    assert!(check.contains("1 facts without a history"), "{check}");
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
