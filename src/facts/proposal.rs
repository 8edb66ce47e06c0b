//! Rule 6: facts awaiting confirmation, and how they take effect or are dropped.

use std::collections::HashMap;

use crate::error::Result;
use crate::facts::action::{Action, ActionOutcome, ActionType};
use crate::facts::arbitration::{ActionEffect, Arbiter, value_of};
use crate::facts::fact::Fact;
use crate::facts::metrics::Figure;
use crate::facts::vocabulary::{FactStatus, Proposal};
use crate::facts::{confidence, metrics, wording};

/// The active facts of a key, indexed by what a pending fact can contest.
pub(crate) struct ContestableFacts {
    active: Vec<Fact>,
    by_id: HashMap<String, usize>,
    by_folded_value: HashMap<String, usize>,
}

impl ContestableFacts {
    /// Indexes the active facts of one key, in insertion order.
    pub(crate) fn new(active: Vec<Fact>) -> Self {
        let (mut by_id, mut by_folded_value) = (HashMap::new(), HashMap::new());
        for (index, fact) in active.iter().enumerate() {
            if fact.is_multi_valued() {
                by_id.insert(fact.fact_id.clone(), index);
                by_folded_value.insert(wording::folded(&fact.value_text), index);
            }
        }
        Self { active, by_id, by_folded_value }
    }

    /// Returns the fact that a pending one would replace or end. If the key has several values, that is the one
    /// that it names or that has the same value; if they differ, the later one.
    pub(crate) fn contested_by(&self, pending: &Fact) -> Option<&Fact> {
        if !pending.is_multi_valued() {
            return self.active.last();
        }
        let named = pending.contests.as_ref().and_then(|id| self.by_id.get(id));
        let same = self.by_folded_value.get(&wording::folded(&pending.value_text));
        named.max(same).map(|index| &self.active[*index])
    }
}

impl Arbiter<'_> {
    /// Rule 6, requested by the auditor itself.
    pub(crate) fn mark_pending(
        &self,
        action: &Action,
        current: Option<Fact>,
    ) -> Result<ActionEffect> {
        let value = action.new_value_text.as_deref();
        match (value, current) {
            (Some(value), Some(current)) if wording::is_same(value, &current.value_text) => {
                self.repeat(action, Some(current))
            }
            (Some(value), current) => match self.find_proposal(action, Proposal::Value)? {
                Some(known) => self.repeat_proposal(action, &known),
                None => self.propose(action, current.as_ref(), Proposal::Value, value),
            },
            (None, Some(current)) => {
                let is_guarded = current.confidence >= confidence::ESTABLISHED
                    || self.is_high_risk(action, &current);
                if is_guarded {
                    return Ok(ActionEffect::new(ActionOutcome::Kept, Some(current)));
                }
                let after =
                    Fact { status: FactStatus::PendingConfirmation, ..self.mentioned(&current) };
                self.write_change(action.kind.as_str(), &action.reason, Some(&current), &after)?;
                self.count(Figure::Pending)?;
                Ok(ActionEffect::new(ActionOutcome::Pending, Some(after)))
            }
            (None, None) => Ok(ActionEffect::new(ActionOutcome::Nothing, None)),
        }
    }

    /// Rule 6: stores a value, or the end of one, as pending beside the current fact.
    pub(crate) fn propose(
        &self,
        action: &Action,
        current: Option<&Fact>,
        proposal: Proposal,
        value: &str,
    ) -> Result<ActionEffect> {
        let mut new = self.new_fact(action, value);
        new.status = FactStatus::PendingConfirmation;
        new.proposal = Some(proposal);
        new.contests = current.map(|fact| fact.fact_id.clone());
        if let Some(current) = current {
            new.category = self.source.category.unwrap_or(current.category);
        }
        let name = ActionType::MarkPendingConfirmation.as_str();
        self.write_change(name, &action.reason, None, &new)?;
        self.count(Figure::Pending)?;
        Ok(ActionEffect::new(ActionOutcome::Pending, Some(new)))
    }

    /// Returns the pending fact that already proposes the same.
    pub(crate) fn find_proposal(
        &self,
        action: &Action,
        proposal: Proposal,
    ) -> Result<Option<Fact>> {
        let pending = self.with_key(action.key.as_str(), FactStatus::PendingConfirmation)?;
        let value = value_of(action);
        let is_it = |fact: &Fact| match proposal {
            Proposal::End => fact.proposal == Some(Proposal::End),
            Proposal::Value => {
                fact.proposal != Some(Proposal::End) && wording::is_same(value, &fact.value_text)
            }
        };
        Ok(pending.into_iter().find(is_it))
    }

    /// Applies an action that targets a pending fact: it concerns the proposal, not the contested fact.
    pub(crate) fn resolve_pending(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        let says_the_same = action
            .new_value_text
            .as_deref()
            .is_none_or(|value| wording::is_same(value, &pending.value_text));
        match action.kind {
            ActionType::Expire => {
                metrics::note_resolution(self.connection, self.user, pending)?;
                let after = self.close(pending, FactStatus::Expired, self.now, &action.reason)?;
                Ok(ActionEffect::new(ActionOutcome::Expired, Some(after)))
            }
            _ if says_the_same => self.repeat_proposal(action, pending),
            _ => {
                let untargeted = Action { target_fact_id: None, ..action.clone() };
                self.decide(&untargeted)
            }
        }
    }

    /// Raises the confidence of a repeated proposal, which takes effect once that is high enough.
    pub(crate) fn repeat_proposal(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        let after = self.repeated(action, pending)?;
        let name = if after.confidence > pending.confidence { "confirm" } else { "mention" };
        self.write_change(name, &action.reason, Some(pending), &after)?;
        let contested = self.contested_fact(&after)?;
        let old = contested.as_ref().map_or(0.0, |fact| fact.confidence);
        let needed = confidence::needed(self.is_high_risk(action, &after), old);
        if !self.source.is_confirmed && after.confidence < needed {
            return Ok(ActionEffect::new(ActionOutcome::Pending, Some(after)));
        }
        self.accept(&after, contested.as_ref(), &action.reason)
    }

    /// Returns the active fact that a pending one would replace or end.
    pub(crate) fn contested_fact(&self, pending: &Fact) -> Result<Option<Fact>> {
        let active = self.with_key(&pending.key, FactStatus::Active)?;
        Ok(ContestableFacts::new(active).contested_by(pending).cloned())
    }

    /// Makes a pending fact take effect.
    pub(crate) fn accept(
        &self,
        pending: &Fact,
        contested: Option<&Fact>,
        reason: &str,
    ) -> Result<ActionEffect> {
        metrics::note_resolution(self.connection, self.user, pending)?;
        if pending.proposal == Some(Proposal::End) {
            let ends_later = pending.valid_to.as_deref().filter(|end| *end > self.now);
            match (contested, ends_later) {
                (Some(old), Some(end)) => {
                    let ending = Fact { valid_to: Some(end.to_owned()), ..self.mentioned(old) };
                    self.write_change("update", reason, Some(old), &ending)?;
                    self.close(pending, FactStatus::Expired, self.now, reason)?;
                    return Ok(ActionEffect::new(ActionOutcome::Refined, Some(ending)));
                }
                (Some(old), None) => {
                    let end = pending.valid_to.as_deref().unwrap_or(self.now);
                    self.close(old, FactStatus::Expired, end, reason)?;
                }
                (None, _) => {}
            }
            let after = self.close(pending, FactStatus::Expired, self.now, reason)?;
            return Ok(ActionEffect::new(ActionOutcome::Expired, Some(after)));
        }
        if let Some(old) = contested {
            self.close(old, FactStatus::Superseded, self.now, reason)?;
            self.count(Figure::Supersessions)?;
        }
        let after = Fact {
            status: FactStatus::Active,
            proposal: None,
            contests: None,
            ..self.mentioned(pending)
        };
        self.write_change("activate", reason, Some(pending), &after)?;
        let outcome =
            if contested.is_some() { ActionOutcome::Superseded } else { ActionOutcome::Confirmed };
        Ok(ActionEffect::new(outcome, Some(after)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Facts, Statement, UserId, add, export};

    /// Returns the facts of these values under a key.
    fn facts_of(key: &str, values: &[&str]) -> Vec<Fact> {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let user = UserId::new("ada").unwrap();
        for value in values {
            let statement = Statement {
                key: key.to_owned(),
                value: (*value).to_owned(),
                ..Statement::default()
            };
            add(&mut facts, &user, &statement).unwrap();
        }
        export(&facts, &user).unwrap()
    }

    #[test]
    fn of_several_values_the_named_or_same_one_is_contested() {
        let facts = facts_of("likes[]", &["tea", "coffee", "wine"]);
        let contestable = ContestableFacts::new(facts.clone());
        for (contests, value, contested) in [
            (Some(0), "milk", Some("tea")),
            (None, "Coffee.", Some("coffee")),
            (Some(2), "coffee", Some("wine")),
            (Some(0), "coffee", Some("coffee")),
            (None, "milk", None),
        ] {
            let pending = Fact {
                value_text: value.to_owned(),
                contests: contests.map(|index: usize| facts[index].fact_id.clone()),
                ..facts[0].clone()
            };
            let found = contestable.contested_by(&pending);
            let found = found.map(|fact| fact.value_text.as_str());
            assert_eq!(found, contested, "{value}");
        }
    }

    #[test]
    fn a_single_value_is_always_contested() {
        let facts = facts_of("city", &["Rome"]);
        let pending = Fact { value_text: "Oslo".to_owned(), ..facts[0].clone() };
        let contestable = ContestableFacts::new(facts.clone());
        assert_eq!(contestable.contested_by(&pending), Some(&facts[0]));
        assert_eq!(ContestableFacts::new(Vec::new()).contested_by(&pending), None);
    }
}
