//! Exports facts as JSON Lines, and imports them.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::hash_map::Entry;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::action::normalized_time;
use crate::facts::addition;
use crate::facts::audit_trail;
use crate::facts::change;
use crate::facts::change::Cause;
use crate::facts::fact;
use crate::facts::fact::Fact;
use crate::facts::fact::FactStatus;
use crate::facts::key::FactKey;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
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
    /// Ids of the facts that were already present.
    #[serde(skip)]
    pub known_ids: Vec<String>,
}

/// Returns all facts of a user, archived ones first.
pub fn export(facts: &Facts, user: &UserId) -> Result<Vec<Fact>> {
    let mut all = audit_trail::facts(
        facts.connection(),
        "read the archive",
        "SELECT fact_json FROM facts_archive WHERE user_id = ?1 ORDER BY archived_at, fact_id",
        [user.as_str()],
    )?;
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
    facts.write(|connection| {
        let mut done = Imported::default();
        let mut active = HashMap::new();
        let known = |fact: &Fact| -> Result<bool> {
            let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1) \
                 OR EXISTS (SELECT 1 FROM facts_archive WHERE fact_id = ?1)";
            connection.value("read the facts", sql, [&fact.fact_id])
        };
        for mut fact in progress.track("Importing", read) {
            let here = match active.entry(fact.key.clone()) {
                Entry::Occupied(read) => read.into_mut(),
                Entry::Vacant(unread) => {
                    let read = fact::with_key(connection, user, &fact.key, FactStatus::Active)?;
                    unread.insert(ActiveValues::new(&read))
                }
            };
            let is_active = fact.status == FactStatus::Active;
            if known(&fact)? || (is_active && here.contains(&fact)) {
                done.known += 1;
                done.known_ids.push(fact.fact_id);
                continue;
            }
            if fact.is_over_at(&now) {
                fact.status = FactStatus::Expired;
            }
            let is_active = fact.status == FactStatus::Active;
            if let Some(current) = &here.first_id
                && is_active
                && !fact.key.ends_with("[]")
            {
                fact.status = FactStatus::PendingConfirmation;
                fact.proposal = Some(fact::Proposal::Value);
                fact.contests = Some(current.clone());
                done.pending += 1;
            }
            fact.embedding_id = None;
            let cause = Cause {
                action: "import",
                reason: "imported",
                turn: &fact.source_turn_id.clone(),
                at: &now,
            };
            change::write(connection, cause, None, &fact)?;
            done.imported += 1;
            if fact.status == FactStatus::Active {
                here.add(&fact);
            }
        }
        Ok(done)
    })
}

/// The active facts under a key: reading them again for each imported fact would be quadratic.
#[derive(Default)]
struct ActiveValues {
    /// The id of the first.
    first_id: Option<String>,
    values: HashSet<String>,
}

impl ActiveValues {
    fn new(facts: &[Fact]) -> Self {
        let mut all = Self::default();
        for fact in facts {
            all.add(fact);
        }
        all
    }

    fn add(&mut self, fact: &Fact) {
        self.first_id.get_or_insert_with(|| fact.fact_id.clone());
        self.values.insert(wording::folded(&fact.value_text));
    }

    fn contains(&self, fact: &Fact) -> bool {
        self.values.contains(&wording::folded(&fact.value_text))
    }
}

fn read(user: &UserId, lines: &str, policy: SecretPolicy) -> Result<Vec<Fact>> {
    let mut read = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match fact_of(user, line, policy) {
            Ok(fact) => drop(read.insert(index, fact)),
            Err(error) => problems.push(format!("line {}: {}", index + 1, error.message)),
        }
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() {
        return Ok(read.into_values().collect());
    }
    Err(
        Error::refused(format!("not imported: {}", problems.join("; ")))
            .hint("each line is one fact as `annals facts export` writes it"),
    )
}

fn fact_of(user: &UserId, line: &str, policy: SecretPolicy) -> Result<Fact> {
    let mut fact: Fact = serde_json::from_str(line)
        .map_err(|error| Error::refused(format!("not a fact: {error}")))?;
    if fact.user_id != user.as_str() {
        return Err(Error::refused(format!(
            "a fact of {}, not of {user}",
            fact.user_id
        )));
    }
    FactKey::parse(&fact.key)?;
    addition::refuse_secrets(&fact.value_text, policy)?;
    if !(0.0..=1.0).contains(&fact.confidence) || fact.value_text.trim().is_empty() {
        return Err(Error::refused("no value, or a confidence outside 0 to 1"));
    }
    let is_id = fact.fact_id.len() == 36
        && fact
            .fact_id
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !is_id {
        return Err(Error::refused(format!(
            "{:?} is not a fact_id",
            fact.fact_id
        )));
    }
    for time in [
        &mut fact.valid_from,
        &mut fact.created_at,
        &mut fact.updated_at,
        &mut fact.last_mentioned_at,
    ] {
        *time = normalized_time(time)
            .ok_or_else(|| Error::refused(format!("{time:?} is not an ISO 8601 time")))?;
    }
    if let Some(end) = &fact.valid_to {
        let end = normalized_time(end)
            .ok_or_else(|| Error::refused(format!("{end:?} is not an ISO 8601 time")))?;
        if end < fact.valid_from {
            return Err(Error::refused("valid_to is not after valid_from"));
        }
        fact.valid_to = Some(end);
    }
    Ok(fact)
}
