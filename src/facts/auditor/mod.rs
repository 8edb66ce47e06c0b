//! Whoever answers the memory auditor's prompt: a command of the user's, or a model's endpoint.

mod command;
mod endpoint;

use std::time::Duration;

use crate::error::Result;
use crate::project::Project;

pub use endpoint::Endpoint;

/// How long an answer is waited for.
pub(crate) const WAIT: Duration = Duration::from_mins(2);

/// Who answers the prompt.
#[derive(Clone, Debug)]
pub enum Auditor {
    /// A command of the shell, with the prompt on its standard input.
    Command(String),
    /// A model that is asked over HTTP.
    Endpoint(Endpoint),
}

impl Auditor {
    /// Returns whoever the user's settings name, a command before an endpoint; nobody where they name none.
    pub fn from_settings(project: &Project) -> Result<Option<Self>> {
        let llm = &project.settings.llm;
        if let Some(line) = &llm.command {
            return Ok(Some(Self::Command(line.clone())));
        }
        let Some(url) = &llm.url else {
            return Ok(None);
        };
        let key = project.environment.get("ANNALS_LLM_API_KEY");
        let key = key.map(str::to_owned);
        let endpoint = Endpoint::new(url, llm.api, llm.model.as_deref(), key)?;
        Ok(Some(Self::Endpoint(endpoint)))
    }

    /// Returns the answer as it came, or why there is none.
    pub fn ask(&self, prompt: &str, wait: Duration) -> Result<String> {
        match self {
            Self::Command(line) => command::run(line, prompt, wait),
            Self::Endpoint(endpoint) => endpoint.ask(prompt, wait),
        }
    }
}
