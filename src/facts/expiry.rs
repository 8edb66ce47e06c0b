//! Ends the validity of facts, and restores the facts that they temporarily replaced.
//!
//! A value with an end replaces the durable one only until then. The durable one is closed in the meantime,
//! so that a key has one active value; afterwards it becomes active again unchanged, unless another value has
//! replaced it. The history records which fact was replaced.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::change::Cause;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::user::UserId;
use crate::facts::vocabulary::FactStatus;
use crate::facts::{archive, audit_trail, change, fact, wording};

/// Turn id of restorations, by which merging recognises that nobody stated the value again.
pub(crate) const RESTORE_TURN: &str = "annals:restored";

/// Condition for active facts whose validity has ended.
const OVER: &str = "status = 'active' AND valid_to IS NOT NULL AND valid_to <= ?1";

/// Returns whether the validity of any active fact has ended.
pub(crate) fn is_due(connection: &Connection, now: &str) -> Result<bool> {
    // Every reader runs this: without the hint, SQLite would scan the table if there are many users.
    let sql = format!("SELECT EXISTS (SELECT 1 FROM facts INDEXED BY facts_valid_to WHERE {OVER})");
    connection.value("read the facts", &sql, [now])
}

/// Expires the facts of all users whose validity has ended, and returns their number.
pub(crate) fn expire_all(connection: &Connection, turn: &str, now: &str) -> Result<usize> {
    let over = fact::of_all_users(connection, OVER, now)?;
    for fact in &over {
        expire(connection, fact, turn, now)?;
    }
    Ok(over.len())
}

/// Expires a fact whose validity has ended, and restores the one that it temporarily replaced.
pub(crate) fn expire(connection: &Connection, over: &Fact, turn: &str, now: &str) -> Result<()> {
    let after = Fact { status: FactStatus::Expired, updated_at: now.to_owned(), ..over.clone() };
    let cause = Cause { action: "expire", reason: "its validity ended", turn, at: now };
    change::write(connection, cause, Some(over), &after)?;
    restore_superseded(connection, over, now)
}

/// Restores the fact that the ended one temporarily replaced; if that has ended too, the one that it replaced
/// in turn, and so on.
fn restore_superseded(connection: &Connection, ended: &Fact, now: &str) -> Result<()> {
    let mut passed = BTreeSet::from([ended.fact_id.clone()]);
    let mut last = ended.clone();
    while let Some(earlier) = superseded_fact(connection, &last)? {
        if !passed.insert(earlier.fact_id.clone()) {
            return Ok(());
        }
        if earlier.is_over_at(now) {
            last = earlier;
            continue;
        }
        return restore(connection, &earlier, now);
    }
    Ok(())
}

/// Returns the fact that a temporary one superseded, in its state before.
fn superseded_fact(connection: &Connection, temporary: &Fact) -> Result<Option<Fact>> {
    let began = "SELECT history_id, turn_id FROM fact_history WHERE user_id = ?1 AND fact_id = ?2 \
         AND action IN ('insert', 'activate', 'restore') AND turn_id <> ?3 \
         AND after_json ->> 'valid_to' IS NOT NULL ORDER BY history_id DESC LIMIT 1";
    let values = params![temporary.user_id, temporary.fact_id, RESTORE_TURN];
    let began: Option<(i64, String)> =
        connection.optional_row("read the history", began, values, |row| row.try_into())?;
    let Some((began, turn)) = began else {
        return Ok(None);
    };
    let replaced = "SELECT before_json FROM fact_history WHERE user_id = ?1 AND key = ?2 AND turn_id = ?3 \
         AND history_id < ?4 AND action = 'supersede' ORDER BY history_id DESC LIMIT 1";
    let values = params![temporary.user_id, temporary.key, turn, began];
    let before: Option<String> =
        connection.optional_row("read the history", replaced, values, |row| row.get(0))?;
    before.as_deref().map(audit_trail::fact).transpose()
}

/// Makes a superseded fact active again, unless another value is active.
fn restore(connection: &Connection, earlier: &Fact, now: &str) -> Result<()> {
    let user = UserId::stored(earlier.user_id.clone());
    let active = fact::with_key(connection, &user, &earlier.key, FactStatus::Active)?;
    let has_several = earlier.is_multi_valued();
    let is_taken =
        |other: &Fact| !has_several || wording::is_same(&other.value_text, &earlier.value_text);
    if active.iter().any(is_taken) {
        return Ok(());
    }
    let Some(closed) = closed(connection, &user, earlier)? else {
        return Ok(());
    };
    let restored = Fact {
        status: FactStatus::Active,
        valid_to: earlier.valid_to.clone(),
        updated_at: now.to_owned(),
        ..closed.clone()
    };
    let cause = Cause {
        action: "restore",
        reason: "the temporary value has expired",
        turn: RESTORE_TURN,
        at: now,
    };
    change::write(connection, cause, Some(&closed), &restored)
}

/// Returns the row of a superseded fact, restoring it from the archive if needed.
fn closed(connection: &Connection, user: &UserId, earlier: &Fact) -> Result<Option<Fact>> {
    let id = &earlier.fact_id;
    let found = match fact::by_id(connection, user, id)? {
        Some(kept) => Some(kept),
        None => archive::find(connection, user, id)?,
    };
    let Some(found) = found.filter(|found| found.status == FactStatus::Superseded) else {
        return Ok(None);
    };
    archive::remove(connection, id)?;
    Ok(Some(found))
}
