//! Facts that await the user's confirmation (rule 6), the questions to ask, and the answers.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::action::{Action, ActionOutcome, ActionType};
use crate::facts::arbitration::{ActionEffect, ActionSource, Arbiter, effect};
use crate::facts::fact::{self, Fact, FactStatus, Proposal, UserId};
use crate::facts::metrics::Figure;
use crate::facts::store::Facts;
use crate::facts::{confidence, history, metrics, wording};

/// Returns the active fact of its key that a pending one would replace or end. If the key has several values, that
/// is the one that it names or that has the same value; if they differ, the later one.
fn contested_by<'f>(
    mut active: impl DoubleEndedIterator<Item = &'f Fact>,
    pending: &Fact,
) -> Option<&'f Fact> {
    active.rfind(|fact| {
        !pending.is_multi_valued()
            || pending.contests.as_ref() == Some(&fact.fact_id)
            || wording::is_same(&pending.value_text, &fact.value_text)
    })
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
                self.repeat(action, &current)
            }
            (Some(value), current) => match self.find_proposal(action, Proposal::Value)? {
                Some(known) => self.repeat_proposal(action, &known),
                None => self.propose(action, current.as_ref(), Proposal::Value, value),
            },
            (None, Some(current)) => {
                if current.confidence >= confidence::ESTABLISHED
                    || self.is_high_risk(action, &current)
                {
                    return effect(ActionOutcome::Kept, current);
                }
                let after =
                    Fact { status: FactStatus::PendingConfirmation, ..self.mentioned(&current) };
                self.write_change(action.kind.as_str(), &action.reason, Some(&current), &after)?;
                self.count(Figure::Pending)?;
                effect(ActionOutcome::Pending, after)
            }
            (None, None) => Ok(ActionEffect { outcome: ActionOutcome::Nothing, fact: None }),
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
        if let Some(current) = current {
            new.contests = Some(current.fact_id.clone());
            new.category = self.source.category.unwrap_or(current.category);
        }
        let name = ActionType::MarkPendingConfirmation.as_str();
        self.write_change(name, &action.reason, None, &new)?;
        self.count(Figure::Pending)?;
        effect(ActionOutcome::Pending, new)
    }

    /// Returns the pending fact that already proposes the same.
    pub(crate) fn find_proposal(
        &self,
        action: &Action,
        proposal: Proposal,
    ) -> Result<Option<Fact>> {
        let pending = self.with_key(action.key.as_str(), FactStatus::PendingConfirmation)?;
        Ok(pending.into_iter().find(|fact| match proposal {
            Proposal::End => fact.proposal == Some(Proposal::End),
            Proposal::Value => {
                fact.proposal != Some(Proposal::End)
                    && wording::is_same(action.value(), &fact.value_text)
            }
        }))
    }

    /// Applies an action that targets a pending fact: it concerns the proposal, not the contested fact.
    pub(crate) fn resolve_pending(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        if action.kind == ActionType::Expire {
            metrics::note_resolution(self.connection, self.user, pending)?;
            let after = self.close(pending, FactStatus::Expired, self.now, &action.reason)?;
            return effect(ActionOutcome::Expired, after);
        }
        let value = action.new_value_text.as_ref();
        if value.is_none_or(|value| wording::is_same(value, &pending.value_text)) {
            return self.repeat_proposal(action, pending);
        }
        self.decide(&Action { target_fact_id: None, ..action.clone() })
    }

    /// Raises the confidence of a repeated proposal, which takes effect once that is high enough.
    pub(crate) fn repeat_proposal(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        let after = self.repeated(action, pending)?;
        let contested = self.contested_fact(&after)?;
        let old = contested.as_ref().map_or(0.0, |fact| fact.confidence);
        let needed = confidence::needed(self.is_high_risk(action, &after), old);
        if !self.source.is_confirmed && after.confidence < needed {
            return effect(ActionOutcome::Pending, after);
        }
        self.accept(&after, contested.as_ref(), &action.reason)
    }

    /// Returns the active fact that a pending one would replace or end.
    fn contested_fact(&self, pending: &Fact) -> Result<Option<Fact>> {
        let active = self.with_key(&pending.key, FactStatus::Active)?;
        Ok(contested_by(active.iter(), pending).cloned())
    }

    /// Makes a pending fact take effect.
    fn accept(
        &self,
        pending: &Fact,
        contested: Option<&Fact>,
        reason: &str,
    ) -> Result<ActionEffect> {
        metrics::note_resolution(self.connection, self.user, pending)?;
        if pending.proposal == Some(Proposal::End) {
            let end = pending.valid_to.as_deref().unwrap_or(self.now);
            let mut ended = None;
            if let Some(old) = contested {
                if end > self.now {
                    ended = Some(self.end_later(old, end, reason)?);
                } else {
                    self.close(old, FactStatus::Expired, end, reason)?;
                }
            }
            let after = self.close(pending, FactStatus::Expired, self.now, reason)?;
            return ended.map_or_else(|| effect(ActionOutcome::Expired, after), Ok);
        }
        let mut outcome = ActionOutcome::Confirmed;
        if let Some(old) = contested {
            self.close(old, FactStatus::Superseded, self.now, reason)?;
            self.count(Figure::Supersessions)?;
            outcome = ActionOutcome::Superseded;
        }
        let after = Fact {
            status: FactStatus::Active,
            proposal: None,
            contests: None,
            ..self.mentioned(pending)
        };
        self.write_change("activate", reason, Some(pending), &after)?;
        effect(outcome, after)
    }

    /// Makes an old value active again; the value that replaced it was wrong.
    fn restore(&self, fact: &Fact) -> Result<ActionEffect> {
        let contested = self.contested_fact(fact)?;
        if fact.status == FactStatus::Superseded {
            metrics::note_restoration(self.connection, self.user, fact)?;
        }
        let mut outcome = ActionOutcome::Confirmed;
        if let Some(wrong) = &contested {
            let reason = "the old value was confirmed";
            self.close(wrong, FactStatus::Superseded, self.now, reason)?;
            outcome = ActionOutcome::Superseded;
        }
        let restored = Fact {
            status: FactStatus::Active,
            valid_to: None,
            confidence: confidence::CONFIRMED,
            ..self.mentioned(fact)
        };
        self.write_change("restore", "confirmed", Some(fact), &restored)?;
        effect(outcome, restored)
    }
}

/// A fact that is awaiting the user's confirmation.
#[derive(Clone, Debug, Serialize)]
pub struct Pending {
    /// The fact.
    pub fact: Fact,
    /// The active fact that would be replaced or ended.
    pub contested: Option<Fact>,
    /// The question to ask, if the conflict is important enough for one.
    pub question: Option<String>,
}

/// Returns a user's pending facts with their questions, oldest first.
pub fn pending(facts: &Facts, user: &UserId) -> Result<Vec<Pending>> {
    let connection = facts.connection();
    let found = fact::select(connection, user, "status = 'pending_confirmation'", &[])?;
    let active = fact::select(
        connection,
        user,
        "status = 'active' AND key IN (SELECT key FROM facts \
         WHERE user_id = ?1 AND status = 'pending_confirmation')",
        &[],
    )?;
    let now = facts.clock().timestamp();
    let found = found.into_iter().filter(|fact| !fact.is_lapsed_at(&now));
    Ok(found
        .map(|fact| {
            let of_key = active.iter().filter(|other| other.key == fact.key);
            let contested = contested_by(of_key, &fact).cloned();
            let question = question(&fact, contested.as_ref(), facts.high_risk(), &now);
            Pending { fact, contested, question }
        })
        .collect())
}

/// Returns the question to ask if the contested fact is established or the fact is high-risk.
fn question(
    fact: &Fact,
    contested: Option<&Fact>,
    high_risk: &[String],
    now: &str,
) -> Option<String> {
    let is_established = contested.is_some_and(|old| old.confidence >= confidence::ESTABLISHED);
    if !fact.is_high_risk(high_risk) && !is_established {
        return None;
    }
    let (key, value) = (&fact.key, &fact.value_text);
    let Some(old) = contested.map(|old| &old.value_text) else {
        return Some(format!("Is it right that {key} is \"{value}\"?"));
    };
    if fact.proposal != Some(Proposal::End) {
        return Some(format!("Change {key} from \"{old}\" to \"{value}\"?"));
    }
    Some(match fact.valid_to.as_deref().filter(|end| *end > now) {
        Some(end) => format!("Is {key} \"{old}\" only until {end}?"),
        None => format!("Is {key} no longer \"{old}\"?"),
    })
}

/// Confirms a fact: it becomes certain, and takes effect if it was pending.
pub fn confirm(facts: &mut Facts, user: &UserId, id: &str) -> Result<ActionEffect> {
    answer(facts, user, id, "confirmed", |arbiter, fact| {
        if !fact.status.is_retrievable() {
            return arbiter.restore(fact);
        }
        if fact.is_lapsed_at(arbiter.now) {
            let end = fact.valid_to.as_deref().unwrap_or_default();
            return Err(Error::refused(format!("{} was valid until {end} only", fact.key)).hint(
                "`annals facts confirm --reject` drops it; after that, `annals facts add` states it anew",
            ));
        }
        let sure = Fact { confidence: confidence::CONFIRMED, ..arbiter.mentioned(fact) };
        if sure != *fact {
            arbiter.write_change("confirm", "confirmed", Some(fact), &sure)?;
        }
        if fact.status == FactStatus::Active {
            return effect(ActionOutcome::Confirmed, sure);
        }
        let contested = arbiter.contested_fact(&sure)?;
        arbiter.accept(&sure, contested.as_ref(), "confirmed")
    })
}

/// Rejects a fact: a pending one is dropped, an active one ends.
pub fn reject(facts: &mut Facts, user: &UserId, id: &str, reason: &str) -> Result<ActionEffect> {
    answer(facts, user, id, "rejected", |arbiter, fact| {
        match fact.status {
            FactStatus::Active => metrics::note_rejection(arbiter.connection, user, fact)?,
            FactStatus::PendingConfirmation => {
                metrics::note_resolution(arbiter.connection, user, fact)?;
            }
            _ => return effect(ActionOutcome::Nothing, fact.clone()),
        }
        let rejected = Fact {
            status: FactStatus::Expired,
            valid_to: Some(arbiter.now.max(fact.valid_from.as_str()).to_owned()),
            updated_at: arbiter.now.to_owned(),
            ..fact.clone()
        };
        arbiter.write_change("reject", reason, Some(fact), &rejected)?;
        effect(ActionOutcome::Expired, rejected)
    })
}

/// Applies the user's own answer about a fact.
fn answer(
    facts: &mut Facts,
    user: &UserId,
    id: &str,
    word: &str,
    apply: impl FnOnce(&Arbiter<'_>, &Fact) -> Result<ActionEffect>,
) -> Result<ActionEffect> {
    let id = history::find(facts, user, id)?.fact_id;
    let now = facts.clock().timestamp();
    let source = ActionSource {
        turn_id: format!("annals:{word}:{id}"),
        said_at: now.clone(),
        is_confirmed: true,
        ..ActionSource::default()
    };
    let high_risk = facts.high_risk().to_vec();
    facts.write(|connection| {
        let arbiter =
            Arbiter { connection, user, source: &source, now: &now, high_risk: &high_risk };
        // Read again, since another process may have changed it.
        let fact = fact::by_id(connection, user, &id)?
            .ok_or_else(|| Error::not_found(format!("the fact {id} no longer exists")))?;
        apply(&arbiter, &fact)
    })
}
