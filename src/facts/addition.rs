//! Adds a fact that is stated directly rather than extracted from a turn of a conversation.

use rusqlite::Connection;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::facts::action::{Action, ActionType};
use crate::facts::application::ActionResult;
use crate::facts::arbitration::{ActionEffect, ActionSource, Arbiter};
use crate::facts::fact::{MAX_VALUE_BYTES, normalized_time};
use crate::facts::key::FactKey;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::Category;
use crate::facts::{application, fact, queue, replication};
use crate::project::scope_name;
use crate::secrets::SecretPolicy;
use crate::{secrets, text};

/// Maximum length of the excerpt of a source, in characters.
pub(crate) const MAX_EXCERPT_CHARS: usize = 400;

/// Reason of the changes that a statement makes.
const REASON: &str = "stated";

/// A fact to add.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The value as JSON.
    pub json: Option<String>,
    /// The category, if it differs from the key's.
    pub category: Option<Category>,
    /// The project that it belongs to.
    pub project: Option<String>,
    /// When the stated event happened.
    pub event_time: Option<String>,
    /// Start of the validity.
    pub valid_from: Option<String>,
    /// End of the validity.
    pub valid_to: Option<String>,
    /// Whether the user confirmed it when asked.
    pub is_confirmed: bool,
    /// Whether a value that looks like a secret is accepted.
    pub secrets: SecretPolicy,
    /// Idempotency key: a repeated call with the same id returns the first result.
    pub request_id: Option<String>,
    /// In a shared database, the scope that may see the fact, instead of the one from the settings.
    pub scope: Option<String>,
}

/// Adds a fact: an equal value confirms, a new key inserts, a longer value refines, another contradicts.
pub fn add(facts: &mut Facts, user: &UserId, statement: &Statement) -> Result<ActionEffect> {
    let action = action(statement)?;
    let event_time = time("event time", statement.event_time.as_deref())?;
    let now = facts.clock().timestamp();
    let high_risk = facts.high_risk().to_vec();
    check_scope(facts, statement)?;
    facts.set_scope(statement.scope.as_deref());
    let added = facts.write(|connection| {
        let turn_id = match &statement.request_id {
            Some(id) => turn_of_request(connection, user, id)?,
            None => next_turn(connection)?,
        };
        if let Some(earlier) = application::of_turn(connection, user, &turn_id)?.pop() {
            return answer(connection, user, &earlier);
        }
        let source = ActionSource {
            turn_id,
            project: statement.project.clone(),
            excerpt: text::clip(&statement.value, MAX_EXCERPT_CHARS).into_owned(),
            said_at: now.clone(),
            event_time,
            category: statement.category,
            is_confirmed: statement.is_confirmed,
            ..ActionSource::default()
        };
        let arbiter = Arbiter::new(connection, user, &source, &now, &high_risk);
        let mut applied = application::apply(&arbiter, std::slice::from_ref(&action))?;
        match applied.pop() {
            Some(applied) => {
                let added = answer(connection, user, &applied)?;
                keep_scope(connection, statement, added)
            }
            None => Err(Error::failed("the statement had no effect")),
        }
    });
    facts.set_scope(None);
    added
}

/// Refuses a scope whose name is invalid, or in a database that is not shared.
fn check_scope(facts: &Facts, statement: &Statement) -> Result<()> {
    let Some(scope) = &statement.scope else {
        return Ok(());
    };
    scope_name(scope).map_err(Error::usage)?;
    match replication::Device::joined(facts.connection())? {
        Some(_) => Ok(()),
        None => Err(Error::usage("this database is not shared, so a fact has no scope")
            .hint("annals share init")),
    }
}

/// Refuses a scope other than the fact's own: a fact keeps the scope in which it was first written.
fn keep_scope(
    connection: &Connection,
    statement: &Statement,
    added: ActionEffect,
) -> Result<ActionEffect> {
    let (Some(wanted), Some(fact)) = (&statement.scope, &added.fact) else {
        return Ok(added);
    };
    match replication::of_fact(connection, &fact.user_id, &fact.fact_id)? {
        Some(scope) if scope != *wanted => {
            Err(Error::refused(format!("the fact's scope is {scope} and cannot change"))
                .hint("to change the scope, forget the fact and add it again"))
        }
        _ => Ok(added),
    }
}

fn answer(connection: &Connection, user: &UserId, applied: &ActionResult) -> Result<ActionEffect> {
    let fact = match &applied.fact_id {
        Some(id) => fact::by_id(connection, user, id)?,
        None => None,
    };
    Ok(ActionEffect::new(applied.outcome, fact))
}

/// Returns a turn id for a statement, made from the number of its action, which is never reused.
fn next_turn(connection: &Connection) -> Result<String> {
    let number = queue::next_number(connection, "applied_actions")?;
    let prefix = replication::turn_id_prefix(connection, "stated")?;
    Ok(format!("{prefix}{number}"))
}

/// Returns the turn id of a request, with a prefix that keeps it apart from the ids of turns.
///
/// Earlier versions used the request's id itself, so a statement recorded under it is found again.
fn turn_of_request(connection: &Connection, user: &UserId, id: &str) -> Result<String> {
    queue::refuse_reserved(id)?;
    let is_statement: bool = connection.value(
        "read the history",
        "SELECT EXISTS (SELECT 1 FROM fact_history WHERE user_id = ?1 AND turn_id = ?2 AND reason = ?3) \
         AND NOT EXISTS (SELECT 1 FROM turns WHERE user_id = ?1 AND turn_id = ?2)",
        [user.as_str(), id, REASON],
    )?;
    if is_statement {
        return Ok(id.to_owned());
    }
    Ok(format!("request:{id}"))
}

fn action(statement: &Statement) -> Result<Action> {
    let key = FactKey::parse(&statement.key)?;
    let value = text::strip_controls(&statement.value).trim().to_owned();
    if value.is_empty() || value.len() > MAX_VALUE_BYTES {
        return Err(Error::usage(format!("a value must be 1 to {MAX_VALUE_BYTES} bytes long")));
    }
    let json = statement.json.as_deref().map(structured).transpose()?;
    let written = json.as_ref().map(Value::to_string).unwrap_or_default();
    if written.len() > MAX_VALUE_BYTES {
        return Err(Error::usage(format!(
            "the structured value must have at most {MAX_VALUE_BYTES} bytes"
        )));
    }
    for text in [&value, &written] {
        refuse_secrets(text, statement.secrets)?;
    }
    let valid_from = time("valid from", statement.valid_from.as_deref())?;
    let valid_to = time("valid to", statement.valid_to.as_deref())?;
    if let (Some(from), Some(to)) = (&valid_from, &valid_to)
        && to <= from
    {
        return Err(Error::refused("valid_to is not after valid_from"));
    }
    Ok(Action {
        kind: ActionType::Insert,
        key,
        new_value_text: Some(value),
        new_value_json: json,
        target_fact_id: None,
        valid_from,
        valid_to,
        confidence_delta: 0.0,
        reason: REASON.to_owned(),
    })
}

fn structured(text: &str) -> Result<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Null) | Err(_) => Err(Error::usage("the structured value is null or not JSON")),
        Ok(value) => Ok(value),
    }
}

/// Refuses a text that looks like a secret.
pub(crate) fn refuse_secrets(text: &str, policy: SecretPolicy) -> Result<()> {
    match secrets::first_rule(text) {
        Some(rule) if policy == SecretPolicy::Refuse => {
            let message = format!("the value looks like a secret ({rule})");
            Err(Error::refused(message).hint("--allow-secret keeps it anyway"))
        }
        _ => Ok(()),
    }
}

fn time(name: &str, text: Option<&str>) -> Result<Option<String>> {
    let Some(text) = text else {
        return Ok(None);
    };
    match normalized_time(text) {
        Some(time) => Ok(Some(time)),
        None => Err(Error::usage(format!("{name}: {text:?} is not an ISO 8601 time"))
            .hint("write it like 2026-02-17 or 2026-02-17T10:11:12Z")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{ActionOutcome, Observation, apply, observe};

    fn ada() -> UserId {
        UserId::new("ada").unwrap()
    }

    fn facts() -> Facts {
        Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap()
    }

    fn requested(id: &str, value: &str) -> Statement {
        Statement {
            key: "likes[]".to_owned(),
            value: value.to_owned(),
            request_id: Some(id.to_owned()),
            ..Statement::default()
        }
    }

    #[test]
    fn a_request_with_the_id_of_a_judged_turn_is_no_repetition() {
        let mut facts = facts();
        let observation = Observation {
            user_input: "I moved to Rome".to_owned(),
            turn_id: Some("t1".to_owned()),
            ..Observation::default()
        };
        observe(&mut facts, &ada(), &observation, SecretPolicy::Refuse).unwrap();
        let answer = serde_json::json!({"actions": [{"type": "insert", "key": "city",
            "new_value_text": "Rome", "confidence_delta": 0, "reason": "stated"}]});
        let answer = answer.to_string();
        apply(&mut facts, &ada(), "t1", &answer, SecretPolicy::Refuse).unwrap();
        let request = requested("t1", "tea");
        for _ in 0..2 {
            let added = add(&mut facts, &ada(), &request).unwrap();
            assert_eq!(added.outcome, ActionOutcome::Inserted);
            assert_eq!(added.fact.unwrap().value_text, "tea");
        }
    }

    #[test]
    fn a_request_that_an_earlier_version_recorded_is_a_repetition() {
        let mut facts = facts();
        add(&mut facts, &ada(), &requested("r1", "tea")).unwrap();
        facts
            .connection()
            .execute_batch(
                "INSERT INTO erasing VALUES ('ada', NULL); UPDATE fact_history SET turn_id = 'r1'; \
                 DELETE FROM erasing; UPDATE applied_actions SET turn_id = 'r1'",
            )
            .unwrap();
        let added = add(&mut facts, &ada(), &requested("r1", "coffee")).unwrap();
        assert_eq!(added.fact.unwrap().value_text, "tea");
    }

    #[test]
    fn ids_of_annals_own_are_refused() {
        let mut facts = facts();
        for id in ["annals:stated:1", "request:r9"] {
            let error = add(&mut facts, &ada(), &requested(id, "tea")).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Usage, "{id}");
            let observation = Observation {
                user_input: "I moved to Rome".to_owned(),
                turn_id: Some(id.to_owned()),
                ..Observation::default()
            };
            let observed = observe(&mut facts, &ada(), &observation, SecretPolicy::Refuse);
            assert!(observed.is_err(), "{id}");
        }
    }

    #[test]
    fn a_structured_value_has_the_limit_of_a_text() {
        let long = "x".repeat(MAX_VALUE_BYTES);
        let statement = Statement {
            json: Some(serde_json::json!({"a": long}).to_string()),
            ..requested("r1", "tea")
        };
        let error = add(&mut facts(), &ada(), &statement).unwrap_err();
        assert!(error.message.starts_with("the structured value must"));
    }
}
