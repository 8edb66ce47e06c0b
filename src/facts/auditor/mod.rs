//! The memory auditor, which answers the prompt: a command of the user, or a model's endpoint.

mod command;
mod endpoint;

use std::time::Duration;

pub use endpoint::Endpoint;

use crate::error::Result;
use crate::project::Project;

/// Default timeout of an answer.
pub(crate) const WAIT: Duration = Duration::from_mins(2);

/// The program or model that answers the prompt.
#[derive(Clone, Debug)]
pub enum Auditor {
    /// A shell command that reads the prompt on its standard input.
    Command(String),
    /// A model's HTTP endpoint.
    Endpoint(Endpoint),
}

impl Auditor {
    /// Returns the auditor from the user's settings, a command before an endpoint, or `None` if none is set.
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

    /// Returns the raw answer, or an error.
    pub fn ask(&self, prompt: &str, wait: Duration) -> Result<String> {
        match self {
            Self::Command(line) => command::run(line, prompt, wait),
            Self::Endpoint(endpoint) => endpoint.ask(prompt, wait),
        }
    }
}
