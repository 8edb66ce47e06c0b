//! The four forms in which clients ask a model, and are answered.

use serde_json::{Value, json};

use crate::script::Reply;

/// A form of request, known by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// Anthropic's messages.
    Messages,
    /// The responses API.
    Responses,
    /// The chat completions API.
    Chat,
    /// Gemini's content generation.
    Gemini,
}

impl Api {
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        let ends = |end: &str| path.ends_with(end);
        match () {
            () if ends("/messages") => Some(Self::Messages),
            () if ends("/responses") => Some(Self::Responses),
            () if ends("/chat/completions") => Some(Self::Chat),
            () if path.ends_with("enerateContent") => Some(Self::Gemini),
            () => None,
        }
    }

    /// Returns the body of an answer, as a stream where the client asked for one.
    ///
    /// `id` tells this answer from the others.
    pub(crate) fn answer(
        self,
        asked: &Value,
        path: &str,
        reply: &Reply,
        id: &str,
    ) -> (&'static str, String) {
        let tool = match reply {
            Reply::Call(suffix, input) => find_tool(asked, suffix).map(|tool| (tool, input)),
            Reply::Say(_) => None,
        };
        let text = match reply {
            Reply::Say(text) => (*text).to_owned(),
            Reply::Call(suffix, _) => format!("There is no tool {suffix}."),
        };
        let is_stream = asked["stream"] == true || path.contains("stream");
        let (whole, events) = match self {
            Self::Messages => messages(tool, &text, id),
            Self::Responses => responses(asked, tool, &text, id),
            Self::Chat => chat(tool, &text, id),
            Self::Gemini => gemini(tool, &text),
        };
        if !is_stream {
            return ("application/json", whole.to_string());
        }
        let mut body = String::new();
        for event in events {
            if let Some(name) = event["type"].as_str() {
                body.push_str(&format!("event: {name}\n"));
            }
            body.push_str(&format!("data: {event}\n\n"));
        }
        if self == Self::Chat {
            body.push_str("data: [DONE]\n\n");
        }
        ("text/event-stream", body)
    }
}

/// A tool as a request names it: its namespace, where it has one, and its name.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    namespace: Option<String>,
    pub(crate) name: String,
}

/// Returns the tools that a request offers.
pub(crate) fn tools(asked: &Value) -> Vec<Tool> {
    let name = |value: &Value| value["name"].as_str().map(str::to_owned);
    let mut tools = Vec::new();
    for tool in asked["tools"].as_array().into_iter().flatten() {
        let inner = ["functionDeclarations", "tools"].map(|key| tool[key].as_array());
        let namespace = name(tool).filter(|_| tool["type"] == "namespace");
        let inner = inner.into_iter().flatten().flatten();
        tools
            .extend(inner.filter_map(name).map(|name| Tool { namespace: namespace.clone(), name }));
        let plain = name(tool).or_else(|| name(&tool["function"]));
        let plain = plain.or_else(|| tool["type"].as_str().map(str::to_owned));
        tools.extend(
            plain.filter(|_| namespace.is_none()).map(|name| Tool { namespace: None, name }),
        );
    }
    tools
}

fn find_tool(asked: &Value, suffix: &str) -> Option<Tool> {
    let mut all = tools(asked).into_iter();
    let same = tools(asked).into_iter().find(|tool| tool.name == suffix);
    let found = same.or_else(|| all.find(|tool| tool.name.ends_with(suffix)));
    // Codex calls what a search for tools has found by its namespace, without naming it again.
    let is_searched = tools(asked).iter().any(|tool| tool.name == "tool_search");
    found.or_else(|| {
        is_searched
            .then(|| Tool { namespace: Some("mcp__annals".to_owned()), name: suffix.to_owned() })
    })
}

type Answer = (Value, Vec<Value>);

fn messages(tool: Option<(Tool, &Value)>, text: &str, id: &str) -> Answer {
    let (start, delta, block, stop) = match tool {
        Some((tool, input)) => {
            let call =
                |input| json!({"type": "tool_use", "id": id, "name": tool.name, "input": input});
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            (call(&json!({})), delta, call(input), "tool_use")
        }
        None => {
            let block = |text: &str| json!({"type": "text", "text": text});
            let delta = json!({"type": "text_delta", "text": text});
            (block(""), delta, block(text), "end_turn")
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = |content: Value, stop: Value| {
        json!({"id": id, "type": "message", "role": "assistant", "model": "played",
               "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    let events = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    (message(json!([block]), json!(stop)), events)
}

fn responses(asked: &Value, tool: Option<(Tool, &Value)>, text: &str, id: &str) -> Answer {
    let offered = asked["tools"].as_array().cloned().unwrap_or_default();
    let is_custom = |name: &str| {
        let mut tools = offered.iter();
        tools.any(|tool| tool["type"] == "custom" && tool["name"] == name)
    };
    let item = match tool {
        None => json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Some((tool, input)) if tool.name == "tool_search" => {
            json!({"type": "tool_search_call", "id": id, "call_id": id, "execution": "client",
                   "status": "completed", "arguments": input})
        }
        Some((tool, input)) if is_custom(&tool.name) => {
            json!({"type": "custom_tool_call", "id": id, "call_id": id, "name": tool.name,
                   "input": input["input"]})
        }
        Some((tool, input)) => {
            let mut call = json!({"type": "function_call", "id": id, "call_id": id,
                                  "name": tool.name, "arguments": input.to_string()});
            if let Some(namespace) = tool.namespace {
                call["namespace"] = Value::from(namespace);
            }
            call
        }
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                       "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2});
    let whole = json!({"id": id, "object": "response", "status": "completed", "output": [item],
                       "usage": usage});
    let events = vec![
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": whole}),
    ];
    (whole, events)
}

fn chat(tool: Option<(Tool, &Value)>, text: &str, id: &str) -> Answer {
    let (message, finish) = match tool {
        Some((tool, input)) => {
            let call = json!({"index": 0, "id": id, "type": "function",
                              "function": {"name": tool.name, "arguments": input.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": text}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let chunk = |delta: Value, finish: Value| {
        json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": "played",
               "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": usage})
    };
    let events = vec![chunk(message.clone(), Value::Null), chunk(json!({}), json!(finish))];
    let whole = json!({"id": id, "object": "chat.completion", "created": 0, "model": "played",
                       "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage});
    (whole, events)
}

fn gemini(tool: Option<(Tool, &Value)>, text: &str) -> Answer {
    let part = match tool {
        Some((tool, input)) => json!({"functionCall": {"name": tool.name, "args": input}}),
        None => json!({"text": text}),
    };
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    });
    (whole.clone(), vec![whole])
}
