//! Checks the integrity of the database: its pages, its indexes, and the consistency of its tables.

use std::collections::BTreeMap;

use rusqlite::{Connection, ErrorCode};
use serde::Serialize;

use crate::error::Result;
use crate::facts::fact::{COLUMNS, Fact};
use crate::facts::failure::SqliteResultExt;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::vectors::Remaining;
use crate::facts::{audit_trail, vectors};
use crate::text::quantity;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Integrity {
    /// Path of the database.
    pub db: String,
    /// The problems, one sentence each.
    pub problems: Vec<String>,
    /// Number of facts of all users.
    pub facts: u64,
    /// Number of turns waiting for the auditor.
    pub waiting_turns: u64,
    /// Number of turns without a usable answer.
    pub dead_turns: u64,
    /// Number of changes missing from the vector index.
    pub unsynced_vectors: u64,
    /// What was forgotten but is not erased yet on servers that vectors were sent to.
    pub remaining: Vec<Remaining>,
}

/// Inconsistencies, with the queries that count them.
const ORPHANS: &[(&str, &str)] = &[
    (
        "facts without a history",
        "SELECT count(*) FROM facts WHERE NOT EXISTS (SELECT 1 FROM fact_history AS h \
         WHERE h.user_id = facts.user_id AND h.fact_id = facts.fact_id)",
    ),
    (
        "vectors without a current fact",
        "SELECT count(*) FROM fact_vectors AS v WHERE NOT EXISTS (SELECT 1 FROM facts \
         WHERE facts.user_id = v.user_id AND facts.fact_id = v.fact_id \
         AND facts.status IN ('active', 'pending_confirmation'))",
    ),
    (
        "facts that are both archived and current",
        "SELECT count(*) FROM facts JOIN facts_archive USING (fact_id)",
    ),
    (
        "keys with several active values",
        "SELECT count(*) FROM (SELECT 1 FROM facts WHERE status = 'active' \
         AND substr(key, -2) <> '[]' GROUP BY user_id, key HAVING count(*) > 1)",
    ),
    ("facts that end before they begin", "SELECT count(*) FROM facts WHERE valid_to < valid_from"),
    ("leftovers of an erasure", "SELECT count(*) FROM erasing"),
];

/// Counts facts missing from the built-in index, and outbox jobs for an external one.
const UNSYNCED: &str = "SELECT (SELECT count(*) FROM vector_jobs) + (SELECT count(*) FROM facts AS f \
     WHERE f.status IN ('active', 'pending_confirmation') \
     AND (SELECT server FROM vector_index) IS NULL AND NOT EXISTS \
     (SELECT 1 FROM fact_vectors AS v WHERE v.user_id = f.user_id AND v.seq = f.seq))";

/// Checks the database without changing it.
pub fn check(facts: &Facts) -> Result<Integrity> {
    let connection = facts.connection();
    let mut found = Integrity {
        db: facts.path().display().to_string(),
        facts: count(connection, "SELECT count(*) FROM facts")?,
        waiting_turns: count(
            connection,
            "SELECT count(*) FROM turns WHERE status IN ('pending', 'running')",
        )?,
        dead_turns: count(connection, "SELECT count(*) FROM turns WHERE status = 'dead'")?,
        unsynced_vectors: count(connection, UNSYNCED)?,
        remaining: vectors::remaining(connection, None)?,
        problems: pages(connection)?,
    };
    for table in ["facts_fts", "facts_trigram"] {
        // The check compares the index with its content table; FTS5 expects it as an INSERT.
        let sql = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
        match connection.execute(&sql, []) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                return Err(error).context("check the database");
            }
            Err(error) => {
                let problem = format!("{table} does not match the facts: {error}");
                found.problems.push(problem);
            }
            Ok(_) => {}
        }
    }
    for (what, sql) in ORPHANS {
        let number = count(connection, sql)?;
        if number > 0 {
            found.problems.push(format!("{number} {what}"));
        }
    }
    found.problems.extend(unlike_history(connection)?);
    Ok(found)
}

fn count(connection: &Connection, sql: &str) -> Result<u64> {
    connection.value("check the database", sql, [])
}

fn pages(connection: &Connection) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for pragma in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
        problems.extend(connection.rows("check the database", pragma, [], |row| row.get(0))?);
    }
    problems.retain(|line: &String| line != "ok");
    Ok(problems)
}

/// Replays the history and compares: each fact must match the state after its last change.
fn unlike_history(connection: &Connection) -> Result<Vec<String>> {
    let mut folded: BTreeMap<String, String> = BTreeMap::new();
    let sql = "SELECT fact_id, after_json FROM fact_history ORDER BY history_id";
    connection.each("read the history", sql, [], |row| {
        let id = row.get(0)?;
        match row.get(1)? {
            Some(after) => drop(folded.insert(id, after)),
            None => drop(folded.remove(&id)),
        }
        Ok(())
    })?;
    let sql = format!("SELECT {COLUMNS} FROM facts");
    let mut statement = connection.prepare(&sql).context("read the facts")?;
    let rows = statement.query_map([], Fact::read).context("read the facts")?;
    let mut unlike = 0_u64;
    for row in rows {
        let mut fact = row.context("read the facts")?;
        let recorded = folded.get(&fact.fact_id).map(|json| audit_trail::fact(json));
        let Some(mut recorded) = recorded.transpose()? else {
            continue;
        };
        // The id in the index is derived, and not part of what was stated.
        (fact.embedding_id, recorded.embedding_id) = (None, None);
        unlike += u64::from(fact != recorded);
    }
    let problem = format!("{} not matching the history", quantity(unlike, "fact"));
    Ok((unlike > 0).then_some(problem).into_iter().collect())
}
