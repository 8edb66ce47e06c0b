//! Defines the formats that can be imported.

use serde::Serialize;

use crate::text::word_enum;

word_enum! {
    /// The tool whose memory is imported.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum Format {
        /// The knowledge graph of MCP's reference server: one `memory.jsonl`.
        ServerMemory = "server-memory",
        /// Serena's notes: `.serena/memories/*.md`.
        Serena = "serena",
        /// The notes of basic-memory: a folder of markdown.
        BasicMemory = "basic-memory",
        /// Claude Code's own memory: MEMORY.md and its topic files.
        ClaudeCode = "claude-code",
        /// The database of claude-mem.
        ClaudeMem = "claude-mem",
    }
}
