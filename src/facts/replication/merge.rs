//! Merges the changes that all devices made to the facts of a key, independently of the order of arrival.
//!
//! Confirmations are a set of turns, from which the confidence is computed. The value and the validity of a
//! fact are each decided by the last writer, by hybrid logical clock and device; a confirmation or rejection
//! by the user asserts that a fact is valid or not, even if it changed nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::params;

use crate::error::Result;
use crate::facts::arbitration::{CONFIRMED, folded_value, repeated_confidence};
use crate::facts::fact::{Fact, FactStatus, Proposal, UserId};
use crate::facts::history::Cause;
use crate::facts::maintenance::RESTORE_TURN;
use crate::facts::store::{Facts, row};
use crate::facts::{history, vectors};

/// Clock and device of an operation; no two operations of a device have the same clock.
type Stamp = (i64, String);

row! {
    /// A change of a fact, and the operation that made it.
    struct Change {
        clock: i64,
        device: String,
        op_id: String,
        turn: String,
        before: Option<Fact>,
        after: Fact,
    }
}

impl Change {
    fn stamp(&self) -> Stamp {
        (self.clock, self.device.clone())
    }

    /// Returns whether it restores a value after a temporary one, so that nobody stated it again.
    fn is_restoration(&self) -> bool {
        self.turn == RESTORE_TURN
    }

    fn changes_value(&self) -> bool {
        let stated = |fact: &Fact| {
            let (text, json) = (fact.value_text.clone(), fact.value_json.clone());
            (text, json, fact.category, fact.project.clone(), fact.event_time.clone())
        };
        self.before.as_ref().is_none_or(|before| stated(before) != stated(&self.after))
    }

    /// Returns whether it decides on the validity of a fact that is in this state.
    fn changes_validity(&self, current: &Fact) -> bool {
        let is_by_user =
            ["annals:confirmed:", "annals:rejected:"].iter().any(|own| self.turn.starts_with(own));
        self.before.as_ref().is_none_or(|before| {
            // A restoration does not apply if another device decided on the fact in the meantime.
            let is_as_found =
                before.status == current.status && before.valid_to == current.valid_to;
            (is_by_user || with_validity(before, &self.after) != *before)
                && (!self.is_restoration() || is_as_found)
        })
    }
}

/// Returns a fact with the validity of another.
fn with_validity(fact: &Fact, of: &Fact) -> Fact {
    Fact {
        status: of.status,
        valid_from: of.valid_from.clone(),
        valid_to: of.valid_to.clone(),
        proposal: of.proposal,
        contests: of.contests.clone(),
        ..fact.clone()
    }
}

/// A fact, with the data from which its confidence is computed.
#[derive(Clone)]
struct Merged {
    fact: Fact,
    /// When its validity was last decided.
    decided: Stamp,
    /// The turns that stated it first, and those that repeated it.
    stated_in: BTreeSet<String>,
    repeated: BTreeSet<String>,
    first_confidence: f64,
    is_certain: bool,
}

impl Merged {
    /// Creates the fact from its first change, before which it was as that change found it.
    fn begin(change: &Change) -> Self {
        let first = change.before.as_ref().unwrap_or(&change.after);
        Self {
            fact: change.after.clone(),
            decided: change.stamp(),
            stated_in: BTreeSet::new(),
            repeated: BTreeSet::new(),
            first_confidence: first.confidence,
            is_certain: false,
        }
    }

    /// Applies a change.
    fn apply(&mut self, change: &Change) {
        let after = &change.after;
        let decides = change.changes_validity(&self.fact);
        let valued = if change.changes_value() { after } else { &self.fact };
        self.fact = Fact {
            created_at: self.fact.created_at.clone(),
            last_mentioned_at: self
                .fact
                .last_mentioned_at
                .clone()
                .max(after.last_mentioned_at.clone()),
            updated_at: after.updated_at.clone(),
            ..with_validity(valued, if decides { after } else { &self.fact })
        };
        // What was stated on another device in the meantime outranks a restoration.
        if decides && !change.is_restoration() {
            self.decided = change.stamp();
        }
        let is_certain = after.confidence >= CONFIRMED;
        match &change.before {
            None => drop(self.stated_in.insert(change.turn.clone())),
            Some(before) if after.confidence > before.confidence && !is_certain => {
                self.repeated.insert(change.turn.clone());
            }
            Some(_) => {}
        }
        self.is_certain |= is_certain;
        self.update_confidence();
    }

    fn update_confidence(&mut self) {
        let repetitions = self.repeated.difference(&self.stated_in);
        let sure = repetitions.fold(self.first_confidence, |sure, _| repeated_confidence(sure));
        self.fact.confidence = if self.is_certain { CONFIRMED } else { sure };
    }

    /// Takes over the turns of an equal fact.
    fn absorb(&mut self, other: Self) {
        self.repeated.extend(other.stated_in);
        self.repeated.extend(other.repeated);
        self.is_certain |= other.is_certain;
        self.update_confidence();
    }

    fn close(&mut self, from: &str) {
        self.fact.status = FactStatus::Superseded;
        self.fact.valid_to = Some(self.fact.valid_from.as_str().max(from).to_owned());
    }

    fn value(&self) -> String {
        folded_value(&self.fact.value_text)
    }

    fn is_end(&self) -> bool {
        self.fact.proposal == Some(Proposal::End)
    }
}

/// Returns the facts of one key, ordered by their ids, from its changes, ordered by clock and device.
fn merge(mut changes: Vec<Change>) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    // A turn observed twice is the same turn: the first observation counts.
    changes.retain(|change| seen.insert(change.op_id.clone()));
    let mut facts: BTreeMap<&str, Merged> = BTreeMap::new();
    for change in &changes {
        let fact = facts.entry(change.after.fact_id.as_str());
        fact.or_insert_with(|| Merged::begin(change)).apply(change);
    }
    let mut facts: Vec<Merged> = facts.into_values().collect();
    resolve(&mut facts, &changes);
    facts.into_iter().map(|merged| merged.fact).collect()
}

/// Resolves the facts of one key; the result depends on nothing else.
///
/// 1. If a fact ended, equal facts of other devices that were decided earlier end with it.
/// 2. Of equal facts, the one with the highest confidence (on ties, the latest) is kept, and takes over the
///    turns of the others.
/// 3. For a single-valued key, the active fact with the highest confidence (on ties, the latest) is kept, and
///    the others become pending.
/// 4. A proposal that has become true, or that duplicates another one, is closed.
fn resolve(facts: &mut [Merged], changes: &[Change]) {
    for change in changes {
        let Some(before) = &change.before else { continue };
        let end = &change.after;
        if !before.status.is_retrievable() || end.status.is_retrievable() {
            continue;
        }
        let value = folded_value(&end.value_text);
        for merged in facts.iter_mut() {
            if merged.fact.status == before.status
                && merged.decided < change.stamp()
                && merged.value() == value
            {
                let fact = &mut merged.fact;
                fact.status = end.status;
                fact.valid_to = end.valid_to.clone().max(Some(fact.valid_from.clone()));
                fact.updated_at.clone_from(&end.updated_at);
                merged.decided = change.stamp();
            }
        }
    }
    merge_duplicates(facts, FactStatus::Active);
    let active = with_status(facts, FactStatus::Active);
    if let Some(survivor) = best(facts, &active)
        && !facts[survivor].fact.is_multi_valued()
    {
        let id = facts[survivor].fact.fact_id.clone();
        for index in active.into_iter().filter(|index| *index != survivor) {
            let fact = &mut facts[index].fact;
            fact.status = FactStatus::PendingConfirmation;
            fact.proposal = Some(Proposal::Value);
            fact.contests = Some(id.clone());
        }
    }
    let active = with_status(facts, FactStatus::Active).into_iter();
    let active: HashMap<String, String> =
        active.map(|index| (facts[index].value(), facts[index].fact.valid_from.clone())).collect();
    for index in with_status(facts, FactStatus::PendingConfirmation) {
        if let Some(from) = active.get(&facts[index].value()).filter(|_| !facts[index].is_end()) {
            facts[index].close(from);
        }
    }
    merge_duplicates(facts, FactStatus::PendingConfirmation);
}

fn merge_duplicates(facts: &mut [Merged], status: FactStatus) {
    let mut equal: BTreeMap<(String, bool), Vec<usize>> = BTreeMap::new();
    for index in with_status(facts, status) {
        equal.entry((facts[index].value(), facts[index].is_end())).or_default().push(index);
    }
    for members in equal.into_values() {
        let Some(survivor) = best(facts, &members) else {
            continue;
        };
        for index in members.into_iter().filter(|index| *index != survivor) {
            let other = facts[index].clone();
            facts[survivor].absorb(other);
            let kept = facts[survivor].fact.clone();
            facts[index].close(&kept.valid_from);
            // What contests one of the two contests the other.
            let closed = Some(facts[index].fact.fact_id.clone());
            for pending in facts.iter_mut().filter(|one| one.fact.contests == closed) {
                pending.fact.contests = Some(kept.fact_id.clone());
            }
        }
    }
}

fn with_status(facts: &[Merged], status: FactStatus) -> Vec<usize> {
    (0..facts.len()).filter(|index| facts[*index].fact.status == status).collect()
}

/// Returns the fact with the highest confidence; on ties, the latest.
fn best(facts: &[Merged], among: &[usize]) -> Option<usize> {
    among.iter().copied().max_by(|a, b| {
        let (a, b) = (&facts[*a], &facts[*b]);
        let sure = a.fact.confidence.total_cmp(&b.fact.confidence);
        sure.then_with(|| (&a.decided, &a.fact.fact_id).cmp(&(&b.decided, &b.fact.fact_id)))
    })
}

/// Updates the rows of a key to the merge of its operations, and records the changes in the history.
pub(crate) fn merge_key(facts: &Facts, user: &UserId, key: &str) -> Result<()> {
    let sql = "SELECT clock, o.device, op_id, turn_id, before_json, after_json \
               FROM fact_history AS h JOIN operations AS o USING (history_id) \
               WHERE user_id = ?1 AND key = ?2 ORDER BY clock, o.device, op_id";
    let mut merged = merge(facts.list(sql, params![user, key])?);
    // Only one value may be active at a time, so it is written last.
    merged.sort_by_key(|fact| fact.status == FactStatus::Active);
    for mut after in merged {
        // Each device derives the id in the index for itself.
        after.embedding_id = None;
        let is_same = |known: Option<&Fact>| {
            known.is_some_and(|known| Fact { embedding_id: None, ..known.clone() } == after)
        };
        let id = &after.fact_id;
        let last = "SELECT after_json FROM fact_history WHERE user_id = ?1 AND fact_id = ?2 \
                    ORDER BY history_id DESC LIMIT 1";
        let last = facts.column(last, params![user, id])?.pop();
        if !is_same(last.as_ref()) {
            let reason = "what several devices did";
            let cause = Cause { action: "merge", reason, turn: "annals:merge" };
            history::record(facts, cause, last.as_ref(), &after, None)?;
        }
        let known = history::beginning_with(facts, user, id)?.pop();
        if is_same(known.as_ref()) {
            continue;
        }
        let update = "UPDATE facts_archive SET fact_json = ?2 WHERE fact_id = ?1";
        let values = params![after.fact_id, after];
        if after.status.is_retrievable() || facts.change(update, values)? == 0 {
            history::unarchive(facts, &after.fact_id)?;
            after.upsert(facts)?;
            vectors::update_index(facts, &after)?;
        }
    }
    Ok(())
}
