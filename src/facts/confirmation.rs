//! Lists the facts awaiting the user's confirmation, with the questions to ask, and applies the answers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::action::ActionOutcome;
use crate::facts::arbitration::{ActionEffect, ActionSource, Arbiter};
use crate::facts::fact::Fact;
use crate::facts::proposal::ContestableFacts;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::{FactStatus, Proposal};
use crate::facts::{confidence, fact, listing, metrics};

/// A fact that is awaiting the user's confirmation.
#[derive(Clone, Debug, Serialize)]
pub struct Pending {
    /// The fact.
    pub fact: Fact,
    /// The active fact that would be replaced or ended.
    pub contested: Option<Fact>,
    /// The question to ask, if the conflict is important enough for one.
    pub question: Option<String>,
}

/// Returns a user's pending facts with their questions, oldest first.
pub fn pending(facts: &Facts, user: &UserId) -> Result<Vec<Pending>> {
    let found = fact::select(facts.connection(), user, "status = 'pending_confirmation'", &[])?;
    let now = facts.clock().timestamp();
    let found = found.into_iter().filter(|fact| !fact.is_lapsed_at(&now));
    let mut contestable = HashMap::new();
    let with_question = |fact: Fact| {
        // Thousands may be pending for one key: its active facts are read once.
        let active = match contestable.entry(fact.key.clone()) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => {
                let connection = facts.connection();
                let active = fact::with_key(connection, user, &fact.key, FactStatus::Active)?;
                unread.insert(ContestableFacts::new(active))
            }
        };
        let contested = active.contested_by(&fact).cloned();
        let question = question(&fact, contested.as_ref(), facts.high_risk(), &now);
        Ok(Pending { fact, contested, question })
    };
    found.map(with_question).collect()
}

/// Returns the question to ask if the contested fact is established or the fact is high-risk.
fn question(
    fact: &Fact,
    contested: Option<&Fact>,
    high_risk: &[String],
    now: &str,
) -> Option<String> {
    let is_established = contested.is_some_and(|old| old.confidence >= confidence::ESTABLISHED);
    if !fact.is_high_risk(high_risk) && !is_established {
        return None;
    }
    let (key, value) = (&fact.key, &fact.value_text);
    let ends_later = fact.valid_to.as_deref().filter(|end| *end > now);
    Some(match (fact.proposal, contested) {
        (Some(Proposal::End), Some(old)) => match ends_later {
            Some(end) => format!("Is {key} \"{}\" only until {end}?", old.value_text),
            None => format!("Is {key} no longer \"{}\"?", old.value_text),
        },
        (_, Some(old)) => {
            format!("Change {key} from \"{}\" to \"{value}\"?", old.value_text)
        }
        (_, None) => format!("Is it right that {key} is \"{value}\"?"),
    })
}

/// Confirms a fact: it becomes certain, and takes effect if it was pending.
pub fn confirm(facts: &mut Facts, user: &UserId, id: &str) -> Result<ActionEffect> {
    let fact = listing::find(facts, user, id)?;
    let now = facts.clock().timestamp();
    let source = source(facts, &format!("annals:confirmed:{}", fact.fact_id));
    let high_risk = facts.high_risk().to_vec();
    facts.write(|connection| {
        let arbiter = Arbiter::new(connection, user, &source, &now, &high_risk);
        let fact = reload(connection, user, &fact)?;
        match fact.status {
            FactStatus::Active => {
                let sure = mark_certain(&arbiter, &fact)?;
                Ok(ActionEffect::new(ActionOutcome::Confirmed, Some(sure)))
            }
            FactStatus::PendingConfirmation if fact.is_lapsed_at(&now) => {
                let end = fact.valid_to.as_deref().unwrap_or_default();
                Err(Error::refused(format!("{} was valid until {end} only", fact.key)).hint(
                    "`annals facts confirm --reject` drops it; after that, `annals facts add` states it anew",
                ))
            }
            FactStatus::PendingConfirmation => {
                let sure = mark_certain(&arbiter, &fact)?;
                let contested = arbiter.contested_fact(&sure)?;
                arbiter.accept(&sure, contested.as_ref(), "confirmed")
            }
            FactStatus::Superseded | FactStatus::Expired => restore(&arbiter, &fact),
        }
    })
}

fn mark_certain(arbiter: &Arbiter<'_>, fact: &Fact) -> Result<Fact> {
    let sure = Fact { confidence: confidence::CONFIRMED, ..arbiter.mentioned(fact) };
    if sure != *fact {
        arbiter.write_change("confirm", "confirmed", Some(fact), &sure)?;
    }
    Ok(sure)
}

/// Makes an old value active again; the value that replaced it was wrong.
fn restore(arbiter: &Arbiter<'_>, fact: &Fact) -> Result<ActionEffect> {
    let contested = arbiter.contested_fact(fact)?;
    if fact.status == FactStatus::Superseded {
        metrics::note_restoration(arbiter.connection, arbiter.user, fact)?;
    }
    if let Some(wrong) = &contested {
        arbiter.close(wrong, FactStatus::Superseded, arbiter.now, "the old value was confirmed")?;
    }
    let restored = Fact {
        status: FactStatus::Active,
        valid_to: None,
        confidence: confidence::CONFIRMED,
        ..arbiter.mentioned(fact)
    };
    arbiter.write_change("restore", "confirmed", Some(fact), &restored)?;
    let outcome = match contested {
        Some(_) => ActionOutcome::Superseded,
        None => ActionOutcome::Confirmed,
    };
    Ok(ActionEffect::new(outcome, Some(restored)))
}

/// Rejects a fact: a pending one is dropped, an active one ends.
pub fn reject(facts: &mut Facts, user: &UserId, id: &str, reason: &str) -> Result<ActionEffect> {
    let fact = listing::find(facts, user, id)?;
    let now = facts.clock().timestamp();
    let source = source(facts, &format!("annals:rejected:{}", fact.fact_id));
    let high_risk = facts.high_risk().to_vec();
    facts.write(|connection| {
        let arbiter = Arbiter::new(connection, user, &source, &now, &high_risk);
        let fact = reload(connection, user, &fact)?;
        if !fact.status.is_retrievable() {
            return Ok(ActionEffect::new(ActionOutcome::Nothing, Some(fact)));
        }
        if fact.status == FactStatus::PendingConfirmation {
            metrics::note_resolution(connection, user, &fact)?;
        } else {
            metrics::note_rejection(connection, user, &fact)?;
        }
        let rejected = Fact {
            status: FactStatus::Expired,
            valid_to: Some(now.clone().max(fact.valid_from.clone())),
            updated_at: now.clone(),
            ..fact.clone()
        };
        arbiter.write_change("reject", reason, Some(&fact), &rejected)?;
        Ok(ActionEffect::new(ActionOutcome::Expired, Some(rejected)))
    })
}

/// Reads the fact again, since another process may have changed it.
fn reload(connection: &Connection, user: &UserId, fact: &Fact) -> Result<Fact> {
    fact::by_id(connection, user, &fact.fact_id)?
        .ok_or_else(|| Error::not_found(format!("the fact {} is gone", fact.fact_id)))
}

fn source(facts: &Facts, turn_id: &str) -> ActionSource {
    ActionSource {
        turn_id: turn_id.to_owned(),
        said_at: facts.clock().timestamp(),
        is_confirmed: true,
        ..ActionSource::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Observation, Statement, add, apply, observe};
    use crate::secrets::SecretPolicy;

    #[test]
    fn an_accepted_end_in_the_future_leaves_the_fact_active_until_then() {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let ada = UserId::new("ada").unwrap();
        let statement = Statement {
            key: "address.home".to_owned(),
            value: "Rome".to_owned(),
            ..Statement::default()
        };
        add(&mut facts, &ada, &statement).unwrap();
        let observation = Observation {
            user_input: "I leave Rome in May".to_owned(),
            turn_id: Some("t1".to_owned()),
            ..Observation::default()
        };
        observe(&mut facts, &ada, &observation, SecretPolicy::Refuse).unwrap();
        let answer = serde_json::json!({"actions": [{"type": "expire", "key": "address.home",
            "valid_to": "2026-05-01", "confidence_delta": 0, "reason": "said"}]});
        let (answer, policy) = (answer.to_string(), SecretPolicy::Refuse);
        apply(&mut facts, &ada, "t1", &answer, policy).unwrap();
        let end = "2026-05-01T00:00:00Z";
        let waiting = pending(&facts, &ada).unwrap();
        let expected = format!("Is address.home \"Rome\" only until {end}?");
        assert_eq!(waiting[0].question.as_deref(), Some(expected.as_str()));
        let id = &waiting[0].fact.fact_id;
        let accepted = confirm(&mut facts, &ada, id).unwrap();
        assert_eq!(accepted.outcome, ActionOutcome::Refined);
        let fact = accepted.fact.unwrap();
        assert_eq!(fact.status, FactStatus::Active);
        assert_eq!(fact.value_text, "Rome");
        assert_eq!(fact.valid_to.as_deref(), Some(end));
        assert!(pending(&facts, &ada).unwrap().is_empty());
    }
}
