//! Adds a fact that is stated directly rather than extracted from a turn of a conversation.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::facts::action::{Action, StatedAction, checked_time};
use crate::facts::arbitration::{ActionEffect, ActionSource, Arbiter, applied};
use crate::facts::fact::{self, Category, MAX_EXCERPT_CHARS, UserId};
use crate::facts::store::Facts;
use crate::facts::{queue, replication};
use crate::project::scope_name;
use crate::secrets::SecretPolicy;
use crate::text;

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
    let now = facts.clock().timestamp();
    let mut source = ActionSource {
        project: statement.project.clone(),
        excerpt: text::clip(action.value(), MAX_EXCERPT_CHARS).into_owned(),
        said_at: now.clone(),
        event_time: checked_time("event_time", statement.event_time.clone())?,
        category: statement.category,
        is_confirmed: statement.is_confirmed,
        ..ActionSource::default()
    };
    let high_risk = facts.high_risk().to_vec();
    check_scope(facts, statement)?;
    facts.set_scope(statement.scope.as_deref());
    let added = facts.write(|connection| {
        // A prefix keeps the ids of requests apart from those of turns.
        source.turn_id = match &statement.request_id {
            Some(id) => {
                queue::refuse_reserved(id)?;
                format!("request:{id}")
            }
            None => queue::next_id(connection, "stated", "applied_actions")?,
        };
        let earlier = applied(connection, user, &source.turn_id)?.pop().map(|(_, earlier)| earlier);
        let is_repeated = earlier.is_some();
        let arbiter =
            Arbiter { connection, user, source: &source, now: &now, high_risk: &high_risk };
        let result = match earlier {
            Some(earlier) => Some(earlier),
            None => arbiter.apply(std::slice::from_ref(&action))?.pop(),
        };
        let result = result.ok_or_else(|| Error::failed("the statement had no effect"))?;
        let fact = match &result.fact_id {
            Some(id) => fact::by_id(connection, user, id)?,
            None => None,
        };
        if let (Some(wanted), Some(fact), false) = (&statement.scope, &fact, is_repeated) {
            let scope = replication::of_fact(connection, user.as_str(), &fact.fact_id)?;
            if let Some(scope) = scope.filter(|scope| scope != wanted) {
                // A fact keeps the scope in which it was first written.
                let message = format!("the fact's scope is {scope} and cannot change");
                let hint = "to change the scope, forget the fact and add it again";
                return Err(Error::refused(message).hint(hint));
            }
        }
        Ok(ActionEffect { outcome: result.outcome, fact })
    });
    facts.set_scope(None);
    added
}

fn action(statement: &Statement) -> Result<Action> {
    let structured = statement.json.as_deref().map(|json| match serde_json::from_str(json) {
        Ok(Value::Null) | Err(_) => Err(Error::usage("the structured value is null or not JSON")),
        Ok(value) => Ok(value),
    });
    let action = StatedAction {
        key: statement.key.clone(),
        new_value_text: Some(statement.value.clone()),
        new_value_json: structured.transpose()?,
        valid_from: statement.valid_from.clone(),
        valid_to: statement.valid_to.clone(),
        reason: "stated".to_owned(),
        ..StatedAction::default()
    };
    action.validated(statement.secrets)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::error::ErrorKind;
    use crate::facts::{ActionOutcome, Observation, apply, observe};

    #[test]
    fn an_id_of_a_request_is_neither_that_of_a_turn_nor_one_of_annals_own() {
        let ada = UserId::new("ada").unwrap();
        let mut facts =
            Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap();
        let turn = |id: &str| Observation {
            user_input: "I moved to Rome".to_owned(),
            turn_id: Some(id.to_owned()),
            ..Observation::default()
        };
        let request = |id: &str| Statement {
            key: "likes[]".to_owned(),
            value: "tea".to_owned(),
            request_id: Some(id.to_owned()),
            ..Statement::default()
        };
        observe(&mut facts, &ada, &turn("t1"), SecretPolicy::Refuse).unwrap();
        let answer = r#"{"actions": [{"type": "insert", "key": "city", "new_value_text": "Rome",
            "confidence_delta": 0, "reason": "stated"}]}"#;
        apply(&mut facts, &ada, "t1", answer, SecretPolicy::Refuse).unwrap();
        for _ in 0..2 {
            let added = add(&mut facts, &ada, &request("t1")).unwrap();
            assert_eq!(added.outcome, ActionOutcome::Inserted);
        }
        for id in ["annals:stated:1", "request:r9"] {
            let error = add(&mut facts, &ada, &request(id)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{id}");
            assert!(observe(&mut facts, &ada, &turn(id), SecretPolicy::Refuse).is_err(), "{id}");
        }
    }
}
