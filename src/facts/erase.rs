//! Erases the rows of facts, and mentions of them in other rows, so that a rewrite of the file leaves no byte.

use std::collections::BTreeSet;

use rusqlite::{Connection, ToSql, params};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::user::UserId;
use crate::facts::{audit_trail, fact, vectors};
use crate::text;

/// Minimum length of a value searched for in turns, in characters: shorter ones match by chance.
const MIN_VALUE_CHARS: usize = 3;

/// Where states of facts are recorded: table, the column that identifies a row, and the column with the fact as JSON.
const STATES: [[&str; 3]; 3] = [
    ["facts_archive", "fact_id", "fact_json"],
    ["fact_history", "history_id", "after_json"],
    ["fact_history", "history_id", "before_json"],
];

/// Returns every recorded state of the facts, so that all of their values are known; with a scope, only those
/// of its operations.
pub(crate) fn known_states(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    scope: Option<&str>,
) -> Result<Vec<Fact>> {
    let condition = |id: &str| format!("(?2 IS NULL OR key = ?2) AND {}", within(id, 3));
    let mut states = fact::select(connection, user, &condition("fact_id"), &[&key, &scope])?;
    // A state before a change is also that after an earlier one.
    for [table, id, json] in &STATES[..2] {
        let condition = condition(id);
        let sql = format!(
            "SELECT {json} FROM {table} WHERE user_id = ?1 AND {json} IS NOT NULL AND {condition}"
        );
        let values = params![user.as_str(), key, scope];
        let recorded = audit_trail::facts(connection, "read what is forgotten", &sql, values)?;
        states.extend(recorded);
    }
    Ok(states)
}

/// Returns the condition that a row, by its column `fact_id` or `history_id`, belongs to the scope in a
/// parameter; if that is null, all do.
fn within(column: &str, parameter: usize) -> String {
    format!(
        "(?{parameter} IS NULL OR {column} IN (SELECT changes.{column} FROM operations \
         JOIN fact_history AS changes USING (history_id) WHERE operations.scope = ?{parameter}))"
    )
}

/// What [`erase`] deleted.
pub(crate) struct ErasedRows {
    /// Number of facts, including archived ones.
    pub(crate) facts: usize,
    /// Number of rows of the history.
    pub(crate) changes: usize,
    /// The ids of the facts.
    pub(crate) ids: Vec<String>,
}

/// Deletes all rows of the facts.
pub(crate) fn erase(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    matching_states: &[Fact],
) -> Result<ErasedRows> {
    let run = |sql: &str, values: &[&dyn ToSql]| connection.run_counted("forget", sql, values);
    let name = user.as_str();
    let scope: &[&dyn ToSql] = &[&name, &key];
    run("INSERT INTO erasing (user_id, key) VALUES (?1, ?2)", scope)?;
    let mut ids: Vec<&str> = matching_states.iter().map(|fact| fact.fact_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in &ids {
        vectors::forget_copies(connection, id)?;
        run("DELETE FROM vector_jobs WHERE user_id = ?1 AND fact_id = ?2", &[&name, id])?;
        run("DELETE FROM fact_vectors WHERE user_id = ?1 AND fact_id = ?2", &[&name, id])?;
    }
    let below = "user_id = ?1 AND (?2 IS NULL OR key = ?2)";
    let current = run(&format!("DELETE FROM facts WHERE {below}"), scope)?;
    let archived = run(&format!("DELETE FROM facts_archive WHERE {below}"), scope)?;
    let changes = run(&format!("DELETE FROM fact_history WHERE {below}"), scope)?;
    run(&format!("DELETE FROM applied_actions WHERE {below}"), scope)?;
    run("DELETE FROM profiles WHERE user_id = ?1", &[&name])?;
    if key.is_none() {
        run("DELETE FROM metrics WHERE user_id = ?1", &[&name])?;
    }
    run("DELETE FROM erasing", &[])?;
    Ok(ErasedRows {
        facts: current + archived,
        changes,
        ids: ids.into_iter().map(str::to_owned).collect(),
    })
}

/// Rebuilds the text indexes: deleted words remain in the segments of an index until it is rewritten.
pub(crate) fn rebuild_indexes(connection: &Connection) -> Result<()> {
    for table in ["facts_fts", "facts_trigram"] {
        for command in ["rebuild", "optimize"] {
            let sql = format!("INSERT INTO {table} ({table}) VALUES ('{command}')");
            connection.run("forget", &sql, [])?;
        }
    }
    Ok(())
}

/// Erases one key in the caller's transaction, as requested by another device.
///
/// If it was forgotten in one scope only, mentions in other scopes are kept, and so are turns, which belong to
/// no scope.
pub(crate) fn erase_key(
    connection: &Connection,
    user: &UserId,
    key: &str,
    scope: Option<&str>,
) -> Result<()> {
    let all = known_states(connection, user, Some(key), None)?;
    let forgotten = known_states(connection, user, Some(key), scope)?;
    let turns = match scope {
        None => erase_turns(connection, user, Some(key), &forgotten)?,
        Some(_) => Vec::new(),
    };
    let turns = sources(&forgotten, &turns);
    erase(connection, user, Some(key), &all)?;
    scrub(connection, user, &forgotten, &turns, scope)?;
    rebuild_indexes(connection)
}

/// Clears the excerpts and reasons that came from these turns, in all scopes or one; returns the affected keys.
pub(crate) fn clear_turns(
    connection: &Connection,
    user: &UserId,
    turns: &BTreeSet<String>,
    scope: Option<&str>,
) -> Result<Vec<String>> {
    let keys = connection.rows(
        "read the history",
        "WITH wanted AS (SELECT value FROM json_each(?2)) \
         SELECT DISTINCT key FROM fact_history WHERE user_id = ?1 \
         AND (turn_id IN wanted OR after_json ->> 'source_turn_id' IN wanted)",
        [user.as_str(), &json_array(turns)?],
        |row| row.get(0),
    )?;
    scrub(connection, user, &[], turns, scope)?;
    Ok(keys)
}

/// Clears the excerpts and the reason of an operation; returns its user and key.
pub(crate) fn clear_operation(
    connection: &Connection,
    scope: &str,
    device: &str,
    number: i64,
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
    let without_excerpt = |column: &str| {
        format!(
            "{column} = CASE WHEN {column} IS NULL THEN NULL ELSE json_set({column}, '$.source_excerpt', '') END"
        )
    };
    let sql = format!(
        "UPDATE fact_history SET reason = '', {}, {} WHERE history_id = ?1",
        without_excerpt("before_json"),
        without_excerpt("after_json")
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

/// Returns the turns that the erased facts come from, and the erased ones.
pub(crate) fn sources(matching_states: &[Fact], erased: &[String]) -> BTreeSet<String> {
    let turns = matching_states.iter().map(|fact| fact.source_turn_id.clone());
    turns.chain(erased.iter().cloned()).collect()
}

/// Erases a turn if the facts come from it, or if it or an answer to it mentions one of the values.
pub(crate) fn erase_turns(
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
    let values = folded_values(matching_states);
    let mut erased = Vec::new();
    for (id, text) in turns {
        let is_source = || matching_states.iter().any(|fact| fact.source_turn_id == id);
        let is_mention = || {
            let text = text::fold(&text);
            values.iter().any(|value| text.contains(value))
        };
        if key.is_none() || is_source() || is_mention() {
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

/// Returns the values to search for in texts, folded like them, without those that would match by chance.
fn folded_values(matching_states: &[Fact]) -> BTreeSet<String> {
    let values = matching_states.iter();
    let values = values.map(|fact| text::fold(&fact.value_text));
    values.filter(|value| value.chars().count() >= MIN_VALUE_CHARS).collect()
}

/// Clears excerpts and reasons of the remaining facts that mention an erased value or share a turn with one, in
/// all scopes or one.
pub(crate) fn scrub(
    connection: &Connection,
    user: &UserId,
    matching_states: &[Fact],
    turns: &BTreeSet<String>,
    scope: Option<&str>,
) -> Result<()> {
    let mentions = json_array(&mentions(connection, user, matching_states)?)?;
    let turns = json_array(turns)?;
    while_erasing(connection, user, || {
        clear(connection, user, &mentions, scope, "source_excerpt", "reason")?;
        clear(connection, user, &turns, scope, "source_turn_id", "turn_id")
    })
}

/// Returns the user's excerpts and reasons that mention an erased value.
fn mentions(
    connection: &Connection,
    user: &UserId,
    matching_states: &[Fact],
) -> Result<Vec<String>> {
    let values = folded_values(matching_states);
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT source_excerpt AS text FROM facts WHERE user_id = ?1 \
         UNION SELECT fact_json ->> 'source_excerpt' FROM facts_archive WHERE user_id = ?1 \
         UNION SELECT before_json ->> 'source_excerpt' FROM fact_history WHERE user_id = ?1 \
         UNION SELECT after_json ->> 'source_excerpt' FROM fact_history WHERE user_id = ?1 \
         UNION SELECT reason FROM fact_history WHERE user_id = ?1";
    let texts = connection
        .rows("read the excerpts", sql, [user.as_str()], |row| row.get::<_, Option<String>>(0))?;
    let mut texts: Vec<String> = texts.into_iter().flatten().collect();
    texts.retain(|text| {
        let folded = text::fold(text);
        values.iter().any(|value| folded.contains(value))
    });
    Ok(texts)
}

fn json_array(texts: &impl Serialize) -> Result<String> {
    serde_json::to_string(texts)
        .map_err(|error| Error::failed(format!("cannot write what is forgotten: {error}")))
}

/// Clears the excerpts of facts, in all their recorded states, and the reasons of changes, if a field of the fact
/// or a column of the change has one of the values in a JSON array.
fn clear(
    connection: &Connection,
    user: &UserId,
    values: &str,
    scope: Option<&str>,
    field: &str,
    column: &str,
) -> Result<()> {
    let update = |table: &str, id: &str, change: &str, value: &str| {
        let sql = format!(
            "UPDATE {table} SET {change} WHERE user_id = ?1 \
             AND {value} IN (SELECT value FROM json_each(?2)) AND {}",
            within(id, 3)
        );
        connection.run("forget", &sql, params![user.as_str(), values, scope])
    };
    update("facts", "fact_id", "source_excerpt = ''", field)?;
    for [table, id, json] in STATES {
        let change = format!("{json} = json_set({json}, '$.source_excerpt', '')");
        update(table, id, &change, &format!("{json} ->> '{field}'"))?;
    }
    update("fact_history", "history_id", "reason = ''", column)
}
