//! The queue of turns for the auditor: enqueued immediately, leased by one worker at a time.

use chrono::{SecondsFormat, TimeDelta};
use rusqlite::{Params, params};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::facts::fact::{UserId, checked_time};
use crate::facts::store::{Facts, json, row, stored_as_word};
use crate::facts::{profile, replication};
use crate::secrets::SecretPolicy;
use crate::text::{is_line, sanitized, strip_controls, word_enum};

/// Prefixes of turn ids that are reserved for this program.
const RESERVED_PREFIXES: [&str; 2] = ["annals:", "request:"];

/// Number of workers that may die while judging a turn, or fail to apply the answer, before it is marked as dead.
pub(crate) const MAX_ATTEMPTS: u32 = 5;

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
        let turn_seq = match turn(facts, user, &turn_id)? {
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
pub(crate) fn turn(facts: &Facts, user: &UserId, turn_id: &str) -> Result<Option<Turn>> {
    Ok(select(facts, "user_id = ?1 AND turn_id = ?2", [user.as_str(), turn_id])?.pop())
}

/// Returns a turn of a user, or an error if there is none.
pub fn find_turn(facts: &Facts, user: &UserId, turn_id: &str) -> Result<Turn> {
    turn(facts, user, turn_id)?.ok_or_else(|| {
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

#[cfg(test)]
mod tests {
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
}
