//! The database of claude-mem, in the shapes of several of its versions.

use rusqlite::Connection;

use crate::exchange::{counts, import, reasons, twice};
use crate::support::Case;

const NEW: &str = r#"
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER, applied_at TEXT);
INSERT INTO schema_versions VALUES (1, 35, 'now');
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT);
INSERT INTO sdk_sessions VALUES (1, 's1', 'engine');
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,
  concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
INSERT INTO observations VALUES
  (1, 's1', 'engine', NULL, 'bugfix', 'Cards jam', 'Twice a day', '["The feeder is worn","It was replaced"]',
   'The feeder slipped.', '["gotcha","feeder"]', '["src/feed.c"]', '["src/feed.c"]', 3,
   '2026-02-17T10:11:12.000Z', 1771323072000),
  (2, 's1', 'engine', NULL, 'change', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, 'x', 1771323073000),
  (3, 's1', 'engine', 'Plain text', 'discovery', NULL, NULL, 'not json', NULL, 'a, b', NULL, NULL, 4,
   '2026-02-17T10:11:14Z', 0),
  (4, 's1', 'engine', 'No time', 'discovery', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, 'x', 9223372036854775807),
  (5, 's1', 'engine', x'ff00', 'discovery', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, 'x', 1771323073000);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
  learned TEXT, next_steps TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO session_summaries VALUES (1, 's1', 'engine', 'Mend the feeder', 'Wear shows first at the belt', 'Order belts',
  '2026-02-17T11:00:00Z', 1771326000000);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, prompt_text TEXT);
INSERT INTO user_prompts VALUES (1, 'please'), (2, 'thanks');
CREATE TABLE directives (id INTEGER PRIMARY KEY, scope TEXT, project TEXT, content TEXT, status TEXT, source TEXT);
INSERT INTO directives VALUES (1, 'global', NULL, 'Never stop the engine while cards are in it', 'active', 'manual'),
  (2, 'global', NULL, 'Old rule', 'archived', 'manual');
CREATE TABLE lately_invented (a TEXT);
INSERT INTO lately_invented VALUES ('?');
CREATE VIEW memories AS SELECT * FROM observations;
"#;

const OLD: &str = "
CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, text TEXT, keywords TEXT, title TEXT, project TEXT,
  created_at TEXT, created_at_epoch INTEGER);
INSERT INTO memories VALUES (7, 's', 'The store is a folder', 'store', 'Store', 'p', '2025-09-01T00:00:00Z', 1756684800000);
CREATE TABLE overviews (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, created_at TEXT);
INSERT INTO overviews VALUES (1, 's', 'All went well', '2025-09-01T01:00:00Z');
";

fn database(case: &Case, name: &str, sql: &str) {
    let connection = Connection::open(case.root().join(name)).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn observations_become_records_and_rules_entries() {
    let case = Case::empty();
    database(&case, "claude-mem.db", NEW);
    let report = twice(&case, "claude-mem claude-mem.db");
    // Records: observations 1 and 3, a summary; a rule. Left: an empty one, bytes, prompts, an old rule.
    assert_eq!(counts(&report), [4, 0, 4, 2], "{report:#}");
    let reasons = reasons(&report);
    for expected in [
        "is archived, no longer active",
        "prompts are not imported",
        "observations 4: has no valid time",
        "the table lately_invented (1 rows) is not known",
    ] {
        assert!(reasons.contains(expected), "{expected}\n{reasons}");
    }
    let found = case.run("journal search feeder --json").success();
    let found = found.stdout();
    for expected in ["The feeder is worn", "2026-02-17T10:11:12+00:00", "bugfix", "src/feed.c"] {
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    let rule = case.run("entry list --json").success().stdout();
    assert!(rule.contains("never-stop-the-engine"), "{rule}");
    assert!(!case.root().join("claude-mem.db-wal").exists());
    assert!(!case.root().join("claude-mem.db-shm").exists());
}

#[test]
fn older_databases_are_read_too() {
    let case = Case::empty();
    database(&case, "old.db", OLD);
    let report = twice(&case, "claude-mem old.db");
    assert_eq!(counts(&report), [2, 0, 0, 0], "{report:#}");
}

#[test]
fn what_waits_in_the_write_ahead_log_is_told() {
    let case = Case::empty();
    let connection = Connection::open(case.root().join("wal.db")).unwrap();
    connection.execute_batch(OLD).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection
        .execute_batch("INSERT INTO overviews VALUES (2, 's', 'Late', '2025-09-02T01:00:00Z')")
        .unwrap();
    let before = case.tree();
    let report = import(&case, "claude-mem wal.db --dry-run");
    assert_eq!(case.tree(), before);
    assert!(reasons(&report).contains("contains changes that are not in the database yet"));
    drop(connection);
}

#[test]
fn what_is_no_database_is_refused_whole() {
    let case = Case::empty();
    case.write(
        "text.db",
        "not a database, but long enough to be taken for one by its name ".repeat(40),
    );
    let outcome = case.run("import claude-mem text.db").code(1);
    assert!(outcome.stderr().contains("cannot be read as a database"), "{}", outcome.report());
    database(&case, "odd ?#%.db", OLD);
    let bytes = case.read("odd ?#%.db").unwrap();
    case.run("import claude-mem").args(["odd ?#%.db"]).success();
    assert_eq!(case.read("odd ?#%.db").unwrap(), bytes);
    case.write("torn.db", &bytes[..bytes.len() / 2]);
    let before = case.tree();
    case.run("import claude-mem torn.db").code(1);
    assert_eq!(case.tree(), before);
}

#[test]
fn values_and_tables_that_are_worked_out_take_bounded_memory() {
    let case = Case::empty();
    let long = "CREATE TABLE observations(id, title, text TEXT GENERATED ALWAYS AS \
                (printf('%.*c', 900000000, 'x')) VIRTUAL); INSERT INTO observations(id) VALUES (1);";
    database(&case, "long.db", long);
    let many = "CREATE TABLE observations(id INTEGER, text TEXT GENERATED ALWAYS AS \
                (printf('%.*c', 1900000, 'x')) VIRTUAL); \
                WITH RECURSIVE count(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM count LIMIT 60) \
                INSERT INTO observations(id) SELECT x FROM count;";
    database(&case, "many.db", many);
    for (name, expected) in [("long.db", "too big"), ("many.db", "larger than 64 MiB")] {
        let run = case.run(&format!("import claude-mem {name}")).output();
        assert_ne!(run.exit_code(), Some(0), "{}", run.report());
        assert!(run.stderr().contains(expected), "{}", run.report());
    }
}

#[test]
fn rows_past_the_maximum_are_left_out_with_a_warning() {
    let case = Case::empty();
    let rows = "CREATE TABLE directives(id INTEGER PRIMARY KEY, content TEXT, status TEXT); \
                WITH RECURSIVE count(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM count LIMIT 50001) \
                INSERT INTO directives SELECT x, 'Rule ' || x, \
                iif(x IN (3, 50000, 50001), 'active', 'done') FROM count;";
    database(&case, "many.db", rows);
    let report = import(&case, "claude-mem many.db");
    assert_eq!(counts(&report), [2, 0, 49_998, 1], "{}", report["counts"]);
    assert_eq!(
        report["not_understood"][0]["message"],
        "only the first 50000 of the 50001 rows of the table directives are read"
    );
    let names = report["imported"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|one| one["item"].as_str().unwrap()).collect();
    assert_eq!(names, ["directives 3", "directives 50000"]);
}
