//! Actions on facts: the memory auditor's answer is a list of them, and a direct statement is one.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::facts::fact::{Fact, UserId, check_text, checked_json, checked_value, normalized_time};
use crate::facts::key::FactKey;
use crate::facts::sql::stored_as_word;
use crate::facts::wording;
use crate::secrets::SecretPolicy;
use crate::text::{hexadecimal, strip_controls, word_enum};

/// Maximum number of actions in an answer.
const MAX_ACTIONS: usize = 64;

word_enum! {
    /// The type of an action as the auditor states it; the rules decide on the outcome.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

stored_as_word!(ActionOutcome: "an outcome");

/// An action. Its JSON, with the order of the fields, is part of its hash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The type that the auditor stated.
    #[serde(rename = "type")]
    pub kind: ActionType,
    /// The key of the fact that it concerns.
    pub key: FactKey,
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
        let mut hash = Sha256::new();
        hash.update(user.as_str().as_bytes());
        hash.update([0]);
        // Serialising a struct of texts and numbers cannot fail.
        hash.update(serde_json::to_vec(self).unwrap_or_default());
        hexadecimal(&hash.finalize())
    }

    /// Returns the new value, or an empty text; validation ensures a value where one is needed.
    pub(crate) fn value(&self) -> &str {
        self.new_value_text.as_deref().unwrap_or_default()
    }

    /// Returns whether it states the value of a fact.
    pub(crate) fn is_of(&self, fact: &Fact) -> bool {
        self.new_value_text
            .as_deref()
            .is_some_and(|value| wording::is_same(value, &fact.value_text))
    }

    /// Checks the action, and brings its texts and times into their stored form.
    pub(crate) fn validated(mut self, policy: SecretPolicy) -> Result<Self> {
        let structured = self.new_value_json.as_ref().map(Value::to_string);
        checked_json(structured.as_deref(), policy)?;
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

/// Returns a time in its stored form.
pub(crate) fn checked_time(name: &str, text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text else {
        return Ok(None);
    };
    normalized_time(&text).map(Some).ok_or_else(|| {
        Error::usage(format!("{name}: {text:?} is not an ISO 8601 time"))
            .hint("write it like 2026-02-17 or 2026-02-17T10:11:12Z")
    })
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
    if answer.actions.len() > MAX_ACTIONS {
        return Err(refused(&format!("more than {MAX_ACTIONS} actions")));
    }
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
