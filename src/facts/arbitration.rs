//! Decides what an action may do to the existing facts, whatever type it states.
//!
//! The auditor proposes; the rules here decide, by comparing values and confidence:
//!
//! 1. A new fact is inserted.
//! 2. A value that contains the whole old one, and negates nothing, refines it in place, unless it is established.
//! 3. A contradiction closes the old fact's validity and inserts the new one; when a new one with an end
//!    ends, then or before, the old one is restored.
//! 4. An explicit invalidation expires the fact.
//! 5. A duplicate refreshes the time of the last mention and, once per turn, raises the confidence.
//! 6. A low-confidence conflict awaits confirmation, and so does a conflict with an established fact.
//!
//! A fact that the user confirmed is never refined without confirmation. A high-risk fact is overwritten,
//! refined or ended only with a confidence of at least [`HIGH_RISK`], or if the user confirms it.

use rusqlite::params;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::fact::{
    Category, Fact, FactKey, FactStatus, Proposal, UserId, is_multi_valued, vocabulary,
};
use crate::facts::history::Cause;
use crate::facts::store::{Facts, row};
use crate::facts::turns::{Action, ActionOutcome, ActionType};
use crate::facts::{history, maintenance};
use crate::text::{around_words, fold, is_unspaced, listed, negates, sha256};

/// Applies the rules to the actions of one turn.
pub(crate) struct Arbiter<'a> {
    facts: &'a Facts,
    user: &'a UserId,
    /// What new facts take over: turn, session, project, excerpt, event, and, as the last mention, when it was said.
    pub(crate) origin: Fact,
    /// The category, if it differs from the key's.
    pub(crate) category: Option<Category>,
    /// Whether the user confirmed it explicitly, which overrides the rules.
    pub(crate) is_confirmed: bool,
    /// Whether the turn has been judged, so that only the same actions are accepted, which change nothing more.
    pub(crate) is_judged: bool,
    /// Why the facts change: what the auditor or the user says about the present action.
    pub(crate) reason: String,
    now: String,
}

/// The effect of an action.
#[derive(Debug, Serialize)]
pub struct ActionEffect {
    /// The outcome.
    pub outcome: ActionOutcome,
    /// The affected fact.
    pub fact: Option<Fact>,
}

/// Returns the effect of an action on a fact.
fn effect(outcome: ActionOutcome, fact: Fact) -> ActionEffect {
    ActionEffect { outcome, fact: Some(fact) }
}

row! {
    /// The outcome of an action, as it is recorded so that the action is applied once.
    #[derive(Debug, PartialEq, Eq, Serialize)]
    pub struct ActionResult {
        /// The key.
        pub key: String,
        /// The outcome.
        pub outcome: ActionOutcome,
        /// The affected fact.
        pub fact_id: Option<String>,
    }
}

impl Facts {
    /// Applies the rules to actions of this origin, in one transaction.
    pub(crate) fn arbitrate<T>(
        &self,
        user: &UserId,
        origin: Fact,
        work: impl FnOnce(&mut Arbiter<'_>) -> Result<T>,
    ) -> Result<T> {
        self.write(|| {
            work(&mut Arbiter {
                facts: self,
                user,
                origin,
                category: None,
                is_confirmed: false,
                is_judged: false,
                reason: String::new(),
                now: self.now(),
            })
        })
    }
}

impl Arbiter<'_> {
    /// Returns the result of an action of the turn that was applied before, or of the last one if no hash is given.
    pub(crate) fn applied(&self, hash: Option<&str>) -> Result<Option<ActionResult>> {
        let sql = "SELECT key, outcome, fact_id FROM applied_actions WHERE user_id = ?1 AND turn_id = ?2 \
                   AND (?3 IS NULL OR action_hash = ?3) ORDER BY action_id DESC LIMIT 1";
        self.facts.optional(sql, params![self.user, self.origin.source_turn_id, hash])
    }

    /// Applies all actions in order, each once; if any does not fit the facts, the error lists all such actions.
    pub(crate) fn apply(&mut self, actions: &[Action]) -> Result<Vec<ActionResult>> {
        let (mut results, mut problems) = (Vec::new(), Vec::new());
        let turn = &self.origin.source_turn_id;
        for (index, action) in actions.iter().enumerate() {
            let hash = action.hash(self.user);
            if let Some(earlier) = self.applied(Some(&hash))? {
                results.push(earlier);
                continue;
            }
            if self.is_judged {
                let message = format!("the turn {turn} has been judged with other actions");
                return Err(Error::refused(message).hint(
                    "a turn is judged once; `annals facts list --history` shows the result",
                ));
            }
            self.reason.clone_from(&action.reason);
            match self.decide(action) {
                Ok(ActionEffect { outcome, fact }) => {
                    let key = action.key.clone();
                    let fact_id = fact.map(|fact| fact.fact_id);
                    self.facts.run(
                        "INSERT INTO applied_actions \
                         (turn_id, user_id, key, action_hash, outcome, fact_id, applied_at) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                        params![turn, self.user, key, hash, outcome, fact_id, self.now],
                    )?;
                    results.push(ActionResult { key, outcome, fact_id });
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

    fn decide(&self, action: &Action) -> Result<ActionEffect> {
        // What has ended cannot conflict with the action.
        for over in self.facts.with_key(self.user, &action.key, FactStatus::Active)? {
            if over.is_over_at(&self.now) {
                let turn = &self.origin.source_turn_id;
                maintenance::expire(self.facts, &over, turn)?;
            }
        }
        let current = match self.target(action)? {
            Some(target) if target.status == FactStatus::PendingConfirmation => {
                return self.resolve_pending(action, &target);
            }
            Some(target) => Some(target),
            None => self.current(action)?,
        };
        let is_over = action.valid_to.as_ref().is_some_and(|end| *end <= self.now);
        match (action.kind, current) {
            (ActionType::MarkPendingConfirmation, current) => self.mark_pending(action, current),
            (ActionType::Noop | ActionType::Expire, None) => Ok(NO_EFFECT),
            (ActionType::Noop, Some(current)) => self.repeat(action, current),
            (ActionType::Expire, Some(current)) => self.end(action, &current),
            // An earlier value does not affect the current one. For a supersession, the end is the old value's.
            (kind, Some(current))
                if kind == ActionType::Supersede || !is_over || action.is_of(&current) =>
            {
                self.apply_value(action, current)
            }
            _ => self.insert(action, is_over),
        }
    }

    /// Returns the fact that `target_fact_id` names, or an error if the action cannot apply to it.
    fn target(&self, action: &Action) -> Result<Option<Fact>> {
        let Some(id) = &action.target_fact_id else {
            return Ok(None);
        };
        let wrong = match self.facts.with_id(self.user, id)? {
            None => "there is no such fact".to_owned(),
            Some(found) if found.key != action.key => {
                format!("its key is {}, not {}", found.key, action.key)
            }
            Some(found) if !found.status.is_retrievable() => {
                format!("it is {}", found.status.as_str())
            }
            found => return Ok(found),
        };
        Err(Error::refused(format!("target_fact_id {id}: {wrong}"))
            .hint("name one of the old facts, or null"))
    }

    /// Returns the active fact that an action without a target concerns.
    fn current(&self, action: &Action) -> Result<Option<Fact>> {
        let mut active = self.facts.with_key(self.user, &action.key, FactStatus::Active)?;
        let is_any = !is_multi_valued(&action.key)
            || action.new_value_text.is_none() && action.kind == ActionType::Expire;
        active.retain(|fact| is_any || action.is_of(fact));
        if is_any && active.len() > 1 {
            let message = format!("{} has {} values: which one expires?", action.key, active.len());
            return Err(Error::refused(message).hint("name it in target_fact_id"));
        }
        Ok(active.into_iter().next())
    }

    /// Rules 1 to 3, 5 and 6: handles a value stated for a key that already has one.
    fn apply_value(&self, action: &Action, current: Fact) -> Result<ActionEffect> {
        if action.is_of(&current) {
            if action.valid_to.is_some() && action.valid_to != current.valid_to {
                return self.end(action, &current);
            }
            return self.repeat(action, current);
        }
        // A value of an earlier or later time must not undo the present one.
        let is_earlier = self.origin.last_mentioned_at < current.valid_from;
        let is_to_come = action.valid_from.as_ref().is_some_and(|from| *from > self.now);
        let may_replace = !is_to_come
            && (self.is_confirmed
                || !self.is_guarded(action, &current)
                    && !is_earlier
                    && current.confidence < ESTABLISHED);
        // If another fact of the key has the value already, this one only ends.
        let active = self.facts.with_key(self.user, &action.key, FactStatus::Active)?;
        if let Some(holder) = active.into_iter().find(|fact| action.is_of(fact)) {
            if may_replace {
                let end = &self.origin.last_mentioned_at;
                self.close(SUPERSEDE, &current, end)?;
            } else {
                let valid_to = action.valid_from.clone();
                let end = Action { valid_from: None, valid_to, ..action.clone() };
                self.propose(&end, Some(&current), Proposal::End)?;
            }
            return self.repeat(action, holder);
        }
        // A temporary value leaves the durable one as it is, so that it can be restored afterwards.
        let is_temporary = action.valid_to.is_some() && current.valid_to.is_none();
        let is_open = self.is_confirmed || current.confidence < ESTABLISHED;
        if is_open
            && self.may_refine(&current)
            && !is_temporary
            && action.kind != ActionType::Supersede
            && refines(action.value(), &current.value_text)
        {
            return self.refine(action, &current);
        }
        if !may_replace || self.find_proposal(action, Some(&current), Proposal::Value)?.is_some() {
            return self.propose(action, Some(&current), Proposal::Value);
        }
        let new = self.new_fact(action, Some(&current));
        self.close(SUPERSEDE, &current, &new.valid_from)?;
        self.write("insert", None, new, ActionOutcome::Superseded)
    }

    /// Rule 1; a value whose validity has ended is stored as expired.
    fn insert(&self, action: &Action, is_over: bool) -> Result<ActionEffect> {
        let mut new = self.new_fact(action, None);
        let mut outcome = ActionOutcome::Inserted;
        if is_over {
            // If only the end is given, the start is unknown.
            let from = action.valid_from.as_ref().or(action.valid_to.as_ref());
            new.valid_from = from.cloned().unwrap_or(new.valid_from);
            new.valid_to.clone_from(&action.valid_to);
            new.status = FactStatus::Expired;
            outcome = ActionOutcome::Expired;
        } else if let Some(known) = self.find_proposal(action, None, Proposal::Value)? {
            return self.repeat_proposal(action, &known);
        }
        self.write("insert", None, new, outcome)
    }

    /// Returns whether details of a fact may change without confirmation: not of what the user has confirmed exactly.
    fn may_refine(&self, current: &Fact) -> bool {
        self.is_confirmed || current.confidence < CONFIRMED && !self.facts.is_high_risk(current)
    }

    /// Rule 2.
    fn refine(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        let origin = &self.origin;
        let mut after = self.mentioned(current);
        action.value().clone_into(&mut after.value_text);
        after.value_json.clone_from(&action.new_value_json);
        if self.is_confirmed {
            after.confidence = CONFIRMED;
        }
        after.source_excerpt.clone_from(&origin.source_excerpt);
        after.source_turn_id.clone_from(&origin.source_turn_id);
        // An end before the fact began does not belong to this fact.
        let end = action.valid_to.clone().filter(|end| *end > current.valid_from);
        after.valid_to = end.or(after.valid_to);
        self.write("update", Some(current), after, ActionOutcome::Refined)
    }

    /// Returns whether a statement against a fact needs confirmation, whether it ends or replaces the fact: what was said
    /// late must not undo later statements, and what was said elsewhere was judged without the facts of the project.
    fn is_guarded(&self, action: &Action, current: &Fact) -> bool {
        self.facts.is_high_risk(current)
            || action.confidence_delta < 0.0
            || self.origin.last_mentioned_at < current.last_mentioned_at
            || current.project.is_some() && current.project != self.origin.project
    }

    /// Rule 4.
    fn end(&self, action: &Action, current: &Fact) -> Result<ActionEffect> {
        if self.is_guarded(action, current) && !self.is_confirmed {
            return self.propose(action, Some(current), Proposal::End);
        }
        let end = action.valid_to.as_ref().unwrap_or(&self.origin.last_mentioned_at);
        self.end_at(current, end)
    }

    fn end_at(&self, fact: &Fact, end: &str) -> Result<ActionEffect> {
        if end > self.now.as_str() && end > fact.valid_from.as_str() {
            let after = Fact { valid_to: Some(end.to_owned()), ..self.mentioned(fact) };
            return self.write("update", Some(fact), after, ActionOutcome::Refined);
        }
        let ended = self.close(EXPIRE, fact, end)?;
        maintenance::restore_replaced(self.facts, fact)?;
        Ok(ended)
    }

    /// Rule 5.
    fn repeat(&self, action: &Action, current: Fact) -> Result<ActionEffect> {
        if action.new_value_text.is_some() && !action.is_of(&current) {
            return Ok(effect(ActionOutcome::Nothing, current));
        }
        let after = self.repeated(action, &current)?;
        let is_confirmed = after.confidence > current.confidence;
        let outcome =
            if is_confirmed { ActionOutcome::Confirmed } else { ActionOutcome::Mentioned };
        Ok(effect(outcome, after))
    }

    /// Records another mention, which raises the confidence once per turn.
    fn repeated(&self, action: &Action, current: &Fact) -> Result<Fact> {
        let (mut after, origin) = (self.mentioned(current), &self.origin);
        // Said outside of its project, it is true of more than that.
        if after.project != origin.project {
            after.project = None;
        }
        if self.may_refine(current) {
            after.category = self.category.unwrap_or(after.category);
            after.value_json = action.new_value_json.clone().or(after.value_json);
            after.event_time = origin.event_time.clone().or(after.event_time);
        }
        // The latest statement says when a proposal takes effect, unless the user has confirmed when. A value that is
        // stated after its end has another end.
        if current.status == FactStatus::PendingConfirmation
            && origin.last_mentioned_at >= current.last_mentioned_at
            && (self.is_confirmed || current.confidence < CONFIRMED)
        {
            if self.is_confirmed {
                after.valid_from = after.valid_from.min(self.now.clone());
            }
            let from = action.valid_from.clone().unwrap_or(after.valid_from);
            let is_end = current.proposal == Some(Proposal::End);
            let mut ends = [action.valid_to.clone(), after.valid_to].into_iter().flatten();
            after.valid_to = ends.find(|end| *end > from && (is_end || *end > self.now));
            after.valid_from = from;
        }
        let sql = "SELECT 1 FROM fact_history WHERE user_id = ?1 AND fact_id = ?2 AND turn_id = ?3";
        let values = params![self.user, current.fact_id, origin.source_turn_id];
        if self.is_confirmed {
            after.confidence = CONFIRMED;
            // Confirming a temporary fact without an end makes it permanent.
            after.valid_to = after.valid_to.filter(|_| action.valid_to.is_some());
        } else if action.confidence_delta >= 0.0 && !self.facts.exists(sql, values)? {
            after.confidence = repeated_confidence(current.confidence);
        }
        let name = if after.confidence > current.confidence { "confirm" } else { "mention" };
        self.record(name, Some(current), after)
    }

    /// Rule 6, requested by the auditor itself.
    fn mark_pending(&self, action: &Action, current: Option<Fact>) -> Result<ActionEffect> {
        match (&action.new_value_text, current) {
            (Some(_), Some(current)) if action.is_of(&current) => self.repeat(action, current),
            (Some(_), current) => self.propose(action, current.as_ref(), Proposal::Value),
            (None, None) => Ok(NO_EFFECT),
            (None, Some(current))
                if current.confidence >= ESTABLISHED || self.facts.is_high_risk(&current) =>
            {
                Ok(effect(ActionOutcome::Kept, current))
            }
            (None, Some(current)) => {
                let status = FactStatus::PendingConfirmation;
                let after = Fact { status, ..self.mentioned(&current) };
                self.write(MARK, Some(&current), after, ActionOutcome::Pending)
            }
        }
    }

    /// Rule 6: stores a value, or the end of one, as pending beside the current fact, or repeats the proposal.
    fn propose(
        &self,
        action: &Action,
        current: Option<&Fact>,
        proposal: Proposal,
    ) -> Result<ActionEffect> {
        if let Some(known) = self.find_proposal(action, current, proposal)? {
            return self.repeat_proposal(action, &known);
        }
        let mut new = self.new_fact(action, current);
        new.status = FactStatus::PendingConfirmation;
        new.proposal = Some(proposal);
        new.contests = current.map(|current| current.fact_id.clone());
        if let (Proposal::End, Some(current)) = (proposal, current) {
            new.value_text = format!("no longer {}", current.value_text);
        }
        let new = self.record(MARK, None, new)?;
        if self.is_confirmed {
            return self.accept(&new);
        }
        Ok(effect(ActionOutcome::Pending, new))
    }

    /// Returns the pending fact that already proposes the same: the end of this fact, or the value.
    fn find_proposal(
        &self,
        action: &Action,
        current: Option<&Fact>,
        proposal: Proposal,
    ) -> Result<Option<Fact>> {
        let current = current.map(|current| &current.fact_id);
        let pending =
            self.facts.with_key(self.user, &action.key, FactStatus::PendingConfirmation)?;
        Ok(pending.into_iter().find(|fact| match proposal {
            Proposal::End => {
                fact.proposal == Some(Proposal::End) && fact.contests.as_ref() == current
            }
            Proposal::Value => fact.proposal != Some(Proposal::End) && action.is_of(fact),
        }))
    }

    /// Applies an action that targets a pending fact: it concerns the proposal, not the contested fact.
    fn resolve_pending(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        if action.kind == ActionType::Expire {
            self.keep_present(pending)?;
            return self.close(EXPIRE, pending, &self.now);
        }
        if action.new_value_text.is_none() || action.is_of(pending) {
            return self.repeat_proposal(action, pending);
        }
        self.decide(&Action { target_fact_id: None, ..action.clone() })
    }

    /// Raises the confidence of a repeated proposal, which takes effect once that is high enough.
    fn repeat_proposal(&self, action: &Action, pending: &Fact) -> Result<ActionEffect> {
        let after = self.repeated(action, pending)?;
        if after.valid_from != pending.valid_from {
            self.keep_present(pending)?;
        }
        let contested = self.facts.contested_by(&after)?;
        let old = contested.as_ref().map_or(0.0, |fact| fact.confidence);
        let needed = needed_confidence(self.facts.is_high_risk(&after), old);
        if !self.is_confirmed && after.confidence < needed {
            return Ok(effect(ActionOutcome::Pending, after));
        }
        self.accept(&after)
    }

    /// Makes a pending fact take effect.
    fn accept(&self, pending: &Fact) -> Result<ActionEffect> {
        let contested = self.facts.contested_by(pending)?;
        if pending.proposal == Some(Proposal::End) {
            let end = pending.valid_to.as_ref().unwrap_or(&self.now);
            let ended = contested.map(|old| self.end_at(&old, end)).transpose()?;
            let dropped = self.close(EXPIRE, pending, &self.now)?;
            return Ok(ended.filter(|_| *end > self.now).unwrap_or(dropped));
        }
        // The present value stays until the new one begins, which then replaces it.
        if let Some(old) = &contested
            && pending.valid_from.as_str() > self.now.as_str().max(&old.valid_from)
        {
            let is_longer = old.valid_to.as_ref().is_none_or(|end| *end > pending.valid_from);
            if is_longer {
                self.end_at(old, &pending.valid_from)?;
            }
            return Ok(effect(ActionOutcome::Pending, pending.clone()));
        }
        let outcome = self.make_way(contested)?;
        let mut after = Fact { status: FactStatus::Active, ..self.mentioned(pending) };
        (after.proposal, after.contests) = (None, None);
        self.write("activate", Some(pending), after, outcome)
    }

    /// Lets the present value stay after all where a confirmed proposal was to replace it.
    fn keep_present(&self, pending: &Fact) -> Result<()> {
        let present = self.facts.contested_by(pending)?;
        if let Some(old) = present.filter(|old| gives_way_to(self.facts, old, pending)) {
            let after = Fact { valid_to: None, ..old.clone() };
            self.record("update", Some(&old), after)?;
        }
        Ok(())
    }

    /// Supersedes the fact that another one replaces, if there is one; returns the outcome for the other.
    fn make_way(&self, old: Option<Fact>) -> Result<ActionOutcome> {
        let Some(old) = old else {
            return Ok(ActionOutcome::Confirmed);
        };
        self.close(SUPERSEDE, &old, &self.now)?;
        Ok(ActionOutcome::Superseded)
    }

    /// The user confirms a fact: it becomes certain, and takes effect if it was pending. An old value becomes active
    /// again; the value that replaced it was wrong.
    pub(crate) fn confirm(&mut self, fact: &Fact) -> Result<ActionEffect> {
        if fact.is_lapsed_at(&self.now) {
            let end = fact.valid_to.as_deref().unwrap_or_default();
            return Err(Error::refused(format!("{} was valid until {end} only", fact.key)).hint(
                "`annals facts confirm --reject` drops it; after that, `annals facts add` states it anew",
            ));
        }
        let sure = Fact { confidence: CONFIRMED, ..self.mentioned(fact) };
        if !fact.status.is_retrievable() {
            let contested = self.facts.contested_by(fact)?;
            if fact.proposal == Some(Proposal::End) {
                // A dropped end never becomes active; it ends its fact, if that is still active.
                return match contested {
                    Some(old) => self.end_at(&old, &self.now),
                    None => Ok(effect(ActionOutcome::Nothing, fact.clone())),
                };
            }
            let reason = std::mem::replace(&mut self.reason, RESTORED.to_owned());
            let outcome = self.make_way(contested)?;
            self.reason = reason;
            let restored = Fact { status: FactStatus::Active, valid_to: None, ..sure };
            history::unarchive(self.facts, &fact.fact_id)?;
            return self.write("restore", Some(fact), restored, outcome);
        }
        let sure = match sure == *fact {
            true => sure,
            false => self.record("confirm", Some(fact), sure)?,
        };
        if fact.status == FactStatus::Active {
            return Ok(effect(ActionOutcome::Confirmed, sure));
        }
        self.accept(&sure)
    }

    /// The user rejects a fact: a pending one is dropped, an active one ends.
    pub(crate) fn reject(&self, fact: &Fact) -> Result<ActionEffect> {
        if !fact.status.is_retrievable() {
            return Ok(effect(ActionOutcome::Nothing, fact.clone()));
        }
        if fact.status == FactStatus::PendingConfirmation {
            self.keep_present(fact)?;
        }
        let rejected = self.close("reject", fact, &self.now)?;
        if fact.status == FactStatus::Active {
            maintenance::restore_replaced(self.facts, fact)?;
        }
        Ok(rejected)
    }

    /// Ends the validity of a fact by a change with this name.
    fn close(&self, name: &str, fact: &Fact, end: &str) -> Result<ActionEffect> {
        let is_replaced = name == SUPERSEDE;
        let status = if is_replaced { FactStatus::Superseded } else { FactStatus::Expired };
        let valid_to = Some(end.max(fact.valid_from.as_str()).to_owned());
        let after = Fact { valid_to, status, ..fact.clone() };
        self.write(name, Some(fact), after, ActionOutcome::Expired)
    }

    /// Returns the fact with its time of last mention updated.
    fn mentioned(&self, fact: &Fact) -> Fact {
        let said_at = &self.origin.last_mentioned_at;
        let last_mentioned_at = fact.last_mentioned_at.as_str().max(said_at).to_owned();
        Fact { last_mentioned_at, updated_at: self.now.clone(), ..fact.clone() }
    }

    /// Returns a new fact, in the category of the one that it replaces or contests, if there is one.
    fn new_fact(&self, action: &Action, current: Option<&Fact>) -> Fact {
        let known = current.map_or(FactKey(&action.key).category(), |current| current.category);
        let origin = self.origin.clone();
        let valid_from = action.valid_from.as_ref().unwrap_or(&origin.last_mentioned_at).clone();
        let first = first_confidence(action.confidence_delta);
        Fact {
            fact_id: self.new_id(action),
            user_id: self.user.clone(),
            key: action.key.clone(),
            value_text: action.value().to_owned(),
            value_json: action.new_value_json.clone(),
            category: self.category.unwrap_or(known),
            confidence: if self.is_confirmed { CONFIRMED } else { first },
            valid_to: action.valid_to.clone().filter(|end| *end > valid_from),
            valid_from,
            created_at: self.now.clone(),
            updated_at: self.now.clone(),
            ..origin
        }
    }

    /// Derives the id from the turn and the action, so that it is the same on every machine and in every run.
    fn new_id(&self, action: &Action) -> String {
        let text = action.hash(self.user) + &self.origin.source_turn_id;
        let id = sha256(text);
        [&id[..8], "-", &id[8..12], "-8", &id[12..15], "-a", &id[15..18], "-", &id[18..30]].concat()
    }

    /// Writes a change, and returns it as the effect of an action.
    fn write(
        &self,
        name: &str,
        before: Option<&Fact>,
        after: Fact,
        outcome: ActionOutcome,
    ) -> Result<ActionEffect> {
        Ok(effect(outcome, self.record(name, before, after)?))
    }

    fn record(&self, action: &str, before: Option<&Fact>, after: Fact) -> Result<Fact> {
        let (reason, turn) = (&self.reason, &self.origin.source_turn_id);
        let cause = Cause { action, reason, turn };
        history::write(self.facts, cause, before, after)
    }
}

const NO_EFFECT: ActionEffect = ActionEffect { outcome: ActionOutcome::Nothing, fact: None };

/// The names of changes that close a fact, as replaced or ended, and that make one pending.
pub(crate) const SUPERSEDE: &str = "supersede";
pub(crate) const EXPIRE: &str = "expire";
const MARK: &str = "mark_pending_confirmation";

/// The reason of a supersession that is the user's correction of an earlier one.
pub(crate) const RESTORED: &str = "the old value was confirmed";

impl Facts {
    /// Returns the active fact that a pending one would replace or end; if there are several, the latest.
    pub(crate) fn contested_by(&self, pending: &Fact) -> Result<Option<Fact>> {
        let active = self.with_key(&pending.user_id, &pending.key, FactStatus::Active)?;
        Ok(active.into_iter().rfind(|fact| is_contested(fact, pending)))
    }
}

/// Returns whether a pending fact would replace or end this active one of its key. If the key has several values, it has
/// to name it or have the same value. An end is that of the fact which it names, and not of another that has replaced it.
fn is_contested(fact: &Fact, pending: &Fact) -> bool {
    let has_same_value = || is_same_value(&pending.value_text, &fact.value_text);
    pending.contests.as_ref() == Some(&fact.fact_id)
        || pending.proposal != Some(Proposal::End)
            && (!pending.is_multi_valued() || has_same_value())
}

/// Returns whether a pending value has been accepted and replaces a fact once that ends, and until then waits.
pub(crate) fn is_due_after(facts: &Facts, pending: &Fact, current: &Fact) -> bool {
    let needed = needed_confidence(facts.is_high_risk(pending), current.confidence);
    pending.confidence >= needed && gives_way_to(facts, current, pending)
}

/// Returns whether a fact ends because a pending value was accepted for then, even if the fact was said again since.
pub(crate) fn gives_way_to(facts: &Facts, current: &Fact, pending: &Fact) -> bool {
    let needed = needed_confidence(facts.is_high_risk(pending), 0.0);
    pending.proposal == Some(Proposal::Value)
        && pending.confidence >= needed
        && current.valid_to.as_ref() == Some(&pending.valid_from)
        && is_contested(current, pending)
}

/// Confidence of a fact that was mentioned once.
pub(crate) const FIRST_MENTION: f64 = 0.40;

/// Confidence of a fact that the user confirmed when asked.
pub(crate) const CONFIRMED: f64 = 1.00;

/// Confidence from which a single contradiction no longer overwrites a fact.
pub(crate) const ESTABLISHED: f64 = 0.80;

/// Minimum confidence for overwriting a high-risk fact without confirmation.
const HIGH_RISK: f64 = 0.90;

/// Maximum confidence reachable by repetition alone.
const MAX_REPEATED: f64 = 0.999_999;

/// Returns the confidence after another mention, which halves the distance to certainty.
pub(crate) fn repeated_confidence(confidence: f64) -> f64 {
    let raised = rounded(confidence + 0.5 * (CONFIRMED - confidence));
    raised.min(MAX_REPEATED.max(confidence))
}

/// Returns the confidence of a fact mentioned for the first time.
///
/// The auditor can lower it but not raise it: only repetition and confirmation by the user do.
fn first_confidence(delta: f64) -> f64 {
    rounded((FIRST_MENTION + delta.min(0.0)).clamp(0.0, CONFIRMED))
}

/// Returns the confidence a contested value needs to replace the old one without confirmation.
fn needed_confidence(is_high_risk: bool, old: f64) -> f64 {
    old.max(if is_high_risk { HIGH_RISK } else { ESTABLISHED })
}

/// Rounds to six decimals, so that repeated halving does not print as 0.9249999999.
fn rounded(confidence: f64) -> f64 {
    (confidence * 1e6).round() / 1e6
}

/// Returns whether two values are equal but for case, spaces, the Unicode form and a final full stop or exclamation mark.
pub(crate) fn is_same_value(a: &str, b: &str) -> bool {
    folded_value(a) == folded_value(b)
}

/// Returns whether a new value contains the whole old one, and nothing that negates it.
fn refines(new: &str, old: &str) -> bool {
    let (new, old) = (folded_value(new), folded_value(old));
    if old.is_empty() || new.len() <= old.len() {
        return false;
    }
    let ends = [old.chars().next(), old.chars().next_back()];
    let mut whole = around_words(&new, &old).filter(|(before, after)| {
        !goes_on(ends[0], before.chars().rev()) && !goes_on(ends[1], after.chars())
    });
    whole.next().is_some_and(|(before, after)| !takes_back(&[before, " ", after].concat()))
}

/// Returns whether a number at the end of a value goes on in what is beyond it, as 5 does in 5.5, 5 000 and 3-5.
fn goes_on(end: Option<char>, mut beyond: impl Iterator<Item = char>) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    is_digit(end) && is_digit(beyond.nth(1))
}

/// Returns the normalised form by which equal values are recognised.
pub(crate) fn folded_value(text: &str) -> String {
    normalized(text).trim_end_matches(['.', '!', '。', '！']).to_owned()
}

/// Returns a text in lower case, with single spaces, and with accents as one character with their letters.
pub(crate) fn normalized(text: &str) -> String {
    // Some capitals cannot be one character with their accent, though their small letters can.
    fold(text).nfc().collect()
}

/// Returns whether what a value adds takes the old one back, rather than refine it.
fn takes_back(added: &str) -> bool {
    let reversals = vocabulary("reversal");
    let mut words = added.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.any(|word| negates(word) || listed(reversals, word))
        || reversals.split(' ').any(|word| word.contains(is_unspaced) && added.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_halves_the_doubt() {
        let mut confidence = first_confidence(0.9);
        let mut seen = vec![confidence];
        for _ in 0..3 {
            confidence = repeated_confidence(confidence);
            seen.push(confidence);
        }
        assert_eq!(seen, [0.4, 0.7, 0.85, 0.925]);
    }

    #[test]
    fn repetition_alone_makes_nothing_certain_soon() {
        let often =
            (0..10).fold(first_confidence(0.0), |confidence, _| repeated_confidence(confidence));
        assert!(often < CONFIRMED, "{often}");
    }

    #[test]
    fn a_first_mention_is_lowered_by_doubt_and_never_raised() {
        assert_eq!(
            (first_confidence(0.9), first_confidence(-0.15), first_confidence(-1.0)),
            (0.4, 0.25, 0.0)
        );
    }

    #[test]
    fn the_confidence_needed_rises_with_risk_and_with_the_old_value() {
        assert_eq!(
            (
                needed_confidence(false, 0.5),
                needed_confidence(true, 0.5),
                needed_confidence(false, 1.0)
            ),
            (0.8, 0.9, 1.0)
        );
    }

    #[test]
    fn values_are_the_same_whatever_their_case_and_spaces() {
        assert!(is_same_value("Tabs  over spaces.", "tabs over spaces"));
        assert!(
            is_same_value("caf\u{e9}", "Cafe\u{301}") && is_same_value("茶が好き", "茶が好き。")
        );
        assert!(is_same_value("J\u{30c}ore", "\u{1f0}ore"));
        assert!(!is_same_value("tabs over spaces", "spaces over tabs"));
    }

    #[test]
    fn a_refinement_holds_the_old_value_whole_and_takes_nothing_back() {
        for (new, old) in [
            ("Turin, Italy", "Turin"),
            ("senior software engineer", "Software Engineer"),
            ("東京都", "東京"),
            ("vim with relative line numbers", "vim"),
            ("чай каждую неделю", "чай"),
            ("5 km, 3 times a week", "5"),
            ("from 5 to 7", "5"),
        ] {
            assert!(refines(new, old), "{new:?} of {old:?}");
        }
        for (new, old) in [
            ("Turin", "Turin"),
            ("Turin", "Turin, Italy"),
            ("Bart", "art"),
            ("no longer vim", "vim"),
            ("doesn't eat meat", "eat meat"),
            ("not allergic to penicillin", "allergic to penicillin"),
            ("spaces over tabs", "tabs"),
            ("不喜欢茶", "喜欢茶"),
            ("gave up coffee", "coffee"),
            ("moved away from Rome", "Rome"),
            ("не люблю чай", "чай"),
            ("sin carne", "carne"),
            ("5.5", "5"),
            ("10 000", "10"),
            ("3-5", "5"),
            ("anything", ""),
        ] {
            assert!(!refines(new, old), "{new:?} of {old:?}");
        }
    }
}
