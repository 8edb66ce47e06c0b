//! The outbox for an external vector index: jobs are written with the fact, and executed later.

use chrono::TimeDelta;
use rusqlite::{Connection, params};

use crate::error::{Error, Result};
use crate::facts::vectors::chroma::{Chroma, Point};
use crate::facts::vectors::copies::{BATCH, pause};
use crate::facts::vectors::{copies, text};
use crate::facts::{Fact, Facts, Sql, UserId, fact, queue, row};
use crate::search::Embedder;

/// A pending update of a fact's vector.
struct Job {
    fact: String,
    user: String,
    /// A random id, which changes when a later job replaces it.
    id: String,
    attempts: u32,
}

row!(Job: fact, user, id, attempts);

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

/// Enqueues an update of every retrievable fact.
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
        let jobs = due(facts.connection(), &now)?;
        if jobs.is_empty() || facts.is_dry_run() {
            return Ok(done);
        }
        let sent: Vec<&str> = jobs.iter().map(|job| job.fact.as_str()).collect();
        // Recorded before it is sent: a run that dies in between must not leave an unknown vector.
        facts.write(|connection| copies::record_sent(connection, server, &sent))?;
        let gone = match carry_out(facts.connection(), server, embedder, &jobs) {
            Ok(gone) => gone,
            Err(error) => {
                postpone(facts, &jobs, &error)?;
                return Err(error);
            }
        };
        facts.write(|connection| {
            copies::acknowledge(connection, server, &sent, &gone)?;
            for job in &jobs {
                connection.run(
                    "DELETE FROM vector_jobs WHERE fact_id = ?1 AND wish = ?2",
                    [&job.fact, &job.id],
                )?;
            }
            Ok(())
        })?;
        done += jobs.len();
    }
}

fn due(connection: &Connection, now: &str) -> Result<Vec<Job>> {
    let sql = "SELECT fact_id, user_id, wish, attempts FROM vector_jobs \
               WHERE not_before <= ?1 ORDER BY not_before, fact_id LIMIT ?2";
    connection.list(sql, params![now, BATCH])
}

/// Sends the current state of the facts, which may be newer than the jobs; returns those without a vector.
fn carry_out(
    connection: &Connection,
    server: &Chroma,
    embedder: &Embedder,
    jobs: &[Job],
) -> Result<Vec<String>> {
    let (mut current, mut gone) = (Vec::new(), Vec::new());
    for job in jobs {
        let user = UserId::stored(job.user.clone());
        match fact::by_id(connection, &user, &job.fact)? {
            Some(fact) if fact.status.is_retrievable() => current.push(fact),
            _ => gone.push(job.fact.clone()),
        }
    }
    let texts: Vec<String> = current.iter().map(|fact| text(&fact.key, &fact.value_text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.vectors(&texts)?;
    let mut points = Vec::new();
    for (fact, vector) in current.into_iter().zip(vectors) {
        // A zero vector means no known words, and has no cosine.
        if vector.is_zero() {
            gone.push(fact.fact_id);
        } else {
            points.push(Point { fact, vector });
        }
    }
    server.upsert(&points)?;
    let ids: Vec<&str> = gone.iter().map(String::as_str).collect();
    server.delete(&ids)?;
    Ok(gone)
}

fn postpone(facts: &mut Facts, jobs: &[Job], error: &Error) -> Result<()> {
    let clock = facts.clock();
    let message = error.to_string();
    facts.write(|connection| {
        for job in jobs {
            let not_before = queue::later(&clock, TimeDelta::seconds(pause(job.attempts)));
            connection.run(
                "UPDATE vector_jobs SET attempts = attempts + 1, not_before = ?3, last_error = ?4 \
                     WHERE fact_id = ?1 AND wish = ?2",
                params![job.fact, job.id, not_before, message],
            )?;
        }
        Ok(())
    })
}
