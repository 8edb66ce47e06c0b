//! A change of a fact, and a fact to which the changes of all devices are applied.

use std::collections::BTreeSet;

use crate::facts::fact::Fact;
use crate::facts::vocabulary::FactStatus;
use crate::facts::{confidence, expiry, wording};

/// Time and device of an operation; no two operations of a device have the same clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) clock: i64,
    pub(crate) device: String,
}

/// A change of a fact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MergedChange {
    pub(crate) stamp: Stamp,
    pub(crate) op_id: String,
    pub(crate) turn: String,
    pub(crate) before: Option<Fact>,
    pub(crate) after: Fact,
}

impl MergedChange {
    fn is_by_user(&self) -> bool {
        self.turn.starts_with("annals:confirmed:") || self.turn.starts_with("annals:rejected:")
    }

    /// Returns whether it restores a value after a temporary one, so that nobody stated it again.
    fn is_restoration(&self) -> bool {
        self.turn == expiry::RESTORE_TURN
    }

    fn changes_value(&self) -> bool {
        self.before.as_ref().is_none_or(|before| {
            let value =
                |fact: &Fact| (fact.value_text.clone(), fact.value_json.clone(), fact.category);
            value(before) != value(&self.after)
        })
    }

    fn changes_validity(&self) -> bool {
        self.is_by_user()
            || self.before.as_ref().is_none_or(|before| {
                let validity = |fact: &Fact| {
                    let times = (fact.valid_from.clone(), fact.valid_to.clone());
                    (fact.status, times, fact.proposal, fact.contests.clone())
                };
                validity(before) != validity(&self.after)
            })
    }
}

/// A fact, with the data from which its confidence is computed.
#[derive(Clone, Debug)]
pub(crate) struct MergedFact {
    pub(crate) fact: Fact,
    /// When its validity was last decided.
    pub(crate) decided: Stamp,
    /// The turns that stated it first.
    stated_in: BTreeSet<String>,
    /// The turns that repeated it.
    repeated: BTreeSet<String>,
    first_confidence: f64,
    is_certain: bool,
}

/// The end of a fact, which also ends equal facts of other devices.
#[derive(Clone, Debug)]
pub(crate) struct FactEnd {
    pub(crate) stamp: Stamp,
    pub(crate) value: String,
    pub(crate) from: FactStatus,
    pub(crate) to: FactStatus,
    pub(crate) valid_to: Option<String>,
    pub(crate) updated_at: String,
}

impl FactEnd {
    /// Returns the end of a fact, if the change ends it.
    pub(crate) fn from_change(change: &MergedChange) -> Option<Self> {
        let (before, after) = (change.before.as_ref()?, &change.after);
        let is_end = before.status.is_retrievable() && !after.status.is_retrievable();
        is_end.then(|| Self {
            stamp: change.stamp.clone(),
            value: wording::folded(&after.value_text),
            from: before.status,
            to: after.status,
            valid_to: after.valid_to.clone(),
            updated_at: after.updated_at.clone(),
        })
    }
}

impl MergedFact {
    /// Creates the fact from its first change.
    pub(crate) fn begin(change: &MergedChange) -> Self {
        let first = change.before.as_ref().unwrap_or(&change.after);
        let mut merged = Self {
            fact: change.after.clone(),
            decided: change.stamp.clone(),
            stated_in: BTreeSet::new(),
            repeated: BTreeSet::new(),
            first_confidence: first.confidence,
            is_certain: false,
        };
        merged.apply(change);
        merged
    }

    /// Applies a later change.
    pub(crate) fn apply(&mut self, change: &MergedChange) {
        let after = &change.after;
        if change.changes_value() {
            self.fact.value_text.clone_from(&after.value_text);
            self.fact.value_json.clone_from(&after.value_json);
            self.fact.category = after.category;
            self.fact.source_turn_id.clone_from(&after.source_turn_id);
            self.fact.source_excerpt.clone_from(&after.source_excerpt);
            self.fact.event_time.clone_from(&after.event_time);
            self.fact.session_id.clone_from(&after.session_id);
            self.fact.turn_seq = after.turn_seq;
            self.fact.project.clone_from(&after.project);
        }
        if change.changes_validity() && self.accepts(change) {
            self.fact.status = after.status;
            self.fact.valid_from.clone_from(&after.valid_from);
            self.fact.valid_to.clone_from(&after.valid_to);
            self.fact.proposal = after.proposal;
            self.fact.contests.clone_from(&after.contests);
            // What was stated on another device in the meantime outranks the restoration.
            if !change.is_restoration() {
                self.decided = change.stamp.clone();
            }
        }
        let last_mentioned_at = &mut self.fact.last_mentioned_at;
        if *last_mentioned_at < after.last_mentioned_at {
            last_mentioned_at.clone_from(&after.last_mentioned_at);
        }
        self.fact.updated_at.clone_from(&after.updated_at);
        self.count(change);
        self.update_confidence();
    }

    /// Returns whether a restoration applies: not if another device decided on the fact in the meantime.
    fn accepts(&self, change: &MergedChange) -> bool {
        let is_found = |before: &Fact| {
            before.status == self.fact.status && before.valid_to == self.fact.valid_to
        };
        !change.is_restoration() || change.before.as_ref().is_none_or(is_found)
    }

    fn count(&mut self, change: &MergedChange) {
        let after = change.after.confidence;
        match &change.before {
            None => drop(self.stated_in.insert(change.turn.clone())),
            Some(before) if after > before.confidence && after < confidence::CONFIRMED => {
                self.repeated.insert(change.turn.clone());
            }
            Some(_) => {}
        }
        self.is_certain |= after >= confidence::CONFIRMED;
    }

    fn update_confidence(&mut self) {
        let repetitions = self.repeated.difference(&self.stated_in).count();
        let mut sure = self.first_confidence;
        for _ in 0..repetitions {
            sure = confidence::repeated(sure);
        }
        self.fact.confidence = if self.is_certain { confidence::CONFIRMED } else { sure };
    }

    /// Takes over the turns of an equal fact.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.repeated.extend(other.stated_in.iter().cloned());
        self.repeated.extend(other.repeated.iter().cloned());
        self.is_certain |= other.is_certain;
        self.update_confidence();
    }
}
