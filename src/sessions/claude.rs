//! Claude Code: one file of JSON lines for each session, in a folder named after the working directory.
//!
//! ```text
//! {"type":"user","message":{"role":"user","content":"…"},"timestamp":"…","cwd":"…","sessionId":"…","version":"…"}
//! {"type":"assistant","message":{"content":[{"type":"text","text":"…"},{"type":"tool_use","id":"…","name":"Bash","input":{…}}]},…}
//! {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"…","is_error":true,"content":"…"}]},…}
//! {"type":"summary","summary":"…"}
//! ```

use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::sessions::client::Client;
use crate::sessions::conversation::{Conversation, Session};
use crate::sessions::records;
use crate::sessions::tools::text;

/// Reads a transcript; `None` if it is gone.
pub(crate) fn read(path: &Path) -> Result<Option<Session>> {
    // A session that continues another one has that one's records, too; its file is named after its own id.
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    records::read(path, Client::Claude, |conversation, record| {
        conversation.about(id.as_deref(), record["cwd"].as_str(), record["version"].as_str());
        add(conversation, record);
    })
}

fn add(conversation: &mut Conversation, record: &Value) {
    let is = |name: &str| record[name] == Value::Bool(true);
    let content = &record["message"]["content"];
    let is_user = record["type"] == "user";
    let say = |conversation: &mut Conversation, said: &str| match () {
        () if is("isMeta") => {}
        () if is("isCompactSummary") => conversation.summary(said),
        () if is_user => conversation.user(said),
        () => conversation.agent(said),
    };
    match &record["type"] {
        kind if kind == "summary" => conversation.summary(&text(&record["summary"])),
        kind if (kind == "user" || kind == "assistant") && !is("isSidechain") => {
            if let Some(said) = content.as_str() {
                say(conversation, said);
            }
            for block in content.as_array().into_iter().flatten() {
                let of = |name: &str| block[name].as_str().unwrap_or_default();
                match of("type") {
                    "text" => say(conversation, of("text")),
                    "tool_use" => {
                        conversation.summary(&text(&block["input"]["plan"]));
                        conversation.called(of("id"), of("name"), &block["input"]);
                    }
                    "tool_result" => {
                        let has_failed = block["is_error"] == Value::Bool(true);
                        let output = has_failed.then(|| text(&block["content"]));
                        conversation.returned(of("tool_use_id"), output.as_deref());
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Returns the name of the folder of a working directory's sessions.
pub(crate) fn folder_name(directory: &Path) -> String {
    let name = directory.to_string_lossy();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
