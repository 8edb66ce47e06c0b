//! The memories that can be read.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

use crate::error::Result;
use crate::exchange::basic_memory;
use crate::exchange::claude_code;
use crate::exchange::claude_mem;
use crate::exchange::serena;
use crate::exchange::server_memory;
use crate::exchange::source::Source;

/// Whose memory it is.
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

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServerMemory => "server-memory",
            Self::Serena => "serena",
            Self::BasicMemory => "basic-memory",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeMem => "claude-mem",
        }
    }

    /// Reads what is at a path, and writes nothing there.
    pub(crate) fn read(self, path: &Path) -> Result<Source> {
        match self {
            Self::ServerMemory => server_memory::read(path),
            Self::Serena => serena::read(path),
            Self::BasicMemory => basic_memory::read(path),
            Self::ClaudeCode => claude_code::read(path),
            Self::ClaudeMem => claude_mem::read(path),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            format!("{word:?} is no format: choose from {words}")
        })
    }
}
