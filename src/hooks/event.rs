//! What happened, in the words of four harnesses.

use serde_json::Value;

use crate::hooks::Harness;

/// What happened in a session, as far as `annals` has something to do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session began, was resumed, cleared or compacted.
    SessionStart,
    /// The user sent a prompt.
    PromptSubmit,
    /// A tool has run.
    PostToolUse,
    /// The session is about to be compacted.
    PreCompact,
    /// The session ended.
    SessionEnd,
}

/// Every name that a harness or a user has for an event, without case and punctuation.
const NAMES: &[(&str, Event)] = &[
    ("sessionstart", Event::SessionStart),
    ("sessioncreated", Event::SessionStart),
    ("sessioncompacted", Event::SessionStart),
    ("userpromptsubmit", Event::PromptSubmit),
    ("userprompt", Event::PromptSubmit),
    ("promptsubmit", Event::PromptSubmit),
    ("beforeagent", Event::PromptSubmit),
    ("chatmessage", Event::PromptSubmit),
    ("posttooluse", Event::PostToolUse),
    ("aftertool", Event::PostToolUse),
    ("toolresult", Event::PostToolUse),
    ("toolexecuteafter", Event::PostToolUse),
    ("precompact", Event::PreCompact),
    ("precompress", Event::PreCompact),
    ("experimentalsessioncompacting", Event::PreCompact),
    ("sessioncompacting", Event::PreCompact),
    ("sessionend", Event::SessionEnd),
    ("sessiondeleted", Event::SessionEnd),
];

impl Event {
    /// Returns the event of a name: `session-start`, `SessionStart`, `session.created`.
    pub fn named(name: &str) -> Option<Self> {
        let letters = |c: char| c.is_ascii_alphanumeric();
        let plain: String = name.chars().filter(|c| letters(*c)).collect();
        let plain = plain.to_ascii_lowercase();
        let known = NAMES.iter().find(|(known, _)| *known == plain);
        known.map(|(_, event)| *event)
    }

    /// Returns the harness's own name for the event.
    pub fn name(self, harness: Harness) -> &'static str {
        match (harness, self) {
            (Harness::Opencode, Self::SessionStart) => "session.created",
            (Harness::Opencode, Self::PromptSubmit) => "chat.message",
            (Harness::Opencode, Self::PostToolUse) => "tool.execute.after",
            (Harness::Opencode, Self::PreCompact) => "experimental.session.compacting",
            (Harness::Opencode, Self::SessionEnd) => "session.deleted",
            (Harness::Gemini, Self::PromptSubmit) => "BeforeAgent",
            (Harness::Gemini, Self::PostToolUse) => "AfterTool",
            (Harness::Gemini, Self::PreCompact) => "PreCompress",
            (_, Self::SessionStart) => "SessionStart",
            (_, Self::PromptSubmit) => "UserPromptSubmit",
            (_, Self::PostToolUse) => "PostToolUse",
            (_, Self::PreCompact) => "PreCompact",
            (_, Self::SessionEnd) => "SessionEnd",
        }
    }

    /// Says whether text in the answer reaches the model at this event.
    pub(crate) fn is_heard(self) -> bool {
        matches!(
            self,
            Self::SessionStart | Self::PromptSubmit | Self::PostToolUse
        )
    }
}

/// Returns the harness that an event's name tells of, where only one has that name.
pub(crate) fn harness_of(name: &str) -> Option<Harness> {
    const GEMINI: [&str; 5] = [
        "BeforeAgent",
        "AfterAgent",
        "AfterTool",
        "BeforeTool",
        "PreCompress",
    ];
    if GEMINI.contains(&name) {
        return Some(Harness::Gemini);
    }
    name.contains('.').then_some(Harness::Opencode)
}

/// Returns an event's name as it can go back to the harness: a word, and not a text of any kind.
pub(crate) fn echoed(name: &Value) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name = name.as_str()?;
    let is_word = !name.is_empty() && name.len() <= 64 && name.chars().all(is_part);
    is_word.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialects_own_name_leads_back_to_its_event() {
        for harness in Harness::ALL {
            for event in [
                Event::SessionStart,
                Event::PromptSubmit,
                Event::PostToolUse,
                Event::PreCompact,
                Event::SessionEnd,
            ] {
                assert_eq!(Event::named(event.name(harness)), Some(event));
            }
        }
        assert_eq!(Event::named("session-start"), Some(Event::SessionStart));
        assert_eq!(Event::named("post_tool_use"), Some(Event::PostToolUse));
        for other in ["", "stop", "Stop", "SubagentStop", "session", "стоп"] {
            assert_eq!(Event::named(other), None, "{other}");
        }
    }

    #[test]
    fn only_a_word_goes_back() {
        assert_eq!(echoed(&Value::from("SessionStart")), Some("SessionStart"));
        for other in [
            Value::Null,
            Value::from(""),
            Value::from("a\nb"),
            Value::from("a b"),
        ] {
            assert_eq!(echoed(&other), None);
        }
    }
}
