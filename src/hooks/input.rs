//! Parses the harness's input, and remembers what a session was told, so that nothing is said twice.
//!
//! ```text
//! stdin                  a JSON object, in which every field is optional
//! .annals/notices.json   [{"session": "7f3c…", "what": "phase 4 of 3 plans", "at": 1772366400, "waits": "annals: …"}]
//! ```

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::project::Project;
use crate::text::{without_byte_order_mark, word_enum};

/// Maximum size of an input, in bytes; a larger one is ignored.
pub const MAX_INPUT: usize = 8 * 1024 * 1024;

/// A hook's input, parsed leniently.
#[derive(Debug, PartialEq)]
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
        self.any(&["agent_id", "agentId"]).and_then(Value::as_str).is_some_and(|id| !id.is_empty())
    }

    /// Returns the working directory of the session.
    pub fn cwd(&self) -> Option<PathBuf> {
        let path = PathBuf::from(self.any(&["cwd", "directory", "workspace"])?.as_str()?);
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
        let named = ["file_path", "filePath", "absolute_path", "path"]
            .iter()
            .filter_map(|name| input.get(name)?.as_str());
        let patch = ["command", "input", "patch", "patchText"];
        let patch = patch.iter().filter_map(|name| input.get(name));
        named.chain([input].into_iter().chain(patch).flat_map(patched)).collect()
    }

    fn any(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.object.get(name))
    }
}

/// Returns the files in a patch in Codex's format: a text, or a list of words that contains the text.
fn patched(value: &Value) -> Vec<&str> {
    const MARKS: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
    value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice)
        .iter()
        .filter_map(Value::as_str)
        .flat_map(str::lines)
        .filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)))
        .map(str::trim)
        .collect()
}

word_enum! {
    /// An event of a session; its word is the argument of `annals hook`.
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

const FILE: &str = "notices.json";

/// Maximum number of notices that are kept, the latest.
const MAX_NOTICES: usize = 64;

/// A notice that a session was given, or that is pending.
#[derive(Debug, Serialize, Deserialize)]
struct Notice {
    session: String,
    what: String,
    /// The time, in seconds since 1970.
    at: i64,
    /// The text, while it is pending for the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
}

/// Returns whether a session is given a notice for the first time, or the first time within some seconds.
pub(crate) fn is_first(
    project: &Project,
    input: &Input,
    what: &str,
    seconds: Option<i64>,
) -> Result<bool> {
    let Some(session) = input.session() else {
        return Ok(true);
    };
    let now = project.clock.now().timestamp();
    let mut is_first = true;
    change(project, |all| {
        let earlier = all.iter_mut().rev().find(|notice| notice.is(session, what));
        match earlier.filter(|notice| seconds.is_none_or(|seconds| now - notice.at < seconds)) {
            // A pending text is delivered now.
            Some(earlier) => is_first = earlier.waits.take().is_some(),
            None => all.push(Notice::new(session, what, now, None)),
        }
        is_first
    })?;
    Ok(is_first)
}

/// Queues a text for the main conversation of a session, unless the session already had the same notice.
pub(crate) fn queue(project: &Project, input: &Input, what: &str, text: &str) -> Result<()> {
    let Some(session) = input.session() else {
        return Ok(());
    };
    let now = project.clock.now().timestamp();
    change(project, |all| {
        let is_new = !all.iter().any(|notice| notice.is(session, what));
        if is_new {
            all.push(Notice::new(session, what, now, Some(text.to_owned())));
        }
        is_new
    })
}

/// Removes and returns the texts that are pending for the main conversation of a session.
pub(crate) fn take_waiting(project: &Project, input: &Input) -> Result<Vec<String>> {
    let Some(session) = input.session() else {
        return Ok(Vec::new());
    };
    let is_waiting = |notice: &Notice| notice.session == session && notice.waits.is_some();
    // There is usually nothing pending; then no file is created or locked.
    let bytes = project.storage().cache(FILE)?;
    if !bytes.is_some_and(|bytes| read(&bytes).iter().any(is_waiting)) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    change(project, |all| {
        texts.extend(
            all.iter_mut()
                .filter(|notice| is_waiting(notice))
                .filter_map(|notice| notice.waits.take()),
        );
        !texts.is_empty()
    })?;
    Ok(texts)
}

impl Notice {
    fn new(session: &str, what: &str, at: i64, waits: Option<String>) -> Self {
        Self { session: session.to_owned(), what: what.to_owned(), at, waits }
    }

    fn is(&self, session: &str, what: &str) -> bool {
        self.session == session && self.what == what
    }
}

/// Updates the list under a lock; `change` returns whether it changed anything.
fn change(project: &Project, change: impl FnOnce(&mut Vec<Notice>) -> bool) -> Result<()> {
    project.storage().update_cache(FILE, |bytes| {
        let mut all = read(bytes);
        if !change(&mut all) {
            return None;
        }
        let surplus = all.len().saturating_sub(MAX_NOTICES);
        all.drain(..surplus);
        serde_json::to_vec(&all).ok()
    })
}

/// Parses the list; a corrupt one counts as empty.
fn read(bytes: &[u8]) -> Vec<Notice> {
    serde_json::from_slice(bytes).unwrap_or_default()
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
