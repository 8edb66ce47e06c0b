//! Judges turns: builds the auditor's prompt, asks, and applies the answer.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::action::{Action, parse_answer};
use crate::facts::arbitration::{ActionResult, ActionSource, applied};
use crate::facts::auditor::{Auditor, WAIT};
use crate::facts::fact::{Fact, MAX_EXCERPT_CHARS, UserId};
use crate::facts::metrics::{self, Ranks};
use crate::facts::profile;
use crate::facts::queue::{self, Turn, TurnStatus};
use crate::facts::search::{self, FactQuery, Method};
use crate::facts::sql::json;
use crate::facts::store::Facts;
use crate::search::Embedder;
use crate::secrets::SecretPolicy;
use crate::text;

const TEMPLATE: &str = include_str!("auditor_prompt.txt");

/// Number of known facts in the prompt.
const FOUND: usize = 20;

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

/// Returns the auditor's prompt for a turn.
pub fn prompt(facts: &mut Facts, turn: &Turn, embedder: &Embedder) -> Result<String> {
    let project = turn.project.as_deref();
    let query = FactQuery::candidates(&turn.user_input, project, FOUND, Method::default());
    let hits = search::retrieve(facts, &turn.user_id, &query, embedder)?.hits;
    let lines: Vec<String> = hits.iter().map(|hit| known_line(&hit.fact)).collect();
    let old = if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n") };
    let new = serde_json::json!({
        "said_at": turn.said_at, "user_input": turn.user_input,
        "assistant_response": turn.assistant_response,
    });
    // Both are filled in without searching inserted text for placeholders.
    let (head, rest) = TEMPLATE.split_once("{OLD_FACTS}").unwrap_or((TEMPLATE, ""));
    let (middle, tail) = rest.split_once("{USER_INPUT}").unwrap_or((rest, ""));
    Ok([head, &old, middle, &new.to_string(), tail].concat())
}

fn known_line(fact: &Fact) -> String {
    let line = serde_json::json!({
        "fact_id": fact.fact_id, "key": fact.key, "value_text": fact.value_text,
        "category": fact.category, "confidence": fact.confidence, "status": fact.status,
        "valid_from": fact.valid_from, "valid_to": fact.valid_to, "updated_at": fact.updated_at,
    });
    line.to_string()
}

/// Applies an answer to a turn; applying the same answer again returns the first result.
pub fn apply(
    facts: &mut Facts,
    user: &UserId,
    turn_id: &str,
    answer: &str,
    policy: SecretPolicy,
) -> Result<JudgedTurn> {
    // Whichever worker has it: the first answer counts.
    let turn = Turn { lease: None, ..queue::find_turn(facts, user, turn_id)? };
    let actions = parse_answer(answer, policy)?;
    let ranks = match turn.status {
        TurnStatus::Done => None,
        _ => Some(Ranks::search(facts, &turn, None)?),
    };
    let now = queue::now_millis(&facts.clock());
    judge(facts, &turn, &actions, ranks.as_ref(), &now)
}

/// Judges the next turn of the queue; returns `None` if none is available.
pub fn step(
    facts: &mut Facts,
    auditor: &Auditor,
    embedder: &Embedder,
    skipped: &[Turn],
    wait: Option<Duration>,
) -> Result<Option<TurnOutcome>> {
    let wait = wait.unwrap_or(WAIT);
    let Some(turn) = queue::lease(facts, skipped, lease(wait))? else {
        return Ok(None);
    };
    let outcome = judge_leased(facts, auditor, embedder, &turn, wait);
    outcome.map(Some).or_else(|error| {
        // The worker is still alive, so the turn is released at once and no attempt is counted.
        let now = queue::now_millis(&facts.clock());
        let (status, why) = (TurnStatus::Pending, error.to_string());
        facts.write(|connection| turn.finish(connection, status, Some(&why), None, &now))?;
        Ok(Some(TurnOutcome::Failed(turn, error)))
    })
}

fn lease(wait: Duration) -> TimeDelta {
    TimeDelta::from_std(wait + SPARE).unwrap_or(TimeDelta::MAX)
}

/// Asks the auditor about a leased turn until an answer can be applied.
fn judge_leased(
    facts: &mut Facts,
    auditor: &Auditor,
    embedder: &Embedder,
    turn: &Turn,
    wait: Duration,
) -> Result<TurnOutcome> {
    // The duration of an answer is measured here; the current time comes only from the interfaces.
    let begun = Instant::now();
    let ranks = Ranks::search(facts, turn, Some(embedder))?;
    let (mut answer, mut problem) = (String::new(), String::new());
    for attempt in 0..TRIES {
        if !turn.renew(facts, lease(wait))? {
            return Ok(TurnOutcome::Lost(turn.clone()));
        }
        // The facts may have changed since the last try.
        let mut question = prompt(facts, turn, embedder)?;
        if attempt > 0 {
            question.push_str(&format!(
                "\nYour last answer could not be used: {problem}\nThat answer was: {}\n\
                 Return the JSON object only.\n",
                json(&text::clip(&answer, 2_000))?
            ));
        }
        answer = auditor.ask(&question, wait)?;
        let elapsed = TimeDelta::from_std(begun.elapsed()).unwrap_or(TimeDelta::MAX);
        let applied_at = queue::later(&facts.clock(), elapsed);
        let judged = parse_answer(&answer, SecretPolicy::Refuse)
            .and_then(|actions| judge(facts, turn, &actions, Some(&ranks), &applied_at));
        match judged {
            Ok(judged) => return Ok(TurnOutcome::Judged(judged)),
            Err(error) if error.kind == ErrorKind::NotFound => {
                return Ok(TurnOutcome::Lost(turn.clone()));
            }
            Err(error) if error.kind == ErrorKind::Refused => problem = error.message,
            Err(error) => return Err(error),
        }
    }
    let now = queue::now_millis(&facts.clock());
    let (status, why) = (TurnStatus::Dead, Some(problem.as_str()));
    facts.write(|connection| turn.finish(connection, status, why, Some(&answer), &now))?;
    Ok(TurnOutcome::Dead(turn.clone()))
}

/// Applies all actions of a turn and finishes it in the queue, in one transaction.
fn judge(
    facts: &mut Facts,
    turn: &Turn,
    actions: &[Action],
    ranks: Option<&Ranks>,
    applied_at: &str,
) -> Result<JudgedTurn> {
    let user = &turn.user_id;
    let origin = Fact {
        source_turn_id: turn.turn_id.clone(),
        session_id: turn.session_id.clone(),
        turn_seq: turn.turn_seq,
        project: turn.project.clone(),
        source_excerpt: text::clip(turn.user_input.trim(), MAX_EXCERPT_CHARS).into_owned(),
        last_mentioned_at: turn.said_at.clone(),
        ..Fact::default()
    };
    let source = ActionSource { origin, ..ActionSource::default() };
    let applied = facts.arbitrate(user, source, |arbiter| {
        let connection = arbiter.connection;
        let current = queue::turn(connection, user, &turn.turn_id)?;
        if current.is_some_and(|turn| turn.status == TurnStatus::Done) && turn.lease.is_none() {
            // The same answer returns the first result, a different one is refused.
            let done = applied(connection, user, &turn.turn_id)?;
            let is_known = |action: &Action| {
                let hash = action.hash(user);
                done.iter().any(|(known, _)| *known == hash)
            };
            if !actions.iter().all(is_known) {
                let message =
                    format!("the turn {} has been judged with other actions", turn.turn_id);
                return Err(Error::refused(message).hint(
                    "a turn is judged once; `annals facts list --history` shows the result",
                ));
            }
            return arbiter.apply(actions);
        }
        let applied = arbiter.apply(actions)?;
        if !turn.finish(connection, TurnStatus::Done, None, None, applied_at)? {
            return Err(Error::not_found("another worker has taken the turn"));
        }
        metrics::note_turn(connection, turn, ranks, applied_at)?;
        profile::add_turns(connection, user, &arbiter.now, 1)?;
        Ok(applied)
    })?;
    Ok(JudgedTurn { user_id: user.clone(), turn_id: turn.turn_id.clone(), applied })
}
