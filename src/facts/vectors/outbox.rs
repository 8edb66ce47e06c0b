//! What a vector server is still to be told: the vectors of changed facts, and those of forgotten ones to erase.
//!
//! A job is written in the transaction that changes its fact, and carried out later. Each server and collection that
//! a vector was ever sent to is a place, and is asked to erase what is forgotten, for ever.

use rusqlite::{Connection, named_params, params};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact::COLUMNS;
use crate::facts::vectors::chroma::{Chroma, Point};
use crate::facts::vectors::text;
use crate::facts::{Fact, Facts, Sql, json, queue, row};
use crate::search::Embedder;

/// Maximum number of jobs per request.
const BATCH: u32 = 256;

/// What a failure sets. The pause doubles up to a little over an hour.
const POSTPONED: &str = "attempts = attempts + 1, last_error = :error, \
     not_before = strftime('%Y-%m-%dT%H:%M:%fZ', :now, (1 << min(attempts, 12)) || ' seconds')";

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

/// Stores the latest job for a fact, in the transaction that changes it; a pause after a failure remains.
pub(crate) fn enqueue(connection: &Connection, fact: &Fact) -> Result<()> {
    let operation = if fact.status.is_retrievable() { "upsert" } else { "delete" };
    let sql = "INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at, wish) \
               VALUES (?1, ?2, ?3, '', ?4, lower(hex(randomblob(8)))) \
               ON CONFLICT (fact_id) DO UPDATE SET operation = excluded.operation, \
               wish = excluded.wish, created_at = excluded.created_at";
    let values = params![fact.fact_id, fact.user_id, operation, fact.updated_at];
    connection.run(sql, values)
}

/// Enqueues an update of every retrievable fact, and nothing else.
pub(crate) fn enqueue_all(connection: &Connection, now: &str) -> Result<()> {
    let again = "INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at, wish) \
                 SELECT fact_id, user_id, 'upsert', '', ?1, lower(hex(randomblob(8))) FROM facts \
                 WHERE status IN ('active', 'pending_confirmation')";
    connection.run("DELETE FROM vector_jobs", [])?;
    connection.run(again, [now])
}

/// Executes the jobs that are due, and returns their number; if the server fails, they are retried later.
pub(crate) fn drain(facts: &mut Facts, server: &Chroma, embedder: &Embedder) -> Result<usize> {
    let mut done = 0;
    loop {
        let now = queue::now_millis(&facts.clock());
        // A later job replaces the random id.
        let sql = "SELECT fact_id, wish FROM vector_jobs WHERE not_before <= ?1 \
                   ORDER BY not_before, fact_id LIMIT ?2";
        let jobs: Vec<(String, String)> = facts.connection().list(sql, params![now, BATCH])?;
        if jobs.is_empty() || facts.is_dry_run() {
            return Ok(done);
        }
        let of_jobs = "(fact_id, wish) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:jobs))";
        let (ids, sent) = (json(&jobs.iter().map(|job| &job.0).collect::<Vec<_>>())?, json(&jobs)?);
        // Recorded before it is sent: a run that dies in between must not leave an unknown vector.
        let place = facts.write(|connection| record_sent(connection, server, &ids))?;
        match carry_out(facts.connection(), server, embedder, &ids) {
            Ok(gone) => facts.write(|connection| {
                let gone = json(&gone)?;
                for (table, ids) in [("vector_copies", &gone), ("vector_erasures", &ids)] {
                    erase_ids(connection, table, place, ids)?;
                }
                let sql = format!("DELETE FROM vector_jobs WHERE {of_jobs}");
                connection.run(&sql, named_params! { ":jobs": sent })
            })?,
            Err(error) => {
                let sql = format!("UPDATE vector_jobs SET {POSTPONED} WHERE {of_jobs}");
                let values =
                    named_params! { ":jobs": sent, ":now": now, ":error": error.to_string() };
                facts.write(|connection| connection.run(&sql, values))?;
                return Err(error);
            }
        }
        done += jobs.len();
    }
}

/// Records that a server may have the vectors of these facts from now on; returns its place.
fn record_sent(connection: &Connection, server: &Chroma, ids: &str) -> Result<i64> {
    let sql = "INSERT INTO vector_places (server, collection) VALUES (?1, ?2) \
               ON CONFLICT DO UPDATE SET server = server RETURNING place";
    let place = connection.value(sql, [server.url(), server.collection()])?;
    let sql = "INSERT INTO vector_copies (fact_id, place) SELECT value, ?1 FROM json_each(?2) \
               WHERE true ON CONFLICT DO NOTHING";
    connection.run(sql, params![place, ids])?;
    Ok(place)
}

/// Sends the current state of these facts, which may be newer than the jobs; returns those without a vector.
fn carry_out(
    connection: &Connection,
    server: &Chroma,
    embedder: &Embedder,
    ids: &str,
) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM facts WHERE fact_id IN (SELECT value FROM json_each(?1)) \
         AND status IN ('active', 'pending_confirmation')"
    );
    let current: Vec<Fact> = connection.list(&sql, [ids])?;
    let texts: Vec<String> = current.iter().map(|fact| text(&fact.key, &fact.value_text)).collect();
    let vectors = embedder.vectors(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let points = current.into_iter().zip(vectors).map(|(fact, vector)| Point { fact, vector });
    // A zero vector means no known words, and has no cosine.
    let points: Vec<Point> = points.filter(|point| !point.vector.is_zero()).collect();
    let mut gone: Vec<String> = connection.column("SELECT value FROM json_each(?1)", [ids])?;
    gone.retain(|id| points.iter().all(|point| point.fact.fact_id != *id));
    server.upsert(&points)?;
    server.delete(&gone)?;
    Ok(gone)
}

fn erase_ids(connection: &Connection, table: &str, place: i64, ids: &str) -> Result<()> {
    let sql = format!(
        "DELETE FROM {table} WHERE place = ?1 AND fact_id IN (SELECT value FROM json_each(?2))"
    );
    connection.run(&sql, params![place, ids])
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

/// Schedules the erasure of facts wherever their vectors were sent, in the transaction that forgets them.
pub(crate) fn forget_copies(connection: &Connection, ids: &str) -> Result<()> {
    let of_facts = "FROM vector_copies WHERE fact_id IN (SELECT value FROM json_each(?1))";
    let schedule = format!(
        "INSERT INTO vector_erasures (place, fact_id) SELECT place, fact_id {of_facts} ON CONFLICT DO NOTHING"
    );
    connection.run(&schedule, [ids])?;
    connection.run(&format!("DELETE {of_facts}"), [ids])
}

/// Erases forgotten vectors on the servers that they were sent to; on all, or on those whose pause after a failure is
/// over. Returns the first error.
pub(crate) fn erase(facts: &mut Facts, only_due: bool) -> Result<Option<Error>> {
    if facts.is_dry_run() {
        return Ok(None);
    }
    let now = queue::now_millis(&facts.clock());
    let sql = "SELECT place, server, collection FROM vector_places AS p WHERE NOT (?2 AND not_before > ?1) \
               AND EXISTS (SELECT 1 FROM vector_erasures AS e WHERE e.place = p.place) ORDER BY place";
    let places: Vec<(i64, String, String)> =
        facts.connection().list(sql, params![now, only_due])?;
    let mut failed = None;
    for (place, server, collection) in places {
        let refused = match Chroma::at(&server, &collection) {
            Ok(server) => erase_in(facts, place, &server)?,
            Err(error) => Some(error),
        };
        if let Some(error) = refused {
            let sql = format!("UPDATE vector_places SET {POSTPONED} WHERE place = :place");
            let values = named_params! { ":place": place, ":now": now, ":error": error.message };
            facts.write(|connection| connection.run(&sql, values))?;
            failed.get_or_insert(error);
        }
    }
    Ok(failed)
}

/// Erases what is scheduled for one server; returns the server's error.
fn erase_in(facts: &mut Facts, place: i64, server: &Chroma) -> Result<Option<Error>> {
    loop {
        // Not of a fact that was added again and whose job is still pending.
        let sql = "SELECT fact_id FROM vector_erasures AS e WHERE place = ?1 AND NOT EXISTS \
                   (SELECT 1 FROM vector_jobs AS j, vector_index JOIN vector_places AS p USING (server, collection) \
                   WHERE j.fact_id = e.fact_id AND p.place = e.place) LIMIT ?2";
        let ids: Vec<String> = facts.connection().column(sql, params![place, BATCH])?;
        if ids.is_empty() {
            return Ok(None);
        }
        if let Err(error) = server.delete(&ids) {
            return Ok(Some(error));
        }
        facts.write(|connection| {
            erase_ids(connection, "vector_erasures", place, &json(&ids)?)?;
            let answered = "UPDATE vector_places SET attempts = 0, not_before = '', last_error = NULL \
                            WHERE place = ?1";
            connection.run(answered, [place])
        })?;
    }
}

/// Returns what servers still have of these facts, or of all forgotten ones.
pub(crate) fn remaining(connection: &Connection, of: Option<&str>) -> Result<Vec<Remaining>> {
    let sql = "SELECT server, count(*), attempts, last_error FROM vector_erasures JOIN vector_places USING (place) \
               WHERE ?1 IS NULL OR fact_id IN (SELECT value FROM json_each(?1)) GROUP BY place ORDER BY place";
    connection.list(sql, [of])
}
