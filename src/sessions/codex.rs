//! Codex: one "rollout" of JSON lines for each session, in folders by date.
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"…","cwd":"…","cli_version":"…"}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"…"}]}}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"…"}]}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"…","call_id":"…"}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call_output","call_id":"…","output":"…"}}
//! {"timestamp":"…","type":"compacted","payload":{"message":"…"}}
//! ```
//!
//! Earlier versions record `{"type":"user_message","message":"…"}` as an event.

use serde_json::Value;

use crate::sessions::conversation::Conversation;
use crate::sessions::tools::{says_failed, text};

pub(crate) fn add(conversation: &mut Conversation, record: &Value) {
    let payload = &record["payload"];
    let of = |name: &str| payload[name].as_str();
    let id = of("call_id").unwrap_or_default();
    let item = &payload["item"];
    match (record["type"].as_str().unwrap_or_default(), of("type").unwrap_or_default()) {
        ("session_meta", _) => conversation.about(of("id"), of("cwd"), of("cli_version")),
        ("compacted", _) => conversation.summary(&text(&payload["message"])),
        // The response item with the same message also holds what the client added to it.
        ("event_msg", "user_message") => conversation.user(&text(&payload["message"])),
        ("event_msg", "item_completed") if item["type"] == "UserMessage" => {
            conversation.user(&text(&item["content"]));
        }
        ("event_msg", "item_completed") if item["type"] == "Plan" => {
            conversation.summary(&text(&item["text"]));
        }
        ("response_item", "message") if payload["role"] == "assistant" => {
            conversation.agent(&text(&payload["content"]));
        }
        ("response_item", "function_call" | "local_shell_call") => {
            let arguments = of("arguments").and_then(|json| serde_json::from_str(json).ok());
            let arguments = arguments.as_ref().unwrap_or(&payload["action"]);
            conversation.called(id, of("name").unwrap_or("shell"), arguments);
        }
        ("response_item", "custom_tool_call") => {
            conversation.called(id, of("name").unwrap_or_default(), payload);
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => {
            let output = text(&payload["output"]);
            conversation.returned(id, says_failed(&output).then_some(output.as_str()));
        }
        _ => {}
    }
}
