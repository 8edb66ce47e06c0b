//! What a vector server is still to be told: the vectors of changed facts, and which facts were forgotten.
//!
//! A job is written in the transaction that changes its fact, and carried out later. That of a forgotten fact names no
//! user.

use rusqlite::{Connection, named_params, params};

use crate::error::Result;
use crate::facts::fact::COLUMNS;
use crate::facts::vectors::chroma::{Chroma, Point};
use crate::facts::vectors::text;
use crate::facts::{Fact, Facts, Sql, json, queue};
use crate::search::Embedder;

/// Maximum number of jobs per request.
const BATCH: u32 = 256;

/// Stores the latest job for a fact, in the transaction that changes it; a pause after a failure remains.
pub(crate) fn enqueue(connection: &Connection, fact: &Fact) -> Result<()> {
    let operation = if fact.status.is_retrievable() { "upsert" } else { "delete" };
    let sql = "INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at, wish) \
               VALUES (?1, ?2, ?3, '', ?4, lower(hex(randomblob(8)))) \
               ON CONFLICT (fact_id) DO UPDATE SET user_id = excluded.user_id, \
               operation = excluded.operation, wish = excluded.wish, created_at = excluded.created_at";
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

/// Schedules the erasure of facts on the server, if the vectors are on one, in the transaction that forgets them.
pub(crate) fn enqueue_forgotten(connection: &Connection, ids: &str) -> Result<()> {
    let of_facts = "fact_id IN (SELECT value FROM json_each(?1))";
    connection.run(&format!("DELETE FROM vector_jobs WHERE {of_facts}"), [ids])?;
    let sql = "INSERT INTO vector_jobs (fact_id, user_id, operation, not_before, created_at, wish) \
               SELECT value, '', 'delete', '', '', lower(hex(randomblob(8))) FROM json_each(?1) \
               WHERE (SELECT server FROM vector_index) IS NOT NULL";
    connection.run(sql, [ids])
}

/// Returns the number of forgotten facts that the server may still have, and why.
pub(crate) fn forgotten(connection: &Connection) -> Result<(u64, Option<String>)> {
    let sql = "SELECT count(*), max(last_error) FROM vector_jobs WHERE user_id = ''";
    Ok(connection.optional(sql, [])?.unwrap_or_default())
}

/// Executes the jobs that are due, or of these those of forgotten facts, and returns their number; if the server fails,
/// they are retried later.
pub(crate) fn drain(
    facts: &mut Facts,
    server: &Chroma,
    embedder: &Embedder,
    only_forgotten: bool,
) -> Result<usize> {
    let mut done = 0;
    loop {
        let now = queue::now_millis(&facts.clock());
        // A later job replaces the random id.
        let sql = "SELECT fact_id, wish FROM vector_jobs WHERE not_before <= ?1 \
                   AND (user_id = '' OR NOT ?3) ORDER BY not_before, fact_id LIMIT ?2";
        let values = params![now, BATCH, only_forgotten];
        let jobs: Vec<(String, String)> = facts.connection().list(sql, values)?;
        if jobs.is_empty() || facts.is_dry_run() {
            return Ok(done);
        }
        let of_jobs = "(fact_id, wish) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:jobs))";
        let (ids, sent) = (json(&jobs.iter().map(|job| &job.0).collect::<Vec<_>>())?, json(&jobs)?);
        match carry_out(facts.connection(), server, embedder, &ids) {
            Ok(gone) => facts.write(|connection| {
                let sql = "UPDATE facts SET embedding_id = \
                           iif(fact_id IN (SELECT value FROM json_each(?2)), NULL, fact_id) \
                           WHERE fact_id IN (SELECT value FROM json_each(?1))";
                connection.run(sql, [&ids, &json(&gone)?])?;
                let sql = format!("DELETE FROM vector_jobs WHERE {of_jobs}");
                connection.run(&sql, named_params! { ":jobs": sent })
            })?,
            Err(error) => {
                // The pause doubles up to a little over an hour.
                let sql = format!(
                    "UPDATE vector_jobs SET attempts = attempts + 1, last_error = :error, not_before = \
                     strftime('%Y-%m-%dT%H:%M:%fZ', :now, (1 << min(attempts, 12)) || ' seconds') \
                     WHERE {of_jobs}"
                );
                let values =
                    named_params! { ":jobs": sent, ":now": now, ":error": error.to_string() };
                facts.write(|connection| connection.run(&sql, values))?;
                return Err(error);
            }
        }
        done += jobs.len();
    }
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
