//! Maintains the database over time: ends facts, archives old ones, drops finished turns, and checks it.
//!
//! A value with an end replaces the durable one only until then. The durable one is closed in the meantime,
//! so that a key has one active value; afterwards it becomes active again unchanged, unless another value has
//! replaced it.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, ErrorCode, Row, params};
use serde::Serialize;

use crate::error::Result;
use crate::facts::arbitration::{EXPIRE, is_same_value};
use crate::facts::fact::{COLUMNS, Fact, FactStatus};
use crate::facts::history::Cause;
use crate::facts::store::{Facts, Sql};
use crate::facts::{fact, history, profile, queue, vectors};

/// Age in days after which a fact that no longer holds is archived.
const ARCHIVE_AFTER: i64 = 90;

/// Age in days after which a finished turn is deleted.
const DROP_AFTER: i64 = 30;

/// Turn id of changes that are not caused by a turn.
const TURN: &str = "annals:maintenance";

/// Turn id of restorations, by which merging recognises that nobody stated the value again.
pub(crate) const RESTORE_TURN: &str = "annals:restored";

/// Selects the facts and proposed values whose validity has ended. Without the hint for the index, SQLite would scan the
/// table if there are many users.
const OVER: &str = "FROM facts INDEXED BY facts_valid_to WHERE valid_to <= ?1 \
    AND status IN ('active', 'pending_confirmation') AND proposal IS NOT 'end'";

/// Counts of the maintenance done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
pub fn maintain(facts: &mut Facts, profile_turns: u64) -> Result<Maintenance> {
    let now = facts.clock.timestamp();
    let [old, done] = [ARCHIVE_AFTER, DROP_AFTER].map(|days| before(facts.clock.now(), days));
    let high_risk = facts.high_risk.clone();
    let finished = "DELETE FROM turns WHERE status = 'done' AND finished_at < ?1";
    facts.write(|connection| {
        Ok(Maintenance {
            expired: expire_all(connection, &now)?,
            archived: archive_older(connection, &old, &now)?,
            dropped_turns: connection.change(finished, [done])?,
            profiles: profile::rebuild_due(connection, profile_turns, &high_risk, &now)?,
        })
    })
}

/// Expires ended facts, if there are any.
pub(crate) fn expire_ended(facts: &mut Facts) -> Result<()> {
    let now = facts.clock.timestamp();
    if facts.connection.value(&format!("SELECT EXISTS (SELECT 1 {OVER})"), [&now])? {
        facts.write(|connection| expire_all(connection, &now))?;
    }
    Ok(())
}

/// Archives the superseded and expired facts of all users that were last changed before a time.
pub fn archive(facts: &mut Facts, cut_off: DateTime<Utc>) -> Result<usize> {
    let now = facts.clock.timestamp();
    facts.write(|connection| archive_older(connection, &fact::format_time(cut_off), &now))
}

/// Returns the time this many days ago, as stored.
pub(crate) fn before(now: DateTime<Utc>, days: i64) -> String {
    fact::format_time(now.checked_sub_signed(TimeDelta::days(days)).unwrap_or(now))
}

fn archive_older(connection: &Connection, cut_off: &str, now: &str) -> Result<usize> {
    let is_old = "status IN ('superseded', 'expired') AND updated_at < ?1 ORDER BY seq";
    let old = fact::of_all_users(connection, is_old, [cut_off])?;
    let add = "INSERT INTO facts_archive (fact_id, user_id, key, fact_json, archived_at) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    for fact in &old {
        connection.run(add, params![fact.fact_id, fact.user_id, fact.key, fact, now])?;
        connection.run("DELETE FROM facts WHERE fact_id = ?1", [&fact.fact_id])?;
        let reason = "older than the cut-off";
        let cause = Cause { action: "archive", reason, turn: TURN, at: now };
        history::record(connection, cause, Some(fact), fact, None)?;
    }
    Ok(old.len())
}

/// Expires the facts of all users whose validity has ended, and returns their number.
pub(crate) fn expire_all(connection: &Connection, now: &str) -> Result<usize> {
    let over: Vec<Fact> =
        connection.list(&format!("SELECT {COLUMNS} {OVER} ORDER BY seq"), [now])?;
    over.iter().try_for_each(|fact| expire(connection, fact, now))?;
    Ok(over.len())
}

/// Expires a fact whose validity has ended, and restores the one that it temporarily replaced.
fn expire(connection: &Connection, over: &Fact, now: &str) -> Result<()> {
    let (status, updated_at) = (FactStatus::Expired, now.to_owned());
    let after = Fact { status, updated_at, ..over.clone() };
    let cause = Cause { action: EXPIRE, reason: "its validity ended", turn: TURN, at: now };
    history::write(connection, cause, Some(over), &after)?;
    restore_replaced(connection, over, now)
}

/// Restores the fact that a temporary one had replaced, from the archive if needed, unless another value is active. What has
/// ended by now expires in turn.
pub(crate) fn restore_replaced(connection: &Connection, over: &Fact, now: &str) -> Result<()> {
    // If it has no end any more, it has replaced the other one for good.
    let Some(id) = over.contests.as_ref().filter(|_| over.valid_to.is_some()) else {
        return Ok(());
    };
    let user = &over.user_id;
    let mut active = fact::with_key(connection, user, &over.key, FactStatus::Active)?;
    let found = history::with_id(connection, user, id)?.pop();
    let Some(old) = found.filter(|old| old.status == FactStatus::Superseded) else {
        return Ok(());
    };
    active.retain(|other| {
        !old.is_multi_valued() || is_same_value(&other.value_text, &old.value_text)
    });
    if !active.is_empty() {
        return Ok(());
    }
    let sql = "SELECT before_json ->> 'valid_to' FROM fact_history \
               WHERE user_id = ?1 AND fact_id = ?2 AND action = 'supersede' ORDER BY history_id";
    let valid_to = connection.column(sql, params![user, id])?.pop().flatten();
    let (status, updated_at) = (FactStatus::Active, now.to_owned());
    let restored = Fact { valid_to, status, updated_at, ..old.clone() };
    history::unarchive(connection, id)?;
    let reason = "the temporary value has expired";
    let cause = Cause { action: "restore", reason, turn: RESTORE_TURN, at: now };
    history::write(connection, cause, Some(&old), &restored)?;
    if restored.is_over_at(now) { expire(connection, &restored, now) } else { Ok(()) }
}

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
    /// Number of forgotten vectors that a server may still have.
    pub unerased_vectors: u64,
}

/// Checks the database without changing it.
pub fn check(facts: &Facts) -> Result<Integrity> {
    let connection = &facts.connection;
    let count = |of: &str| connection.value(&format!("SELECT count(*) {of}"), []);
    let mut found = Integrity {
        db: facts.path.display().to_string(),
        facts: count("FROM facts")?,
        waiting_turns: queue::waiting(facts)?,
        dead_turns: count("FROM turns WHERE status = 'dead'")?,
        unsynced_vectors: vectors::unsynced(connection)?,
        unerased_vectors: vectors::forgotten(connection)?.0,
        problems: Vec::new(),
    };
    for pragma in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
        found.problems.extend(connection.column::<String>(pragma, [])?);
    }
    found.problems.retain(|line| line != "ok");
    // The check compares the index with its content table; FTS5 expects it as an INSERT.
    let sql = "INSERT INTO facts_fts (facts_fts, rank) VALUES ('integrity-check', 1)";
    match connection.execute(sql, []) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            return Err(error.into());
        }
        Err(error) => found.problems.push(format!("facts_fts does not match the facts: {error}")),
        Ok(_) => {}
    }
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT after_json FROM fact_history AS h WHERE h.user_id = facts.user_id \
         AND h.fact_id = facts.fact_id ORDER BY history_id DESC LIMIT 1) AS last FROM facts"
    );
    let is_unlike = |row: &Row<'_>| {
        let (fact, last) = (Fact::try_from(row)?, row.get::<_, Option<Fact>>("last")?);
        // Whether there is a vector is not part of what was stated.
        let is_like = |last: Fact| Fact { embedding_id: fact.embedding_id.clone(), ..last } == fact;
        Ok(!last.is_some_and(is_like))
    };
    let unlike = connection.rows(&sql, [], is_unlike)?.into_iter().filter(|is| *is).count();
    if unlike > 0 {
        found.problems.push(format!("{unlike} facts not matching the history"));
    }
    Ok(found)
}
