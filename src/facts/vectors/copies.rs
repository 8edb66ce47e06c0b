//! Tracks which servers may have the vector of a fact, and erases forgotten ones there.

use chrono::TimeDelta;
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::vectors::chroma::Chroma;
use crate::facts::{Facts, Sql, json, queue, row};

/// Maximum number of jobs per request.
pub(crate) const BATCH: u32 = 256;

/// Maximum pause after a failure, as a power of two in seconds: a little over an hour.
const MAX_PAUSE_EXPONENT: u32 = 12;

/// Vectors of forgotten facts that a server still has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remaining {
    /// The URL of the server.
    pub server: String,
    /// Number of vectors.
    pub vectors: u64,
    /// Number of failed attempts to erase them.
    pub attempts: u32,
    /// The last error.
    pub last_error: Option<String>,
}

row!(Remaining: server, vectors, attempts, last_error);

/// A collection with vectors to erase.
struct RemoteCollection {
    id: i64,
    server: String,
    name: String,
    attempts: u32,
}

row!(RemoteCollection: id, server, name, attempts);

/// Condition for vectors to erase, except of a fact that was added again and whose job is still pending.
const ERASABLE: &str = "place = ?1 AND NOT EXISTS (SELECT 1 FROM vector_jobs AS j \
    JOIN vector_index AS i JOIN vector_places AS p USING (server, collection) \
    WHERE j.fact_id = vector_erasures.fact_id AND p.place = vector_erasures.place)";

/// Records that a server may have the vectors of these facts from now on.
pub(crate) fn record_sent(connection: &Connection, server: &Chroma, facts: &[&str]) -> Result<()> {
    let collection = [server.url(), server.collection()];
    let sql =
        "INSERT INTO vector_places (server, collection) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    connection.run(sql, collection)?;
    let sql = "INSERT INTO vector_copies (fact_id, place) \
               SELECT value, place FROM json_each(?3) JOIN vector_places \
               ON server = ?1 AND collection = ?2 WHERE true ON CONFLICT DO NOTHING";
    connection.run(sql, [collection[0], collection[1], &json(&facts)?])
}

/// Records that a server has processed these facts, and no longer has the vectors of those in `gone`.
pub(crate) fn acknowledge(
    connection: &Connection,
    server: &Chroma,
    facts: &[&str],
    gone: &[String],
) -> Result<()> {
    for (table, facts) in [("vector_copies", json(&gone)?), ("vector_erasures", json(&facts)?)] {
        let sql = format!(
            "DELETE FROM {table} WHERE fact_id IN (SELECT value FROM json_each(?3)) AND place = \
             (SELECT place FROM vector_places WHERE server = ?1 AND collection = ?2)"
        );
        connection.run(&sql, [server.url(), server.collection(), &facts])?;
    }
    Ok(())
}

/// Records that the server has dropped its collection.
pub(crate) fn forget_collection(connection: &Connection, server: &Chroma) -> Result<()> {
    for table in ["vector_copies", "vector_erasures"] {
        let sql = format!(
            "DELETE FROM {table} WHERE place = \
             (SELECT place FROM vector_places WHERE server = ?1 AND collection = ?2)"
        );
        connection.run(&sql, [server.url(), server.collection()])?;
    }
    Ok(())
}

/// Schedules the erasure of a fact wherever its vector was sent, in the transaction that forgets it.
pub(crate) fn forget(connection: &Connection, fact: &str) -> Result<()> {
    for sql in [
        "INSERT INTO vector_erasures (place, fact_id) \
         SELECT place, fact_id FROM vector_copies WHERE fact_id = ?1 ON CONFLICT DO NOTHING",
        "DELETE FROM vector_copies WHERE fact_id = ?1",
    ] {
        connection.run(sql, [fact])?;
    }
    Ok(())
}

/// The collections in which to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryScope {
    /// All with vectors to erase.
    All,
    /// Those without a failure, or whose pause after the last one is over.
    Due,
}

/// Erases forgotten vectors everywhere; failed collections are retried later. Returns the first error.
pub(crate) fn erase(facts: &mut Facts, scope: RetryScope) -> Result<Option<Error>> {
    if facts.is_dry_run() {
        return Ok(None);
    }
    let mut failed = None;
    for collection in collections(facts, scope)? {
        if let Some(error) = erase_in(facts, &collection)? {
            postpone(facts, &collection, &error)?;
            failed.get_or_insert(error);
        }
    }
    Ok(failed)
}

fn collections(facts: &Facts, scope: RetryScope) -> Result<Vec<RemoteCollection>> {
    let now = match scope {
        RetryScope::All => None,
        RetryScope::Due => Some(queue::now_millis(&facts.clock())),
    };
    let sql = "SELECT place, server, collection, attempts FROM vector_places AS p \
               WHERE (?1 IS NULL OR not_before <= ?1) \
               AND EXISTS (SELECT 1 FROM vector_erasures AS e WHERE e.place = p.place) ORDER BY place";
    facts.connection().list(sql, [now])
}

/// Erases the vectors in one collection; returns the error of the server, if any.
fn erase_in(facts: &mut Facts, from: &RemoteCollection) -> Result<Option<Error>> {
    let server = match Chroma::at(&from.server, &from.name) {
        Ok(server) => server,
        Err(error) => return Ok(Some(error)),
    };
    loop {
        let ids = erasable(facts.connection(), from)?;
        if ids.is_empty() {
            return Ok(None);
        }
        let gone: Vec<&str> = ids.iter().map(String::as_str).collect();
        if let Err(error) = server.delete(&gone) {
            return Ok(Some(error));
        }
        facts.write(|connection| {
            for fact in &gone {
                connection.run(
                    "DELETE FROM vector_erasures WHERE place = ?1 AND fact_id = ?2",
                    params![from.id, fact],
                )?;
            }
            record_answer(connection, from.id)
        })?;
    }
}

fn erasable(connection: &Connection, from: &RemoteCollection) -> Result<Vec<String>> {
    let sql = format!("SELECT fact_id FROM vector_erasures WHERE {ERASABLE} LIMIT {BATCH}");
    connection.column(&sql, [from.id])
}

fn record_answer(connection: &Connection, collection: i64) -> Result<()> {
    let sql = "UPDATE vector_places SET attempts = 0, not_before = '', last_error = NULL \
               WHERE place = ?1";
    connection.run(sql, [collection])
}

fn postpone(facts: &mut Facts, from: &RemoteCollection, error: &Error) -> Result<()> {
    let not_before = queue::later(&facts.clock(), TimeDelta::seconds(pause(from.attempts)));
    facts.write(|connection| {
        connection.run(
            "UPDATE vector_places SET attempts = attempts + 1, not_before = ?2, last_error = ?3 \
                 WHERE place = ?1",
            params![from.id, not_before, error.message],
        )
    })
}

/// Returns what servers still have of these facts, or of all forgotten ones.
pub(crate) fn remaining(connection: &Connection, of: Option<&[String]>) -> Result<Vec<Remaining>> {
    let ids = of.map(|ids| serde_json::json!(ids).to_string());
    let sql = "SELECT server, count(*), attempts, last_error FROM vector_erasures JOIN vector_places USING (place) \
               WHERE ?1 IS NULL OR fact_id IN (SELECT value FROM json_each(?1)) GROUP BY place ORDER BY place";
    connection.list(sql, [ids])
}

/// Returns the pause after a failure, in seconds, given the number of earlier failures.
pub(crate) fn pause(attempts: u32) -> i64 {
    1_i64 << attempts.min(MAX_PAUSE_EXPONENT)
}
