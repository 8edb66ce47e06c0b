//! Every way in: command lines, hook events and MCP tools, with what each reads on its standard input.

use serde_json::{Value, json};

/// One run, its words split.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) words: Vec<&'static str>,
    pub(crate) stdin: String,
}

impl Way {
    /// Returns the ways of a table.
    pub(crate) fn all(table: &[(&'static str, &str)]) -> Vec<Self> {
        let way = |(line, stdin): &(&'static str, &str)| Self {
            words: line.split_whitespace().collect(),
            stdin: (*stdin).to_owned(),
        };
        table.iter().map(way).collect()
    }
}

/// Commands that write nothing but caches.
pub(crate) const READS: &[(&str, &str)] = &[
    ("status", ""),
    ("status --json", ""),
    ("context", ""),
    ("inspect .vbw-planning/ROADMAP.md", ""),
    ("patterns list", ""),
    ("patterns check", ""),
    ("patterns relevant", ""),
    ("patterns insights", ""),
    ("recall stock", ""),
    ("audit", ""),
    ("doctor", ""),
    ("report", ""),
    ("resume", ""),
    ("milestone list", ""),
    ("ledger brief", ""),
    ("ledger pending", ""),
    ("ledger check", ""),
    ("notepad read", ""),
    ("entry read --key first", ""),
    ("entry query --text first", ""),
    ("entry list", ""),
    ("entry classify protoc", ""),
    ("log", ""),
    ("journal search stock", ""),
    ("journal tail", ""),
    ("sessions", ""),
    ("sessions propose", ""),
    ("sessions forget", ""),
    ("facts list --user ada", ""),
    ("facts retrieve --query stock --user ada", ""),
    ("config", ""),
    ("plan --dry-run", ""),
    ("sync --dry-run", ""),
    ("sync --check", ""),
    ("share status", ""),
    ("inspect .vbw-planning/STATE.md", ""),
];

/// Commands that write.
pub(crate) const WRITES: &[(&str, &str)] = &[
    ("notepad priority note --request-id a1", ""),
    ("notepad working note --request-id a2", ""),
    ("notepad manual note", ""),
    (
        "entry write --key second --type gotcha --confidence low --body-stdin --request-id a3",
        "# Second\n",
    ),
    ("entry write --key first --type gotcha --confidence high --body-stdin", "# First\n\nNew.\n"),
    ("entry supersede --old first --new second", ""),
    ("entry delete --key second --reason because", ""),
    ("entry audit", ""),
    ("ledger init", ""),
    ("ledger update", r#"{"constraints":[{"op":"add","section":"Rules","bullet":"Never sleep"}]}"#),
    ("plan 4", ""),
    ("execute --all", ""),
    ("sync", ""),
    ("sync --fix-state", ""),
    ("pause later", ""),
    ("init --name sundial", ""),
    ("report --out report.html", ""),
    ("ship --force", ""),
    ("milestone new offline-mode", ""),
    ("milestone switch default", ""),
    ("undo", ""),
    ("setup claude", ""),
    ("setup codex", ""),
    ("setup gemini", ""),
    ("setup opencode", ""),
    ("setup qwen", ""),
    ("setup git", ""),
    ("setup claude --remove", ""),
    ("remember the gate is red", ""),
    ("forget first --reason because", ""),
    ("patterns note one", ""),
    ("merge-file base.md ours.md theirs.md --path docs/memory/DECISIONS.md", ""),
    ("journal write --type note --content stock", ""),
    ("facts add --user ada --key pref.tea --value green", ""),
];

/// Hook events, each in the dialect of one harness.
pub(crate) const HOOKS: &[(&str, &str)] = &[
    (
        "hook session-start",
        r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s"}"#,
    ),
    (
        "hook session-start --harness codex",
        r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s"}"#,
    ),
    (
        "hook session-start --harness gemini",
        r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s"}"#,
    ),
    ("hook session-start --harness opencode", r#"{"type":"session.created"}"#),
    (
        "hook prompt-submit",
        r#"{"hook_event_name":"UserPromptSubmit","prompt":"What about the stock?","session_id":"s"}"#,
    ),
    (
        "hook post-tool-use",
        r#"{"hook_event_name":"PostToolUse","tool_name":"Write","session_id":"s","tool_input":{"file_path":".vbw-planning/phases/04-low-stock-alerts/04-01-SUMMARY.md"}}"#,
    ),
    ("hook pre-compact", r#"{"hook_event_name":"PreCompact","trigger":"auto","session_id":"s"}"#),
    ("hook session-end", r#"{"hook_event_name":"SessionEnd","reason":"exit","session_id":"s"}"#),
];

/// Returns one session of the MCP server in which every tool is called once, those that write last.
pub(crate) fn tool_calls() -> Way {
    let call = |(tool, arguments)| ("tools/call", json!({"name": tool, "arguments": arguments}));
    session(&["mcp", "--tools", "all"], calls().into_iter().map(call))
}

/// Returns one session of the MCP server with these requests, each a method and its parameters.
pub(crate) fn session<'a>(
    words: &[&'static str],
    requests: impl IntoIterator<Item = (&'a str, Value)>,
) -> Way {
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (id, (method, params)) in (1..).zip(requests) {
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    Way { words: words.to_vec(), stdin: lines.join("\n") + "\n" }
}

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("recall", json!({"query": "stock"})),
        ("context", json!({})),
        ("memory_search", json!({"q": "stock"})),
        ("status", json!({})),
        ("entry_read", json!({"key": "first"})),
        ("fact_retrieve", json!({"query": "tea"})),
        ("memory_write", json!({"type": "note", "content": "stock"})),
        ("notepad_write", json!({"section": "working", "text": "note"})),
        (
            "entry_write",
            json!({"key": "third", "type": "gotcha", "confidence": "low", "body": "# Third\n"}),
        ),
        ("fact_add", json!({"key": "pref.tea", "value": "black"})),
        ("record_phase", json!({"phase": "3"})),
    ]
}
