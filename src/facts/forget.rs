//! Forgets facts: erases their rows and what mentions them, so that a rewrite of the file leaves no byte.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::params;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::arbitration::normalized;
use crate::facts::fact::{Fact, FactKey, UserId};
use crate::facts::replication::PRIVATE;
use crate::facts::store::{Facts, json};
use crate::facts::{replication, vectors};
use crate::search::is_wordless;
use crate::text::{around_words, is_unspaced, quantity};

/// Length of a value below which it is searched for as whole words, in characters: it is part of others by chance.
const MIN_PART_CHARS: usize = 3;

/// How often the escapes of a text are resolved, since an answer may have JSON in a string of JSON: in `\u005cu005c…`,
/// each round leaves others.
const MAX_ESCAPED: usize = 4;

/// Where states of facts are recorded as JSON: table, the column that identifies a row, and that with the state.
const STATES: [[&str; 3]; 3] = [
    ["facts_archive", "fact_id", "fact_json"],
    ["fact_history", "history_id", "after_json"],
    ["fact_history", "history_id", "before_json"],
];

/// Counts of what was erased.
#[derive(Debug, Default, Serialize)]
pub struct Forgotten {
    /// Facts, including archived ones.
    pub facts: usize,
    /// Rows of the history.
    pub changes: usize,
    /// Turns that mentioned the facts.
    pub turns: usize,
    /// Number of forgotten vectors that a server may still have.
    #[serde(rename = "unerased_vectors")]
    pub remaining: u64,
    /// Why they are not erased yet.
    pub last_error: Option<String>,
}

/// Erases a user's facts permanently, all or those under one key.
///
/// Turns and answers that mention them are erased too, as is the profile. One row remains with the time, the
/// counts and the reason, but nothing of the content. Refused while another process has the file open.
/// Afterwards, the server that has the vectors is asked to erase them; what it does not erase stays queued, by id.
pub fn forget(facts: &Facts, user: &UserId, key: Option<&str>, reason: &str) -> Result<Forgotten> {
    let key = key.map(FactKey::parse_allowing_secrets).transpose()?.map(|key| key.0);
    if !facts.dry_run {
        facts.lock_exclusive(Duration::MAX)?;
    }
    let erased = facts.write(|| {
        let erased = erase(facts, user, key, None)?;
        if let Some(key) = key.filter(|_| erased.states.is_empty()) {
            return Err(Error::not_found(format!("{user} has no fact under {key}")));
        }
        rebuild_index(facts)?;
        replication::record_tombstone(facts, user, key, &erased.turns)?;
        let mut told: BTreeSet<String> = [normalized(user.as_str())].into();
        for fact in &erased.states {
            told.extend([&fact.value_text, &fact.key].map(|text| normalized(text)));
        }
        told.remove("");
        let said = normalized(reason);
        let tells = told.iter().any(|told| said.contains(told));
        let reason = if tells { "(withheld: it said what was forgotten)" } else { reason };
        let sql = "INSERT INTO erasures (erased_at, facts, turns, reason) VALUES (?1, ?2, ?3, ?4)";
        let count = &erased.count;
        facts.run(sql, params![facts.now(), count.facts, count.turns, reason])?;
        Ok(erased)
    });
    if facts.dry_run {
        return erased.map(|erased| erased.count);
    }
    let Erased { mut count, .. } = match erased {
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
    facts.vacuum().map_err(|mut error| {
        let erased = quantity(count.facts, "fact");
        error.message = format!(
            "{erased} erased from every table; traces may be left in unused parts of the file, which could not be rewritten: {}",
            error.message
        );
        error.hint("free some disk space and run the same command again: it rewrites the file")
    })?;
    // The file is already unlocked, so nobody waits for a server.
    vectors::erase_forgotten(facts)?;
    (count.remaining, count.last_error) = vectors::forgotten(facts)?;
    Ok(count)
}

/// What was erased.
#[derive(Default)]
pub(crate) struct Erased {
    count: Forgotten,
    /// All recorded states of the facts.
    pub(crate) states: Vec<Fact>,
    /// The turns that they came from, and those that were erased because they mention one.
    turns: BTreeSet<String>,
}

/// Erases a user's facts, all or those of a key, and what mentions them, in the caller's transaction.
///
/// `within` limits this to the operations of a scope whose facts began by a clock, as another device asks for it:
/// later statements stay, and so do mentions in other scopes and turns, which belong to no scope. The user's own
/// devices forget in every scope.
pub(crate) fn erase(
    facts: &Facts,
    user: &UserId,
    key: Option<&str>,
    within: Option<(&str, i64)>,
) -> Result<Erased> {
    let scope = within.map(|within| within.0).filter(|scope| *scope != PRIVATE);
    let until = within.map(|within| within.1);
    let sql = "SELECT history_id FROM fact_history LEFT JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2) \
               AND (?4 IS NULL OR o.born <= ?4 AND (?3 IS NULL OR o.scope = ?3))";
    let changes = facts.column::<i64>(sql, params![user, key, scope, until])?;
    let changes = json(&changes)?;
    let sql = "SELECT after_json FROM fact_history WHERE history_id IN (SELECT value FROM json_each(?3)) \
               UNION ALL SELECT fact_json FROM facts_archive \
               WHERE ?4 IS NULL AND user_id = ?1 AND (?2 IS NULL OR key = ?2)";
    let states = facts.column(sql, params![user, key, changes, until])?;
    let mut erased = Erased { states, ..Erased::default() };
    if within.is_none() {
        erased.states.extend(facts.select(user, "?2 IS NULL OR key = ?2", &[&key])?);
    }
    let values: BTreeSet<String> =
        erased.states.iter().filter_map(|fact| searched_form(&fact.value_text)).collect();
    let sources: BTreeSet<String> =
        erased.states.iter().map(|fact| fact.source_turn_id.clone()).collect();
    if scope.is_none() {
        // A turn is erased if the facts come from it, or if it or an answer to it mentions one of the values.
        let sql = "SELECT turn_id, user_input || ' ' || assistant_response || ' ' || coalesce(raw_answer, '') \
                   || ' ' || coalesce(last_error, '') FROM turns WHERE user_id = ?1";
        let turns: Vec<(String, String)> = facts.list(sql, [user])?;
        let is_meant = |(id, text): &(String, String)| {
            key.is_none() || sources.contains(id) || mentions_one(text, &values)
        };
        erased.turns.extend(turns.into_iter().filter(is_meant).map(|turn| turn.0));
        let sql =
            "DELETE FROM turns WHERE user_id = ?1 AND turn_id IN (SELECT value FROM json_each(?2))";
        erased.count.turns = facts.change(sql, params![user, json(&erased.turns)?])?;
    }
    erased.turns.extend(sources);
    erase_rows(facts, user, key, &changes, &mut erased)?;
    let mut texts: BTreeSet<String> = texts(facts, user)?;
    texts.retain(|text| mentions_one(text, &values));
    clear(facts, user, &texts, scope, "source_excerpt", "reason")?;
    clear_turns(facts, user, &erased.turns, scope)?;
    Ok(erased)
}

/// Deletes changes, given as a JSON array of their ids, and the facts of which nothing remains.
fn erase_rows(
    facts: &Facts,
    user: &UserId,
    key: Option<&str>,
    changes: &str,
    erased: &mut Erased,
) -> Result<()> {
    // A fact remains if there are operations on it in another scope.
    let ids: BTreeSet<&str> = erased.states.iter().map(|fact| fact.fact_id.as_str()).collect();
    let sql = "SELECT json_group_array(value) FROM json_each(?2) AS id WHERE NOT EXISTS (SELECT 1 FROM fact_history \
               JOIN operations USING (history_id) WHERE user_id = ?1 AND fact_id = id.value \
               AND history_id NOT IN (SELECT value FROM json_each(?3)))";
    let ids: String = facts.value(sql, params![user, json(&ids)?, changes])?;
    let of_facts = "fact_id IN (SELECT value FROM json_each(?2))";
    let delete = |table: &str, which: &str| {
        let sql = format!("DELETE FROM {table} WHERE user_id = ?1 AND {which}");
        facts.change(&sql, [user.as_str(), &ids])
    };
    while_erasing(facts, user, || {
        delete("fact_vectors", of_facts)?;
        erased.count.facts = delete("facts", of_facts)? + delete("facts_archive", of_facts)?;
        let sql = format!(
            "DELETE FROM fact_history WHERE user_id = ?1 \
             AND (history_id IN (SELECT value FROM json_each(?3)) OR {of_facts})"
        );
        erased.count.changes = facts.change(&sql, [user.as_str(), &ids, changes])?;
        // An action whose change stays is not applied again.
        let sql = "DELETE FROM applied_actions AS action WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2) \
                   AND NOT EXISTS (SELECT 1 FROM fact_history AS change WHERE change.user_id = ?1 \
                   AND change.key = action.key AND change.turn_id = action.turn_id)";
        facts.run(sql, params![user, key])?;
        facts.run("DELETE FROM profiles WHERE user_id = ?1", [user])?;
        facts.run("DELETE FROM metrics WHERE user_id = ?1 AND ?2 IS NULL", params![user, key])
    })?;
    vectors::enqueue(facts, &ids)
}

/// Rebuilds the text index: deleted words remain in its segments until it is rewritten.
pub(crate) fn rebuild_index(facts: &Facts) -> Result<()> {
    for command in ["rebuild", "optimize"] {
        facts.run("INSERT INTO facts_fts (facts_fts) VALUES (?1)", [command])?;
    }
    Ok(())
}

/// Returns a value as it is searched for in texts: a short one with its case, or `Go` would be wherever somebody would
/// `go`. Punctuation, a single letter or digit, and `no` are anywhere, and not searched for.
fn searched_form(value: &str) -> Option<String> {
    let normalized = normalized(value);
    if normalized.chars().count() >= MIN_PART_CHARS {
        return Some(normalized);
    }
    let cased: String = value.trim_end_matches(':').trim().nfc().collect();
    let is_searched = match cased.chars().count() {
        1 => cased.contains(is_unspaced),
        _ => cased.contains(char::is_alphanumeric) && !is_wordless(&cased),
    };
    is_searched.then_some(cased)
}

/// Returns whether a text contains one of these values in their searched form, as it is or as JSON escapes it.
fn mentions_one(text: &str, values: &BTreeSet<String>) -> bool {
    let is_in_one = |text: String| {
        let [whole, cased] = [normalized(&text), text.nfc().collect()];
        values.iter().any(|value| match value.chars().count() {
            MIN_PART_CHARS.. => whole.contains(value),
            _ => around_words(&cased, value).next().is_some(),
        })
    };
    let resolved = |text: &String| Some(unescaped(text)).filter(|plain| plain != text);
    let mut texts = std::iter::successors(Some(text.to_owned()), resolved).take(1 + MAX_ESCAPED);
    texts.any(is_in_one)
}

/// Returns a text with the escapes of JSON resolved, wherever they are.
fn unescaped(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, _)) = rest.split_once('\\') {
        plain.push_str(before);
        rest = &rest[before.len()..];
        // A character may be a pair of two escapes.
        let escape = [12, 6, 2].into_iter().find_map(|length| {
            let escape = rest.get(..length)?;
            Some((length, serde_json::from_str::<String>(&format!("\"{escape}\"")).ok()?))
        });
        let (length, character) = escape.unwrap_or((1, "\\".to_owned()));
        plain.push_str(&character);
        rest = &rest[length..];
    }
    plain + rest
}

/// Returns the excerpts and reasons of a user.
fn texts(facts: &Facts, user: &UserId) -> Result<BTreeSet<String>> {
    let excerpts = STATES.map(|[table, _, state]| {
        format!("SELECT {state} ->> 'source_excerpt' AS text FROM {table} WHERE user_id = ?1")
    });
    let sql = format!(
        "SELECT text FROM ({} UNION SELECT source_excerpt FROM facts WHERE user_id = ?1 \
         UNION SELECT reason FROM fact_history WHERE user_id = ?1) WHERE text NOT NULL",
        excerpts.join(" UNION ")
    );
    Ok(facts.column(&sql, [user])?.into_iter().collect())
}

/// Clears the excerpts and reasons that came from these turns, in all scopes or one; returns the affected keys.
pub(crate) fn clear_turns(
    facts: &Facts,
    user: &UserId,
    turns: &BTreeSet<String>,
    scope: Option<&str>,
) -> Result<Vec<String>> {
    let sql = "WITH wanted AS (SELECT value FROM json_each(?2)) \
         SELECT DISTINCT key FROM fact_history WHERE user_id = ?1 \
         AND (turn_id IN wanted OR after_json ->> 'source_turn_id' IN wanted)";
    let keys = facts.column(sql, params![user, json(turns)?])?;
    clear(facts, user, turns, scope, "source_turn_id", "turn_id")?;
    Ok(keys)
}

/// Clears the excerpts of facts, in all their recorded states, and the reasons of changes, if a field of the fact
/// or a column of the change has one of the values.
fn clear(
    facts: &Facts,
    user: &UserId,
    values: &BTreeSet<String>,
    scope: Option<&str>,
    field: &str,
    column: &str,
) -> Result<()> {
    let values = json(values)?;
    let update = |table: &str, id: &str, change: &str, value: &str| {
        let sql = format!(
            "UPDATE {table} SET {change} WHERE user_id = ?1 \
             AND {value} IN (SELECT value FROM json_each(?2)) \
             AND (?3 IS NULL OR {id} IN (SELECT changes.{id} FROM operations AS o \
             JOIN fact_history AS changes USING (history_id) WHERE o.scope = ?3))"
        );
        facts.run(&sql, params![user, values, scope])
    };
    while_erasing(facts, user, || {
        update("facts", "fact_id", "source_excerpt = ''", field)?;
        for [table, id, state] in STATES {
            let change = format!("{state} = json_set({state}, '$.source_excerpt', '')");
            update(table, id, &change, &format!("{state} ->> '{field}'"))?;
        }
        update("fact_history", "history_id", "reason = ''", column)
    })
}

/// Clears the excerpts and the reason of one change; returns its key.
pub(crate) fn clear_change(facts: &Facts, user: &UserId, history: i64) -> Result<String> {
    let sql = "UPDATE fact_history SET reason = '', \
               before_json = json_set(before_json, '$.source_excerpt', ''), \
               after_json = json_set(after_json, '$.source_excerpt', '') \
               WHERE history_id = ?1 RETURNING key";
    while_erasing(facts, user, || facts.value(sql, [history]))
}

/// Runs `work` while the user is listed in `erasing`, without which the history cannot be changed.
fn while_erasing<T>(facts: &Facts, user: &UserId, work: impl FnOnce() -> Result<T>) -> Result<T> {
    facts.run("INSERT INTO erasing (user_id, key) VALUES (?1, NULL)", [user])?;
    let done = work()?;
    facts.run("DELETE FROM erasing WHERE user_id = ?1", [user])?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Observation, Statement, add, history, observe};
    use crate::secrets::SecretPolicy;

    #[test]
    fn a_turn_is_erased_whatever_the_form_of_the_value_in_it() {
        let mentions = |value: &str, text: &str| {
            searched_form(value).is_some_and(|value| mentions_one(text, &[value].into()))
        };
        for (value, text) in [
            ("王芳", "昨天王芳来过"),
            ("茶", "抹茶"),
            ("Bo", "Bo's here"),
            ("M\u{fc}nchen", "in Mu\u{308}nchen"),
            ("Mu\u{308}nchen", "in M\u{fc}nchen"),
            ("M\u{fc}nchen", "{\"value\": \"M\\u00fcnchen\"}"),
            ("the \"fox\"", "{\"value\": \"the \\\"fox\\\"\"}"),
            ("the \"fox\"", "{\"result\": \"{\\\"value\\\": \\\"the \\\\\\\"fox\\\\\\\"\\\"}\"}"),
            ("\u{1f98a} fox", "\\ud83e\\udd8a fox"),
            ("C:\\new", "in C:\\new"),
        ] {
            assert!(mentions(value, text), "{value} in {text}");
        }
        for (value, text) in [
            ("Bo", "a book"),
            ("Go", "where does this go"),
            ("No", "no rain"),
            ("a", "a book"),
            ("--", "a -- b"),
            ("fox", "\\u00f\\"),
        ] {
            assert!(!mentions(value, text), "{value} in {text}");
        }
    }

    #[test]
    fn what_is_forgotten_in_one_scope_is_not_applied_again_in_another() {
        let ada = UserId::new("ada").unwrap();
        let facts = Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap();
        let statement = Statement {
            key: "city".to_owned(),
            value: "Graz".to_owned(),
            request_id: Some("1".to_owned()),
            ..Statement::default()
        };
        let outcome = add(&facts, &ada, &statement).unwrap().outcome;
        facts.write(|| erase(&facts, &ada, Some("city"), Some(("team", i64::MAX)))).unwrap();
        assert_eq!(add(&facts, &ada, &statement).unwrap().outcome, outcome);
    }

    #[test]
    fn a_chain_of_escapes_is_read_in_time_that_grows_with_its_length() {
        let chain = ["\\", &"u005c".repeat(100_000)].concat();
        assert!(!mentions_one(&chain, &["fox".to_owned()].into()));
    }

    #[test]
    fn a_value_is_erased_from_excerpts_and_turns_in_whatever_case_and_spacing() {
        let ada = UserId::new("ada").unwrap();
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let facts = Facts::in_memory(clock).unwrap();
        for (key, value) in [
            ("city", "Bad  München"),
            ("task.next", "move to BAD MÜNCHEN"),
            ("separator", ":::"),
            ("friend", "Bo"),
        ] {
            let statement =
                Statement { key: key.to_owned(), value: value.to_owned(), ..Statement::default() };
            add(&facts, &ada, &statement).unwrap();
        }
        for text in ["I like tea", "bad münchen is nice"] {
            let observation = Observation { user_input: text.to_owned(), ..Observation::default() };
            observe(&facts, &ada, &observation, SecretPolicy::Refuse).unwrap();
        }
        // A value of punctuation alone is in no turn.
        let forgotten = forget(&facts, &ada, Some("separator"), "asked to").unwrap();
        assert_eq!((forgotten.facts, forgotten.turns), (1, 0));
        let forgotten = forget(&facts, &ada, Some("city"), "asked to").unwrap();
        assert_eq!((forgotten.facts, forgotten.changes, forgotten.turns), (1, 1, 1));
        forget(&facts, &ada, Some("friend"), "Bos mother asked").unwrap();
        let left = facts.select(&ada, "1", &[]).unwrap();
        assert_eq!((left.len(), left[0].source_excerpt.as_str()), (1, ""));
        let changes = history(&facts, &ada, None).unwrap();
        assert!(changes.iter().all(|change| change.after.source_excerpt.is_empty()));
        // A reason that tells what was forgotten does not remain.
        forget(&facts, &ada, Some("task.next"), "no MOVE to  bad münchen").unwrap();
        let reasons: Vec<String> = facts.column("SELECT reason FROM erasures", []).unwrap();
        let withheld = "(withheld: it said what was forgotten)";
        assert_eq!(reasons, ["asked to", "asked to", withheld, withheld]);
    }
}
