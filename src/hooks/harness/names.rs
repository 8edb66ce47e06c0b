//! Parses event names, as written by the harnesses and by `annals`.

use serde_json::Value;

use crate::hooks::Event;
use crate::hooks::harness::Harness;

/// Names that plugins use, besides those of the harness.
const EXTRA_NAMES: &[(Event, &str)] = &[
    (Event::SessionStart, "sessioncompacted"),
    (Event::PromptSubmit, "userprompt"),
    (Event::PostToolUse, "toolresult"),
    (Event::PreCompact, "sessioncompacting"),
    (Event::SessionEnd, "sessiondeleted"),
];

/// Returns the event with a name such as `session-start`, `SessionStart` or `session.created`.
pub(crate) fn parse_event(name: &str) -> Option<Event> {
    let plain = plain(name);
    let own = Event::ALL.map(|event| (event, event.as_str()));
    let harnesses = Harness::ALL.into_iter();
    let theirs = harnesses.flat_map(|harness| harness.profile().events.iter().copied());
    let extra = EXTRA_NAMES.iter().copied();
    let mut all = own.into_iter().chain(theirs).chain(extra);
    all.find(|(_, known)| self::plain(known) == plain).map(|(event, _)| event)
}

/// Returns the harness that an event name identifies, if only one harness uses that name.
pub(crate) fn from_event_name(name: &str) -> Option<Harness> {
    let uses = |harness: &Harness| {
        let mut events = harness.profile().events.iter();
        events.any(|(_, known)| *known == name)
    };
    let mut users = Harness::ALL.into_iter().filter(uses);
    users.next().filter(|_| users.next().is_none())
}

/// Returns a name in lowercase, without punctuation.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns an event name that is safe to return to the harness: a single word, not arbitrary text.
pub(crate) fn safe_event_name(name: &Value) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name = name.as_str()?;
    let is_word = !name.is_empty() && name.len() <= 64 && name.chars().all(is_part);
    is_word.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_harness_has_its_name_for_an_event() {
        for harness in Harness::ALL {
            for (event, name) in harness.profile().events {
                assert_eq!(parse_event(name), Some(*event), "{name}");
            }
        }
        assert_eq!(parse_event("session-start"), Some(Event::SessionStart));
        assert_eq!(parse_event("post_tool_use"), Some(Event::PostToolUse));
        assert_eq!(parse_event("session.deleted"), Some(Event::SessionEnd));
        for other in ["", "stop", "Stop", "session", "стоп"] {
            assert_eq!(parse_event(other), None, "{other}");
        }
        assert_eq!(from_event_name("AfterTool"), Some(Harness::Gemini));
        assert_eq!(from_event_name("SessionStart"), None);
    }

    #[test]
    fn only_a_word_goes_back() {
        assert_eq!(safe_event_name(&Value::from("SessionStart")), Some("SessionStart"));
        for other in [Value::Null, Value::from(""), Value::from("a\nb"), Value::from("a b")] {
            assert_eq!(safe_event_name(&other), None);
        }
    }
}
