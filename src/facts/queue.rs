//! The queue of turns for the auditor: enqueued immediately, leased by one worker at a time.

use chrono::{SecondsFormat, TimeDelta};
use rusqlite::{Connection, params};
use serde::{Deserialize, Deserializer, Serialize};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::fact::{self, UserId};
use crate::facts::sql::{Query, columns, stored_as_word};
use crate::facts::store::Facts;
use crate::facts::{profile, replication};
use crate::secrets::SecretPolicy;
use crate::text::{sanitized, strip_controls, word_enum};

/// Maximum length of the user's or the assistant's text, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Prefixes of turn ids that are reserved for this program.
const RESERVED_PREFIXES: [&str; 2] = ["annals:", "request:"];

/// Number of workers that may die while judging a turn before it is marked as dead.
const MAX_ATTEMPTS: u32 = 5;

word_enum! {
    /// The status of a turn in the queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

stored_as_word!(TurnStatus: "a status");

/// A turn of a conversation to enqueue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The user's message.
    pub user_input: String,
    /// The assistant's answer.
    #[serde(default, deserialize_with = "null_as_default")]
    pub assistant_response: String,
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
    #[serde(default, deserialize_with = "null_as_default")]
    pub session_end: bool,
}

fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// The acknowledgement of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The user.
    pub user_id: String,
    /// The turn's id.
    pub turn_id: String,
    /// Its position in the conversation.
    pub turn_seq: Option<i64>,
}

/// A turn in the queue, with its status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
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
    /// Number of leases, without those that returned it to the queue.
    pub attempts: u32,
    /// The last error.
    pub last_error: Option<String>,
    /// The auditor's last answer, if it could not be used.
    pub raw_answer: Option<String>,
}

columns!(
    Turn: user_id, turn_id, status, said_at, observed_at, session_id, turn_seq, project, user_input,
    assistant_response, attempts, last_error, raw_answer
);

impl Turn {
    /// Returns whether it is the turn with these texts. Texts of a forgotten turn are erased, and match any.
    fn is_of(&self, input: &str, response: &str, session: Option<&str>) -> bool {
        let is_same = |stored: &str, new: &str| {
            stored.is_empty() || new.is_empty() || sanitized(stored) == sanitized(new)
        };
        let own_session = self.session_id.as_deref();
        is_same(&self.user_input, input)
            && is_same(&self.assistant_response, response)
            && (own_session.is_none() || session.is_none() || own_session == session)
    }

    fn receipt(self) -> Receipt {
        Receipt {
            user_id: self.user_id.as_str().to_owned(),
            turn_id: self.turn_id,
            turn_seq: self.turn_seq,
        }
    }
}

/// Enqueues a turn, and nothing more; for a known turn, returns the first receipt again.
///
/// A turn id that is already in use for another message is refused.
pub fn observe(
    facts: &mut Facts,
    user: &UserId,
    observation: &Observation,
    policy: SecretPolicy,
) -> Result<Receipt> {
    if let Some(id) = &observation.turn_id {
        refuse_reserved(id)?;
    }
    let texts = [&observation.user_input, &observation.assistant_response];
    if texts.iter().any(|text| text.len() > MAX_TEXT_BYTES) {
        return Err(Error::usage(format!(
            "user_input and assistant_response may have at most {MAX_TEXT_BYTES} bytes each"
        )));
    }
    let [input, response] = texts.map(|text| match policy {
        SecretPolicy::Allow => strip_controls(text).into_owned(),
        SecretPolicy::Refuse => sanitized(text).into_owned(),
    });
    if input.trim().is_empty() {
        return Err(Error::usage("the turn has no visible user_input"));
    }
    let clock = facts.clock();
    let said_at = said_at(observation.timestamp.as_deref(), &clock)?;
    facts.leave_checkpoint_to_others()?;
    facts.write(|connection| {
        let id = observation.turn_id.as_ref();
        let known = id.map(|id| turn(connection, user, id)).transpose()?.flatten();
        if let Some(known) = known {
            if !known.is_of(&input, &response, observation.session_id.as_deref()) {
                let id = known.turn_id;
                return Err(Error::refused(format!("turn_id {id} is in use for another message"))
                    .hint("give each turn its own turn_id, or none"));
            }
            return Ok(known.receipt());
        }
        let turn_id = match id {
            Some(id) => id.clone(),
            None => next_id(connection, "turn", "turns")?,
        };
        let sql = "INSERT INTO turns (user_id, turn_id, session_id, turn_seq, project, user_input, \
                   assistant_response, said_at, observed_at, status) \
                   VALUES (?1, ?2, ?3, CASE WHEN ?3 IS NULL THEN NULL ELSE \
                   (SELECT coalesce(max(turn_seq), 0) + 1 FROM turns WHERE user_id = ?1 AND session_id = ?3) \
                   END, ?4, ?5, ?6, ?7, ?8, 'pending')";
        let values = params![
            user, turn_id, observation.session_id, observation.project, input, response, said_at,
            later(&clock, TimeDelta::zero())
        ];
        connection.run("queue the turn", sql, values)?;
        if observation.session_end {
            profile::mark_due(connection, user, &said_at)?;
        }
        let queued = turn(connection, user, &turn_id)?;
        queued.map(Turn::receipt).ok_or_else(|| Error::failed("the turn was not queued"))
    })
}

/// Refuses an id that begins with a reserved prefix.
pub(crate) fn refuse_reserved(id: &str) -> Result<()> {
    match RESERVED_PREFIXES.iter().find(|prefix| id.starts_with(**prefix)) {
        Some(prefix) => {
            Err(Error::usage(format!("{id:?} is reserved: an id must not begin with {prefix}")))
        }
        None => Ok(()),
    }
}

/// Returns when the turn was said, at most now: a fast clock must not override every later turn.
fn said_at(timestamp: Option<&str>, clock: &Clock) -> Result<String> {
    let Some(text) = timestamp else {
        return Ok(clock.timestamp());
    };
    let time = parse_timestamp(text).ok_or_else(|| {
        Error::usage(format!("timestamp: {text:?} is not an ISO 8601 time"))
            .hint("write it like 2026-02-17T10:11:12Z")
    })?;
    Ok(fact::format_time(time.min(clock.now())))
}

/// Returns a new turn id with the number of the next row of a table, which AUTOINCREMENT never reuses.
pub(crate) fn next_id(connection: &Connection, kind: &str, table: &str) -> Result<String> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let last: Option<i64> =
        connection.optional_row("read the last number", sql, [table], |row| row.get(0))?;
    let prefix = replication::turn_id_prefix(connection, kind)?;
    Ok(format!("{prefix}{}", last.unwrap_or(0) + 1))
}

/// Returns a turn of a user.
pub(crate) fn turn(connection: &Connection, user: &UserId, turn_id: &str) -> Result<Option<Turn>> {
    let sql = format!("SELECT {} FROM turns WHERE user_id = ?1 AND turn_id = ?2", Turn::COLUMNS);
    connection.optional_row("read the queue", &sql, [user.as_str(), turn_id], Turn::read)
}

/// Returns a turn of a user, or an error if there is none.
pub fn find_turn(facts: &Facts, user: &UserId, turn_id: &str) -> Result<Turn> {
    turn(facts.connection(), user, turn_id)?.ok_or_else(|| {
        Error::not_found(format!("{user} has no turn {turn_id}"))
            .hint("`annals facts observe` queues one, `annals facts turns` lists them")
    })
}

/// Returns a user's turns, oldest first.
pub fn turns(facts: &Facts, user: &UserId) -> Result<Vec<Turn>> {
    let sql = format!("SELECT {} FROM turns WHERE user_id = ?1 ORDER BY seq", Turn::COLUMNS);
    facts.connection().rows("read the queue", &sql, [user], Turn::read)
}

/// Returns the number of turns of all users that are waiting for the auditor.
pub fn waiting(facts: &Facts) -> Result<u64> {
    let sql = "SELECT count(*) FROM turns WHERE status IN ('pending', 'running')";
    facts.connection().value("read the queue", sql, [])
}

/// Returns the time of this run in milliseconds, the precision of the queue.
pub(crate) fn now_millis(clock: &Clock) -> String {
    later(clock, TimeDelta::zero())
}

/// Returns the time of this run plus a duration, in the precision of the queue.
pub(crate) fn later(clock: &Clock, length: TimeDelta) -> String {
    let time = clock.now().checked_add_signed(length).unwrap_or(clock.now());
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A turn leased by a worker.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) turn: Turn,
    token: String,
}

/// Leases the oldest available turn; the turns of a user are processed one at a time, in order.
///
/// An expired lease belonged to a worker that died. Turns in `skipped` have already failed in this run.
pub(crate) fn lease(
    facts: &mut Facts,
    skipped: &[Turn],
    length: TimeDelta,
) -> Result<Option<Lease>> {
    let now = now_millis(&facts.clock());
    let until = later(&facts.clock(), length);
    facts.write(|connection| {
        // Turns whose workers keep dying would block the queue forever.
        let reason = format!("gave up after {MAX_ATTEMPTS} attempts: the worker died each time");
        let sql = "UPDATE turns SET status = 'dead', lease = NULL, lease_until = NULL, finished_at = ?1, \
                   last_error = ?3 WHERE attempts >= ?2 AND status = 'running' AND lease_until <= ?1";
        connection.run("write the queue", sql, params![now, MAX_ATTEMPTS, reason])?;
        let sql = format!(
            "SELECT {} FROM turns AS t WHERE (status = 'pending' \
             OR (status = 'running' AND lease_until <= ?1)) \
             AND NOT EXISTS (SELECT 1 FROM turns AS earlier WHERE earlier.user_id = t.user_id \
             AND earlier.seq < t.seq AND earlier.status IN ('pending', 'running')) ORDER BY seq",
            Turn::COLUMNS
        );
        let rows = connection.rows("read the queue", &sql, [&now], Turn::read)?;
        let is_new = |turn: &Turn| {
            let id = (&turn.user_id, &turn.turn_id);
            skipped.iter().all(|other| (&other.user_id, &other.turn_id) != id)
        };
        let Some(mut turn) = rows.into_iter().find(is_new) else {
            return Ok(None);
        };
        turn.attempts += 1;
        let sql = "UPDATE turns SET status = 'running', attempts = ?3, lease = lower(hex(randomblob(16))), \
                   lease_until = ?4 WHERE user_id = ?1 AND turn_id = ?2 RETURNING lease";
        let values = params![turn.user_id, turn.turn_id, turn.attempts, until];
        let token = connection.value("lease a turn", sql, values)?;
        Ok(Some(Lease { turn, token }))
    })
}

impl Lease {
    /// Extends the lease; returns false if another worker has taken over the turn.
    pub(crate) fn renew(&self, facts: &mut Facts, length: TimeDelta) -> Result<bool> {
        let until = later(&facts.clock(), length);
        let sql = "UPDATE turns SET lease_until = ?4 \
                   WHERE user_id = ?1 AND turn_id = ?2 AND lease = ?3";
        let values = params![self.turn.user_id, self.turn.turn_id, self.token, until];
        facts.write(|connection| Ok(connection.run_counted("lease a turn", sql, values)? == 1))
    }

    /// Returns whether its worker still holds it.
    pub(crate) fn is_held(&self, connection: &Connection) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM turns \
                   WHERE user_id = ?1 AND turn_id = ?2 AND lease = ?3)";
        let values = params![self.turn.user_id, self.turn.turn_id, self.token];
        connection.value("read the queue", sql, values)
    }

    /// Ends the work on the turn without a result, unless another worker has taken it over.
    pub(crate) fn give_up(&self, facts: &mut Facts, end: TurnEnd<'_>) -> Result<()> {
        let now = now_millis(&facts.clock());
        facts.write(|connection| {
            if self.is_held(connection)? {
                finish(connection, &self.turn, end, &now)?;
            }
            Ok(())
        })
    }
}

/// How the processing of a turn ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnEnd<'a> {
    /// Its actions were applied.
    Done,
    /// It returns to the queue with this error, since no auditor could be reached; not counted as an attempt.
    Requeued(&'a str),
    /// No answer could be used: the last problem, and the last answer.
    Dead(&'a str, &'a str),
}

/// Releases a turn and sets its final or next status.
pub(crate) fn finish(
    connection: &Connection,
    turn: &Turn,
    end: TurnEnd<'_>,
    now: &str,
) -> Result<()> {
    let (status, error, raw) = match end {
        TurnEnd::Done => (TurnStatus::Done, None, None),
        TurnEnd::Requeued(error) => (TurnStatus::Pending, Some(error), None),
        TurnEnd::Dead(error, raw) => (TurnStatus::Dead, Some(error), Some(raw)),
    };
    connection.run(
        "write the queue",
        "UPDATE turns SET status = ?3, last_error = ?4, raw_answer = ?5, lease = NULL, \
             lease_until = NULL, finished_at = CASE WHEN ?3 = 'pending' THEN NULL ELSE ?6 END, \
             attempts = attempts - (?3 = 'pending') \
             WHERE user_id = ?1 AND turn_id = ?2",
        params![turn.user_id, turn.turn_id, status, error, raw, now],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_deaths_of_workers_count_until_a_turn_is_given_up() {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let user = UserId::new("ada").unwrap();
        let observation = Observation {
            user_input: "I like tea".to_owned(),
            turn_id: Some("a".to_owned()),
            ..Observation::default()
        };
        observe(&mut facts, &user, &observation, SecretPolicy::Refuse).unwrap();
        // A lease that expires at once is that of a worker that died.
        let mut lease_for = |length| lease(&mut facts, &[], length).unwrap();
        for deaths in 1..=MAX_ATTEMPTS {
            assert_eq!(lease_for(TimeDelta::zero()).unwrap().turn.attempts, deaths);
        }
        assert!(lease_for(TimeDelta::zero()).is_none());
        let turn = find_turn(&facts, &user, "a").unwrap();
        assert_eq!(turn.status, TurnStatus::Dead);
        assert_eq!(turn.last_error.unwrap(), "gave up after 5 attempts: the worker died each time");
        let again = Observation { turn_id: Some("b".to_owned()), ..observation };
        observe(&mut facts, &user, &again, SecretPolicy::Refuse).unwrap();
        for _ in 0..=MAX_ATTEMPTS {
            let lease = lease(&mut facts, &[], TimeDelta::minutes(1)).unwrap().unwrap();
            lease.give_up(&mut facts, TurnEnd::Requeued("no auditor")).unwrap();
            let turn = find_turn(&facts, &user, "b").unwrap();
            assert_eq!((turn.status, turn.attempts), (TurnStatus::Pending, 0));
        }
    }
}
