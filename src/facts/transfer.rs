//! Exports facts as JSON Lines, and imports them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact::{self, Fact, FactStatus, Proposal, UserId};
use crate::facts::history::{self, Cause};
use crate::facts::sql::Sql;
use crate::facts::store::Facts;
use crate::facts::wording;
use crate::progress::Progress;
use crate::secrets::SecretPolicy;

/// Number of invalid lines that an error names.
const MAX_PROBLEMS: usize = 10;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
    let mut all = facts.connection().column(sql, [user])?;
    all.extend(fact::select(facts.connection(), user, "1", &[])?);
    Ok(all)
}

/// Imports facts of a user, one JSON object per line; an invalid line fails the whole import.
///
/// A fact whose id or active value is already present is left unchanged. One that contradicts an active fact
/// becomes pending: an import overwrites nothing.
pub fn import(
    facts: &mut Facts,
    user: &UserId,
    lines: &str,
    policy: SecretPolicy,
    progress: &Progress,
) -> Result<Imported> {
    let read = read(user, lines, policy)?;
    let now = facts.clock().timestamp();
    facts.enlarge_cache()?;
    facts.write(|connection| {
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1) \
                   OR EXISTS (SELECT 1 FROM facts_archive WHERE fact_id = ?1)";
        let mut done = Imported::default();
        // The active values of each key, each with its fact: read once, not for each line.
        let mut keys: HashMap<String, BTreeMap<String, String>> = HashMap::new();
        let (mut ids, mut new) = (HashSet::new(), Vec::new());
        for mut fact in progress.track("Importing", read) {
            let values = match keys.entry(fact.key.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(key) => {
                    let active = fact::with_key(connection, user, &fact.key, FactStatus::Active)?;
                    let value = |fact: Fact| (wording::folded(&fact.value_text), fact.fact_id);
                    key.insert(active.into_iter().map(value).collect())
                }
            };
            let value = wording::folded(&fact.value_text);
            let is_repeated = !ids.insert(fact.fact_id.clone());
            let is_active = fact.status == FactStatus::Active;
            if is_repeated
                || is_active && values.contains_key(&value)
                || connection.value(sql, [&fact.fact_id])?
            {
                done.known += 1;
                continue;
            }
            let rival = values.values().next().filter(|_| !fact.is_multi_valued());
            if fact.is_over_at(&now) {
                fact.status = FactStatus::Expired;
            } else if is_active && let Some(rival) = rival {
                fact.contests = Some(rival.clone());
                fact.status = FactStatus::PendingConfirmation;
                fact.proposal = Some(Proposal::Value);
                done.pending += 1;
            } else if is_active {
                values.insert(value, fact.fact_id.clone());
            }
            fact.embedding_id = None;
            done.imported += 1;
            let turn = &fact.source_turn_id;
            let cause = Cause { action: "import", reason: "imported", turn, at: &now };
            history::record(connection, cause, None, &fact, None)?;
            new.push(fact);
        }
        history::store(connection, &new)?;
        Ok(done)
    })
}

fn read(user: &UserId, lines: &str, policy: SecretPolicy) -> Result<Vec<Fact>> {
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for (index, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match fact_of(user, line, policy) {
            Ok(fact) => read.push(fact),
            Err(error) => problems.push(format!("line {}: {}", index + 1, error.message)),
        }
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() {
        return Ok(read);
    }
    Err(Error::refused(format!("not imported: {}", problems.join("; ")))
        .hint("each line is one fact as `annals facts export` writes it"))
}

fn fact_of(user: &UserId, line: &str, policy: SecretPolicy) -> Result<Fact> {
    let mut fact: Fact = serde_json::from_str(line)
        .map_err(|error| Error::refused(format!("not a fact: {error}")))?;
    if fact.user_id != user.as_str() {
        return Err(Error::refused(format!("a fact of {}, not of {user}", fact.user_id)));
    }
    fact.accept(policy)?;
    Ok(fact)
}
