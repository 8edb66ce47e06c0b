//! Changes a fact together with its history, lists both, and moves facts as JSON Lines.

use std::collections::HashMap;

use clap::Args;
use rusqlite::{ToSql, params};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::arbitration::{folded_value, is_same_value};
use crate::facts::fact::{Category, Fact, FactStatus, Proposal, UserId};
use crate::facts::store::{Facts, crash_point, row};
use crate::facts::vectors;
use crate::secrets::SecretPolicy;

/// The cause of a change.
#[derive(Clone, Copy)]
pub(crate) struct Cause<'a> {
    /// The action, as recorded in the history.
    pub(crate) action: &'a str,
    /// The reason in words.
    pub(crate) reason: &'a str,
    /// The turn that caused it.
    pub(crate) turn: &'a str,
}

/// Writes the state of a fact after a change, and records the change in the history; returns that state.
pub(crate) fn write(
    facts: &Facts,
    cause: Cause<'_>,
    before: Option<&Fact>,
    mut after: Fact,
) -> Result<Fact> {
    crash_point();
    if before.is_some() {
        after.updated_at = facts.now();
    }
    record(facts, cause, before, &after, None)?;
    after.upsert(facts)?;
    vectors::update_index(facts, &after)?;
    Ok(after)
}

/// Appends a row to the history, and returns its id; `elsewhere` is the device that made the change, if it was another
/// one, and when it did.
pub(crate) fn record(
    facts: &Facts,
    cause: Cause<'_>,
    before: Option<&Fact>,
    after: &Fact,
    elsewhere: Option<(&str, &str)>,
) -> Result<i64> {
    let Cause { action, reason, turn } = cause;
    let (device, at) = elsewhere.unzip();
    let at = at.map_or_else(|| facts.now(), str::to_owned);
    facts.run(
        "INSERT INTO fact_history \
         (fact_id, user_id, key, action, before_json, after_json, reason, turn_id, at, device) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            after.fact_id, after.user_id, after.key, action, before, after, reason, turn, at,
            device
        ],
    )?;
    Ok(facts.connection.last_insert_rowid())
}

row! {
    /// A change of a fact.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Change {
        /// The fact.
        pub fact_id: String,
        /// Its key.
        pub key: String,
        /// The action.
        pub action: String,
        /// The fact as it was, or `None` if it was new.
        pub before: Option<Fact>,
        /// The fact after the change.
        pub after: Fact,
        /// The reason.
        pub reason: String,
        /// The turn that caused it.
        pub turn_id: String,
        /// When it was changed.
        pub at: String,
        /// The device that made the change, if it was another one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
    }
}

/// The columns of `fact_history` in the order of the fields of [`Change`].
pub(crate) const CHANGE: &str =
    "h.fact_id, h.key, action, before_json, after_json, reason, turn_id, at, h.device";

/// Returns the changes of a user's facts, oldest first; only those of one fact or key if `of` names it.
pub fn history(facts: &Facts, user: &UserId, of: Option<&str>) -> Result<Vec<Change>> {
    let sql = format!(
        "SELECT {CHANGE} FROM fact_history AS h \
         WHERE user_id = ?1 AND (?2 IS NULL OR key = ?2 OR substr(fact_id, 1, length(?2)) = ?2) \
         ORDER BY history_id"
    );
    facts.list(&sql, params![user, of])
}

/// Removes a fact from the archive; to restore it, the caller writes it to the facts.
pub(crate) fn unarchive(facts: &Facts, id: &str) -> Result<()> {
    facts.run("DELETE FROM facts_archive WHERE fact_id = ?1", [id])
}

/// Selects the facts to list; by default all are.
#[derive(Args, Clone, Debug, Default)]
pub struct FactFilter {
    /// Their statuses; empty for any.
    #[arg(skip)]
    pub statuses: Vec<FactStatus>,
    /// Only this category
    #[arg(long)]
    pub category: Option<Category>,
    /// Only this key, or, if it ends in a dot, all keys with that prefix
    #[arg(long)]
    pub key: Option<String>,
    /// Only facts that belong to this project or to none
    #[arg(long, value_name = "NAME")]
    pub of_project: Option<String>,
}

/// A user's facts.
#[derive(Debug, Serialize)]
pub struct FactListing {
    /// The user.
    pub user: UserId,
    /// The facts, sorted by key.
    pub facts: Vec<Fact>,
}

/// Returns a user's facts sorted by key; within a key, the oldest first.
pub fn list(facts: &Facts, user: &UserId, filter: &FactFilter) -> Result<FactListing> {
    let now = facts.now();
    let condition = "(?2 IS NULL OR category = ?2) \
         AND (?3 IS NULL OR key = ?3 OR ?3 LIKE '%.' AND substr(key, 1, length(?3)) = ?3) \
         AND (?4 IS NULL OR project IS NULL OR project = ?4)";
    let values: [&dyn ToSql; 3] = [&filter.category, &filter.key, &filter.of_project];
    let mut found = facts.select(user, condition, &values)?;
    found.sort_by(|a, b| a.key.cmp(&b.key));
    // The worker updates the status later, but a fact is expired from its end on.
    for fact in found.iter_mut().filter(|fact| fact.is_over_at(&now)) {
        fact.status = FactStatus::Expired;
    }
    found.retain(|fact| filter.statuses.is_empty() || filter.statuses.contains(&fact.status));
    Ok(FactListing { user: user.clone(), facts: found })
}

/// Returns the facts of a user, archived ones too, whose id begins with this.
pub(crate) fn beginning_with(facts: &Facts, user: &UserId, id: &str) -> Result<Vec<Fact>> {
    // No character of an id comes after `f`.
    let begins = "?2 <> '' AND fact_id BETWEEN ?2 AND ?2 || 'g'";
    let mut found = facts.select(user, begins, &[&id])?;
    let sql = format!("SELECT fact_json FROM facts_archive WHERE user_id = ?1 AND {begins}");
    found.extend(facts.column::<Fact>(&sql, params![user, id])?);
    Ok(found)
}

/// Returns a fact of a user, or an archived one, by its id or a unique prefix of it.
pub fn find(facts: &Facts, user: &UserId, id: &str) -> Result<Fact> {
    let mut found = beginning_with(facts, user, id)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::not_found(format!("there is no fact {id}"))
            .hint("`annals facts list --history` shows every fact")),
        several => Err(Error::usage(format!("{several} facts have an id that begins with {id}"))
            .hint("give more of the id")),
    }
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// Number of new facts.
    pub imported: usize,
    /// Number of facts that were already present.
    pub known: usize,
    /// Number of new facts that contradict an active one, and await confirmation.
    pub pending: usize,
}

/// Returns all facts of a user, archived ones first.
pub fn export(facts: &Facts, user: &UserId) -> Result<Vec<Fact>> {
    let sql =
        "SELECT fact_json FROM facts_archive WHERE user_id = ?1 ORDER BY archived_at, fact_id";
    let mut all = facts.column(sql, [user])?;
    all.extend(facts.select(user, "1", &[])?);
    Ok(all)
}

/// Imports facts of a user, one JSON object per line; the first invalid line fails the whole import.
///
/// A fact whose id or active value is already present is left unchanged. One that contradicts an active fact
/// becomes pending: an import overwrites nothing.
pub fn import(facts: &Facts, user: &UserId, lines: &str, policy: SecretPolicy) -> Result<Imported> {
    let read = read(user, lines, policy)?;
    let now = facts.now();
    facts.write(|| {
        // The active fact of each key, or of each value of a key that has several.
        let slot = |fact: &Fact| {
            let value = fact.is_multi_valued().then(|| folded_value(&fact.value_text));
            (fact.key.clone(), value)
        };
        let active = facts.select(user, "status = 'active'", &[])?;
        let mut active: HashMap<_, _> =
            active.into_iter().map(|fact| (slot(&fact), fact)).collect();
        let sql = "SELECT 1 FROM facts WHERE fact_id = ?1 \
                   UNION ALL SELECT 1 FROM facts_archive WHERE fact_id = ?1";
        let mut done = Imported::default();
        for mut fact in read {
            let rival = active.get(&slot(&fact)).filter(|_| fact.status == FactStatus::Active);
            let is_same = |rival: &Fact| is_same_value(&rival.value_text, &fact.value_text);
            if rival.is_some_and(is_same) || facts.exists(sql, [&fact.fact_id])? {
                done.known += 1;
                continue;
            }
            if fact.is_over_at(&now) {
                fact.status = FactStatus::Expired;
            } else if let Some(rival) = rival {
                fact.contests = Some(rival.fact_id.clone());
                fact.status = FactStatus::PendingConfirmation;
                fact.proposal = Some(Proposal::Value);
                done.pending += 1;
            }
            done.imported += 1;
            let turn = &fact.source_turn_id.clone();
            let cause = Cause { action: "import", reason: "imported", turn };
            let fact = write(facts, cause, None, fact)?;
            if fact.status == FactStatus::Active {
                active.insert(slot(&fact), fact);
            }
        }
        Ok(done)
    })
}

fn read(user: &UserId, lines: &str, policy: SecretPolicy) -> Result<Vec<Fact>> {
    let accepted = |line: &str| -> Result<Fact> {
        let mut fact: Fact = serde_json::from_str(line)
            .map_err(|error| Error::refused(format!("not a fact: {error}")))?;
        fact.accept(user, policy)?;
        Ok(fact)
    };
    let lines = lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(index, line)| {
        accepted(line).map_err(|error| {
            Error::refused(format!("not imported: line {}: {}", index + 1, error.message))
                .hint("each line is one fact as `annals facts export` writes it")
        })
    });
    read.collect()
}
