//! Parses and validates the memory auditor's answer, a list of actions, reporting every problem.

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::facts::fact::{MAX_VALUE_BYTES, normalized_time};
use crate::facts::key::FactKey;
use crate::facts::user::UserId;
use crate::secrets;
use crate::secrets::SecretPolicy;
use crate::text::{hexadecimal, strip_controls, word_enum};

/// Maximum number of actions in an answer.
const MAX_ACTIONS: usize = 64;

const FIELDS: [&str; 9] = [
    "type", "key", "new_value_text", "new_value_json", "target_fact_id", "valid_from", "valid_to",
    "confidence_delta", "reason",
];

word_enum! {
    /// The type of an action as the auditor states it; the rules decide on the outcome.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ActionType {
        /// A new fact.
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

impl ActionType {
    fn needs_a_value(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Supersede)
    }
}

/// A validated action.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
}

/// Parses an answer; the error lists every problem, so that all of them can be corrected at once.
pub fn parse_answer(answer: &str, policy: SecretPolicy) -> Result<Vec<Action>> {
    let refused = |problems: &str| {
        Error::refused(format!("invalid answer: {problems}"))
            .hint("return one JSON object with the list \"actions\", and nothing around it")
    };
    let document: Value = serde_json::from_str(unfenced(answer.trim()))
        .map_err(|error| refused(&format!("not JSON: {error}")))?;
    let Some(object) = document.as_object() else {
        return Err(refused("not an object"));
    };
    let mut problems: Vec<String> = object
        .keys()
        .filter(|name| *name != "actions")
        .map(|name| format!("unknown field {name:?}"))
        .collect();
    let mut actions = Vec::new();
    match object.get("actions").map(Value::as_array) {
        Some(Some(list)) if list.len() > MAX_ACTIONS => {
            problems.push(format!("{} actions; the maximum is {MAX_ACTIONS}", list.len()));
        }
        Some(Some(list)) => {
            for (index, value) in list.iter().enumerate() {
                let mut reader = ActionReader::new(value, policy);
                let action = reader.action();
                let named = |problem| format!("actions[{index}]: {problem}");
                problems.extend(reader.problems.into_iter().map(named));
                actions.extend(action);
            }
        }
        Some(None) => problems.push("\"actions\" is not a list".to_owned()),
        None => problems.push("no \"actions\"".to_owned()),
    }
    if problems.is_empty() {
        return Ok(actions);
    }
    Err(refused(&problems.join("; ")))
}

/// Returns the content of a code fence around the whole answer; models add one even if told not to.
fn unfenced(answer: &str) -> &str {
    let inside = answer
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((word, body))
            if word.trim().is_empty() || word.trim().eq_ignore_ascii_case("json") =>
        {
            body.trim()
        }
        _ => answer,
    }
}

/// Reads the fields of an action and collects the problems.
struct ActionReader<'a> {
    fields: Option<&'a Map<String, Value>>,
    policy: SecretPolicy,
    problems: Vec<String>,
}

impl<'a> ActionReader<'a> {
    fn new(value: &'a Value, policy: SecretPolicy) -> Self {
        Self { fields: value.as_object(), policy, problems: Vec::new() }
    }

    fn action(&mut self) -> Option<Action> {
        let Some(fields) = self.fields else {
            self.problem("not an object");
            return None;
        };
        for name in fields.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
            self.problem(&format!("unknown field {name:?}"));
        }
        let kind = self.kind();
        let key = self.key();
        let new_value_json = self.json();
        let new_value_text = self.value(new_value_json.as_ref());
        let (valid_from, valid_to) = (self.time("valid_from"), self.time("valid_to"));
        if let (Some(from), Some(to)) = (&valid_from, &valid_to)
            && to <= from
        {
            self.problem("valid_to is not after valid_from");
        }
        let confidence_delta = self.delta();
        let target_fact_id = self.text("target_fact_id");
        let reason = self.required_text("reason").unwrap_or_default();
        if let Some(kind) = kind {
            if kind.needs_a_value() && new_value_text.is_none() {
                self.problem(&format!("{} needs new_value_text", kind.as_str()));
            }
            let is_about_nothing = new_value_text.is_none() && target_fact_id.is_none();
            if kind == ActionType::MarkPendingConfirmation && is_about_nothing {
                self.problem("mark_pending_confirmation needs new_value_text or target_fact_id");
            }
        }
        Some(Action {
            kind: kind?,
            key: key?,
            new_value_text,
            new_value_json,
            target_fact_id,
            valid_from,
            valid_to,
            confidence_delta,
            reason,
        })
    }

    fn problem(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    fn field(&self, name: &str) -> Option<&'a Value> {
        let value = self.fields.and_then(|fields| fields.get(name));
        value.filter(|value| !value.is_null())
    }

    fn kind(&mut self) -> Option<ActionType> {
        let word = self.required_text("type")?;
        let kind = ActionType::from_word(&word);
        if kind.is_none() {
            let known = ActionType::ALL.map(ActionType::as_str).join(", ");
            self.problem(&format!("type {word:?} is not one of {known}"));
        }
        kind
    }

    fn key(&mut self) -> Option<FactKey> {
        let text = self.required_text("key")?;
        match FactKey::parse(&text) {
            Ok(key) => Some(key),
            Err(error) => {
                self.problem(&error.message);
                None
            }
        }
    }

    fn required_text(&mut self, name: &str) -> Option<String> {
        if self.field(name).is_none() {
            self.problem(&format!("missing {name}"));
        }
        self.text(name)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.field(name) {
            None => {}
            Some(Value::String(text)) if text.len() > MAX_VALUE_BYTES => {
                self.problem(&format!("{name} is longer than {MAX_VALUE_BYTES} bytes"));
            }
            Some(Value::String(text)) => return Some(strip_controls(text).trim().to_owned()),
            Some(_) => self.problem(&format!("{name} is not text")),
        }
        None
    }

    fn json(&mut self) -> Option<Value> {
        let value = self.field("new_value_json")?;
        if !value.is_object() || value.to_string().len() > MAX_VALUE_BYTES {
            self.problem("new_value_json is not an object, or is too large");
            return None;
        }
        self.keep_no_secret("new_value_json", &value.to_string());
        Some(value.clone())
    }

    fn value(&mut self, json: Option<&Value>) -> Option<String> {
        let text = self.text("new_value_text");
        let text = text.or_else(|| json.map(Value::to_string))?;
        if text.is_empty() {
            self.problem("new_value_text is empty");
            return None;
        }
        self.keep_no_secret("new_value_text", &text);
        Some(text)
    }

    fn keep_no_secret(&mut self, name: &str, text: &str) {
        if let Some(rule) = secrets::first_rule(text)
            && self.policy == SecretPolicy::Refuse
        {
            self.problem(&format!("{name} contains what looks like a secret ({rule})"));
        }
    }

    fn time(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let time = normalized_time(&text);
        if time.is_none() {
            self.problem(&format!("{name} {text:?} is not an ISO 8601 time"));
        }
        time
    }

    fn delta(&mut self) -> f64 {
        match self.field("confidence_delta").map(Value::as_f64) {
            None => self.problem("missing confidence_delta"),
            Some(Some(delta)) if (-1.0..=1.0).contains(&delta) => return delta,
            Some(_) => self.problem("confidence_delta is not a number from -1 to 1"),
        }
        0.0
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
        assert_eq!(parse_answer("{\"actions\": []}", SecretPolicy::Refuse).unwrap(), []);
        for fence in ["```json", "```JSON", "```"] {
            let fenced = format!("\n{fence}\n{answer}\n```\n");
            assert_eq!(parse_answer(&fenced, SecretPolicy::Refuse).unwrap(), actions, "{fence}");
        }
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let answer = json!({"note": 1, "actions": [
            {"type": "delete", "key": "City", "confidence_delta": 2, "reason": 5, "extra": 1},
            {"type": "insert", "key": "city", "confidence_delta": 0, "reason": "", "valid_from": "soon"},
            7,
        ]});
        let found = problems(&answer.to_string());
        for named in [
            "unknown field \"note\"",
            "actions[0]: unknown field \"extra\"",
            "actions[0]: type \"delete\" is not one of",
            "actions[0]: \"City\" is not a key",
            "actions[0]: confidence_delta is not a number from -1 to 1",
            "actions[0]: reason is not text",
            "actions[1]: insert needs new_value_text",
            "actions[1]: valid_from \"soon\" is not an ISO 8601 time",
            "actions[2]: not an object",
        ] {
            assert!(found.contains(named), "{named} not in {found}");
        }
    }

    #[test]
    fn an_answer_other_than_a_json_object_is_refused() {
        for (answer, problem) in [
            ("I think nothing changed.", "not JSON"),
            ("```yaml\nactions: []\n```", "not JSON"),
            ("Here you are:\n```json\n{\"actions\": []}\n```", "not JSON"),
            ("", "not JSON"),
            ("[]", "not an object"),
            ("{}", "no \"actions\""),
            ("{\"actions\": 3}", "\"actions\" is not a list"),
        ] {
            assert!(problems(answer).contains(problem), "{answer:?}");
        }
    }

    #[test]
    fn secrets_are_refused_in_values_and_keys() {
        let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        let with = |key: &str, value: &str| {
            json!({"actions": [{"type": "insert", "key": key, "new_value_text": value,
                "confidence_delta": 0, "reason": ""}]})
            .to_string()
        };
        assert!(problems(&with("note", &token)).contains("looks like a secret"));
        assert!(parse_answer(&with("note", &token), SecretPolicy::Allow).is_ok());
        assert!(problems(&with("wifi.password", "x")).contains("names a secret"));
    }
}
