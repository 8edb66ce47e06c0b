//! Leases turns of the queue to one worker at a time, and ends their processing.

use chrono::TimeDelta;
use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::queue;
use crate::facts::queue::{Turn, TurnStatus};
use crate::facts::store::Facts;

/// Number of workers that may die while judging a turn before it is marked as dead.
const MAX_ATTEMPTS: u32 = 5;

/// A turn leased by a worker.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) turn: Turn,
    pub(crate) token: String,
}

/// Leases the oldest available turn; the turns of a user are processed one at a time, in order.
///
/// An expired lease belonged to a worker that died. Turns in `skipped` have already failed in this run.
pub(crate) fn lease(
    facts: &mut Facts,
    skipped: &[Turn],
    length: TimeDelta,
) -> Result<Option<Lease>> {
    let now = queue::now_millis(&facts.clock());
    let until = queue::later(&facts.clock(), length);
    facts.write(|connection| {
        bury_poisoned_turns(connection, &now)?;
        let sql = format!(
            "SELECT {} FROM turns AS t WHERE (status = 'pending' \
             OR (status = 'running' AND lease_until <= ?1)) \
             AND NOT EXISTS (SELECT 1 FROM turns AS earlier WHERE earlier.user_id = t.user_id \
             AND earlier.seq < t.seq AND earlier.status IN ('pending', 'running')) ORDER BY seq",
            queue::COLUMNS
        );
        let rows = connection.rows("read the queue", &sql, [&now], Turn::read)?;
        let is_skipped = |turn: &Turn| {
            let is_it =
                |other: &Turn| other.turn_id == turn.turn_id && other.user_id == turn.user_id;
            skipped.iter().any(is_it)
        };
        let Some(mut turn) = rows.into_iter().find(|turn| !is_skipped(turn)) else {
            return Ok(None);
        };
        turn.attempts += 1;
        let token: String =
            connection.value("lease a turn", "SELECT lower(hex(randomblob(16)))", [])?;
        connection.run(
            "lease a turn",
            "UPDATE turns SET status = 'running', attempts = ?3, lease = ?4, lease_until = ?5 \
                 WHERE user_id = ?1 AND turn_id = ?2",
            params![turn.user_id.as_str(), turn.turn_id, turn.attempts, token, until],
        )?;
        Ok(Some(Lease { turn, token }))
    })
}

/// Marks turns as dead whose workers keep dying, since they would block the queue forever.
///
/// Pending turns are not affected: their worker returned them because no auditor could be reached.
fn bury_poisoned_turns(connection: &Connection, now: &str) -> Result<()> {
    let reason = format!("gave up after {MAX_ATTEMPTS} attempts: the worker died each time");
    let sql = "UPDATE turns SET status = 'dead', lease = NULL, lease_until = NULL, finished_at = ?1, \
               last_error = ?3 WHERE attempts >= ?2 AND status = 'running' AND lease_until <= ?1";
    connection.run("write the queue", sql, params![now, MAX_ATTEMPTS, reason])
}

/// Extends a lease; returns false if another worker has taken over the turn.
pub(crate) fn renew(facts: &mut Facts, lease: &Lease, length: TimeDelta) -> Result<bool> {
    let until = queue::later(&facts.clock(), length);
    facts.write(|connection| {
        let changed = connection.run_counted(
            "lease a turn",
            "UPDATE turns SET lease_until = ?4 WHERE user_id = ?1 AND turn_id = ?2 AND lease = ?3",
            params![lease.turn.user_id.as_str(), lease.turn.turn_id, lease.token, until],
        )?;
        Ok(changed == 1)
    })
}

/// Returns whether a worker still holds its lease.
pub(crate) fn holds_lease(connection: &Connection, lease: &Lease) -> Result<bool> {
    connection.value(
        "read the queue",
        "SELECT EXISTS (SELECT 1 FROM turns WHERE user_id = ?1 AND turn_id = ?2 AND lease = ?3)",
        params![lease.turn.user_id.as_str(), lease.turn.turn_id, lease.token],
    )
}

/// How the processing of a turn ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnEnd<'a> {
    /// Its actions were applied.
    Done,
    /// It returns to the queue with this error, since no auditor could be reached; not counted as an attempt.
    Requeued(&'a str),
    /// No answer could be used.
    Dead(&'a str, Option<&'a str>),
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
        TurnEnd::Dead(error, raw) => (TurnStatus::Dead, Some(error), raw),
    };
    connection.run(
        "write the queue",
        "UPDATE turns SET status = ?3, last_error = ?4, raw_answer = ?5, lease = NULL, \
             lease_until = NULL, finished_at = CASE WHEN ?3 = 'pending' THEN NULL ELSE ?6 END, \
             attempts = attempts - (?3 = 'pending') \
             WHERE user_id = ?1 AND turn_id = ?2",
        params![turn.user_id.as_str(), turn.turn_id, status, error, raw, now],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::queue::{Observation, find_turn, now_millis, observe};
    use crate::facts::user::UserId;
    use crate::secrets::SecretPolicy;

    fn queued() -> (Facts, UserId) {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let user = UserId::new("ada").unwrap();
        let observation = Observation {
            user_input: "I like tea".to_owned(),
            turn_id: Some("a".to_owned()),
            ..Observation::default()
        };
        observe(&mut facts, &user, &observation, SecretPolicy::Refuse).unwrap();
        (facts, user)
    }

    /// Leases the turn with a lease that expires at once, as if the worker died.
    fn lease_and_die(facts: &mut Facts) -> Option<Lease> {
        lease(facts, &[], TimeDelta::zero()).unwrap()
    }

    #[test]
    fn a_turn_whose_workers_die_is_given_up() {
        let (mut facts, user) = queued();
        for attempt in 1..=MAX_ATTEMPTS {
            let lease = lease_and_die(&mut facts).unwrap();
            assert_eq!(lease.turn.attempts, attempt);
        }
        assert!(lease_and_die(&mut facts).is_none());
        let turn = find_turn(&facts, &user, "a").unwrap();
        assert_eq!(turn.status, TurnStatus::Dead);
        assert_eq!(turn.last_error.unwrap(), "gave up after 5 attempts: the worker died each time");
    }

    #[test]
    fn only_attempts_that_ended_with_a_death_count() {
        let (mut facts, user) = queued();
        for deaths in 0..MAX_ATTEMPTS {
            for _ in 0..=MAX_ATTEMPTS {
                let lease = lease(&mut facts, &[], TimeDelta::minutes(1)).unwrap();
                let turn = lease.unwrap().turn;
                assert_eq!(turn.attempts, deaths + 1);
                let now = now_millis(&facts.clock());
                facts
                    .write(|connection| {
                        finish(connection, &turn, TurnEnd::Requeued("no auditor"), &now)
                    })
                    .unwrap();
                let turn = find_turn(&facts, &user, "a").unwrap();
                assert_eq!((turn.status, turn.attempts), (TurnStatus::Pending, deaths));
            }
            assert!(lease_and_die(&mut facts).is_some());
        }
        assert!(lease_and_die(&mut facts).is_none());
        assert_eq!(find_turn(&facts, &user, "a").unwrap().status, TurnStatus::Dead);
    }
}
