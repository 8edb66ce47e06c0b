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

use crate::error::{Error, ErrorKind, Result};
use crate::facts::action::{Action, ActionOutcome, ActionType};
use crate::facts::fact::{self, Category, Fact, FactStatus, Proposal, UserId};
use crate::facts::history::{self, Cause};
use crate::facts::metrics::Figure;
use crate::facts::sql::{Json, Query};
use crate::facts::{confidence, maintenance, metrics, wording};
use crate::text::hexadecimal;

/// The source of the actions of a turn.
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

/// Returns the effect on a fact.
#[expect(
    clippy::unnecessary_wraps,
    reason = "it is the last expression of functions that can fail"
)]
pub(crate) fn effect(outcome: ActionOutcome, fact: Fact) -> Result<ActionEffect> {
    Ok(ActionEffect { outcome, fact: Some(fact) })
}

const NO_EFFECT: ActionEffect = ActionEffect { outcome: ActionOutcome::Nothing, fact: None };

/// The outcome of an action, as it is recorded so that the action is applied once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionResult {
    /// The key.
    pub key: String,
    /// The outcome.
    pub outcome: ActionOutcome,
    /// The affected fact.
    pub fact_id: Option<String>,
}

/// Returns the actions that were applied for a turn, in order, each with its hash.
pub(crate) fn applied(
    connection: &Connection,
    user: &UserId,
    turn: &str,
) -> Result<Vec<(String, ActionResult)>> {
    let sql = "SELECT action_hash, key, outcome, fact_id FROM applied_actions \
               WHERE user_id = ?1 AND turn_id = ?2 ORDER BY action_id";
    connection.rows("read the applied actions", sql, [user.as_str(), turn], |row| {
        let outcome = ActionOutcome::from_word(&row.get::<_, String>(2)?);
        let result = ActionResult {
            key: row.get(1)?,
            outcome: outcome.unwrap_or(ActionOutcome::Nothing),
            fact_id: row.get(3)?,
        };
        Ok((row.get(0)?, result))
    })
}

impl Arbiter<'_> {
    /// Applies all actions in order, each once; if any does not fit the facts, the error lists all such actions.
    pub(crate) fn apply(&self, actions: &[Action]) -> Result<Vec<ActionResult>> {
        let (mut results, mut problems) = (Vec::new(), Vec::new());
        let turn = self.source.turn_id.as_str();
        let mut known = applied(self.connection, self.user, turn)?;
        for (index, action) in actions.iter().enumerate() {
            let hash = action.hash(self.user);
            if let Some((_, result)) = known.iter().find(|(one, _)| *one == hash) {
                results.push(result.clone());
                continue;
            }
            match self.decide(action) {
                Ok(ActionEffect { outcome, fact }) => {
                    let key = action.key.as_str().to_owned();
                    let result =
                        ActionResult { key, outcome, fact_id: fact.map(|fact| fact.fact_id) };
                    self.connection.run(
                        "write the applied actions",
                        "INSERT INTO applied_actions \
                         (turn_id, user_id, key, action_hash, outcome, fact_id, applied_at) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                        params![
                            turn,
                            self.user,
                            result.key,
                            hash,
                            outcome.as_str(),
                            result.fact_id,
                            self.now
                        ],
                    )?;
                    known.push((hash, result.clone()));
                    results.push(result);
                }
                Err(error) if error.kind == ErrorKind::Refused => {
                    problems.push(format!("actions[{index}]: {}", error.message));
                }
                Err(error) => return Err(error),
            }
        }
        if problems.is_empty() {
            return Ok(results);
        }
        Err(Error::refused(format!("the actions do not fit the facts: {}", problems.join("; ")))
            .hint("`annals facts turns --prompt` shows the facts as they are now"))
    }

    pub(crate) fn decide(&self, action: &Action) -> Result<ActionEffect> {
        // What has ended cannot conflict with the action.
        for over in self.with_key(action.key.as_str(), FactStatus::Active)? {
            if over.is_over_at(self.now) {
                maintenance::expire(self.connection, &over, &self.source.turn_id, self.now)?;
            }
        }
        let current = match self.target(action)? {
            Some(target) if target.status == FactStatus::PendingConfirmation => {
                return self.resolve_pending(action, &target);
            }
            Some(target) => Some(target),
            None => self.current(action)?,
        };
        match (action.kind, current) {
            (ActionType::MarkPendingConfirmation, current) => self.mark_pending(action, current),
            (ActionType::Noop | ActionType::Expire, None) => Ok(NO_EFFECT),
            (ActionType::Noop, Some(current)) => self.repeat(action, &current),
            (ActionType::Expire, Some(current)) => self.end(action, &current),
            (_, Some(current)) if !self.is_historical(action, &current) => {
                self.apply_value(action, &current)
            }
            (_, current) => self.insert(action, current.is_some() || self.is_over(action)),
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
            && !wording::is_same(action.value(), &current.value_text)
    }

    /// Returns the fact that `target_fact_id` names, or an error if the action cannot apply to it.
    fn target(&self, action: &Action) -> Result<Option<Fact>> {
        let Some(id) = &action.target_fact_id else {
            return Ok(None);
        };
        let found = fact::by_id(self.connection, self.user, id)?;
        let wrong = match &found {
            None => "there is no such fact".to_owned(),
            Some(found) if found.key != action.key.as_str() => {
                format!("its key is {}, not {}", found.key, action.key)
            }
            Some(found) if !found.status.is_retrievable() => {
                format!("it is {}", found.status.as_str())
            }
            Some(_) => return Ok(found),
        };
        Err(Error::refused(format!("target_fact_id {id}: {wrong}"))
            .hint("name one of the old facts, or null"))
    }

    /// Returns the active fact that an action without a target concerns.
    fn current(&self, action: &Action) -> Result<Option<Fact>> {
        let mut active = self.with_key(action.key.as_str(), FactStatus::Active)?;
        if !action.key.is_multi_valued() {
            return Ok(active.pop());
        }
        let Some(value) = &action.new_value_text else {
            return match active.len() {
                0 | 1 if action.kind == ActionType::Expire => Ok(active.pop()),
                several if action.kind == ActionType::Expire => Err(Error::refused(format!(
                    "{} has {several} values: which one expires?",
                    action.key
                ))
                .hint("name it in target_fact_id")),
                _ => Ok(None),
            };
        };
        let is_it = |fact: &Fact| wording::is_same(value, &fact.value_text);
        Ok(active.into_iter().find(is_it))
    }

    pub(crate) fn with_key(&self, key: &str, status: FactStatus) -> Result<Vec<Fact>> {
        fact::with_key(self.connection, self.user, key, status)
    }

    /// Rules 1 to 3, 5 and 6: handles a value stated for a key that already has one.
    fn apply_value(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let value = action.value();
        if wording::is_same(value, &current.value_text) {
            if action.valid_to.is_some() && action.valid_to != current.valid_to {
                return self.end(action, current);
            }
            return self.repeat(action, current);
        }
        // The user confirmed the exact value: a different text needs another confirmation.
        let is_certain = current.confidence >= confidence::CONFIRMED;
        let may_refine =
            self.source.is_confirmed || !(is_certain || self.is_high_risk(action, current));
        // A temporary value leaves the durable one as it is, so that it can be restored afterwards.
        let is_temporary = action.valid_to.is_some() && current.valid_to.is_none();
        if may_refine
            && !is_temporary
            && action.kind != ActionType::Supersede
            && wording::refines(value, &current.value_text)
        {
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
        // A late turn must not undo later statements, nor a future value the present one.
        let is_late = self.source.said_at < current.valid_from;
        let is_to_come = action.valid_from.as_deref().is_some_and(|from| from > self.now);
        self.source.is_confirmed
            || (!confidence::is_unsure(action.confidence_delta)
                && !is_late
                && !is_to_come
                && current.confidence < confidence::ESTABLISHED
                && !self.is_high_risk(action, current))
    }

    /// Rule 1; a value whose validity has ended is stored as expired.
    fn insert(&self, action: &Action, is_over: bool) -> Result<ActionEffect> {
        let mut new = self.new_fact(action, action.value());
        let mut outcome = ActionOutcome::Inserted;
        if is_over {
            // If only the end is given, the start is unknown.
            let from = action.valid_from.as_ref().or(action.valid_to.as_ref());
            new.valid_from = from.cloned().unwrap_or(new.valid_from);
            new.valid_to.clone_from(&action.valid_to);
            new.status = FactStatus::Expired;
            outcome = ActionOutcome::Expired;
        } else if let Some(known) = self.find_proposal(action, Proposal::Value)? {
            return self.repeat_proposal(action, &known);
        }
        self.write_change("insert", &action.reason, None, &new)?;
        effect(outcome, new)
    }

    /// Rule 2.
    fn refine(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let mut after = self.mentioned(current);
        action.value().clone_into(&mut after.value_text);
        after.value_json = action.new_value_json.clone().map(Json);
        if self.source.is_confirmed {
            after.confidence = confidence::CONFIRMED;
        }
        after.source_excerpt.clone_from(&self.source.excerpt);
        after.source_turn_id.clone_from(&self.source.turn_id);
        // An end before the fact began does not belong to this fact.
        let end = action.valid_to.clone().filter(|end| *end > current.valid_from);
        after.valid_to = end.or(after.valid_to);
        self.write_change("update", &action.reason, Some(current), &after)?;
        effect(ActionOutcome::Refined, after)
    }

    /// Rule 3.
    fn supersede(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let mut new = self.new_fact(action, action.value());
        new.category = self.source.category.unwrap_or(current.category);
        self.close(current, FactStatus::Superseded, &new.valid_from, &action.reason)?;
        self.count(Figure::Supersessions)?;
        self.write_change("insert", &action.reason, None, &new)?;
        effect(ActionOutcome::Superseded, new)
    }

    /// Rule 4.
    fn end(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let is_guarded =
            self.is_high_risk(action, current) || confidence::is_unsure(action.confidence_delta);
        if is_guarded && !self.source.is_confirmed {
            if let Some(known) = self.find_proposal(action, Proposal::End)? {
                return self.repeat_proposal(action, &known);
            }
            let value = format!("no longer {}", current.value_text);
            return self.propose(action, Some(current), Proposal::End, &value);
        }
        let end = action.valid_to.as_deref().unwrap_or(&self.source.said_at);
        if end > self.now && end > current.valid_from.as_str() {
            return self.end_later(current, end, &action.reason);
        }
        let after = self.close(current, FactStatus::Expired, end, &action.reason)?;
        effect(ActionOutcome::Expired, after)
    }

    pub(crate) fn end_later(&self, fact: &Fact, end: &str, reason: &str) -> Result<ActionEffect> {
        let after = Fact { valid_to: Some(end.to_owned()), ..self.mentioned(fact) };
        self.write_change("update", reason, Some(fact), &after)?;
        effect(ActionOutcome::Refined, after)
    }

    /// Rule 5.
    pub(crate) fn repeat(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let value = action.new_value_text.as_ref();
        if value.is_some_and(|value| !wording::is_same(value, &current.value_text)) {
            return effect(ActionOutcome::Nothing, current.clone());
        }
        let after = self.repeated(action, current)?;
        let is_confirmed = after.confidence > current.confidence;
        let outcome =
            if is_confirmed { ActionOutcome::Confirmed } else { ActionOutcome::Mentioned };
        effect(outcome, after)
    }

    /// Records another mention, which raises the confidence once per turn.
    pub(crate) fn repeated(&self, action: &Action, current: &Fact) -> Result<Fact> {
        let mut after = self.mentioned(current);
        let sql = "SELECT EXISTS (SELECT 1 FROM fact_history \
                   WHERE user_id = ?1 AND fact_id = ?2 AND turn_id = ?3)";
        if self.source.is_confirmed {
            after.confidence = confidence::CONFIRMED;
        } else if action.confidence_delta >= 0.0 {
            let values = params![self.user, current.fact_id, self.source.turn_id];
            let is_counted: bool = self.connection.value("read the history", sql, values)?;
            if !is_counted {
                after.confidence = confidence::repeated(current.confidence);
            }
        }
        let name = if after.confidence > current.confidence { "confirm" } else { "mention" };
        self.write_change(name, &action.reason, Some(current), &after)?;
        Ok(after)
    }

    /// Ends the validity of a fact.
    pub(crate) fn close(
        &self,
        fact: &Fact,
        status: FactStatus,
        end: &str,
        reason: &str,
    ) -> Result<Fact> {
        let after = Fact {
            status,
            valid_to: Some(end.max(fact.valid_from.as_str()).to_owned()),
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
        let key = action.key.as_str();
        let new = Fact::new(self.user, self.new_id(action), key, value.to_owned(), self.now);
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
        let (a, b, c, d, e) = (part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30));
        format!("{a}-{b}-8{c}-a{d}-{e}")
    }

    /// Counts something that happens now.
    pub(crate) fn count(&self, figure: Figure) -> Result<()> {
        metrics::count(self.connection, self.user, self.now, figure, 1)
    }

    pub(crate) fn write_change(
        &self,
        action: &str,
        reason: &str,
        before: Option<&Fact>,
        after: &Fact,
    ) -> Result<()> {
        let cause = Cause { action, reason, turn: &self.source.turn_id, at: self.now };
        history::write(self.connection, cause, before, after)
    }
}
