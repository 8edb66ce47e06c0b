//! What the model says, reply by reply.

use serde_json::{Value, json};

use crate::client::Client;

/// The word that marks a conversation of ours.
pub(crate) const MARK: &str = "play the script";

/// One reply of the model.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Words.
    Say(&'static str),
    /// A call of the tool whose name ends like this.
    Call(&'static str, Value),
}

/// The replies to one conversation, in order.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) replies: Vec<Reply>,
    /// Whether it looks something up.
    pub(crate) recalls: bool,
}

impl Script {
    /// The main conversation looks something up and writes the last summaries of a phase.
    pub(crate) fn alone(client: Client) -> Self {
        let query = json!({"query": "lost updates two machines", "limit": 3});
        let mut replies = match client {
            // These name a server's tools only once they were searched for.
            Client::Claude => {
                vec![Reply::Call("ToolSearch", json!({"query": "select:mcp__annals__recall"}))]
            }
            Client::Codex => vec![Reply::Call(
                "tool_search",
                json!({"query": "recall search project memory", "limit": 9}),
            )],
            Client::Qwen => vec![Reply::Call(
                "tool_search",
                json!({"query": "select:mcp__annals__recall", "max_results": 5}),
            )],
            _ => Vec::new(),
        };
        replies.push(match client {
            Client::Qwen => {
                Reply::Call("tool_call", json!({"name": "mcp__annals__recall", "arguments": query}))
            }
            _ => Reply::Call("recall", query),
        });
        replies.extend(writes(client));
        replies.push(Reply::Say("Done."));
        Self { replies, recalls: true }
    }

    /// Nothing but an answer.
    pub(crate) fn short() -> Self {
        Self { replies: vec![Reply::Say("Done.")], recalls: false }
    }

    /// A subagent writes the summaries.
    pub(crate) fn with_subagent(client: Client) -> Self {
        let task = json!({
            "description": "write summaries",
            "prompt": format!("{MARK}: write the summaries"),
            "subagent_type": "general-purpose",
            "run_in_background": false,
        });
        let mut replies = vec![Reply::Call("Agent", task)];
        replies.extend(writes(client));
        replies.extend([Reply::Say("Written."), Reply::Say("Done.")]);
        Self { replies, recalls: false }
    }
}

/// Returns the calls that write the two summaries which phase 4 of the example project lacks.
fn writes(client: Client) -> Vec<Reply> {
    let summaries = [
        ("04-02", include_str!("../../templates/demo/04-02-SUMMARY.md")),
        ("04-03", include_str!("../../templates/demo/04-03-SUMMARY.md")),
    ];
    let write = |(plan, text): (&str, &str)| {
        let path = format!(".vbw-planning/phases/04-low-stock-alerts/{plan}-SUMMARY.md");
        client.write(&path, text)
    };
    summaries.into_iter().map(write).collect()
}
