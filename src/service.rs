//! Sends JSON requests over HTTP, with a timeout, to a service named in the user's own settings.
//!
//! All HTTP requests of this program go through here.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use crate::error::{Error, Result};
use crate::text::{clip, strip_controls};

/// Maximum size of a response, in bytes.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Maximum length of a service's error text that is passed on, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// A service at a base URL.
#[derive(Clone)]
pub(crate) struct Service {
    url: String,
    /// The key that requests with a document carry.
    key: Option<String>,
}

/// A response.
struct Reply {
    status: u16,
    body: String,
}

impl Service {
    /// Returns the service at the URL in a setting.
    pub(crate) fn new(setting: &str, url: &str) -> Result<Self> {
        let is_web = ["http://", "https://"]
            .iter()
            .any(|scheme| url.len() > scheme.len() && url.starts_with(scheme));
        if !is_web {
            return Err(Error::usage(format!(
                "{setting} is not an http or https address: {url:?}"
            ))
            .hint("write the base address, like http://127.0.0.1:8000"));
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned(), key: None })
    }

    #[cfg(test)]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Authorizes every document that is posted by a key, and keeps it out of every message.
    pub(crate) fn with_key(mut self, key: String) -> Self {
        self.key = Some(key);
        self
    }

    /// Posts a document and returns the document in the response; error messages are worded to follow the
    /// name of the service.
    pub(crate) fn post(&self, path: &str, document: &Value, wait: Duration) -> Result<Value> {
        let reply = self.send(path, Some(document), wait)?;
        let body = self.accepted(reply)?;
        serde_json::from_str(&body).map_err(|error| {
            self.failed(&format!("answered with something other than JSON: {error}"))
        })
    }

    /// Deletes the resource at a path; it is not an error if it does not exist.
    pub(crate) fn delete(&self, path: &str, wait: Duration) -> Result<()> {
        let reply = self.send(path, None, wait)?;
        if reply.status == 404 {
            return Ok(());
        }
        self.accepted(reply).map(|_| ())
    }

    fn accepted(&self, reply: Reply) -> Result<String> {
        if (200..300).contains(&reply.status) {
            return Ok(reply.body);
        }
        let message = strip_controls(reply.body.trim()).into_owned();
        let message = self.without_secret(&clip(&message, MAX_ERROR_CHARS));
        Err(self.failed(&format!("answered with status {}: {message}", reply.status)))
    }

    /// Posts a document, or sends a DELETE request if there is none.
    fn send(&self, path: &str, document: Option<&Value>, wait: Duration) -> Result<Reply> {
        // Only the interfaces read the environment, so no proxy is taken from it. Redirects are not followed, so
        // that the key is sent only to the URL that it was configured for.
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(wait))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .build()
            .into();
        let transport_error = |error: &ureq::Error| match error {
            ureq::Error::Timeout(_) => {
                self.failed(&format!("did not respond within {} s", wait.as_secs_f32()))
            }
            other => {
                let message = self.without_secret(&other.to_string());
                self.failed(&format!("cannot be reached: {message}"))
            }
        };
        let url = format!("{}{path}", self.url);
        let result = if let Some(document) = document {
            let mut request = agent.post(url);
            if let Some(key) = &self.key {
                request = request.header("Authorization", format!("Bearer {key}"));
            }
            // Sent as a single body with its length: not every server accepts chunked requests.
            request.content_type("application/json").send(document.to_string())
        } else {
            agent.delete(url).call()
        };
        let mut response = result.map_err(|error| transport_error(&error))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES);
        let body =
            body.lossy_utf8(true).read_to_string().map_err(|error| transport_error(&error))?;
        Ok(Reply { status, body })
    }

    /// Returns an error whose message is worded to follow the name of the service: `at {url} …`.
    pub(crate) fn failed(&self, reason: &str) -> Error {
        Error::failed(format!("at {} {reason}", self.url))
    }

    /// Returns a text without the key, since a service may repeat it.
    fn without_secret(&self, text: &str) -> String {
        match self.key.as_deref() {
            Some(key) if !key.is_empty() => text.replace(key, "[key]"),
            _ => text.to_owned(),
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("url", &self.url).finish_non_exhaustive()
    }
}
