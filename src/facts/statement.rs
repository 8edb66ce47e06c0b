//! What the user states directly, rather than in a turn of a conversation: facts, and answers about pending ones.

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::facts::arbitration::{ActionEffect, ESTABLISHED, is_due_after};
use crate::facts::fact::{Category, Fact, Proposal, UserId, checked_time, excerpt};
use crate::facts::store::Facts;
use crate::facts::turns::Action;
use crate::facts::{history, turns};

/// A fact to add.
#[derive(Args, Debug, Default)]
pub struct Statement {
    /// What the fact is about: dotted, lower case; `likes[]` has several values
    #[arg(long)]
    pub key: String,
    /// The value
    #[arg(long, value_name = "TEXT")]
    pub value: String,
    /// The value as structured data, in JSON
    #[arg(long, value_name = "JSON")]
    pub value_json: Option<String>,
    /// Its category, if it is not the key's default
    #[arg(long)]
    pub category: Option<Category>,
    /// The project that it belongs to
    #[arg(long, value_name = "NAME")]
    pub of_project: Option<String>,
    /// When the event that it describes happened
    #[arg(long, value_name = "TIME")]
    pub event_time: Option<String>,
    /// Start of its validity [default: now]
    #[arg(long, value_name = "TIME")]
    pub valid_from: Option<String>,
    /// End of its validity [default: none]
    #[arg(long, value_name = "TIME")]
    pub valid_to: Option<String>,
    /// The user was asked and confirmed it: it is certain, and overwrites any existing fact
    #[arg(long)]
    pub confirmed: bool,
    /// Keep a value that looks like a secret
    #[arg(long)]
    pub allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

/// Adds a fact: an equal value confirms, a new key inserts, a longer value refines, another contradicts.
pub fn add(facts: &Facts, user: &UserId, statement: &Statement) -> Result<ActionEffect> {
    let structured = statement.value_json.as_deref().map(|json| match serde_json::from_str(json) {
        Ok(Value::Null) | Err(_) => Err(Error::usage("the structured value is null or not JSON")),
        Ok(value) => Ok(value),
    });
    let action = Action {
        key: statement.key.clone(),
        new_value_text: Some(statement.value.clone()),
        new_value_json: structured.transpose()?,
        valid_from: statement.valid_from.clone(),
        valid_to: statement.valid_to.clone(),
        reason: "stated".to_owned(),
        ..Action::default()
    };
    let action = action.validated(statement.allow_secret.into())?;
    let origin = Fact {
        project: statement.of_project.clone(),
        source_excerpt: excerpt(action.value()),
        last_mentioned_at: facts.now(),
        event_time: checked_time("event_time", statement.event_time.clone())?,
        ..Fact::default()
    };
    facts.arbitrate(user, origin, |arbiter| {
        arbiter.category = statement.category;
        arbiter.is_confirmed = statement.confirmed;
        // A prefix keeps the ids of requests apart from those of turns.
        arbiter.origin.source_turn_id = match &statement.request_id {
            Some(id) => {
                turns::check_id(id)?;
                format!("request:{id}")
            }
            None => turns::next_id(facts, "stated", "applied_actions")?,
        };
        let result = match arbiter.applied(None)? {
            Some(earlier) => earlier,
            None => arbiter.apply(std::slice::from_ref(&action))?.remove(0),
        };
        let id = result.fact_id.unwrap_or_default();
        Ok(ActionEffect { outcome: result.outcome, fact: facts.with_id(user, &id)? })
    })
}

/// A fact that is awaiting the user's confirmation.
#[derive(Debug, Serialize)]
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
    let now = facts.now();
    let mut all = Vec::new();
    for fact in facts.select(user, "status = 'pending_confirmation'", &[])? {
        let contested = facts.contested_by(&fact)?;
        // Nobody is asked about the end of a fact that has been replaced, or about an accepted value that is still to come.
        let is_settled = match &contested {
            Some(old) => is_due_after(facts, &fact, old),
            None => fact.proposal == Some(Proposal::End),
        };
        if !is_settled && !fact.is_lapsed_at(&now) {
            let question = question(facts, &fact, contested.as_ref());
            all.push(Pending { fact, contested, question });
        }
    }
    Ok(all)
}

/// Returns the question to ask if the contested fact is established or the fact is high-risk.
fn question(facts: &Facts, fact: &Fact, contested: Option<&Fact>) -> Option<String> {
    let is_established = contested.is_some_and(|old| old.confidence >= ESTABLISHED);
    if !facts.is_high_risk(fact) && !is_established {
        return None;
    }
    let (key, value) = (&fact.key, &fact.value_text);
    let Some(old) = contested.map(|old| &old.value_text) else {
        return Some(format!("Is it right that {key} is \"{value}\"?"));
    };
    Some(match fact.proposal {
        Some(Proposal::End) => {
            let end = fact.valid_to.as_deref().map(|end| format!(" from {end} on"));
            format!("Is {key} no longer \"{old}\"{}?", end.unwrap_or_default())
        }
        _ => format!("Change {key} from \"{old}\" to \"{value}\"?"),
    })
}

/// Applies the user's own answer about a fact. A confirmation makes it certain, and lets it take effect if it was pending;
/// a rejection, with its reason, drops a pending one and ends an active one.
pub fn answer(
    facts: &Facts,
    user: &UserId,
    id: &str,
    rejection: Option<&str>,
) -> Result<ActionEffect> {
    let id = history::find(facts, user, id)?.fact_id;
    let word = if rejection.is_some() { "rejected" } else { "confirmed" };
    let origin = Fact {
        source_turn_id: format!("annals:{word}:{id}"),
        last_mentioned_at: facts.now(),
        ..Fact::default()
    };
    facts.arbitrate(user, origin, |arbiter| {
        arbiter.is_confirmed = true;
        // Read again, since another process may have changed it.
        let fact = history::find(facts, user, &id)?;
        rejection.unwrap_or("confirmed").clone_into(&mut arbiter.reason);
        if rejection.is_some() { arbiter.reject(&fact) } else { arbiter.confirm(&fact) }
    })
}
