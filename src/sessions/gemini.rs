//! Gemini CLI: one file for each session in `chats/`, below a folder for each project that names its root.
//!
//! ```text
//! {"sessionId":"…","projectHash":"…","startTime":"…","lastUpdated":"…"}
//! {"id":"…","timestamp":"…","type":"user","content":[{"text":"…"}]}
//! {"id":"…","timestamp":"…","type":"gemini","content":"…","toolCalls":[{"id":"…","name":"…","args":{…},"status":"success","result":[…]}]}
//! {"$set":{"summary":"…"}}
//! ```
//!
//! A message is written again when it changes, so the last of those in a row counts. Earlier versions wrote one JSON
//! document with all `messages`.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use crate::clock::parse_timestamp;
use crate::error::Result;
use crate::sessions::client::Client;
use crate::sessions::conversation::{Conversation, Session};
use crate::sessions::records;
use crate::sessions::tools::{says_failed, text};
use crate::storage::read;

/// Reads a transcript; `None` if it is gone.
pub(crate) fn read(path: &Path) -> Result<Option<Session>> {
    let root = path.ancestors().nth(2).and_then(root_of);
    let mut last = Value::Null;
    let mut seen = HashSet::new();
    let mut put = |conversation: &mut Conversation, next: Value| {
        let earlier = std::mem::replace(&mut last, next);
        let id = earlier["id"].as_str().unwrap_or_default();
        if earlier["id"] != last["id"] && seen.insert(id.to_owned()) {
            message(conversation, &earlier);
        }
    };
    let mut add = |conversation: &mut Conversation, record: &Value| {
        let set = &record["$set"];
        conversation.about(record["sessionId"].as_str(), root.as_deref(), None);
        for about in [record, set] {
            for message in about["messages"].as_array().into_iter().flatten() {
                put(conversation, message.clone());
            }
            conversation.summary(&text(&about["summary"]));
        }
        if record["id"].is_string() || record.is_null() {
            put(conversation, record.clone());
        }
    };
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return records::read(path, Client::Gemini, add);
    }
    let mut conversation = Conversation::new(Client::Gemini);
    let bytes = read::uncounted_bytes(path)?.unwrap_or_default();
    match serde_json::from_slice(&bytes) {
        Ok(document) => {
            for part in &[document, Value::Null] {
                add(&mut conversation, part);
            }
        }
        Err(_) => conversation.session.broken += 1,
    }
    Ok(Some(conversation.finish()))
}

fn message(conversation: &mut Conversation, message: &Value) {
    conversation.time(message["timestamp"].as_str().and_then(parse_timestamp));
    let said = text(&message["content"]);
    match message["type"].as_str() {
        // What tools answered is recorded as a message of the user, too.
        Some("user") if message["content"][0]["functionResponse"].is_null() => {
            conversation.user(&said);
        }
        Some("gemini") => conversation.agent(&said),
        _ => {}
    }
    for call in message["toolCalls"].as_array().into_iter().flatten() {
        let of = |name: &str| call[name].as_str().unwrap_or_default();
        conversation.called(of("id"), of("name"), &call["args"]);
        let output = text(&call["result"]);
        let has_failed = of("status") == "error" || says_failed(&output);
        conversation.returned(of("id"), has_failed.then_some(output.as_str()));
    }
}

/// Returns the root of the project that a folder belongs to.
pub(crate) fn root_of(folder: &Path) -> Option<String> {
    let bytes = read::uncounted_bytes(&folder.join(".project_root")).ok()??;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}
