//! Maintains the database over time: ends facts, archives old ones, drops finished turns, and checks it.
//!
//! A value with an end replaces the durable one only until then. The durable one is closed in the meantime,
//! so that a key has one active value; afterwards it becomes active again unchanged, unless another value has
//! replaced it. The history records which fact was replaced. An accepted value that begins in the future is
//! pending until the present one ends for it.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{ErrorCode, params};
use serde::Serialize;

use crate::error::Result;
use crate::facts::arbitration::{EXPIRE, SUPERSEDE, gives_way_to, is_due_after, is_same_value};
use crate::facts::fact::{Fact, FactStatus};
use crate::facts::history::Cause;
use crate::facts::store::Facts;
use crate::facts::vectors::LACKING;
use crate::facts::{fact, history, profile, turns, vectors};
use crate::text::join;

/// Age in days after which a fact that no longer holds is archived.
const ARCHIVE_AFTER: i64 = 90;

/// Age in days after which a finished turn is deleted.
const DROP_AFTER: i64 = 30;

/// Turn id of changes that are not caused by a turn.
const TURN: &str = "annals:maintenance";

/// Turn id of restorations, by which merging recognises that nobody stated the value again.
pub(crate) const RESTORE_TURN: &str = "annals:restored";

/// Condition for active facts whose validity has ended.
const OVER: &str = "status = 'active' AND valid_to IS NOT NULL AND valid_to <= ?1";

/// Counts of the maintenance done.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Maintenance {
    /// Facts whose validity has ended.
    pub expired: usize,
    /// Facts that were archived.
    pub archived: usize,
    /// Finished turns that were deleted.
    pub dropped_turns: usize,
    /// Profiles that were rebuilt.
    pub profiles: usize,
}

/// Expires ended facts, archives old ones, deletes finished turns, and rebuilds the profiles that are due.
pub fn maintain(facts: &Facts, profile_turns: u64) -> Result<Maintenance> {
    let [old, done] = [ARCHIVE_AFTER, DROP_AFTER].map(|days| before(facts.clock.now(), days));
    let finished = "DELETE FROM turns WHERE status = 'done' AND finished_at < ?1";
    facts.write(|| {
        Ok(Maintenance {
            expired: expire_all(facts)?,
            archived: archive_older(facts, &old)?,
            dropped_turns: facts.change(finished, [done])?,
            profiles: profile::rebuild_due(facts, profile_turns)?,
        })
    })
}

/// Expires ended facts, if there are any.
pub(crate) fn expire_ended(facts: &Facts) -> Result<()> {
    // Every reader runs this: without the hint, SQLite would scan the table if there are many users.
    let sql = format!("SELECT 1 FROM facts INDEXED BY facts_valid_to WHERE {OVER}");
    if facts.exists(&sql, [facts.now()])? {
        facts.write(|| expire_all(facts))?;
    }
    Ok(())
}

/// Archives the superseded and expired facts of all users that were last changed before a time.
pub fn archive(facts: &Facts, cut_off: DateTime<Utc>) -> Result<usize> {
    facts.write(|| archive_older(facts, &fact::format_time(cut_off)))
}

/// Returns the time this many days ago, as stored.
pub(crate) fn before(now: DateTime<Utc>, days: i64) -> String {
    fact::format_time(now.checked_sub_signed(TimeDelta::days(days)).unwrap_or(now))
}

fn archive_older(facts: &Facts, cut_off: &str) -> Result<usize> {
    let is_old = "status IN ('superseded', 'expired') AND updated_at < ?1 ORDER BY seq";
    let old = facts.of_all_users(is_old, [cut_off])?;
    let add = "INSERT INTO facts_archive (fact_id, user_id, key, fact_json, archived_at) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    for fact in &old {
        facts.run(add, params![fact.fact_id, fact.user_id, fact.key, fact, facts.now()])?;
        facts.run("DELETE FROM facts WHERE fact_id = ?1", [&fact.fact_id])?;
        let cause = Cause { action: "archive", reason: "older than the cut-off", turn: TURN };
        history::record(facts, cause, Some(fact), fact, None)?;
    }
    Ok(old.len())
}

/// Expires the facts of all users whose validity has ended, and returns their number.
fn expire_all(facts: &Facts) -> Result<usize> {
    let over = facts.of_all_users(&format!("{OVER} ORDER BY seq"), [facts.now()])?;
    over.iter().try_for_each(|fact| expire(facts, fact, TURN))?;
    Ok(over.len())
}

/// Expires a fact whose validity has ended, and restores the one that it temporarily replaced. If an accepted value was
/// to follow it, that supersedes it and takes effect, unless it was said again and is the more certain one: then it stays.
pub(crate) fn expire(facts: &Facts, over: &Fact, turn: &str) -> Result<()> {
    let with_status = |status| facts.with_key(&over.user_id, &over.key, status);
    let active = with_status(FactStatus::Active)?;
    let mut accepted = with_status(FactStatus::PendingConfirmation)?;
    accepted.retain(|next| {
        let has_value = |other: &Fact| is_same_value(&other.value_text, &next.value_text);
        gives_way_to(facts, over, next) && !active.iter().any(has_value)
    });
    let next = accepted.iter().find(|next| is_due_after(facts, next, over));
    let write = |action, reason, before, after| {
        history::write(facts, Cause { action, reason, turn }, Some(before), after)
    };
    if next.is_none() && !accepted.is_empty() {
        let after = Fact { valid_to: None, ..over.clone() };
        return write("update", "it was said again", over, after).map(drop);
    }
    let (action, status) = match next {
        Some(_) => (SUPERSEDE, FactStatus::Superseded),
        None => (EXPIRE, FactStatus::Expired),
    };
    write(action, "its validity ended", over, Fact { status, ..over.clone() })?;
    let Some(next) = next else {
        return restore_replaced(facts, over);
    };
    let status = FactStatus::Active;
    let begun = Fact { status, proposal: None, contests: None, ..next.clone() };
    let begun = write("activate", "its validity began", next, begun)?;
    // Both may have ended since the last run.
    if begun.is_over_at(&facts.now()) { expire(facts, &begun, turn) } else { Ok(()) }
}

/// Restores the fact that one which has just ended temporarily replaced; if that has ended too, the one that it
/// replaced in turn, and so on.
pub(crate) fn restore_replaced(facts: &Facts, over: &Fact) -> Result<()> {
    let (mut passed, mut ended) = (Vec::new(), over.clone());
    while !passed.contains(&ended.fact_id) {
        let Some(mut earlier) = superseded_fact(facts, &ended)? else {
            break;
        };
        // An end that it was given for the temporary one was not its own.
        earlier.valid_to = earlier.valid_to.filter(|end| *end != ended.valid_from);
        if !earlier.is_over_at(&facts.now()) {
            return restore(facts, &earlier);
        }
        passed.push(std::mem::replace(&mut ended, earlier).fact_id);
    }
    Ok(())
}

/// Returns the fact that a temporary one superseded, in its state before: the last one superseded in the turn in
/// which the temporary one began, before it.
fn superseded_fact(facts: &Facts, temporary: &Fact) -> Result<Option<Fact>> {
    let sql = "SELECT old.before_json FROM (SELECT history_id, turn_id FROM fact_history \
               WHERE user_id = ?1 AND fact_id = ?2 AND action IN ('insert', 'activate', 'restore') \
               AND turn_id <> ?4 AND after_json ->> 'valid_to' IS NOT NULL \
               ORDER BY history_id DESC LIMIT 1) AS began \
               JOIN fact_history AS old ON old.user_id = ?1 AND old.key = ?3 \
               AND old.turn_id = began.turn_id AND old.history_id < began.history_id \
               AND old.action = 'supersede' ORDER BY old.history_id DESC LIMIT 1";
    let values = params![temporary.user_id, temporary.fact_id, temporary.key, RESTORE_TURN];
    // If it has no end any more, it has replaced the other one for good.
    Ok(facts.column(sql, values)?.pop().filter(|_| temporary.valid_to.is_some()))
}

/// Makes a superseded fact active again, from the archive if needed, unless another value is active.
fn restore(facts: &Facts, earlier: &Fact) -> Result<()> {
    let (user, id) = (&earlier.user_id, &earlier.fact_id);
    let active = facts.with_key(user, &earlier.key, FactStatus::Active)?;
    let is_taken = active.iter().any(|other| {
        !earlier.is_multi_valued() || is_same_value(&other.value_text, &earlier.value_text)
    });
    let found = history::beginning_with(facts, user, id)?.pop();
    let is_closed = |found: &Fact| !is_taken && found.status == FactStatus::Superseded;
    let Some(closed) = found.filter(is_closed) else {
        return Ok(());
    };
    history::unarchive(facts, id)?;
    let (status, valid_to) = (FactStatus::Active, earlier.valid_to.clone());
    let reason = "the temporary value has expired";
    let cause = Cause { action: "restore", reason, turn: RESTORE_TURN };
    let restored = Fact { valid_to, status, ..closed.clone() };
    history::write(facts, cause, Some(&closed), restored).map(drop)
}

/// The result of a check.
#[derive(Debug, Default, Serialize)]
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
    /// Number of forgotten vectors that a server may still have.
    pub unerased_vectors: u64,
    /// Whether the text index was not compared with the facts, since the database cannot be written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_index_unchecked: bool,
}

/// Inconsistencies, with the queries that count them.
const ORPHANS: &[(&str, &str)] = &[
    (
        "facts without a history",
        "FROM facts WHERE NOT EXISTS (SELECT 1 FROM fact_history AS h \
         WHERE h.user_id = facts.user_id AND h.fact_id = facts.fact_id)",
    ),
    (
        "facts of the history that are gone",
        "FROM (SELECT user_id, fact_id, max(history_id) FROM fact_history GROUP BY fact_id) AS h \
         WHERE NOT EXISTS (SELECT 1 FROM facts AS f \
         WHERE f.user_id = h.user_id AND f.fact_id = h.fact_id) \
         AND NOT EXISTS (SELECT 1 FROM facts_archive AS a WHERE a.fact_id = h.fact_id)",
    ),
    (
        "vectors without a current fact",
        "FROM fact_vectors AS v WHERE NOT EXISTS (SELECT 1 FROM facts \
         WHERE facts.user_id = v.user_id AND facts.fact_id = v.fact_id \
         AND facts.status IN ('active', 'pending_confirmation'))",
    ),
    ("facts that are both archived and current", "FROM facts JOIN facts_archive USING (fact_id)"),
    ("facts that end before they begin", "FROM facts WHERE valid_to < valid_from"),
    ("leftovers of an erasure", "FROM erasing"),
];

/// Checks the database without changing it.
pub fn check(facts: &Facts) -> Result<Integrity> {
    let count = |of: &str| facts.value(&format!("SELECT count(*) {of}"), []);
    // The facts missing from the built-in index, and the jobs for an external one.
    let unsynced = format!(
        "FROM (SELECT 1 FROM vector_jobs WHERE user_id <> '' UNION ALL SELECT 1 FROM facts \
         WHERE (SELECT server FROM vector_index) IS NULL AND {LACKING})"
    );
    let mut found = Integrity {
        db: facts.path.display().to_string(),
        facts: count("FROM facts")?,
        waiting_turns: turns::waiting(facts, None)?,
        dead_turns: count("FROM turns WHERE status = 'dead'")?,
        unsynced_vectors: count(&unsynced)?,
        unerased_vectors: vectors::forgotten(facts)?.0,
        problems: facts.column("PRAGMA integrity_check", [])?,
        is_index_unchecked: false,
    };
    found.problems.retain(|line| line != "ok");
    // The check compares the index with its content table; FTS5 expects it as an INSERT.
    let sql = "INSERT INTO facts_fts (facts_fts, rank) VALUES ('integrity-check', 1)";
    match facts.connection.execute(sql, []) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            found.is_index_unchecked = true;
        }
        Err(error) => found.problems.push(format!("facts_fts does not match the facts: {error}")),
        Ok(_) => {}
    }
    let unlike = format!(
        "FROM facts AS f JOIN (SELECT fact_id, after_json AS last, max(history_id) FROM fact_history \
         GROUP BY fact_id) USING (fact_id) WHERE {}",
        differences()
    );
    let all = ORPHANS.iter().copied().chain([("facts not matching the history", unlike.as_str())]);
    for (what, sql) in all {
        let number: u64 = count(sql)?;
        if number > 0 {
            found.problems.push(format!("{number} {what}"));
        }
    }
    Ok(found)
}

/// Returns the condition that a fact is not in the state after its last recorded change.
fn differences() -> String {
    // The id in the index is derived, and not part of what was stated.
    let columns = Fact::COLUMNS.iter().filter(|column| **column != "embedding_id");
    let differs = columns.map(|column| match *column {
        "value_json" => "coalesce(f.value_json, 'null') IS NOT last -> 'value_json'".to_owned(),
        "confidence" => "abs(f.confidence - (last ->> 'confidence')) > 1e-9".to_owned(),
        column => format!("f.{column} IS NOT last ->> '{column}'"),
    });
    join(differs, " OR ")
}
