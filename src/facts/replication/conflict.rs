//! Resolves conflicts between the facts that several devices recorded for a key, without asking the auditor.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::facts::replication::merged::{FactEnd, MergedFact};
use crate::facts::vocabulary::{FactStatus, Proposal};
use crate::facts::wording;

/// Resolves the facts of one key; the result depends on nothing else.
///
/// 1. If a fact ended, equal facts of other devices that were decided earlier end with it.
/// 2. Of equal facts, the one with the highest confidence (on ties, the latest) is kept, and takes over the
///    turns of the others.
/// 3. For a single-valued key, the active fact with the highest confidence (on ties, the latest) is kept, and
///    the others become pending.
/// 4. A proposal that has become true, or that duplicates another one, is closed.
pub(crate) fn resolve(facts: &mut [MergedFact], ends: &[FactEnd]) {
    end_equal_ones(facts, ends);
    merge_duplicates(facts, FactStatus::Active);
    let Some(survivor) = best(facts, &with_status(facts, FactStatus::Active)) else {
        merge_duplicates(facts, FactStatus::PendingConfirmation);
        return;
    };
    if !facts[survivor].fact.is_multi_valued() {
        let id = facts[survivor].fact.fact_id.clone();
        for index in with_status(facts, FactStatus::Active) {
            if index != survivor {
                let fact = &mut facts[index].fact;
                fact.status = FactStatus::PendingConfirmation;
                fact.proposal = Some(Proposal::Value);
                fact.contests = Some(id.clone());
            }
        }
    }
    close_fulfilled_proposals(facts);
    merge_duplicates(facts, FactStatus::PendingConfirmation);
}

fn end_equal_ones(facts: &mut [MergedFact], ends: &[FactEnd]) {
    for end in ends {
        for merged in facts.iter_mut() {
            let fact = &mut merged.fact;
            let is_ended = fact.status == end.from
                && merged.decided < end.stamp
                && wording::folded(&fact.value_text) == end.value;
            if is_ended {
                fact.status = end.to;
                fact.valid_to = end.valid_to.clone().max(Some(fact.valid_from.clone()));
                fact.updated_at.clone_from(&end.updated_at);
                merged.decided = end.stamp.clone();
            }
        }
    }
}

fn merge_duplicates(facts: &mut [MergedFact], status: FactStatus) {
    let mut equal: BTreeMap<(String, Option<Proposal>), Vec<usize>> = BTreeMap::new();
    for index in with_status(facts, status) {
        let fact = &facts[index].fact;
        let proposal = fact.proposal.filter(|proposal| *proposal == Proposal::End);
        equal.entry((wording::folded(&fact.value_text), proposal)).or_default().push(index);
    }
    for (_, members) in equal {
        let Some(survivor) = best(facts, &members) else {
            continue;
        };
        for index in members {
            if index != survivor {
                let other = facts[index].clone();
                facts[survivor].absorb(&other);
                let from = facts[survivor].fact.valid_from.clone();
                close(&mut facts[index], &from);
            }
        }
    }
}

fn close_fulfilled_proposals(facts: &mut [MergedFact]) {
    let active = with_status(facts, FactStatus::Active);
    let active: Vec<(String, String)> = active
        .into_iter()
        .map(|index| {
            let fact = &facts[index].fact;
            (wording::folded(&fact.value_text), fact.valid_from.clone())
        })
        .collect();
    for index in with_status(facts, FactStatus::PendingConfirmation) {
        let fact = &facts[index].fact;
        let value = wording::folded(&fact.value_text);
        let came_true = active.iter().find(|(known, _)| *known == value);
        if let Some((_, from)) = came_true
            && fact.proposal != Some(Proposal::End)
        {
            close(&mut facts[index], from);
        }
    }
}

fn close(merged: &mut MergedFact, from: &str) {
    let fact = &mut merged.fact;
    fact.status = FactStatus::Superseded;
    fact.valid_to = Some(fact.valid_from.as_str().max(from).to_owned());
}

fn with_status(facts: &[MergedFact], status: FactStatus) -> Vec<usize> {
    let has_status = |index: &usize| facts[*index].fact.status == status;
    (0..facts.len()).filter(has_status).collect()
}

/// Returns the fact with the highest confidence; on ties, the latest.
fn best(facts: &[MergedFact], among: &[usize]) -> Option<usize> {
    let order = |a: &usize, b: &usize| -> Ordering {
        let (a, b) = (&facts[*a], &facts[*b]);
        let sure = a.fact.confidence.total_cmp(&b.fact.confidence);
        sure.then_with(|| a.decided.cmp(&b.decided))
            .then_with(|| a.fact.fact_id.cmp(&b.fact.fact_id))
    };
    among.iter().copied().max_by(|a, b| order(a, b))
}
