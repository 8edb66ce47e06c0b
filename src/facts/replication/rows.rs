//! Updates the rows of a key to match its operations.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::change::Cause;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
use crate::facts::replication::merge;
use crate::facts::replication::merged::{MergedChange, Stamp};
use crate::facts::user::UserId;
use crate::facts::vocabulary::FactStatus;
use crate::facts::{archive, audit_trail, change, fact, vectors};

/// Turn id of the changes made by merging.
const TURN: &str = "annals:merge";

/// Updates the rows of a key to the merge of its operations, and records the changes in the history.
pub(crate) fn merge_key(
    connection: &Connection,
    user: &UserId,
    key: &str,
    now: &str,
) -> Result<()> {
    let (changes, last) = history(connection, user, key)?;
    let mut merged = merge::merge(changes);
    // Only one value may be active at a time, so facts that end are written first.
    merged.sort_by_key(|fact| match fact.status {
        FactStatus::Active => 2,
        FactStatus::PendingConfirmation => 1,
        FactStatus::Superseded | FactStatus::Expired => 0,
    });
    let current = fact::select(connection, user, "key = ?2", &[&key])?;
    let current: HashMap<String, Fact> = by_id(current);
    let archived: HashMap<String, Fact> = by_id(archive::of_key(connection, user, key)?);
    for mut after in merged {
        let last = last.get(&after.fact_id);
        let before = current.get(&after.fact_id);
        after.embedding_id = before.and_then(|fact| fact.embedding_id.clone());
        let is_recorded = last.is_some_and(|last| is_same(last, &after));
        if !is_recorded {
            let cause =
                Cause { action: "merge", reason: "what several devices did", turn: TURN, at: now };
            change::record(connection, cause, last, Some(&after))?;
        }
        match (before, archived.get(&after.fact_id)) {
            (Some(before), _) if is_same(before, &after) => {}
            (Some(before), _) => write(connection, Some(before), &after)?,
            (None, Some(archived_fact)) if after.status.is_retrievable() => {
                archive::remove(connection, &archived_fact.fact_id)?;
                write(connection, None, &after)?;
            }
            (None, Some(archived_fact)) if is_same(archived_fact, &after) => {}
            (None, Some(_)) => archive::update(connection, &after)?,
            (None, None) => write(connection, None, &after)?,
        }
    }
    Ok(())
}

fn by_id(facts: Vec<Fact>) -> HashMap<String, Fact> {
    let with_id = |fact: Fact| (fact.fact_id.clone(), fact);
    facts.into_iter().map(with_id).collect()
}

/// Compares without `embedding_id`, which each device derives for itself.
fn is_same(a: &Fact, b: &Fact) -> bool {
    let mut a = a.clone();
    a.embedding_id.clone_from(&b.embedding_id);
    a == *b
}

fn write(connection: &Connection, before: Option<&Fact>, after: &Fact) -> Result<()> {
    after.upsert(connection)?;
    let indexed = |fact: &Fact| (fact.value_text.clone(), fact.status.is_retrievable());
    if before.is_some_and(|before| indexed(before) == indexed(after)) {
        return Ok(());
    }
    vectors::update_index(connection, [after])
}

/// The changes of a key that are operations, and the last recorded state of each fact.
type KeyHistory = (Vec<MergedChange>, HashMap<String, Fact>);

fn history(connection: &Connection, user: &UserId, key: &str) -> Result<KeyHistory> {
    let sql = "SELECT h.fact_id, h.turn_id, h.before_json, h.after_json, o.op_id, o.clock, o.device \
         FROM fact_history AS h LEFT JOIN operations AS o USING (history_id) \
         WHERE h.user_id = ?1 AND h.key = ?2 ORDER BY h.history_id";
    let rows = connection.rows("read the history", sql, [user.as_str(), key], |row| {
        let texts: (String, String) = (row.get(0)?, row.get(1)?);
        let states: (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
        let operation: (Option<String>, Option<i64>, Option<String>) =
            (row.get(4)?, row.get(5)?, row.get(6)?);
        Ok((texts, states, operation))
    })?;
    let mut changes = Vec::new();
    let mut last = HashMap::new();
    for ((fact_id, turn), (before, after), operation) in rows {
        let Some(after) = after else { continue };
        let after = audit_trail::fact(&after)?;
        if let (Some(op_id), Some(clock), Some(device)) = operation {
            changes.push(MergedChange {
                stamp: Stamp { clock, device },
                op_id,
                turn,
                before: before.as_deref().map(audit_trail::fact).transpose()?,
                after: after.clone(),
            });
        }
        last.insert(fact_id, after);
    }
    Ok((changes, last))
}
