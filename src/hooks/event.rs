//! Defines the events of a session.

/// The events of a session that `annals` handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session began, was resumed, cleared or compacted.
    SessionStart,
    /// The user sent a prompt.
    PromptSubmit,
    /// A tool has run.
    PostToolUse,
    /// A subagent has ended.
    SubagentStop,
    /// The session is about to be compacted.
    PreCompact,
    /// The session ended or became idle.
    SessionEnd,
}

impl Event {
    /// Returns whether the harness passes the answer to this event on to the model.
    pub(crate) fn accepts_context(self) -> bool {
        matches!(
            self,
            Self::SessionStart | Self::PostToolUse | Self::SubagentStop
        )
    }
}
