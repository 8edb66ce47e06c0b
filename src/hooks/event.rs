//! What happened in a session.

/// What happened in a session, as far as `annals` has something to do then.
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
    /// The session ended, or rests.
    SessionEnd,
}

impl Event {
    /// Returns whether text in the answer reaches the model at this event.
    pub(crate) fn is_heard(self) -> bool {
        matches!(
            self,
            Self::SessionStart | Self::PostToolUse | Self::SubagentStop
        )
    }
}
