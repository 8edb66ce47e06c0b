//! On which servers the vector of a fact may be, and what of them is forgotten here and is still to be erased there.

use chrono::TimeDelta;
use rusqlite::Connection;
use rusqlite::params;
use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::queue;
use crate::facts::store::Facts;
use crate::facts::vectors::chroma::Chroma;

/// How many wishes go into one request.
pub(crate) const BATCH: u32 = 256;

/// The longest pause after a failure, as a power of two in seconds: a little over an hour.
const MAX_PAUSE_EXPONENT: u32 = 12;

/// Vectors of what was forgotten that a server still has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remaining {
    /// The address of the server.
    pub server: String,
    /// How many.
    pub vectors: u64,
    /// How often it was asked to erase them and did not.
    pub attempts: u32,
    /// Why it did not.
    pub last_error: Option<String>,
}

/// A server and collection with something to erase.
struct RemoteCollection {
    id: i64,
    server: String,
    collection: String,
    attempts: u32,
}

/// A fact that came back is told again by the wish that waits for it, which is not to be undone.
const ERASABLE: &str = "place = ?1 AND NOT EXISTS (SELECT 1 FROM vector_jobs AS j \
    JOIN vector_index AS i JOIN vector_places AS p USING (server, collection) \
    WHERE j.fact_id = vector_erasures.fact_id AND p.place = vector_erasures.place)";

/// Notes that a server may have the vectors of these facts from now on.
pub(crate) fn record_sent(connection: &Connection, server: &Chroma, facts: &[&str]) -> Result<()> {
    let place = [server.url(), server.collection()];
    connection.run(
        "note where vectors are sent",
        "INSERT INTO vector_places (server, collection) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        place,
    )?;
    let sql = "INSERT INTO vector_copies (fact_id, place) \
               SELECT ?3, place FROM vector_places WHERE server = ?1 AND collection = ?2 \
               ON CONFLICT DO NOTHING";
    for fact in facts {
        connection.run(
            "note where vectors are sent",
            sql,
            [place[0], place[1], fact],
        )?;
    }
    Ok(())
}

/// Notes that a server has been told of these facts, and has no vector any more of those that are gone.
pub(crate) fn acknowledge(
    connection: &Connection,
    server: &Chroma,
    facts: &[&str],
    gone: &[String],
) -> Result<()> {
    let remove = |table: &str, fact: &str| {
        let sql = format!(
            "DELETE FROM {table} WHERE fact_id = ?3 AND place = \
             (SELECT place FROM vector_places WHERE server = ?1 AND collection = ?2)"
        );
        connection.run(
            "note where vectors are",
            &sql,
            [server.url(), server.collection(), fact],
        )
    };
    for fact in gone {
        remove("vector_copies", fact)?;
    }
    for fact in facts {
        remove("vector_erasures", fact)?;
    }
    Ok(())
}

/// Notes that the server has dropped its collection.
pub(crate) fn forget_collection(connection: &Connection, server: &Chroma) -> Result<()> {
    for table in ["vector_copies", "vector_erasures"] {
        let sql = format!(
            "DELETE FROM {table} WHERE place = \
             (SELECT place FROM vector_places WHERE server = ?1 AND collection = ?2)"
        );
        connection.run(
            "note where vectors are",
            &sql,
            [server.url(), server.collection()],
        )?;
    }
    Ok(())
}

/// Wishes that a fact be erased wherever its vector was sent, in the transaction that forgets it.
pub(crate) fn forget(connection: &Connection, fact: &str) -> Result<()> {
    for sql in [
        "INSERT INTO vector_erasures (place, fact_id) \
         SELECT place, fact_id FROM vector_copies WHERE fact_id = ?1 ON CONFLICT DO NOTHING",
        "DELETE FROM vector_copies WHERE fact_id = ?1",
    ] {
        connection.run("forget where vectors are", sql, [fact])?;
    }
    Ok(())
}

/// Which places are asked to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryScope {
    /// All that have something to erase.
    All,
    /// Those that have not failed, or whose pause since then is over.
    Due,
}

/// Has every place erase what is forgotten; where one fails, its part stays and is due later. Returns how one failed.
pub(crate) fn erase(facts: &mut Facts, scope: RetryScope) -> Result<Option<Error>> {
    if facts.is_dry_run() {
        return Ok(None);
    }
    let mut failed = None;
    for place in places(facts, scope)? {
        if let Some(error) = erase_at(facts, &place)? {
            postpone(facts, &place, &error)?;
            failed.get_or_insert(error);
        }
    }
    Ok(failed)
}

fn places(facts: &Facts, scope: RetryScope) -> Result<Vec<RemoteCollection>> {
    let now = match scope {
        RetryScope::All => None,
        RetryScope::Due => Some(queue::precise(&facts.clock())),
    };
    let sql = "SELECT place, server, collection, attempts FROM vector_places AS p \
               WHERE (?1 IS NULL OR not_before <= ?1) \
               AND EXISTS (SELECT 1 FROM vector_erasures AS e WHERE e.place = p.place) ORDER BY place";
    facts
        .connection()
        .rows("read what is to be erased", sql, [now], |row| {
            Ok(RemoteCollection {
                id: row.get(0)?,
                server: row.get(1)?,
                collection: row.get(2)?,
                attempts: row.get(3)?,
            })
        })
}

/// Returns how the place failed, where it did.
fn erase_at(facts: &mut Facts, at: &RemoteCollection) -> Result<Option<Error>> {
    let server = match Chroma::at(&at.server, &at.collection) {
        Ok(server) => server,
        Err(error) => return Ok(Some(error)),
    };
    loop {
        let ids = erasable(facts.connection(), at)?;
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
                    "note what is erased",
                    "DELETE FROM vector_erasures WHERE place = ?1 AND fact_id = ?2",
                    params![at.id, fact],
                )?;
            }
            answered(connection, at.id)
        })?;
    }
}

fn erasable(connection: &Connection, at: &RemoteCollection) -> Result<Vec<String>> {
    let sql = format!("SELECT fact_id FROM vector_erasures WHERE {ERASABLE} LIMIT {BATCH}");
    connection.rows("read what is to be erased", &sql, [at.id], |row| row.get(0))
}

fn answered(connection: &Connection, place: i64) -> Result<()> {
    let sql = "UPDATE vector_places SET attempts = 0, not_before = '', last_error = NULL \
               WHERE place = ?1";
    connection.run("note what is erased", sql, [place])
}

fn postpone(facts: &mut Facts, at: &RemoteCollection, error: &Error) -> Result<()> {
    let not_before = queue::later(&facts.clock(), TimeDelta::seconds(pause(at.attempts)));
    facts.write(|connection| {
        connection.run(
            "note what is to be erased",
            "UPDATE vector_places SET attempts = attempts + 1, not_before = ?2, last_error = ?3 \
                 WHERE place = ?1",
            params![at.id, not_before, error.message],
        )
    })
}

/// Returns what of these facts, or of all that are forgotten, a server still has.
pub(crate) fn remaining(connection: &Connection, of: Option<&[String]>) -> Result<Vec<Remaining>> {
    let ids = of.map(|ids| serde_json::json!(ids).to_string());
    let sql = "SELECT server, count(*), attempts, last_error FROM vector_erasures JOIN vector_places USING (place) \
               WHERE ?1 IS NULL OR fact_id IN (SELECT value FROM json_each(?1)) GROUP BY place ORDER BY place";
    connection.rows("read what is to be erased", sql, [ids], |row| {
        Ok(Remaining {
            server: row.get(0)?,
            vectors: row.get(1)?,
            attempts: row.get(2)?,
            last_error: row.get(3)?,
        })
    })
}

/// Returns for how many seconds a server is left alone after so many failures before this one.
pub(crate) fn pause(attempts: u32) -> i64 {
    1_i64 << attempts.min(MAX_PAUSE_EXPONENT)
}
