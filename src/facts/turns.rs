//! Turns of conversations: queued immediately, leased by one worker at a time, and judged by the auditor: its prompt, its
//! command, and the actions in its answer.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, TimeDelta};
use rusqlite::{Params, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::arbitration::{ActionResult, is_same_value};
use crate::facts::fact::{Fact, FactKey, UserId, check_text, checked_time, checked_value, excerpt};
use crate::facts::metrics::Ranks;
use crate::facts::search::{FactQuery, Method};
use crate::facts::store::{Facts, json, row, stored_as_word};
use crate::facts::{metrics, profile, replication, search};
use crate::process;
use crate::search::Embedder;
use crate::secrets::SecretPolicy;
use crate::text::{clip, is_line, join, sanitized, sha256, strip_controls, word_enum};

/// Prefixes of turn ids that are reserved for this program.
const RESERVED_PREFIXES: [&str; 2] = ["annals:", "request:"];

/// Number of workers that may die while judging a turn, or fail to apply the answer, before it is marked as dead.
const MAX_ATTEMPTS: u32 = 5;

word_enum! {
    /// The status of a turn in the queue.
    pub enum TurnStatus {
        /// It waits for a worker.
        Pending = "pending",
        /// A worker has leased it.
        Running = "running",
        /// An answer to it is applied.
        Done = "done",
        /// It could not be judged, and is not tried again.
        Dead = "dead",
    }
}

stored_as_word!(TurnStatus);

/// A turn of a conversation to enqueue.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The user's message.
    pub user_input: String,
    /// The assistant's answer.
    pub assistant_response: Option<String>,
    /// Id of the turn, by which a repeated call is recognised.
    pub turn_id: Option<String>,
    /// When it was said; now if `None`.
    pub timestamp: Option<String>,
    /// The user.
    pub user_id: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// The project that the conversation is about.
    pub project: Option<String>,
    /// Whether the conversation ends with this turn, which makes the profile due for a rebuild.
    pub session_end: Option<bool>,
}

/// The acknowledgement of an observation.
#[derive(Debug, Serialize)]
pub struct Receipt {
    /// The user.
    pub user_id: UserId,
    /// The turn's id.
    pub turn_id: String,
    /// Its position in the conversation.
    pub turn_seq: Option<i64>,
}

row! {
    /// A turn in the queue, with its status.
    #[derive(Clone, Debug, Serialize)]
    pub struct Turn {
        #[serde(skip)]
        pub(crate) seq: i64,
        /// The user.
        #[serde(skip)]
        pub(crate) user_id: UserId,
        /// The turn's id.
        pub turn_id: String,
        /// Its status.
        pub status: TurnStatus,
        /// When it was said.
        pub said_at: String,
        /// When it was enqueued.
        pub observed_at: String,
        /// The conversation.
        pub session_id: Option<String>,
        /// Its position in the conversation.
        pub turn_seq: Option<i64>,
        /// The project that the conversation is about.
        pub project: Option<String>,
        /// The user's message.
        pub user_input: String,
        /// The assistant's answer.
        pub assistant_response: String,
        /// Number of leases, without those that returned it to the queue without an answer.
        pub attempts: u32,
        /// The last error.
        pub last_error: Option<String>,
        /// The auditor's last answer, if it could not be used.
        pub raw_answer: Option<String>,
        /// The random mark of the worker that has it.
        #[serde(skip)]
        pub(crate) lease: Option<String>,
    }
}

impl Turn {
    /// Returns whether it is the turn with these texts. Texts of a forgotten turn are erased, and match any.
    fn is_of(&self, input: &str, response: &str, session: Option<&str>) -> bool {
        let is_same = |stored: &str, new: &str| {
            stored.is_empty() || new.is_empty() || sanitized(stored) == sanitized(new)
        };
        is_same(&self.user_input, input)
            && is_same(&self.assistant_response, response)
            && is_same(self.session_id.as_deref().unwrap_or_default(), session.unwrap_or_default())
    }
}

/// Enqueues a turn, and nothing more; for a known turn, returns the first receipt again.
///
/// A turn id that is already in use for another message is refused.
pub fn observe(
    facts: &Facts,
    user: &UserId,
    observation: &Observation,
    policy: SecretPolicy,
) -> Result<Receipt> {
    if let Some(id) = &observation.turn_id {
        check_id(id)?;
    }
    let response = observation.assistant_response.as_deref().unwrap_or_default();
    let [input, response] = [&observation.user_input, response].map(|text| match policy {
        SecretPolicy::Allow => strip_controls(text).into_owned(),
        SecretPolicy::Refuse => sanitized(text).into_owned(),
    });
    if input.trim().is_empty() {
        return Err(Error::usage("the turn has no visible user_input"));
    }
    // At most now: a fast clock must not override every later turn.
    let said_at = checked_time("timestamp", observation.timestamp.clone())?;
    let said_at = said_at.map_or(facts.now(), |at| at.min(facts.now()));
    facts.leave_checkpoint_to_others()?;
    facts.write(|| {
        let turn_id = match &observation.turn_id {
            Some(id) => id.clone(),
            None => next_id(facts, "turn", "turns")?,
        };
        let session = observation.session_id.as_deref();
        let turn_seq = match known_turn(facts, user, &turn_id)? {
            Some(known) if known.is_of(&input, &response, session) => known.turn_seq,
            Some(_) => {
                let message = format!("turn_id {turn_id} is in use for another message");
                return Err(Error::refused(message)
                    .hint("give each turn its own turn_id, or none"));
            }
            None => {
                if observation.session_end == Some(true) {
                    profile::add_turns(facts, user, u32::MAX)?;
                }
                let sql = "INSERT INTO turns (user_id, turn_id, session_id, turn_seq, project, user_input, \
                           assistant_response, said_at, observed_at, status) \
                           VALUES (?1, ?2, ?3, CASE WHEN ?3 IS NULL THEN NULL ELSE \
                           (SELECT coalesce(max(turn_seq), 0) + 1 FROM turns WHERE user_id = ?1 AND session_id = ?3) \
                           END, ?4, ?5, ?6, ?7, ?8, 'pending') RETURNING turn_seq";
                let values = params![
                    user, turn_id, session, observation.project, input, response, said_at,
                    now_millis(facts)
                ];
                facts.value(sql, values)?
            }
        };
        Ok(Receipt { user_id: user.clone(), turn_id, turn_seq })
    })
}

/// Refuses an id that is blank or not one line, or that begins with a reserved prefix.
pub(crate) fn check_id(id: &str) -> Result<()> {
    if !is_line(id) {
        return Err(Error::usage(format!("{id:?} is no id: give one line of text, or none")));
    }
    match RESERVED_PREFIXES.iter().find(|prefix| id.starts_with(**prefix)) {
        Some(prefix) => {
            Err(Error::usage(format!("{id:?} is reserved: an id must not begin with {prefix}")))
        }
        None => Ok(()),
    }
}

/// Returns a new turn id with the number of the next row of a table, which AUTOINCREMENT never reuses.
pub(crate) fn next_id(facts: &Facts, kind: &str, table: &str) -> Result<String> {
    let sql = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = ?1";
    let next: i64 = facts.value(sql, [table])?;
    Ok(format!("{}{next}", replication::turn_id_prefix(facts, kind)?))
}

fn select(facts: &Facts, condition: &str, values: impl Params) -> Result<Vec<Turn>> {
    let sql =
        format!("SELECT {} FROM turns WHERE {condition} ORDER BY seq", Turn::COLUMNS.join(", "));
    facts.list(&sql, values)
}

/// Returns a turn of a user.
fn known_turn(facts: &Facts, user: &UserId, turn_id: &str) -> Result<Option<Turn>> {
    Ok(select(facts, "user_id = ?1 AND turn_id = ?2", [user.as_str(), turn_id])?.pop())
}

/// Returns a turn of a user, or an error if there is none.
pub fn find_turn(facts: &Facts, user: &UserId, turn_id: &str) -> Result<Turn> {
    known_turn(facts, user, turn_id)?.ok_or_else(|| {
        Error::not_found(format!("{user} has no turn {turn_id}"))
            .hint("`annals facts observe` queues one, `annals facts turns` lists them")
    })
}

/// Returns a user's turns, oldest first.
pub fn turns(facts: &Facts, user: &UserId) -> Result<Vec<Turn>> {
    select(facts, "user_id = ?1", [user])
}

/// Returns the number of turns, of one user or of all, that are waiting for the auditor.
pub fn waiting(facts: &Facts, user: Option<&UserId>) -> Result<u64> {
    let sql = "SELECT count(*) FROM turns WHERE status IN ('pending', 'running') \
               AND (?1 IS NULL OR user_id = ?1)";
    facts.value(sql, [user])
}

/// Returns the time of this run in milliseconds, the precision of the queue.
pub(crate) fn now_millis(facts: &Facts) -> String {
    later(facts, TimeDelta::zero())
}

/// Returns the time of this run plus a duration, in the precision of the queue.
pub(crate) fn later(facts: &Facts, length: TimeDelta) -> String {
    let now = facts.clock.now();
    let time = now.checked_add_signed(length).unwrap_or(now);
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Leases the oldest available turn, of one user or of all, after those in `skipped`, which have already failed in this
/// run; the turns of a user are processed one at a time, in order.
///
/// An expired lease belonged to a worker that died.
pub(crate) fn lease(
    facts: &Facts,
    user: Option<&UserId>,
    skipped: &[Turn],
    length: TimeDelta,
) -> Result<Option<Turn>> {
    let now = now_millis(facts);
    let until = later(facts, length);
    let skipped = json(&skipped.iter().map(|turn| turn.seq).collect::<Vec<_>>())?;
    facts.write(|| {
        // Turns whose workers keep dying would block the queue forever.
        let reason = format!("gave up after {MAX_ATTEMPTS} attempts: the worker died each time");
        let sql = "UPDATE turns SET status = 'dead', lease = NULL, lease_until = NULL, finished_at = ?1, \
                   last_error = ?3 WHERE attempts >= ?2 AND status = 'running' AND lease_until <= ?1";
        facts.run(sql, params![now, MAX_ATTEMPTS, reason])?;
        let sql = format!(
            "UPDATE turns SET status = 'running', attempts = attempts + 1, lease_until = ?2, \
             lease = lower(hex(randomblob(16))) WHERE seq = (SELECT seq FROM turns AS t \
             WHERE (status = 'pending' OR (status = 'running' AND lease_until <= ?1)) \
             AND seq NOT IN (SELECT value FROM json_each(?3)) AND (?4 IS NULL OR user_id = ?4) \
             AND NOT EXISTS (SELECT 1 FROM turns AS earlier WHERE earlier.user_id = t.user_id \
             AND earlier.seq < t.seq AND earlier.status IN ('pending', 'running')) \
             ORDER BY seq LIMIT 1) RETURNING {}",
            Turn::COLUMNS.join(", ")
        );
        facts.optional(&sql, params![now, until, skipped, user])
    })
}

impl Turn {
    /// Extends the lease; returns false if another worker has taken over the turn.
    pub(crate) fn renew(&self, facts: &Facts, length: TimeDelta) -> Result<bool> {
        let until = later(facts, length);
        let sql = "UPDATE turns SET lease_until = ?3 WHERE seq = ?1 AND lease = ?2";
        let values = params![self.seq, self.lease, until];
        facts.write(|| Ok(facts.change(sql, values)? == 1))
    }

    /// Releases the turn with a status, if it was not leased, or its worker still has it; returns whether it did. A
    /// turn that returns to the queue without an answer, since no auditor could be reached, does not count as an attempt.
    pub(crate) fn finish(
        &self,
        facts: &Facts,
        status: TurnStatus,
        error: Option<&str>,
        raw_answer: Option<&str>,
        now: &str,
    ) -> Result<bool> {
        let sql = "UPDATE turns SET status = ?3, last_error = ?4, raw_answer = ?5, lease = NULL, \
             lease_until = NULL, finished_at = CASE WHEN ?3 = 'pending' THEN NULL ELSE ?6 END, \
             attempts = attempts - (?3 = 'pending' AND ?5 IS NULL) WHERE seq = ?1 AND (?2 IS NULL OR lease = ?2)";
        let values = params![self.seq, self.lease, status, error, raw_answer, now];
        Ok(facts.change(sql, values)? == 1)
    }
}

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
    let turn = Turn { lease: None, ..find_turn(facts, user, turn_id)? };
    let actions = parse_answer(answer, policy)?;
    let ranks = match turn.status {
        TurnStatus::Done => None,
        _ => Some(Ranks::search(facts, &turn, None)?),
    };
    let now = now_millis(facts);
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
    let Some(turn) = lease(facts, user, skipped, lease_length(wait))? else {
        return Ok(None);
    };
    let outcome = judge_leased(facts, auditor, embedder, &turn, wait);
    outcome.map(Some).or_else(|error| {
        // The worker is still alive, so the turn is released at once and no attempt is counted.
        let turn = release(facts, &turn, TurnStatus::Pending, &error.to_string(), None)?;
        Ok(Some(TurnOutcome::Failed(turn, error)))
    })
}

fn lease_length(wait: Duration) -> TimeDelta {
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
        if !turn.renew(facts, lease_length(wait))? {
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
        let applied_at = later(facts, elapsed);
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
                let is_last = turn.attempts >= MAX_ATTEMPTS;
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
    let now = now_millis(facts);
    facts.write(|| {
        turn.finish(facts, status, Some(why), answer, &now)?;
        let released = known_turn(facts, &turn.user_id, &turn.turn_id)?;
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
        let current = known_turn(facts, user, &turn.turn_id)?;
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
    use crate::clock::Clock;

    #[test]
    fn only_the_deaths_of_workers_count_until_a_turn_is_given_up() {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let facts = Facts::in_memory(clock).unwrap();
        let user = UserId::new("ada").unwrap();
        let observation = Observation {
            user_input: "I like tea".to_owned(),
            turn_id: Some("a".to_owned()),
            ..Observation::default()
        };
        observe(&facts, &user, &observation, SecretPolicy::Refuse).unwrap();
        // A lease that expires at once is that of a worker that died.
        let lease_for = |length| lease(&facts, None, &[], length).unwrap();
        for deaths in 1..=MAX_ATTEMPTS {
            assert_eq!(lease_for(TimeDelta::zero()).unwrap().attempts, deaths);
        }
        assert!(lease_for(TimeDelta::zero()).is_none());
        let turn = find_turn(&facts, &user, "a").unwrap();
        assert_eq!(turn.status, TurnStatus::Dead);
        assert_eq!(turn.last_error.unwrap(), "gave up after 5 attempts: the worker died each time");
        let again = Observation { turn_id: Some("b".to_owned()), ..observation };
        observe(&facts, &user, &again, SecretPolicy::Refuse).unwrap();
        for _ in 0..=MAX_ATTEMPTS {
            let turn = lease(&facts, None, &[], TimeDelta::minutes(1)).unwrap().unwrap();
            let (status, error) = (TurnStatus::Pending, Some("no auditor"));
            facts.write(|| turn.finish(&facts, status, error, None, "")).unwrap();
            let turn = find_turn(&facts, &user, "b").unwrap();
            assert_eq!((turn.status, turn.attempts), (TurnStatus::Pending, 0));
        }
    }

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
