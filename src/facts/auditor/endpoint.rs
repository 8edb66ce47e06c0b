//! Asks a model's endpoint: `OpenAI`'s chat completions API, or Anthropic's messages API.

use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::project::Api;
use crate::service::Service;

/// Version of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Maximum number of tokens in an answer, which Anthropic's API requires.
const MAX_ANSWER_TOKENS: u32 = 8192;

/// A model's HTTP endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    service: Service,
    api: Api,
    model: String,
}

impl Endpoint {
    /// Returns the endpoint at a base URL; the key comes from the environment, which only an interface reads.
    pub fn new(url: &str, api: Api, model: Option<&str>, key: Option<String>) -> Result<Self> {
        let model = model.ok_or_else(|| {
            Error::usage("llm.url is set, but llm.model is not")
                .hint("name the model that the endpoint is to use")
        })?;
        let ends: &[&str] = match api {
            Api::OpenAi => &["/chat/completions"],
            Api::Anthropic => &["/messages", "/v1"],
        };
        let mut base = url.trim_end_matches('/');
        for end in ends {
            base = base.trim_end_matches(end);
        }
        let mut service = Service::new("llm.url", base)?;
        if let Some(key) = key {
            service = match api {
                Api::OpenAi => service.secret("Authorization", "Bearer ", key),
                Api::Anthropic => service.secret("x-api-key", "", key),
            };
        }
        if api == Api::Anthropic {
            service = service.header("anthropic-version", ANTHROPIC_VERSION);
        }
        Ok(Self { service, api, model: model.to_owned() })
    }

    /// Returns the model's text, or an error.
    pub(crate) fn ask(&self, prompt: &str, wait: Duration) -> Result<String> {
        let messages = json!([{"role": "user", "content": prompt}]);
        let (path, request) = match self.api {
            Api::OpenAi => (
                "/chat/completions",
                json!({"model": self.model, "messages": messages, "stream": false}),
            ),
            Api::Anthropic => (
                "/v1/messages",
                json!({"model": self.model, "max_tokens": MAX_ANSWER_TOKENS, "messages": messages}),
            ),
        };
        let failed = |error: Error| {
            Error::failed(format!("the auditor's endpoint {}", error.message)).hint(
                "check llm.url, llm.api and llm.model, and ANNALS_LLM_API_KEY; the turn stays in the queue",
            )
        };
        let answer = self.service.post(path, &request, wait).map_err(failed)?;
        let text = match self.api {
            Api::OpenAi => chat_text(&answer),
            Api::Anthropic => message_text(&answer),
        };
        text.ok_or_else(|| {
            let kind = self.api.as_str();
            let wrong = format!("did not send a valid {kind} answer");
            failed(self.service.failed(&wrong))
        })
    }
}

/// A refusal counts as the answer: the worker asks again, and records the last answer.
fn chat_text(answer: &Value) -> Option<String> {
    let message = answer.get("choices")?.get(0)?.get("message")?;
    match message.get("content") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => Some(texts(parts)),
        _ => {
            let refusal = message.get("refusal").and_then(Value::as_str);
            Some(refusal.unwrap_or_default().to_owned())
        }
    }
}

fn message_text(answer: &Value) -> Option<String> {
    answer.get("content")?.as_array().map(|parts| texts(parts))
}

/// Joins the text parts of an answer; thinking is not part of it.
fn texts(parts: &[Value]) -> String {
    let is_text = |part: &&Value| part.get("type").is_none_or(|kind| kind == "text");
    let text = |part: &Value| part.get("text")?.as_str().map(str::to_owned);
    parts.iter().filter(is_text).filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_address_may_end_as_the_documents_of_servers_write_it() {
        for (url, api, base) in [
            ("http://[::1]:9/v1/chat/completions", Api::OpenAi, "http://[::1]:9/v1"),
            ("https://example.org/v1/", Api::OpenAi, "https://example.org/v1"),
            ("https://example.org/v1/messages", Api::Anthropic, "https://example.org"),
            ("https://example.org", Api::Anthropic, "https://example.org"),
        ] {
            let made = Endpoint::new(url, api, Some("m"), None).unwrap();
            assert_eq!(made.service.url(), base);
        }
    }

    #[test]
    fn settings_that_lack_something_are_refused_and_the_key_is_shown_nowhere() {
        let missing = Endpoint::new("http://[::1]", Api::OpenAi, None, None).unwrap_err();
        assert_eq!(missing.message, "llm.url is set, but llm.model is not");
        for wrong in ["", "http://", "file:///etc/passwd", "localhost:11434"] {
            assert!(Endpoint::new(wrong, Api::OpenAi, Some("m"), None).is_err());
        }
        let key = Some("s3cret".to_owned());
        let made = Endpoint::new("http://[::1]", Api::Anthropic, Some("m"), key).unwrap();
        assert!(!format!("{made:?}").contains("s3cret"));
    }

    #[test]
    fn the_text_is_found_in_every_shape_that_servers_answer_with() {
        for (answer, text) in [
            (json!({"choices": [{"message": {"content": "a"}}]}), Some("a")),
            (
                json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]}),
                Some("a"),
            ),
            (json!({"choices": [{"message": {"content": null, "refusal": "no"}}]}), Some("no")),
            (json!({"choices": []}), None),
            (json!([1]), None),
        ] {
            assert_eq!(chat_text(&answer).as_deref(), text, "{answer}");
        }
        let thought = json!({"content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"},
            {"type": "text", "text": "b"}]});
        assert_eq!(message_text(&thought).as_deref(), Some("ab"));
        assert_eq!(message_text(&json!({"type": "error"})), None);
    }
}
