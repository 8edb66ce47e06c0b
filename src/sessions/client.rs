//! The clients whose transcripts are read: where they keep them, and how a session is resumed.

use std::path::PathBuf;

pub use crate::project::SessionClient as Client;
use crate::project::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE, Environment};

impl Client {
    /// Returns the client's name as its users write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the command that resumes a session, from its own working directory.
    pub fn resume(self, session: &str) -> String {
        match self {
            Self::Claude => format!("claude --resume {session}"),
            Self::Codex => format!("codex resume {session}"),
            Self::Gemini => format!("gemini --resume {session}"),
            Self::Opencode => format!("opencode --session {session}"),
        }
    }

    /// Returns the folder of the transcripts, which the client's own variables may move.
    pub(crate) fn folder(self, environment: &Environment) -> Option<PathBuf> {
        let (variable, in_home, below) = match self {
            Self::Claude => (CLAUDE_FOLDER_VARIABLE, CLAUDE_FOLDER, "projects"),
            Self::Codex => ("CODEX_HOME", ".codex", "sessions"),
            Self::Gemini => ("GEMINI_CLI_HOME", "", ".gemini/tmp"),
            Self::Opencode => ("XDG_DATA_HOME", ".local/share", "opencode"),
        };
        let named = environment.get(variable).map(PathBuf::from);
        let named = named.filter(|path| path.is_absolute());
        Some(named.or_else(|| Some(environment.home()?.join(in_home)))?.join(below))
    }
}

/// Returns the command that resumes the session of a citation, `claude:7f3c…`.
pub fn resume(citation: &str) -> Option<String> {
    let (client, session) = citation.split_once(':')?;
    Some(Client::from_word(client)?.resume(safe_id(session)?))
}

/// Returns a session's id if it can stand in a command: transcripts are not trusted.
pub(crate) fn safe_id(id: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let starts_plain = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    (starts_plain && id.len() <= 80 && id.bytes().all(is_plain)).then_some(id)
}
