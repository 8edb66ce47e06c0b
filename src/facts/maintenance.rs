//! Maintains the database over time: expires facts, archives old ones, and deletes finished turns.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::Result;
use crate::facts::change::Cause;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::{change, expiry, fact, profile};

/// Age in days after which a fact that no longer holds is archived.
const ARCHIVE_AFTER: i64 = 90;

/// Age in days after which a finished turn is deleted.
const DROP_AFTER: i64 = 30;

/// Turn id of changes that are not caused by a turn.
pub(crate) const TURN: &str = "annals:maintenance";

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
    let now = facts.clock().timestamp();
    let old = before(facts.clock().now(), ARCHIVE_AFTER);
    let done = before(facts.clock().now(), DROP_AFTER);
    let high_risk = facts.high_risk().to_vec();
    facts.write(|connection| {
        Ok(Maintenance {
            expired: expiry::expire_all(connection, TURN, &now)?,
            archived: archive_older(connection, &old, &now)?,
            dropped_turns: drop_turns(connection, &done)?,
            profiles: profile::rebuild_due(connection, profile_turns, &high_risk, &now)?,
        })
    })
}

/// Archives the superseded and expired facts of all users that were last changed before a time.
pub fn archive(facts: &mut Facts, cut_off: DateTime<Utc>) -> Result<usize> {
    let now = facts.clock().timestamp();
    let cut_off = fact::format_time(cut_off);
    facts.write(|connection| archive_older(connection, &cut_off, &now))
}

/// Returns the time this many days ago, as stored.
pub(crate) fn before(now: DateTime<Utc>, days: i64) -> String {
    fact::format_time(now.checked_sub_signed(TimeDelta::days(days)).unwrap_or(now))
}

fn archive_older(connection: &Connection, cut_off: &str, now: &str) -> Result<usize> {
    let old = fact::of_all_users(
        connection,
        "status IN ('superseded', 'expired') AND updated_at < ?1",
        cut_off,
    )?;
    for fact in &old {
        let json = fact.to_json()?;
        connection.run(
            "archive a fact",
            "INSERT INTO facts_archive (fact_id, user_id, key, fact_json, archived_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            params![fact.fact_id, fact.user_id, fact.key, json, now],
        )?;
        connection.run(
            "archive a fact",
            "DELETE FROM facts WHERE user_id = ?1 AND fact_id = ?2",
            params![fact.user_id, fact.fact_id],
        )?;
        let cause =
            Cause { action: "archive", reason: "older than the cut-off", turn: TURN, at: now };
        change::record(connection, cause, Some(fact), Some(fact))?;
    }
    Ok(old.len())
}

fn drop_turns(connection: &Connection, cut_off: &str) -> Result<usize> {
    connection.run_counted(
        "drop done turns",
        "DELETE FROM turns WHERE status = 'done' AND finished_at < ?1",
        [cut_off],
    )
}
