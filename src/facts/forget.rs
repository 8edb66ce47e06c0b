//! Forgets a user's facts: erases them permanently and says what is left.

use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::fact::Fact;
use crate::facts::key::FactKey;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vectors::{Remaining, RetryScope};
use crate::facts::{erase, replication, vectors};
use crate::text;
use crate::text::quantity;

/// Counts of what was erased.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Facts, including archived ones.
    pub facts: usize,
    /// Rows of the history.
    pub changes: usize,
    /// Turns that mentioned the facts.
    pub turns: usize,
    /// What is not erased yet on servers that vectors were sent to.
    pub remaining: Vec<Remaining>,
}

/// Erases a user's facts permanently, all or those under one key.
///
/// Turns and answers that mention them are erased too, as is the profile. One row remains with the time, the
/// counts and the reason, but nothing of the content. Refused while another process has the file open.
/// Afterwards, servers that vectors were sent to are asked to erase them; what a server does not erase stays
/// queued, by id.
pub fn forget(
    facts: &mut Facts,
    user: &UserId,
    key: Option<&str>,
    reason: &str,
) -> Result<Forgotten> {
    let now = facts.clock().timestamp();
    let key = key.map(FactKey::parse_allowing_secrets).transpose()?;
    let key = key.as_ref().map(FactKey::as_str);
    let dry_run = facts.is_dry_run();
    let clock = facts.clock();
    if !dry_run {
        facts.lock_exclusive()?;
    }
    let erased = facts.write(|connection| {
        let matching_states = erase::known_states(connection, user, key, None)?;
        if matching_states.is_empty()
            && let Some(key) = key
        {
            return Err(Error::not_found(format!("{user} has no fact under {key}")));
        }
        let turns = erase::erase_turns(connection, user, key, &matching_states)?;
        let rows = erase::erase(connection, user, key, &matching_states)?;
        let forgotten = Forgotten {
            facts: rows.facts,
            changes: rows.changes,
            turns: turns.len(),
            remaining: Vec::new(),
        };
        let turns = erase::sources(&matching_states, &turns);
        erase::scrub(connection, user, &matching_states, &turns, None)?;
        erase::rebuild_indexes(connection)?;
        replication::record_tombstone(connection, user, key, &turns, clock)?;
        let reason = sanitized_reason(reason, user, &matching_states);
        log_erasure(connection, &forgotten, &now, &reason)?;
        Ok((forgotten, rows.ids))
    });
    if dry_run {
        return erased.map(|(forgotten, _)| forgotten);
    }
    let (mut forgotten, ids) = match erased {
        Ok(erased) => erased,
        Err(error) if error.kind == ErrorKind::NotFound => {
            // An earlier run may have erased the rows but not rewritten the file.
            facts.vacuum()?;
            return Err(error);
        }
        Err(error) => {
            // A failure to unlock does not change the error.
            facts.unlock().ok();
            return Err(error.hint("nothing was erased"));
        }
    };
    facts.vacuum().map_err(|error| partial_erasure_error(error, &forgotten))?;
    // The file is already unlocked, so nobody waits for a server. `remaining` lists why one failed.
    vectors::erase(facts, RetryScope::All)?;
    forgotten.remaining = vectors::remaining(facts.connection(), Some(&ids))?;
    Ok(forgotten)
}

/// Returns an error that says what is erased and what is not if the file could not be rewritten.
fn partial_erasure_error(mut error: Error, forgotten: &Forgotten) -> Error {
    error.message = format!(
        "{} erased from every table; traces may be left in unused parts of the file, which could not be rewritten: {}",
        quantity(forgotten.facts, "fact"),
        error.message
    );
    error.hint("free some disk space and run the same command again: it rewrites the file")
}

/// Writes the one row that remains.
fn log_erasure(
    connection: &Connection,
    forgotten: &Forgotten,
    now: &str,
    reason: &str,
) -> Result<()> {
    let (facts, turns) = (forgotten.facts.to_string(), forgotten.turns.to_string());
    let sql = "INSERT INTO erasures (erased_at, facts, turns, reason) VALUES (?1, ?2, ?3, ?4)";
    connection.run("note the erasure", sql, params![now, facts, turns, reason])
}

/// Returns the reason that remains, or a placeholder if it mentions an erased key or value, or the user.
fn sanitized_reason(reason: &str, user: &UserId, matching_states: &[Fact]) -> String {
    let folded = text::fold(reason);
    let mentions = |text: &str| {
        let text = text::fold(text);
        !text.is_empty() && folded.contains(&text)
    };
    let mentions_a_fact =
        matching_states.iter().any(|fact| mentions(&fact.value_text) || mentions(&fact.key));
    if mentions_a_fact || mentions(user.as_str()) {
        return "(withheld: it said what was forgotten)".to_owned();
    }
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Observation, Statement, add, fact, observe, turns};
    use crate::secrets::SecretPolicy;

    fn ada() -> UserId {
        UserId::new("ada").unwrap()
    }

    fn with(key: &str, value: &str) -> Facts {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        state(&mut facts, key, value);
        facts
    }

    fn state(facts: &mut Facts, key: &str, value: &str) {
        let statement =
            Statement { key: key.to_owned(), value: value.to_owned(), ..Statement::default() };
        add(facts, &ada(), &statement).unwrap();
    }

    #[test]
    fn a_value_of_punctuation_alone_erases_no_turn_but_its_own() {
        let mut facts = with("separator", ":::");
        let observation =
            Observation { user_input: "I like tea".to_owned(), ..Observation::default() };
        observe(&mut facts, &ada(), &observation, SecretPolicy::Refuse).unwrap();
        let forgotten = forget(&mut facts, &ada(), Some("separator"), "asked to").unwrap();
        assert_eq!((forgotten.facts, forgotten.turns), (1, 0));
        assert_eq!(turns(&facts, &ada()).unwrap().len(), 1);
    }

    #[test]
    fn a_value_is_erased_from_excerpts_in_whatever_case_and_spacing() {
        let mut facts = with("city", "Bad  München");
        state(&mut facts, "task.next", "move to BAD MÜNCHEN");
        forget(&mut facts, &ada(), Some("city"), "asked to").unwrap();
        let left = fact::select(facts.connection(), &ada(), "1", &[]).unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].source_excerpt, "");
        let states = erase::known_states(facts.connection(), &ada(), None, None).unwrap();
        assert!(states.iter().all(|state| state.source_excerpt.is_empty()));
    }

    #[test]
    fn a_failed_rewrite_says_what_is_erased_all_the_same() {
        let forgotten = Forgotten { facts: 2, ..Forgotten::default() };
        let error = partial_erasure_error(Error::failed("the disk is full"), &forgotten);
        assert!(error.message.starts_with("2 facts erased from every table; traces may be left"));
        assert!(error.message.ends_with("the disk is full"), "{}", error.message);
        assert!(error.hint.unwrap().contains("run the same command again"));
    }
}
