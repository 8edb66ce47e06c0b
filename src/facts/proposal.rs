//! Rule 6: facts awaiting confirmation, and how they take effect or are dropped.

use crate::error::Result;
use crate::facts::action::Action;
use crate::facts::action::ActionType;
use crate::facts::arbitration::Arbiter;
use crate::facts::arbitration::Decision;
use crate::facts::arbitration::value_of;
use crate::facts::confidence;
use crate::facts::fact::Fact;
use crate::facts::fact::FactStatus;
use crate::facts::fact::Proposal;
use crate::facts::metrics;
use crate::facts::outcome::ActionOutcome;
use crate::facts::wording;

impl Arbiter<'_> {
    /// Rule 6, requested by the auditor itself.
    pub(crate) fn mark_pending(&self, action: &Action, current: Option<Fact>) -> Result<Decision> {
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
                    return Ok((ActionOutcome::Kept, Some(current)));
                }
                let after = Fact {
                    status: FactStatus::PendingConfirmation,
                    ..self.mentioned(&current)
                };
                self.write_change(action.kind.as_str(), &action.reason, Some(&current), &after)?;
                metrics::note_pending(self.connection, self.user, self.now)?;
                Ok((ActionOutcome::Pending, Some(after)))
            }
            (None, None) => Ok((ActionOutcome::Nothing, None)),
        }
    }

    /// Rule 6: stores a value, or the end of one, as pending beside the current fact.
    pub(crate) fn propose(
        &self,
        action: &Action,
        current: Option<&Fact>,
        proposal: Proposal,
        value: &str,
    ) -> Result<Decision> {
        let mut new = self.new_fact(action, value);
        new.status = FactStatus::PendingConfirmation;
        new.proposal = Some(proposal);
        new.contests = current.map(|fact| fact.fact_id.clone());
        if let Some(current) = current {
            new.category = self.source.category.unwrap_or(current.category);
        }
        let name = ActionType::MarkPendingConfirmation.as_str();
        self.write_change(name, &action.reason, None, &new)?;
        metrics::note_pending(self.connection, self.user, self.now)?;
        Ok((ActionOutcome::Pending, Some(new)))
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
    pub(crate) fn resolve_pending(&self, action: &Action, pending: &Fact) -> Result<Decision> {
        let says_the_same = action
            .new_value_text
            .as_deref()
            .is_none_or(|value| wording::is_same(value, &pending.value_text));
        match action.kind {
            ActionType::Expire => {
                metrics::note_resolution(self.connection, self.user, pending)?;
                let after = self.close(pending, FactStatus::Expired, self.now, &action.reason)?;
                Ok((ActionOutcome::Expired, Some(after)))
            }
            _ if says_the_same => self.repeat_proposal(action, pending),
            _ => {
                let untargeted = Action {
                    target_fact_id: None,
                    ..action.clone()
                };
                self.decide(&untargeted)
            }
        }
    }

    /// Raises the confidence of a repeated proposal, which takes effect once that is high enough.
    pub(crate) fn repeat_proposal(&self, action: &Action, pending: &Fact) -> Result<Decision> {
        let after = self.repeated(action, pending)?;
        let name = if after.confidence > pending.confidence {
            "confirm"
        } else {
            "mention"
        };
        self.write_change(name, &action.reason, Some(pending), &after)?;
        let contested = self.contested_fact(&after)?;
        let old = contested.as_ref().map_or(0.0, |fact| fact.confidence);
        let needed = confidence::needed(self.is_high_risk(action, &after), old);
        if !self.source.is_confirmed && after.confidence < needed {
            return Ok((ActionOutcome::Pending, Some(after)));
        }
        self.accept(&after, contested.as_ref(), &action.reason)
    }

    /// Returns the active fact that a pending one would replace or end.
    pub(crate) fn contested_fact(&self, pending: &Fact) -> Result<Option<Fact>> {
        let mut active = self.with_key(&pending.key, FactStatus::Active)?;
        if pending.is_multi_valued() {
            let is_same = |fact: &Fact| wording::is_same(&fact.value_text, &pending.value_text);
            active.retain(|fact| Some(&fact.fact_id) == pending.contests.as_ref() || is_same(fact));
        }
        Ok(active.pop())
    }

    /// Makes a pending fact take effect.
    pub(crate) fn accept(
        &self,
        pending: &Fact,
        contested: Option<&Fact>,
        reason: &str,
    ) -> Result<Decision> {
        metrics::note_resolution(self.connection, self.user, pending)?;
        if pending.proposal == Some(Proposal::End) {
            let ends_later = pending.valid_to.as_deref().filter(|end| *end > self.now);
            match (contested, ends_later) {
                (Some(old), Some(end)) => {
                    let ending = Fact {
                        valid_to: Some(end.to_owned()),
                        ..self.mentioned(old)
                    };
                    self.write_change("update", reason, Some(old), &ending)?;
                    self.close(pending, FactStatus::Expired, self.now, reason)?;
                    return Ok((ActionOutcome::Refined, Some(ending)));
                }
                (Some(old), None) => {
                    let end = pending.valid_to.as_deref().unwrap_or(self.now);
                    self.close(old, FactStatus::Expired, end, reason)?;
                }
                (None, _) => {}
            }
            let after = self.close(pending, FactStatus::Expired, self.now, reason)?;
            return Ok((ActionOutcome::Expired, Some(after)));
        }
        if let Some(old) = contested {
            self.close(old, FactStatus::Superseded, self.now, reason)?;
            metrics::note_supersession(self.connection, self.user, self.now)?;
        }
        let after = Fact {
            status: FactStatus::Active,
            proposal: None,
            contests: None,
            ..self.mentioned(pending)
        };
        self.write_change("activate", reason, Some(pending), &after)?;
        let outcome = if contested.is_some() {
            ActionOutcome::Superseded
        } else {
            ActionOutcome::Confirmed
        };
        Ok((outcome, Some(after)))
    }
}
