//! Erases facts permanently: no byte of them remains in the database file, its log or its indexes.

use std::collections::BTreeSet;

use rusqlite::Connection;
use rusqlite::ToSql;
use rusqlite::params;
use serde::Serialize;

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::facts::audit_trail;
use crate::facts::fact;
use crate::facts::fact::Fact;
use crate::facts::key::FactKey;
use crate::facts::query::Query;
use crate::facts::replication;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vectors;
use crate::facts::vectors::Remaining;
use crate::text;
use crate::text::quantity;

/// Counts of what was erased.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Facts, including archived ones.
    pub facts: usize,
    /// Rows of the history.
    pub changes: usize,
    /// Turns that mentioned the facts.
    pub turns: usize,
    /// What is not erased yet on servers that vectors were sent to.
    pub remaining: Vec<Remaining>,
}

/// Minimum length of a value searched for in turns, in characters: shorter ones match by chance.
const MIN_VALUE_CHARS: usize = 3;

/// Erases a user's facts permanently, all or those under one key.
///
/// Turns and answers that mention them are erased too, as is the profile. One row remains with the time, the
/// counts and the reason, but nothing of the content. Refused while another process has the file open.
/// Afterwards, servers that vectors were sent to are asked to erase them; what a server does not erase stays
/// queued, by id.
pub fn forget(
    facts: &mut Facts,
    user: &UserId,
    key: Option<&str>,
    reason: &str,
) -> Result<Forgotten> {
    let now = facts.clock().timestamp();
    let key = key.map(FactKey::parse_allowing_secrets).transpose()?;
    let key = key.as_ref().map(FactKey::as_str);
    let dry_run = facts.is_dry_run();
    let clock = facts.clock();
    if !dry_run {
        facts.lock_exclusive()?;
    }
    let erased = facts.write(|connection| {
        let matching_states = known_states(connection, user, key)?;
        if matching_states.is_empty()
            && let Some(key) = key
        {
            return Err(Error::not_found(format!("{user} has no fact under {key}")));
        }
        let (forgotten, ids, turns) = erase(connection, user, key, &matching_states)?;
        replication::record_tombstone(connection, user, key, &turns, clock)?;
        let erased = (forgotten, ids);
        let reason = sanitized_reason(reason, user, &matching_states);
        log_erasure(connection, &erased.0, &now, &reason)?;
        Ok(erased)
    });
    if dry_run {
        return erased.map(|(forgotten, _)| forgotten);
    }
    let (mut forgotten, ids) = match erased {
        Ok(erased) => erased,
        Err(error) if error.kind == ErrorKind::NotFound => {
            // An earlier run may have erased the rows but not rewritten the file.
            facts.vacuum()?;
            return Err(error);
        }
        Err(error) => {
            // A failure to unlock does not change the error.
            facts.unlock().ok();
            return Err(error.hint("nothing was erased"));
        }
    };
    facts
        .vacuum()
        .map_err(|error| partial_erasure_error(error, &forgotten))?;
    // The file is already unlocked, so nobody waits for a server. `remaining` lists why one failed.
    vectors::erase_now(facts)?;
    forgotten.remaining = vectors::remaining(facts.connection(), Some(&ids))?;
    Ok(forgotten)
}

/// Returns an error that says what is erased and what is not if the file could not be rewritten.
fn partial_erasure_error(mut error: Error, forgotten: &Forgotten) -> Error {
    error.message = format!(
        "{} erased from every table; traces may be left in unused parts of the file, which could not be rewritten: {}",
        quantity(forgotten.facts, "fact"),
        error.message
    );
    error.hint("free some disk space and run the same command again: it rewrites the file")
}

/// Writes the one row that remains.
fn log_erasure(
    connection: &Connection,
    forgotten: &Forgotten,
    now: &str,
    reason: &str,
) -> Result<()> {
    let (facts, turns) = (forgotten.facts.to_string(), forgotten.turns.to_string());
    let sql = "INSERT INTO erasures (erased_at, facts, turns, reason) VALUES (?1, ?2, ?3, ?4)";
    connection.run("note the erasure", sql, params![now, facts, turns, reason])
}

/// Returns every recorded state of the facts, so that all of their values are known.
fn known_states(connection: &Connection, user: &UserId, key: Option<&str>) -> Result<Vec<Fact>> {
    let mut matching_states = fact::select(connection, user, "?2 IS NULL OR key = ?2", &[&key])?;
    for sql in [
        "SELECT fact_json FROM facts_archive WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2)",
        "SELECT after_json FROM fact_history WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2) \
         AND after_json IS NOT NULL",
    ] {
        let values = params![user.as_str(), key];
        let states = audit_trail::facts(connection, "read what is forgotten", sql, values)?;
        matching_states.extend(states);
    }
    Ok(matching_states)
}

/// The counts, the ids of the facts, and the turns in which they were said.
type Erased = (Forgotten, Vec<String>, BTreeSet<String>);

fn erase(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    matching_states: &[Fact],
) -> Result<Erased> {
    let run = |sql: &str, values: &[&dyn ToSql]| connection.run_counted("forget", sql, values);
    let name = user.as_str();
    let scope: &[&dyn ToSql] = &[&name, &key];
    run("INSERT INTO erasing (user_id, key) VALUES (?1, ?2)", scope)?;
    let turns = erase_turns(connection, user, key, matching_states)?;
    let mut ids: Vec<&str> = matching_states
        .iter()
        .map(|fact| fact.fact_id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    for id in &ids {
        vectors::forget_copies(connection, id)?;
        run(
            "DELETE FROM vector_jobs WHERE user_id = ?1 AND fact_id = ?2",
            &[&name, id],
        )?;
        run(
            "DELETE FROM fact_vectors WHERE user_id = ?1 AND fact_id = ?2",
            &[&name, id],
        )?;
    }
    let below = "user_id = ?1 AND (?2 IS NULL OR key = ?2)";
    let current = run(&format!("DELETE FROM facts WHERE {below}"), scope)?;
    let archived = run(&format!("DELETE FROM facts_archive WHERE {below}"), scope)?;
    let changes = run(&format!("DELETE FROM fact_history WHERE {below}"), scope)?;
    run(&format!("DELETE FROM applied_actions WHERE {below}"), scope)?;
    run("DELETE FROM profiles WHERE user_id = ?1", &[&name])?;
    let sources = sources(matching_states, &turns);
    scrub(connection, user, matching_states, &sources)?;
    if key.is_none() {
        run("DELETE FROM metrics WHERE user_id = ?1", &[&name])?;
    }
    run("DELETE FROM erasing", &[])?;
    // Deleted words remain in the segments of an index until it is rewritten.
    for table in ["facts_fts", "facts_trigram"] {
        run(
            &format!("INSERT INTO {table} ({table}) VALUES ('rebuild')"),
            &[],
        )?;
        run(
            &format!("INSERT INTO {table} ({table}) VALUES ('optimize')"),
            &[],
        )?;
    }
    let forgotten = Forgotten {
        facts: current + archived,
        changes,
        turns: turns.len(),
        remaining: Vec::new(),
    };
    Ok((
        forgotten,
        ids.into_iter().map(str::to_owned).collect(),
        sources,
    ))
}

/// Erases one key in the caller's transaction, as requested by another device.
pub(crate) fn erase_key(connection: &Connection, user: &UserId, key: &str) -> Result<()> {
    let matching_states = known_states(connection, user, Some(key))?;
    erase(connection, user, Some(key), &matching_states).map(|_| ())
}

/// Clears the excerpts and reasons that came from these turns; returns the affected keys.
pub(crate) fn clear_turns(
    connection: &Connection,
    user: &UserId,
    turns: &BTreeSet<String>,
) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for turn in turns {
        keys.extend(connection.rows(
            "read the history",
            "SELECT DISTINCT key FROM fact_history WHERE user_id = ?1 \
             AND (turn_id = ?2 OR after_json ->> 'source_turn_id' = ?2)",
            [user.as_str(), turn],
            |row| row.get(0),
        )?);
    }
    while_erasing(connection, user, || scrub(connection, user, &[], turns))?;
    Ok(keys)
}

/// Clears the excerpts and the reason of an operation; returns its user and key.
pub(crate) fn clear_operation(
    connection: &Connection,
    (scope, device, number): (&str, &str, i64),
) -> Result<Option<(String, String)>> {
    let sql = "SELECT h.history_id, h.user_id, h.key FROM operations JOIN fact_history AS h USING (history_id) \
               WHERE scope = ?1 AND operations.device = ?2 AND number = ?3";
    let found = connection.optional_row(
        "read the operations",
        sql,
        params![scope, device, number],
        |row| Ok((row.get::<_, i64>(0)?, (row.get(1)?, row.get(2)?))),
    )?;
    let Some((history, (user, key))) = found else {
        return Ok(None);
    };
    let without = |column: &str| {
        format!(
            "{column} = CASE WHEN {column} IS NULL THEN NULL ELSE json_set({column}, '$.source_excerpt', '') END"
        )
    };
    let sql = format!(
        "UPDATE fact_history SET reason = '', {}, {} WHERE history_id = ?1",
        without("before_json"),
        without("after_json")
    );
    while_erasing(connection, &UserId::stored(String::clone(&user)), || {
        connection.run("forget", &sql, [history])
    })?;
    Ok(Some((user, key)))
}

/// Runs `work` while the user is listed in `erasing`, without which the history cannot be changed.
fn while_erasing<T>(
    connection: &Connection,
    user: &UserId,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let run = |sql: &str| connection.run("forget", sql, [user.as_str()]);
    run("INSERT INTO erasing (user_id, key) VALUES (?1, NULL)")?;
    let done = work()?;
    run("DELETE FROM erasing WHERE user_id = ?1")?;
    Ok(done)
}

/// Returns the turns in which the erased facts were said.
fn sources(matching_states: &[Fact], erased: &[String]) -> BTreeSet<String> {
    let said = matching_states
        .iter()
        .map(|fact| fact.source_turn_id.clone());
    said.chain(erased.iter().cloned()).collect()
}

/// Erases a turn if the facts come from it, or if it or an answer to it mentions one of the values.
fn erase_turns(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    matching_states: &[Fact],
) -> Result<Vec<String>> {
    let name = user.as_str();
    let turns: Vec<(String, String)> = connection.rows(
        "read the turns",
        "SELECT turn_id, user_input || ' ' || assistant_response || ' ' || coalesce(raw_answer, '') \
         || ' ' || coalesce(last_error, '') FROM turns WHERE user_id = ?1",
        [name],
        |row| row.try_into(),
    )?;
    let mut erased = Vec::new();
    for (id, said) in turns {
        let said = text::fold(&said);
        let is_meant = |fact: &Fact| {
            fact.source_turn_id == id
                || (fact.value_text.chars().count() >= MIN_VALUE_CHARS
                    && said.contains(&text::fold(&fact.value_text)))
        };
        if key.is_none() || matching_states.iter().any(is_meant) {
            connection.run(
                "forget the turns",
                "DELETE FROM turns WHERE user_id = ?1 AND turn_id = ?2",
                [name, &id],
            )?;
            erased.push(id);
        }
    }
    Ok(erased)
}

/// Clears excerpts and reasons of the remaining facts that mention an erased value or share a turn with one.
fn scrub(
    connection: &Connection,
    user: &UserId,
    matching_states: &[Fact],
    turns: &BTreeSet<String>,
) -> Result<()> {
    let values: BTreeSet<&str> = matching_states
        .iter()
        .map(|fact| fact.value_text.as_str())
        .collect();
    let long = |value: &&str| value.chars().count() >= MIN_VALUE_CHARS;
    for value in values.into_iter().filter(long) {
        let holds = |text: &str| format!("instr(lower({text}), lower(?2)) > 0");
        clear(connection, user, value, &holds("source_excerpt"), |json| {
            holds(&format!("json_extract({json}, '$.source_excerpt')"))
        })?;
        clear_reasons(connection, user, value, &holds("reason"))?;
    }
    for turn in turns {
        clear(connection, user, turn, "source_turn_id = ?2", |json| {
            format!("json_extract({json}, '$.source_turn_id') = ?2")
        })?;
        clear_reasons(connection, user, turn, "turn_id = ?2")?;
    }
    Ok(())
}

/// Clears the excerpts that a condition selects, in the facts and in every recorded state.
fn clear(
    connection: &Connection,
    user: &UserId,
    value: &str,
    row: &str,
    json: impl Fn(&str) -> String,
) -> Result<()> {
    let mut statements = vec![format!(
        "UPDATE facts SET source_excerpt = '' WHERE user_id = ?1 AND {row}"
    )];
    for (table, column) in [
        ("facts_archive", "fact_json"),
        ("fact_history", "before_json"),
        ("fact_history", "after_json"),
    ] {
        let picked = json(column);
        statements.push(format!(
            "UPDATE {table} SET {column} = json_set({column}, '$.source_excerpt', '') \
             WHERE user_id = ?1 AND {column} IS NOT NULL AND {picked}"
        ));
    }
    for sql in statements {
        connection.run("forget", &sql, params![user.as_str(), value])?;
    }
    Ok(())
}

fn clear_reasons(connection: &Connection, user: &UserId, value: &str, picked: &str) -> Result<()> {
    let sql = format!("UPDATE fact_history SET reason = '' WHERE user_id = ?1 AND {picked}");
    connection.run("forget", &sql, params![user.as_str(), value])
}

/// Returns the reason that remains, or a placeholder if it mentions an erased key or value, or the user.
fn sanitized_reason(reason: &str, user: &UserId, matching_states: &[Fact]) -> String {
    let folded = text::fold(reason);
    let says = |secret: &str| !secret.is_empty() && folded.contains(&text::fold(secret));
    let tells = matching_states
        .iter()
        .any(|fact| says(&fact.value_text) || says(&fact.key));
    if tells || says(user.as_str()) {
        return "(withheld: it said what was forgotten)".to_owned();
    }
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_rewrite_says_what_is_erased_all_the_same() {
        let forgotten = Forgotten {
            facts: 2,
            ..Forgotten::default()
        };
        let error = partial_erasure_error(Error::failed("the disk is full"), &forgotten);
        assert!(
            error
                .message
                .starts_with("2 facts erased from every table; traces may be left")
        );
        assert!(
            error.message.ends_with("the disk is full"),
            "{}",
            error.message
        );
        assert!(error.hint.unwrap().contains("run the same command again"));
    }
}
