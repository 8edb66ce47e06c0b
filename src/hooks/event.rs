//! Defines the events of a session.

use serde::{Deserialize, Serialize};

use crate::text::word_enum;

word_enum! {
    /// An event of a session; its word is the argument of `annals hook`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Event {
        /// A session began, was resumed, cleared or compacted.
        SessionStart = "session-start",
        /// A tool has run.
        PostToolUse = "post-tool-use",
        /// A subagent has ended.
        SubagentStop = "subagent-stop",
        /// The session is about to be compacted.
        PreCompact = "pre-compact",
        /// The session ended or became idle.
        SessionEnd = "session-end",
    }
}

impl Event {
    /// Returns whether the harness passes the answer to this event on to the model.
    pub(crate) fn accepts_context(self) -> bool {
        matches!(self, Self::SessionStart | Self::PostToolUse | Self::SubagentStop)
    }
}
