//! The queue of turns for the auditor: enqueued immediately, leased by one worker at a time.

use chrono::{SecondsFormat, TimeDelta};
use rusqlite::{Connection, params};
use serde::{Deserialize, Deserializer, Serialize};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::columns::columns;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::stored_as_word;
use crate::facts::{fact, profile, replication};
use crate::secrets::SecretPolicy;
use crate::text::{sanitized, strip_controls, word_enum};

/// Maximum length of the user's or the assistant's text, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Prefixes of turn ids that are reserved for this program; those of imports, `import:`, are not.
const RESERVED_PREFIXES: [&str; 2] = ["annals:", "request:"];

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

impl Turn {
    /// Returns a turn that is not enqueued, for showing its prompt; nothing is written.
    pub fn unqueued(facts: &Facts, user: &UserId, user_input: &str) -> Self {
        let said_at = facts.clock().timestamp();
        Self {
            user_id: user.clone(),
            turn_id: String::new(),
            status: TurnStatus::Pending,
            observed_at: said_at.clone(),
            said_at,
            session_id: None,
            turn_seq: None,
            project: None,
            user_input: sanitized(user_input).into_owned(),
            assistant_response: String::new(),
            attempts: 0,
            last_error: None,
            raw_answer: None,
        }
    }

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
}

columns!(
    Turn: user_id, turn_id, status, said_at, observed_at, session_id, turn_seq, project, user_input,
    assistant_response, attempts, last_error, raw_answer
);

pub(super) const COLUMNS: &str = Turn::COLUMNS;

/// Enqueues a turn, and nothing more; for a known turn, returns the first receipt again.
///
/// A turn id that is already in use for another message is refused.
pub fn observe(
    facts: &mut Facts,
    user: &UserId,
    observation: &Observation,
    policy: SecretPolicy,
) -> Result<Receipt> {
    if observation.user_input.trim().is_empty() {
        return Err(Error::usage("the turn has no user_input"));
    }
    if let Some(id) = &observation.turn_id {
        refuse_reserved(id)?;
    }
    let texts = [&observation.user_input, &observation.assistant_response];
    if texts.iter().any(|text| text.len() > MAX_TEXT_BYTES) {
        return Err(Error::usage(format!(
            "user_input and assistant_response may have at most {MAX_TEXT_BYTES} bytes each"
        )));
    }
    let clean = |text: &str| match policy {
        SecretPolicy::Allow => strip_controls(text).into_owned(),
        SecretPolicy::Refuse => sanitized(text).into_owned(),
    };
    let (input, response) = (clean(texts[0]), clean(texts[1]));
    if input.trim().is_empty() {
        return Err(Error::usage("the turn has no visible user_input"));
    }
    let clock = facts.clock();
    let said_at = said_at(observation.timestamp.as_deref(), &clock)?;
    facts.leave_checkpoint_to_others()?;
    facts.write(|connection| {
        if let Some(id) = &observation.turn_id
            && let Some(known) = turn(connection, user, id)?
        {
            if !known.is_of(&input, &response, observation.session_id.as_deref()) {
                let message = format!("turn_id {id} is in use for another message");
                let hint = "give each turn its own turn_id, or none";
                return Err(Error::refused(message).hint(hint));
            }
            return Ok(Receipt::from(known));
        }
        let turn_id = match &observation.turn_id {
            Some(id) => id.clone(),
            None => next_id(connection)?,
        };
        let sql = "INSERT INTO turns (user_id, turn_id, session_id, turn_seq, project, user_input, \
                   assistant_response, said_at, observed_at, status) \
                   VALUES (?1, ?2, ?3, CASE WHEN ?3 IS NULL THEN NULL ELSE \
                   (SELECT coalesce(max(turn_seq), 0) + 1 FROM turns WHERE user_id = ?1 AND session_id = ?3) \
                   END, ?4, ?5, ?6, ?7, ?8, 'pending')";
        connection.run("queue the turn", sql, params![
                    user.as_str(),
                    turn_id,
                    observation.session_id,
                    observation.project,
                    input,
                    response,
                    said_at,
                    now_millis(&clock)
                ])?;
        if observation.session_end {
            profile::mark_due(connection, user, &said_at)?;
        }
        turn(connection, user, &turn_id)?
            .map(Receipt::from)
            .ok_or_else(|| Error::failed("the turn was not queued"))
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

/// Returns the time of this run in milliseconds, the precision of the queue.
pub(crate) fn now_millis(clock: &Clock) -> String {
    later(clock, TimeDelta::zero())
}

fn next_id(connection: &Connection) -> Result<String> {
    let number = next_number(connection, "turns")?;
    let prefix = replication::turn_id_prefix(connection, "turn")?;
    Ok(format!("{prefix}{number}"))
}

/// Returns the number of the next row of a table with AUTOINCREMENT, which never reuses numbers.
pub(crate) fn next_number(connection: &Connection, table: &str) -> Result<i64> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let last: Option<i64> =
        connection.optional_row("read the last number", sql, [table], |row| row.get(0))?;
    Ok(last.unwrap_or(0) + 1)
}

impl From<Turn> for Receipt {
    fn from(turn: Turn) -> Self {
        Self {
            user_id: turn.user_id.as_str().to_owned(),
            turn_id: turn.turn_id,
            turn_seq: turn.turn_seq,
        }
    }
}

/// Returns a turn of a user.
pub(crate) fn turn(connection: &Connection, user: &UserId, turn_id: &str) -> Result<Option<Turn>> {
    let sql = format!("SELECT {COLUMNS} FROM turns WHERE user_id = ?1 AND turn_id = ?2");
    connection.optional_row("read the queue", &sql, params![user.as_str(), turn_id], Turn::read)
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
    let sql = format!("SELECT {COLUMNS} FROM turns WHERE user_id = ?1 ORDER BY seq");
    facts.connection().rows("read the queue", &sql, [user.as_str()], Turn::read)
}

/// Returns the number of turns of all users that are waiting for the auditor.
pub fn waiting(facts: &Facts) -> Result<u64> {
    facts.connection().value(
        "read the queue",
        "SELECT count(*) FROM turns WHERE status IN ('pending', 'running')",
        [],
    )
}

/// Returns the time of this run plus a duration, in the precision of the queue.
pub(crate) fn later(clock: &Clock, length: TimeDelta) -> String {
    let time = clock.now().checked_add_signed(length);
    let time = time.unwrap_or(clock.now());
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
