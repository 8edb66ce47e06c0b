//! Decides what an action may do to the existing facts, whatever type it states.
//!
//! The auditor proposes; the rules here decide, by comparing values and confidence:
//!
//! 1. A new fact is inserted.
//! 2. A value that contains the whole old one, and negates nothing, refines it in place.
//! 3. A contradiction closes the old fact's validity and inserts the new one; when a new one with an end
//!    expires, the old one is restored.
//! 4. An explicit invalidation expires the fact.
//! 5. A duplicate refreshes the time of the last mention and, once per turn, raises the confidence.
//! 6. A low-confidence conflict awaits confirmation, and so does a conflict with an established fact.
//!
//! A fact that the user confirmed is never refined without confirmation. A high-risk fact is overwritten,
//! refined or ended only with a confidence of at least [`confidence::HIGH_RISK`], or if the user confirms it.

use rusqlite::{Connection, params};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::facts::action::{Action, ActionOutcome, ActionType};
use crate::facts::change::Cause;
use crate::facts::columns::Json;
use crate::facts::fact::Fact;
use crate::facts::metrics::{Figure, Tally};
use crate::facts::query::Query;
use crate::facts::user::UserId;
use crate::facts::vocabulary::{Category, FactStatus, Proposal};
use crate::facts::{change, confidence, expiry, fact, wording};
use crate::text::hexadecimal;

/// The source of an action.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionSource {
    pub(crate) turn_id: String,
    pub(crate) session_id: Option<String>,
    pub(crate) turn_seq: Option<i64>,
    pub(crate) project: Option<String>,
    pub(crate) excerpt: String,
    /// When it was said.
    pub(crate) said_at: String,
    /// When the stated event happened.
    pub(crate) event_time: Option<String>,
    /// The category, if it differs from the key's.
    pub(crate) category: Option<Category>,
    /// Whether the user confirmed it explicitly, which overrides the rules.
    pub(crate) is_confirmed: bool,
}

/// Applies the rules to the actions of one turn.
pub(crate) struct Arbiter<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) user: &'a UserId,
    pub(crate) source: &'a ActionSource,
    pub(crate) now: &'a str,
    pub(crate) high_risk: &'a [String],
}

/// The effect of an action.
#[derive(Clone, Debug, Serialize)]
pub struct ActionEffect {
    /// The outcome.
    pub outcome: ActionOutcome,
    /// The affected fact.
    pub fact: Option<Fact>,
}

impl ActionEffect {
    pub(crate) fn new(outcome: ActionOutcome, fact: Option<Fact>) -> Self {
        Self { outcome, fact }
    }
}

impl<'a> Arbiter<'a> {
    /// Creates the arbiter for one turn of a user.
    pub(crate) fn new(
        connection: &'a Connection,
        user: &'a UserId,
        source: &'a ActionSource,
        now: &'a str,
        high_risk: &'a [String],
    ) -> Self {
        Self { connection, user, source, now, high_risk }
    }

    /// Applies an action as far as the rules allow.
    pub(crate) fn decide(&self, action: &Action) -> Result<ActionEffect> {
        self.expire_ended(action.key.as_str())?;
        let target = self.target(action)?;
        let current = match target {
            Some(target) if target.status == FactStatus::PendingConfirmation => {
                return self.resolve_pending(action, &target);
            }
            Some(target) => Some(target),
            None => self.current(action)?,
        };
        match (action.kind, current) {
            (ActionType::Noop, current) => self.repeat(action, current),
            (ActionType::Expire, None) => Ok(ActionEffect::new(ActionOutcome::Nothing, None)),
            (ActionType::Expire, Some(current)) => self.end(action, &current),
            (ActionType::MarkPendingConfirmation, current) => self.mark_pending(action, current),
            (_, Some(current)) if !self.is_historical(action, &current) => {
                self.apply_value(action, &current)
            }
            (_, None) if !self.is_over(action) => self.insert(action),
            _ => self.insert_ended(action),
        }
    }

    /// Returns whether the validity that an action states has already ended.
    fn is_over(&self, action: &Action) -> bool {
        action.valid_to.as_deref().is_some_and(|end| end <= self.now)
    }

    /// Returns whether an action states an earlier value, which does not affect the current one.
    fn is_historical(&self, action: &Action, current: &Fact) -> bool {
        // For a supersession, `valid_to` is the end of the old value.
        action.kind != ActionType::Supersede
            && self.is_over(action)
            && !wording::is_same(value_of(action), &current.value_text)
    }

    /// Returns the fact that `target_fact_id` names, or an error if the action cannot apply to it.
    fn target(&self, action: &Action) -> Result<Option<Fact>> {
        let Some(id) = &action.target_fact_id else {
            return Ok(None);
        };
        let wrong = |what: &str| {
            Error::refused(format!("target_fact_id {id}: {what}"))
                .hint("name one of the old facts, or null")
        };
        let Some(found) = fact::by_id(self.connection, self.user, id)? else {
            return Err(wrong("there is no such fact"));
        };
        if found.key != action.key.as_str() {
            return Err(wrong(&format!("its key is {}, not {}", found.key, action.key)));
        }
        if !found.status.is_retrievable() {
            return Err(wrong(&format!("it is {}", found.status.as_str())));
        }
        Ok(Some(found))
    }

    /// Returns the active fact that an action without a target concerns.
    fn current(&self, action: &Action) -> Result<Option<Fact>> {
        let mut active = self.with_key(action.key.as_str(), FactStatus::Active)?;
        if !action.key.is_multi_valued() {
            return Ok(active.pop());
        }
        let value = action.new_value_text.as_deref();
        if let Some(at) = active
            .iter()
            .position(|fact| value.is_some_and(|value| wording::is_same(value, &fact.value_text)))
        {
            return Ok(Some(active.swap_remove(at)));
        }
        if action.kind == ActionType::Expire && value.is_none() {
            return match active.len() {
                0 | 1 => Ok(active.pop()),
                several => Err(Error::refused(format!(
                    "{} has {several} values: which one expires?",
                    action.key
                ))
                .hint("name it in target_fact_id")),
            };
        }
        Ok(None)
    }

    pub(crate) fn with_key(&self, key: &str, status: FactStatus) -> Result<Vec<Fact>> {
        fact::with_key(self.connection, self.user, key, status)
    }

    /// Expires the key's facts whose validity has ended, so that they cannot conflict with the action.
    fn expire_ended(&self, key: &str) -> Result<()> {
        for over in self.with_key(key, FactStatus::Active)? {
            if over.valid_to.as_deref().is_some_and(|end| end <= self.now) {
                expiry::expire(self.connection, &over, &self.source.turn_id, self.now)?;
            }
        }
        Ok(())
    }

    /// Rules 1 to 3, 5 and 6: handles a value stated for a key that already has one.
    fn apply_value(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let value = value_of(action);
        if wording::is_same(value, &current.value_text) {
            if action.valid_to.is_some() && action.valid_to != current.valid_to {
                return self.end(action, current);
            }
            return self.repeat(action, Some(current.clone()));
        }
        // The user confirmed the exact value: a different text needs another confirmation.
        let is_certain = current.confidence >= confidence::CONFIRMED;
        let may_refine =
            self.source.is_confirmed || !(is_certain || self.is_high_risk(action, current));
        // A temporary value leaves the durable one as it is, so that it can be restored afterwards.
        let is_temporary = action.valid_to.is_some() && current.valid_to.is_none();
        let is_refinement = may_refine
            && !is_temporary
            && action.kind != ActionType::Supersede
            && wording::refines(value, &current.value_text);
        if is_refinement {
            return self.refine(action, current);
        }
        if let Some(known) = self.find_proposal(action, Proposal::Value)? {
            return self.repeat_proposal(action, &known);
        }
        if self.may_overwrite(action, current) {
            return self.supersede(action, current);
        }
        self.propose(action, Some(current), Proposal::Value, value)
    }

    pub(crate) fn is_high_risk(&self, action: &Action, current: &Fact) -> bool {
        action.key.is_high_risk(current.category, self.high_risk)
    }

    /// Returns whether a first contradiction overwrites a fact without confirmation.
    fn may_overwrite(&self, action: &Action, current: &Fact) -> bool {
        if self.source.is_confirmed {
            return true;
        }
        let is_sure =
            confidence::first_mention(action.confidence_delta) >= confidence::FIRST_MENTION;
        // A late turn must not undo later statements, nor a future value the present one.
        let is_late = self.source.said_at < current.valid_from;
        let is_to_come = action.valid_from.as_deref().is_some_and(|from| from > self.now);
        is_sure
            && !is_late
            && !is_to_come
            && current.confidence < confidence::ESTABLISHED
            && !self.is_high_risk(action, current)
    }

    /// Rule 1.
    fn insert(&self, action: &Action) -> Result<ActionEffect> {
        if let Some(known) = self.find_proposal(action, Proposal::Value)? {
            return self.repeat_proposal(action, &known);
        }
        let new = self.new_fact(action, value_of(action));
        self.write_change("insert", &action.reason, None, &new)?;
        Ok(ActionEffect::new(ActionOutcome::Inserted, Some(new)))
    }

    /// Rule 1 for a value whose validity has ended: it is stored as expired.
    fn insert_ended(&self, action: &Action) -> Result<ActionEffect> {
        let new = self.new_fact(action, value_of(action));
        let ended = Fact {
            // If only the end is given, the start is unknown.
            valid_from: action
                .valid_from
                .clone()
                .or(action.valid_to.clone())
                .unwrap_or(new.valid_from),
            valid_to: action.valid_to.clone(),
            status: FactStatus::Expired,
            ..new
        };
        self.write_change("insert", &action.reason, None, &ended)?;
        Ok(ActionEffect::new(ActionOutcome::Expired, Some(ended)))
    }

    /// Rule 2.
    fn refine(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let confidence =
            if self.source.is_confirmed { confidence::CONFIRMED } else { current.confidence };
        // An end before the fact began does not belong to this fact.
        let end = action.valid_to.clone().filter(|end| *end > current.valid_from);
        let after = Fact {
            value_text: value_of(action).to_owned(),
            value_json: action.new_value_json.clone().map(Json),
            confidence,
            source_excerpt: self.source.excerpt.clone(),
            source_turn_id: self.source.turn_id.clone(),
            valid_to: end.or(current.valid_to.clone()),
            ..self.mentioned(current)
        };
        self.write_change("update", &action.reason, Some(current), &after)?;
        Ok(ActionEffect::new(ActionOutcome::Refined, Some(after)))
    }

    /// Rule 3.
    fn supersede(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let mut new = self.new_fact(action, value_of(action));
        new.category = self.source.category.unwrap_or(current.category);
        self.close(current, FactStatus::Superseded, &new.valid_from, &action.reason)?;
        self.count(Figure::Supersessions)?;
        self.write_change("insert", &action.reason, None, &new)?;
        Ok(ActionEffect::new(ActionOutcome::Superseded, Some(new)))
    }

    /// Rule 4.
    fn end(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let is_guarded = self.is_high_risk(action, current)
            || confidence::first_mention(action.confidence_delta) < confidence::FIRST_MENTION;
        if is_guarded && !self.source.is_confirmed {
            if let Some(known) = self.find_proposal(action, Proposal::End)? {
                return self.repeat_proposal(action, &known);
            }
            let value = format!("no longer {}", current.value_text);
            return self.propose(action, Some(current), Proposal::End, &value);
        }
        let end = action.valid_to.as_deref().unwrap_or(&self.source.said_at);
        if end > self.now && end > current.valid_from.as_str() {
            let after = Fact { valid_to: Some(end.to_owned()), ..self.mentioned(current) };
            self.write_change("update", &action.reason, Some(current), &after)?;
            return Ok(ActionEffect::new(ActionOutcome::Refined, Some(after)));
        }
        let after = self.close(current, FactStatus::Expired, end, &action.reason)?;
        Ok(ActionEffect::new(ActionOutcome::Expired, Some(after)))
    }

    /// Rule 5.
    pub(crate) fn repeat(&self, action: &Action, current: Option<Fact>) -> Result<ActionEffect> {
        let Some(current) = current else {
            return Ok(ActionEffect::new(ActionOutcome::Nothing, None));
        };
        let says_otherwise = action
            .new_value_text
            .as_deref()
            .is_some_and(|value| !wording::is_same(value, &current.value_text));
        if says_otherwise {
            return Ok(ActionEffect::new(ActionOutcome::Nothing, Some(current)));
        }
        let after = self.repeated(action, &current)?;
        let (outcome, name) = if after.confidence > current.confidence {
            (ActionOutcome::Confirmed, "confirm")
        } else {
            (ActionOutcome::Mentioned, "mention")
        };
        self.write_change(name, &action.reason, Some(&current), &after)?;
        Ok(ActionEffect::new(outcome, Some(after)))
    }

    pub(crate) fn repeated(&self, action: &Action, current: &Fact) -> Result<Fact> {
        let mut after = self.mentioned(current);
        if self.source.is_confirmed {
            after.confidence = confidence::CONFIRMED;
        } else if action.confidence_delta >= 0.0 && !self.is_changed_by_this_turn(current)? {
            after.confidence = confidence::repeated(current.confidence);
        }
        Ok(after)
    }

    /// Returns whether this turn has already changed the fact: it raises the confidence only once.
    fn is_changed_by_this_turn(&self, fact: &Fact) -> Result<bool> {
        self.connection.value(
            "read the history",
            "SELECT EXISTS (SELECT 1 FROM fact_history WHERE user_id = ?1 AND fact_id = ?2 AND turn_id = ?3)",
            params![self.user.as_str(), fact.fact_id, self.source.turn_id],
        )
    }

    /// Ends the validity of a fact.
    pub(crate) fn close(
        &self,
        fact: &Fact,
        status: FactStatus,
        end: &str,
        reason: &str,
    ) -> Result<Fact> {
        let end = end.max(fact.valid_from.as_str());
        let after = Fact {
            status,
            valid_to: Some(end.to_owned()),
            updated_at: self.now.to_owned(),
            ..fact.clone()
        };
        let name = if status == FactStatus::Superseded { "supersede" } else { "expire" };
        self.write_change(name, reason, Some(fact), &after)?;
        Ok(after)
    }

    /// Returns the fact with its time of last mention updated.
    pub(crate) fn mentioned(&self, fact: &Fact) -> Fact {
        Fact {
            last_mentioned_at: fact.last_mentioned_at.clone().max(self.source.said_at.clone()),
            updated_at: self.now.to_owned(),
            ..fact.clone()
        }
    }

    pub(crate) fn new_fact(&self, action: &Action, value: &str) -> Fact {
        let source = self.source;
        let id = self.new_id(action);
        let key = action.key.as_str();
        let new = Fact::new(self.user, id, key, value.to_owned(), self.now);
        let valid_from = action.valid_from.as_ref().unwrap_or(&source.said_at).clone();
        Fact {
            value_json: action.new_value_json.clone().map(Json),
            category: source.category.unwrap_or(action.key.category()),
            confidence: if source.is_confirmed {
                confidence::CONFIRMED
            } else {
                confidence::first_mention(action.confidence_delta)
            },
            event_time: source.event_time.clone(),
            valid_to: action.valid_to.clone().filter(|end| *end > valid_from),
            valid_from,
            source_turn_id: source.turn_id.clone(),
            source_excerpt: source.excerpt.clone(),
            last_mentioned_at: source.said_at.clone(),
            session_id: source.session_id.clone(),
            turn_seq: source.turn_seq,
            project: source.project.clone(),
            ..new
        }
    }

    /// Derives the id from the turn and the action, so that it is the same on every machine and in every run.
    fn new_id(&self, action: &Action) -> String {
        let mut hash = Sha256::new();
        hash.update(action.hash(self.user).as_bytes());
        hash.update(self.source.turn_id.as_bytes());
        let digits = hexadecimal(&hash.finalize());
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        format!(
            "{}-{}-8{}-a{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18),
            part(18, 30)
        )
    }

    /// Counts something that happens now.
    pub(crate) fn count(&self, figure: Figure) -> Result<()> {
        Tally::for_day(self.connection, self.user, self.now).add(figure, 1)
    }

    pub(crate) fn write_change(
        &self,
        action: &str,
        reason: &str,
        before: Option<&Fact>,
        after: &Fact,
    ) -> Result<()> {
        let cause = Cause { action, reason, turn: &self.source.turn_id, at: self.now };
        change::write(self.connection, cause, before, after)
    }
}

/// Returns the value of an action, or an empty string; validation ensures a value where one is needed.
pub(crate) fn value_of(action: &Action) -> &str {
    action.new_value_text.as_deref().unwrap_or_default()
}
