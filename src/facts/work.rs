//! Background work: judges queued turns and applies the auditor's answers to them.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde::Serialize;

use crate::embedding::Embedder;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::action::Action;
use crate::facts::addition::MAX_EXCERPT_CHARS;
use crate::facts::application::ActionResult;
use crate::facts::arbitration::{ActionSource, Arbiter};
use crate::facts::auditor::Auditor;
use crate::facts::lease::{Lease, TurnEnd};
use crate::facts::metrics::Ranks;
use crate::facts::prompt::{prompt, retry_prompt};
use crate::facts::queue::{Turn, TurnStatus};
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::{action, application, auditor, lease, metrics, profile, queue};
use crate::secrets::SecretPolicy;
use crate::text;

/// Number of times an auditor is asked before a turn is dead.
const TRIES: usize = 3;

/// How much longer than the timeout of an answer a lease lasts.
const SPARE: Duration = Duration::from_mins(1);

/// A turn whose actions were applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedTurn {
    /// The user.
    pub user_id: UserId,
    /// The turn.
    pub turn_id: String,
    /// The result of each action.
    pub applied: Vec<ActionResult>,
}

/// The outcome of processing a turn from the queue.
#[derive(Debug)]
pub enum TurnOutcome {
    /// Its actions were applied.
    Judged(JudgedTurn),
    /// No answer could be used; it will not be retried.
    Dead(Turn),
    /// No auditor could be asked, or something failed here; it stays in the queue.
    Failed(Turn, Error),
    /// Another worker took it over.
    Lost(Turn),
}

/// Applies an answer to a turn; applying the same answer again returns the first result.
pub fn apply(
    facts: &mut Facts,
    user: &UserId,
    turn_id: &str,
    answer: &str,
    policy: SecretPolicy,
) -> Result<JudgedTurn> {
    let turn = queue::find_turn(facts, user, turn_id)?;
    let actions = action::parse_answer(answer, policy)?;
    let ranks = match turn.status {
        TurnStatus::Done => None,
        _ => Some(Ranks::search(facts, &turn, None)?),
    };
    let now = queue::now_millis(&facts.clock());
    judge(facts, &turn, None, &actions, ranks.as_ref(), &now)
}

/// Judges the next turn of the queue; returns `None` if none is available.
pub fn step(
    facts: &mut Facts,
    auditor: &Auditor,
    embedder: &Embedder,
    skipped: &[Turn],
    wait: Option<Duration>,
) -> Result<Option<TurnOutcome>> {
    let wait = wait.unwrap_or(auditor::WAIT);
    let length = TimeDelta::from_std(wait + SPARE).unwrap_or(TimeDelta::MAX);
    let Some(lease) = lease::lease(facts, skipped, length)? else {
        return Ok(None);
    };
    match judge_leased(facts, auditor, embedder, &lease, wait, length) {
        Ok(outcome) => Ok(Some(outcome)),
        // The worker is still alive, so the turn is released at once and no attempt is counted.
        Err(error) => {
            give_up(facts, &lease, TurnEnd::Requeued(&error.to_string()))?;
            Ok(Some(TurnOutcome::Failed(lease.turn, error)))
        }
    }
}

/// Asks the auditor about a leased turn until an answer can be applied.
fn judge_leased(
    facts: &mut Facts,
    auditor: &Auditor,
    embedder: &Embedder,
    lease: &Lease,
    wait: Duration,
    length: TimeDelta,
) -> Result<TurnOutcome> {
    // The duration of an answer is measured here; the current time comes only from the interfaces.
    let begun = Instant::now();
    let mut question = prompt(facts, &lease.turn, embedder)?;
    let ranks = Ranks::search(facts, &lease.turn, Some(embedder))?;
    let mut last = (String::new(), String::new());
    for _ in 0..TRIES {
        if !lease::renew(facts, lease, length)? {
            return Ok(TurnOutcome::Lost(lease.turn.clone()));
        }
        let answer = auditor.ask(&question, wait)?;
        let applied_at = queue::later(&facts.clock(), elapsed(begun));
        let (turn, ranks) = (&lease.turn, Some(&ranks));
        let judged = action::parse_answer(&answer, SecretPolicy::Refuse)
            .and_then(|actions| judge(facts, turn, Some(lease), &actions, ranks, &applied_at));
        match judged {
            Ok(judged) => return Ok(TurnOutcome::Judged(judged)),
            Err(error) if error.kind == ErrorKind::NotFound => {
                return Ok(TurnOutcome::Lost(lease.turn.clone()));
            }
            Err(error) if error.kind == ErrorKind::Refused => {
                // The facts may have changed: the next try uses the current ones.
                let fresh = prompt(facts, &lease.turn, embedder)?;
                question = retry_prompt(&fresh, &answer, &error.message);
                last = (answer, error.message);
            }
            Err(error) => return Err(error),
        }
    }
    give_up(facts, lease, TurnEnd::Dead(&last.1, Some(&last.0)))?;
    Ok(TurnOutcome::Dead(lease.turn.clone()))
}

fn elapsed(since: Instant) -> TimeDelta {
    TimeDelta::from_std(since.elapsed()).unwrap_or(TimeDelta::MAX)
}

/// Ends the work on a turn without a result, unless another worker has taken it over.
fn give_up(facts: &mut Facts, lease: &Lease, end: TurnEnd<'_>) -> Result<()> {
    let now = queue::now_millis(&facts.clock());
    facts.write(|connection| {
        if lease::holds_lease(connection, lease)? {
            lease::finish(connection, &lease.turn, end, &now)?;
        }
        Ok(())
    })
}

/// Applies all actions of a turn and finishes it in the queue, in one transaction.
fn judge(
    facts: &mut Facts,
    turn: &Turn,
    lease: Option<&Lease>,
    actions: &[Action],
    ranks: Option<&Ranks>,
    applied_at: &str,
) -> Result<JudgedTurn> {
    let now = facts.clock().timestamp();
    let high_risk = facts.high_risk().to_vec();
    let source = source(turn);
    let applied = facts.write(|connection| {
        if let Some(lease) = lease
            && !lease::holds_lease(connection, lease)?
        {
            return Err(Error::not_found("another worker has taken the turn"));
        }
        let arbiter = Arbiter::new(connection, &turn.user_id, &source, &now, &high_risk);
        let current = queue::turn(connection, &turn.user_id, &turn.turn_id)?;
        if current.is_some_and(|turn| turn.status == TurnStatus::Done) {
            return replayed(&arbiter, actions);
        }
        let applied = application::apply(&arbiter, actions)?;
        lease::finish(connection, turn, TurnEnd::Done, applied_at)?;
        metrics::note_turn(connection, turn, &applied, ranks, applied_at)?;
        profile::count_turn(connection, &turn.user_id, &now)?;
        Ok(applied)
    })?;
    Ok(JudgedTurn { user_id: turn.user_id.clone(), turn_id: turn.turn_id.clone(), applied })
}

/// Handles a turn already judged: the same answer returns the first result, a different one is refused.
fn replayed(arbiter: &Arbiter<'_>, actions: &[Action]) -> Result<Vec<ActionResult>> {
    let turn = &arbiter.source.turn_id;
    let done = application::hashes(arbiter.connection, arbiter.user, turn)?;
    let is_known = |action: &Action| done.contains(&action.hash(arbiter.user));
    if actions.iter().all(is_known) {
        return application::apply(arbiter, actions);
    }
    Err(Error::refused(format!("the turn {turn} has been judged with other actions"))
        .hint("a turn is judged once; `annals facts list --history` shows the result"))
}

fn source(turn: &Turn) -> ActionSource {
    ActionSource {
        turn_id: turn.turn_id.clone(),
        session_id: turn.session_id.clone(),
        turn_seq: turn.turn_seq,
        project: turn.project.clone(),
        excerpt: text::clip(turn.user_input.trim(), MAX_EXCERPT_CHARS).into_owned(),
        said_at: turn.said_at.clone(),
        ..ActionSource::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Observation, observe};

    #[test]
    fn a_turn_goes_back_to_the_queue_if_something_fails_here() {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let ada = UserId::new("ada").unwrap();
        let observation = Observation {
            user_input: "I moved to Rome".to_owned(),
            turn_id: Some("t1".to_owned()),
            ..Observation::default()
        };
        observe(&mut facts, &ada, &observation, SecretPolicy::Refuse).unwrap();
        let broken = "DROP TABLE facts_fts";
        facts.connection().execute_batch(broken).unwrap();
        let auditor = Auditor::Command("echo".to_owned());
        let outcome = step(&mut facts, &auditor, &Embedder::BuiltIn, &[], None).unwrap();
        assert!(matches!(outcome, Some(TurnOutcome::Failed(..))));
        let turn = queue::find_turn(&facts, &ada, "t1").unwrap();
        assert_eq!((turn.status, turn.attempts), (TurnStatus::Pending, 0));
    }
}
