//! Has the turns of the queue judged: the auditor's prompt, its command, and the actions in its answer.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::arbitration::{ActionResult, is_same_value};
use crate::facts::fact::{Fact, FactKey, UserId, check_text, checked_time, checked_value, excerpt};
use crate::facts::metrics::Ranks;
use crate::facts::queue::{Turn, TurnStatus};
use crate::facts::search::{FactQuery, Method};
use crate::facts::store::{Facts, json, stored_as_word};
use crate::facts::{metrics, profile, queue, search};
use crate::process;
use crate::search::Embedder;
use crate::secrets::SecretPolicy;
use crate::text::{clip, join, sha256, strip_controls, word_enum};

const TEMPLATE: &str = include_str!("auditor_prompt.txt");

/// Number of known facts in the prompt.
const FOUND: usize = 20;

/// Number of times an auditor is asked before a turn is dead.
const TRIES: usize = 3;

/// How much longer than the timeout of an answer a lease lasts.
const SPARE: Duration = Duration::from_mins(1);

/// A turn whose actions were applied.
#[derive(Debug, Serialize)]
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
    /// No auditor could be asked, or its answer could not be applied; it stays in the queue.
    Failed(Turn, Error),
    /// Another worker took it over.
    Lost(Turn),
}

/// Returns the auditor's prompt for a turn.
pub fn prompt(facts: &Facts, turn: &Turn, embedder: &Embedder) -> Result<String> {
    let project = turn.project.as_deref();
    let query = FactQuery::candidates(&turn.user_input, project, FOUND, Method::default());
    let hits = search::retrieve(facts, &turn.user_id, &query, embedder)?.hits;
    let known = join(hits.iter().map(|hit| known_line(&hit.fact)), "\n");
    let old = if known.is_empty() { "(none)" } else { &known };
    let new = serde_json::json!({
        "said_at": turn.said_at, "user_input": turn.user_input,
        "assistant_response": turn.assistant_response,
    });
    // Both are filled in without searching inserted text for placeholders.
    let (head, rest) = TEMPLATE.split_once("{OLD_FACTS}").unwrap_or((TEMPLATE, ""));
    let (middle, tail) = rest.split_once("{USER_INPUT}").unwrap_or((rest, ""));
    Ok([head, old, middle, &new.to_string(), tail].concat())
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
    facts: &Facts,
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
    let now = queue::now_millis(facts);
    judge(facts, &turn, &actions, ranks.as_ref(), &now)
}

/// Has the next turn of the queue judged by a shell command, of one user or of all; returns `None` if none is available.
pub fn step(
    facts: &Facts,
    auditor: &str,
    embedder: &Embedder,
    user: Option<&UserId>,
    skipped: &[Turn],
    wait: Option<Duration>,
) -> Result<Option<TurnOutcome>> {
    let wait = wait.unwrap_or(WAIT);
    let Some(turn) = queue::lease(facts, user, skipped, lease(wait))? else {
        return Ok(None);
    };
    let outcome = judge_leased(facts, auditor, embedder, &turn, wait);
    outcome.map(Some).or_else(|error| {
        // The worker is still alive, so the turn is released at once and no attempt is counted.
        let turn = release(facts, &turn, TurnStatus::Pending, &error.to_string(), None)?;
        Ok(Some(TurnOutcome::Failed(turn, error)))
    })
}

fn lease(wait: Duration) -> TimeDelta {
    TimeDelta::from_std(wait + SPARE).unwrap_or(TimeDelta::MAX)
}

/// Asks the auditor about a leased turn until an answer can be applied.
fn judge_leased(
    facts: &Facts,
    auditor: &str,
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
                json(&clip(&answer, 2_000))?
            ));
        }
        answer = ask(auditor, &question, wait)?;
        let elapsed = TimeDelta::from_std(begun.elapsed()).unwrap_or(TimeDelta::MAX);
        let applied_at = queue::later(facts, elapsed);
        let judged = parse_answer(&answer, SecretPolicy::Refuse)
            .and_then(|actions| judge(facts, turn, &actions, Some(&ranks), &applied_at));
        match judged {
            Ok(judged) => return Ok(TurnOutcome::Judged(judged)),
            Err(error) if error.kind == ErrorKind::NotFound => {
                return Ok(TurnOutcome::Lost(turn.clone()));
            }
            Err(error) if error.kind == ErrorKind::Refused => problem = error.message,
            Err(error) => {
                // The answer may never fit, and the turns behind this one wait.
                let is_last = turn.attempts >= queue::MAX_ATTEMPTS;
                let status = if is_last { TurnStatus::Dead } else { TurnStatus::Pending };
                let turn = release(facts, turn, status, &error.to_string(), Some(&answer))?;
                return Ok(match is_last {
                    true => TurnOutcome::Dead(turn),
                    false => TurnOutcome::Failed(turn, error),
                });
            }
        }
    }
    release(facts, turn, TurnStatus::Dead, &problem, Some(&answer)).map(TurnOutcome::Dead)
}

/// Releases a turn that was not judged, with the reason and the answer that could not be used, if there was one; returns
/// it as it is then.
fn release(
    facts: &Facts,
    turn: &Turn,
    status: TurnStatus,
    why: &str,
    answer: Option<&str>,
) -> Result<Turn> {
    let now = queue::now_millis(facts);
    facts.write(|| {
        turn.finish(facts, status, Some(why), answer, &now)?;
        let released = queue::turn(facts, &turn.user_id, &turn.turn_id)?;
        Ok(released.unwrap_or_else(|| turn.clone()))
    })
}

/// Applies all actions of a turn and finishes it in the queue, in one transaction.
fn judge(
    facts: &Facts,
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
        source_excerpt: excerpt(turn.user_input.trim()),
        last_mentioned_at: turn.said_at.clone(),
        ..Fact::default()
    };
    let applied = facts.arbitrate(user, origin, |arbiter| {
        let current = queue::turn(facts, user, &turn.turn_id)?;
        let is_done = current.is_some_and(|turn| turn.status == TurnStatus::Done);
        arbiter.is_judged = is_done && turn.lease.is_none();
        let applied = arbiter.apply(actions)?;
        if arbiter.is_judged {
            return Ok(applied);
        }
        if !turn.finish(facts, TurnStatus::Done, None, None, applied_at)? {
            return Err(Error::not_found("another worker has taken the turn"));
        }
        metrics::note_turn(facts, turn, ranks, applied_at)?;
        profile::add_turns(facts, user, 1)?;
        Ok(applied)
    })?;
    Ok(JudgedTurn { user_id: user.clone(), turn_id: turn.turn_id.clone(), applied })
}

/// Default timeout of an answer.
const WAIT: Duration = Duration::from_mins(2);

/// Maximum length of an answer, in bytes; the rest is not read.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Returns what a shell command prints that reads the prompt, or an error.
fn ask(command: &str, prompt: &str, wait: Duration) -> Result<String> {
    let failed = |reason: &str| {
        Error::failed(format!("the auditor's command {reason}"))
            .hint("the setting llm.command names it; the turn stays in the queue")
    };
    // The shell starts others, which end with it.
    process::use_groups();
    let answer = process::run(&mut shell(command), prompt.as_bytes(), MAX_ANSWER_BYTES, wait);
    let answer = answer.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => failed(&format!("gave {error}")),
        _ => failed(&format!("cannot be run: {error}")),
    })?;
    if answer.status.success() {
        return Ok(String::from_utf8_lossy(&answer.stdout).into_owned());
    }
    let last = answer.stderr.lines().rfind(|line| !line.trim().is_empty());
    let last = last.map(|last| format!(": {}", strip_controls(last))).unwrap_or_default();
    Err(failed(&format!("failed ({}){last}", answer.status)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "facts may start the auditor, which only the user's own settings can name"
)]
fn shell(command: &str) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut process = Command::new(shell);
    process.args([flag, command]);
    process
}

word_enum! {
    /// The type of an action as the auditor states it; the rules decide on the outcome.
    #[derive(Default)]
    pub enum ActionType {
        /// A new fact.
        #[default]
        Insert = "insert",
        /// The same fact, in more detail.
        Update = "update",
        /// Another value that replaces the old one.
        Supersede = "supersede",
        /// The old value no longer holds.
        Expire = "expire",
        /// Nothing new, or only a repetition.
        Noop = "noop",
        /// The user must confirm it.
        MarkPendingConfirmation = "mark_pending_confirmation",
    }
}

word_enum! {
    /// The result of an action.
    pub enum ActionOutcome {
        /// A new fact.
        Inserted = "inserted",
        /// The fact was made more precise.
        Refined = "refined",
        /// The new fact replaced the old one.
        Superseded = "superseded",
        /// The fact is no longer valid.
        Expired = "expired",
        /// A repetition raised the fact's confidence.
        Confirmed = "confirmed",
        /// A repetition within one turn, or an uncertain one: only the time of the last mention changed.
        Mentioned = "mentioned",
        /// It awaits the user's confirmation.
        Pending = "pending",
        /// A guardrail prevented the change.
        Kept = "kept",
        /// There was nothing to do.
        Nothing = "nothing",
    }
}

stored_as_word!(ActionOutcome);

/// An action. Its JSON, with the order of the fields, is part of its hash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The type that the auditor stated.
    #[serde(rename = "type")]
    pub kind: ActionType,
    /// The key of the fact that it concerns.
    pub key: String,
    /// The new value.
    pub new_value_text: Option<String>,
    /// The new value as JSON.
    pub new_value_json: Option<Value>,
    /// The fact that it concerns.
    pub target_fact_id: Option<String>,
    /// Start of the new value's validity, RFC 3339 in UTC.
    pub valid_from: Option<String>,
    /// End of the new value's validity, or of the old one's.
    pub valid_to: Option<String>,
    /// How much more or less certain than usual the auditor is, from -1 to 1.
    pub confidence_delta: f64,
    /// The reason.
    pub reason: String,
}

impl Action {
    /// Returns a hash that identifies the action among those of the same user, turn and key.
    pub(crate) fn hash(&self, user: &UserId) -> String {
        // Serialising a struct of texts and numbers cannot fail.
        let action = serde_json::to_string(self).unwrap_or_default();
        sha256(format!("{user}\0{action}"))
    }

    /// Returns the new value, or an empty text; validation ensures a value where one is needed.
    pub(crate) fn value(&self) -> &str {
        self.new_value_text.as_deref().unwrap_or_default()
    }

    /// Returns whether it states the value of a fact.
    pub(crate) fn is_of(&self, fact: &Fact) -> bool {
        self.new_value_text.as_deref().is_some_and(|value| is_same_value(value, &fact.value_text))
    }

    /// Checks the action, and brings its texts and times into their stored form.
    pub(crate) fn validated(mut self, policy: SecretPolicy) -> Result<Self> {
        self.key = FactKey::parse(&self.key)?.0.to_owned();
        let structured = self.new_value_json.as_ref().map(Value::to_string);
        check_text(structured.as_deref().unwrap_or_default(), policy)?;
        let value = self.new_value_text.or(structured);
        self.new_value_text = value.map(|value| checked_value(&value, policy)).transpose()?;
        let needed = match self.kind {
            _ if self.new_value_text.is_some() => "",
            ActionType::Insert | ActionType::Update | ActionType::Supersede => "new_value_text",
            ActionType::MarkPendingConfirmation if self.target_fact_id.is_none() => {
                "new_value_text or target_fact_id"
            }
            _ => "",
        };
        if !needed.is_empty() {
            return Err(Error::usage(format!("{} needs {needed}", self.kind.as_str())));
        }
        if !(-1.0..=1.0).contains(&self.confidence_delta) {
            return Err(Error::usage("confidence_delta is not a number from -1 to 1"));
        }
        self.reason = strip_controls(&self.reason).trim().to_owned();
        check_text(&self.reason, policy)?;
        let id = self.target_fact_id.as_deref();
        self.target_fact_id = id.map(|id| strip_controls(id).trim().to_owned());
        self.valid_from = checked_time("valid_from", self.valid_from)?;
        self.valid_to = checked_time("valid_to", self.valid_to)?;
        if self.valid_to.is_some() && self.valid_to <= self.valid_from {
            return Err(Error::refused("valid_to is not after valid_from"));
        }
        Ok(self)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    actions: Vec<Value>,
}

/// Parses an answer; the error names a problem of each action, so that all can be corrected at once.
pub fn parse_answer(answer: &str, policy: SecretPolicy) -> Result<Vec<Action>> {
    let refused = |problems: &str| {
        Error::refused(format!("invalid answer: {problems}"))
            .hint("return one JSON object with the list \"actions\", and nothing around it")
    };
    let answer: Answer = serde_json::from_str(unfenced(answer.trim()))
        .map_err(|error| refused(&format!("not JSON: {error}")))?;
    let (mut actions, mut problems) = (Vec::new(), Vec::new());
    for (index, value) in answer.actions.into_iter().enumerate() {
        let action = serde_json::from_value(value).map_err(|error| Error::usage(error.to_string()));
        let action = action.and_then(|action: Action| match &action.new_value_json {
            Some(json) if !json.is_object() => Err(Error::usage("new_value_json is not an object")),
            _ => action.validated(policy),
        });
        match action {
            Ok(action) => actions.push(action),
            Err(error) => problems.push(format!("actions[{index}]: {}", error.message)),
        }
    }
    if problems.is_empty() {
        return Ok(actions);
    }
    Err(refused(&problems.join("; ")))
}

/// Returns the content of a code fence around the whole answer; models add one even if told not to.
fn unfenced(answer: &str) -> &str {
    let inside = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((word, body)) if ["", "json"].contains(&word.trim().to_ascii_lowercase().as_str()) => {
            body.trim()
        }
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(answer: &str) -> String {
        parse_answer(answer, SecretPolicy::Refuse).unwrap_err().message
    }

    #[test]
    fn an_answer_of_the_schema_is_read_whole() {
        let answer = json!({"actions": [{
            "type": "supersede", "key": "city", "new_value_text": " Turin\u{7} ", "new_value_json": {"zip": 1},
            "target_fact_id": "abc", "valid_from": "2026-02-01", "valid_to": null, "confidence_delta": -0.1,
            "reason": "moved"
        }, {"type": "noop", "key": "likes[]", "confidence_delta": 0, "reason": ""}]});
        let actions = parse_answer(&answer.to_string(), SecretPolicy::Refuse).unwrap();
        assert_eq!(actions[0].new_value_text.as_deref(), Some("Turin"));
        assert_eq!(actions[0].valid_from.as_deref(), Some("2026-02-01T00:00:00Z"));
        assert_eq!(actions[1].kind, ActionType::Noop);
        for fence in ["```json", "```JSON", "```"] {
            let fenced = format!("\n{fence}\n{answer}\n```\n");
            assert_eq!(parse_answer(&fenced, SecretPolicy::Refuse).unwrap(), actions, "{fence}");
        }
    }

    #[test]
    fn a_problem_of_each_action_is_named() {
        let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        let insert = json!({"type": "insert", "key": "city", "new_value_text": "Rome",
            "confidence_delta": 0, "reason": ""});
        let wrong = [
            ("extra", json!(1), "unknown field `extra`"),
            ("type", json!("delete"), "unknown variant `delete`"),
            ("key", json!("City"), "\"City\" is not a key"),
            ("key", json!("wifi.password"), "names a secret"),
            ("confidence_delta", json!(2), "confidence_delta is not a number from -1 to 1"),
            ("reason", json!(5), "invalid type: integer `5`"),
            ("new_value_text", json!(null), "insert needs new_value_text"),
            ("new_value_text", json!(token), "looks like a secret"),
            ("new_value_json", json!([1]), "new_value_json is not an object"),
            ("valid_from", json!("soon"), "valid_from: \"soon\" is not an ISO 8601 time"),
        ];
        let actions: Vec<Value> = wrong
            .iter()
            .map(|(field, value, _)| {
                let mut action = insert.clone();
                action[*field] = value.clone();
                action
            })
            .collect();
        let found = problems(&json!({ "actions": actions }).to_string());
        for (index, (_, _, reason)) in wrong.iter().enumerate() {
            let own = found.split("; ").find(|one| one.contains(&format!("actions[{index}]: ")));
            assert!(own.is_some_and(|own| own.contains(reason)), "{reason} not in {found}");
        }
        for (answer, problem) in [
            ("I think nothing changed.", "not JSON"),
            ("```yaml\nactions: []\n```", "not JSON"),
            ("[]", "not JSON"),
            ("{}", "missing field `actions`"),
            ("{\"actions\": [], \"note\": 1}", "unknown field `note`"),
        ] {
            assert!(problems(answer).contains(problem), "{answer:?}");
        }
    }
}
