//! Exports facts as JSON Lines, and imports them.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact::{self, Fact, FactStatus, Proposal, UserId};
use crate::facts::history::{self, Cause};
use crate::facts::sql::Query;
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
    let mut all = history::states(facts.connection(), "read the archive", sql, [user])?;
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
        let mut done = Imported::default();
        // The active values of each key, and its first active fact: read once, not for each line.
        let mut keys: HashMap<String, (HashSet<String>, Option<String>)> = HashMap::new();
        let (mut ids, mut new) = (HashSet::new(), Vec::new());
        for mut fact in progress.track("Importing", read) {
            if !keys.contains_key(&fact.key) {
                let active = fact::with_key(connection, user, &fact.key, FactStatus::Active)?;
                let values = active.iter().map(|fact| wording::folded(&fact.value_text)).collect();
                let first = active.into_iter().next().map(|fact| fact.fact_id);
                keys.insert(fact.key.clone(), (values, first));
            }
            let (values, first) = keys.entry(fact.key.clone()).or_default();
            let value = wording::folded(&fact.value_text);
            let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1) \
                       OR EXISTS (SELECT 1 FROM facts_archive WHERE fact_id = ?1)";
            let is_stored: bool = connection.value("read the facts", sql, [&fact.fact_id])?;
            let is_repeated = !ids.insert(fact.fact_id.clone());
            if is_stored
                || is_repeated
                || fact.status == FactStatus::Active && values.contains(&value)
            {
                done.known += 1;
                continue;
            }
            if fact.is_over_at(&now) {
                fact.status = FactStatus::Expired;
            }
            if fact.status == FactStatus::Active {
                if first.is_some() && !fact.is_multi_valued() {
                    fact.status = FactStatus::PendingConfirmation;
                    fact.proposal = Some(Proposal::Value);
                    fact.contests.clone_from(first);
                    done.pending += 1;
                } else {
                    values.insert(value);
                    first.get_or_insert_with(|| fact.fact_id.clone());
                }
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
