//! Merges a set of changes into facts, independently of the order in which they are given.
//!
//! Confirmations are a set of turns, from which the confidence is computed. The value and the validity of a
//! fact are each decided by the last writer, by hybrid logical clock and device; a confirmation or rejection
//! by the user asserts that a fact is valid or not, even if it changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::fact::Fact;
use crate::facts::replication::conflict;
use crate::facts::replication::merged::{FactEnd, MergedChange, MergedFact};

/// Returns the facts of one key, ordered by their ids.
pub(crate) fn merge(mut changes: Vec<MergedChange>) -> Vec<Fact> {
    changes.sort_by(|a, b| (&a.stamp, &a.op_id).cmp(&(&b.stamp, &b.op_id)));
    let mut seen = BTreeSet::new();
    // A turn observed twice is the same turn: the first observation counts.
    changes.retain(|change| seen.insert(change.op_id.clone()));
    let mut facts: BTreeMap<String, MergedFact> = BTreeMap::new();
    let mut ends = Vec::new();
    for change in &changes {
        ends.extend(FactEnd::from_change(change));
        match facts.get_mut(&change.after.fact_id) {
            Some(merged) => merged.apply(change),
            None => drop(facts.insert(change.after.fact_id.clone(), MergedFact::begin(change))),
        }
    }
    let mut facts: Vec<MergedFact> = facts.into_values().collect();
    conflict::resolve(&mut facts, &ends);
    facts.into_iter().map(|merged| merged.fact).collect()
}
