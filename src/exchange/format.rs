//! Defines the formats that can be imported.

use std::str::FromStr;

use serde::Serialize;

/// The tool whose memory is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The knowledge graph of MCP's reference server: one `memory.jsonl`.
    ServerMemory,
    /// Serena's notes: `.serena/memories/*.md`.
    Serena,
    /// The notes of basic-memory: a folder of markdown.
    BasicMemory,
    /// Claude Code's own memory: MEMORY.md and its topic files.
    ClaudeCode,
    /// The database of claude-mem.
    ClaudeMem,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [
        Self::ServerMemory,
        Self::Serena,
        Self::BasicMemory,
        Self::ClaudeCode,
        Self::ClaudeMem,
    ];

    /// Returns the name of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServerMemory => "server-memory",
            Self::Serena => "serena",
            Self::BasicMemory => "basic-memory",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeMem => "claude-mem",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            format!("{word:?} is not a format: choose from {words}")
        })
    }
}
