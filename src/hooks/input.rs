//! Parses the harness's input on standard input: a JSON object, in which every field is optional.

use std::path::PathBuf;

use serde_json::Value;

use crate::text::without_byte_order_mark;

/// Maximum size of an input, in bytes; a larger one is ignored.
pub const MAX_INPUT: usize = 8 * 1024 * 1024;

/// A hook's input, parsed leniently.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    object: Value,
}

impl Input {
    /// Parses an input; returns `None` if it is empty, too large or not a JSON object.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_INPUT {
            return None;
        }
        let object: Value = serde_json::from_slice(without_byte_order_mark(bytes)).ok()?;
        object.is_object().then_some(Self { object })
    }

    /// Returns the name of the event.
    pub fn event(&self) -> Option<&Value> {
        self.any(&["hook_event_name", "hookEventName", "event_name", "event"])
    }

    /// Returns the id of the session.
    pub fn session(&self) -> Option<&str> {
        let session = self.any(&["session_id", "sessionID"])?.as_str()?;
        Some(session).filter(|session| !session.is_empty() && session.len() <= 128)
    }

    /// Returns whether the event belongs to a subagent, not to the main conversation.
    pub fn is_subagent(&self) -> bool {
        let agent = self.any(&["agent_id", "agentId"]);
        agent.and_then(Value::as_str).is_some_and(|id| !id.is_empty())
    }

    /// Returns the working directory of the session.
    pub fn cwd(&self) -> Option<PathBuf> {
        let named = self.any(&["cwd", "directory", "workspace"])?;
        let path = PathBuf::from(named.as_str()?);
        path.is_absolute().then_some(path)
    }

    /// Returns whether the session has just been compacted.
    pub fn is_compacted(&self) -> bool {
        self.source() == Some("compact")
    }

    /// Returns why the session starts: `startup`, `resume`, `clear` or `compact`, if given.
    pub fn source(&self) -> Option<&str> {
        self.object.get("source")?.as_str()
    }

    /// Returns the trigger of the compaction, `auto` or `manual`, if given.
    pub fn trigger(&self) -> Option<&'static str> {
        let said = self.object.get("trigger")?.as_str()?;
        ["auto", "manual"].into_iter().find(|known| *known == said)
    }

    /// Returns the files that the tool was asked to write, as given.
    pub fn written(&self) -> Vec<&str> {
        let Some(input) = self.any(&["tool_input", "toolInput", "args"]) else {
            return Vec::new();
        };
        let keys = ["file_path", "filePath", "absolute_path", "path"];
        let named = keys.iter().filter_map(|name| input.get(name)?.as_str());
        let patch = [
            Some(input),
            input.get("command"),
            input.get("input"),
            input.get("patch"),
            input.get("patchText"),
        ];
        let patched = patch.into_iter().flatten().flat_map(patched);
        named.chain(patched).collect()
    }

    fn any(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.object.get(name))
    }
}

/// Returns the files in a patch in Codex's format: a text, or a list of words that contains the text.
fn patched(value: &Value) -> Vec<&str> {
    const MARKS: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
    let words: &[Value] = match value {
        Value::Array(words) => words,
        Value::String(_) => std::slice::from_ref(value),
        _ => &[],
    };
    let lines = words.iter().filter_map(Value::as_str).flat_map(str::lines);
    lines
        .filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)))
        .map(str::trim)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        let input = Input::parse(text.as_bytes()).unwrap();
        input.written().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn written_files_are_found_in_every_dialect() {
        for text in [
            r#"{"tool_input":{"file_path":"a/b.md","content":"x"}}"#,
            r#"{"args":{"filePath":"a/b.md"}}"#,
            r#"{"tool_input":{"command":"*** Begin Patch\n*** Update File: a/b.md\n@@\n+x\n*** End Patch"}}"#,
            r#"{"tool_input":{"command":["apply_patch","*** Begin Patch\n*** Add File: a/b.md\n+x"]}}"#,
            r#"{"tool_input":"*** Add File: a/b.md\n"}"#,
            r#"{"tool_input":{"patchText":"*** Begin Patch\n*** Add File: a/b.md\n+x\n*** End Patch"}}"#,
        ] {
            assert_eq!(written(text), ["a/b.md"], "{text}");
        }
        assert!(written(r#"{"tool_input":{"file_path":7,"command":["ls",null,{}]}}"#).is_empty());
        assert!(written("{}").is_empty());
    }

    #[test]
    fn what_is_no_object_is_no_input() {
        for bytes in [&b""[..], b" ", b"null", b"[]", b"\"x\"", b"{", b"{\"a\":\xff}", b"\x00"] {
            assert_eq!(Input::parse(bytes), None);
        }
        assert_eq!(Input::parse("[".repeat(1_000_000).as_bytes()), None);
        assert_eq!(Input::parse(&vec![b' '; MAX_INPUT + 1]), None);
        assert!(Input::parse(b"\xef\xbb\xbf{}").is_some());
    }
}
