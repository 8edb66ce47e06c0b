//! The facts that a set of changes gives, in whatever order it is handed in.
//!
//! Confirmations are a set of turns, from which confidence is computed. What a fact says, and whether it
//! holds, are each as the last writer left them, by hybrid logical clock and device; the user's own confirm
//! or reject asserts that a fact holds, or that it does not, also where it changed nothing.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::facts::fact::Fact;
use crate::facts::replication::conflict;
use crate::facts::replication::merged::FactEnd;
use crate::facts::replication::merged::MergedChange;
use crate::facts::replication::merged::MergedFact;

/// Returns the facts of one key, ordered by their ids.
pub(crate) fn merge(mut changes: Vec<MergedChange>) -> Vec<Fact> {
    changes.sort_by(|a, b| (&a.stamp, &a.op_id).cmp(&(&b.stamp, &b.op_id)));
    let mut seen = BTreeSet::new();
    // The same turn observed twice is one: the first observation stands.
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
