//! `annals mcp`, driven by the protocol's own reference client: the SDK from the Python package index, which nobody here wrote.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Case, Invocation, require};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/mcp_client.py");
const AT_ONCE: usize = 16;

/// Keeps the journal and the facts in the case's own home.
fn own<'a>(case: &Case, run: Invocation<'a>) -> Invocation<'a> {
    run.env("ANNALS_USER", "ada")
        .env("ANNALS_DB", case.home().join("mem.db"))
        .env("MEMORY_FILE", case.home().join("memory.jsonl"))
}

fn default_calls() -> Vec<Value> {
    vec![
        json!(["recall", {"query": "low stock", "limit": 3, "in": ["plan", "patterns"]}]),
        json!(["context", {"budget": 500, "for": "alerts"}]),
        json!(["status", {}]),
        json!(["entry_write", {"key": "test-runner", "type": "convention", "confidence": "high", "body": "Run one test."}]),
        json!(["entry_read", {"key": "test-runner"}]),
        json!(["notepad_write", {"section": "working", "text": "The client works"}]),
        json!(["memory_write", {"content": "The client works", "tags": ["mcp"], "meta": {"n": 1}}]),
        json!(["memory_search", {"q": "client"}]),
        json!(["fact_add", {"key": "likes[]", "value": "coffee"}]),
    ]
}

fn more_calls() -> [Value; 2] {
    [json!(["record_phase", {"phase": "3"}]), json!(["fact_retrieve", {"query": "coffee"}])]
}

fn names(list: &Value) -> BTreeSet<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one["name"].as_str().unwrap()).collect()
}

/// Runs one session of the client, and returns what it saw.
fn talk(case: &Case, line: &str, calls: &[Value]) -> Value {
    let plan = json!({"calls": calls, "parallel": ["status", {}, AT_ONCE]});
    let arguments = [SCRIPT, &plan.to_string(), env!("CARGO_BIN_EXE_annals")];
    let client = own(case, case.program("python3")).args(arguments).args(line.split_whitespace());
    client.success().json()
}

/// Fails the test unless every tool of the list was called, and each gave its document.
fn every_tool_answers(seen: &Value) {
    let called = seen["answers"].as_array().unwrap();
    let tools: BTreeSet<_> = called.iter().map(|one| one[0].as_str().unwrap()).collect();
    assert_eq!(tools, names(&seen["tools"]), "each tool is called");
    for one in called {
        assert_eq!(one[1]["isError"], false, "{one}");
        assert!(one[1]["content"][0]["text"].is_string(), "{one}");
    }
    let at_once = seen["parallel"].as_array().unwrap();
    assert_eq!(at_once.len(), AT_ONCE);
    assert!(at_once.iter().all(|one| one == &at_once[0]));
}

#[test]
fn a_foreign_client_calls_every_default_tool() {
    if !require("mcp") {
        return;
    }
    let case = Case::new("examples/vbw-project");
    let seen = talk(&case, "mcp", &default_calls());
    every_tool_answers(&seen);
    let text = &seen["answers"][4][1].to_string();
    assert!(text.contains("Run one test."), "{text}");
    let journal = std::fs::read_to_string(case.home().join("memory.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 1, "{journal}");
}

#[test]
fn a_foreign_client_calls_every_tool() {
    if !require("mcp") {
        return;
    }
    let case = Case::new("examples/vbw-project");
    let mut calls = default_calls();
    calls.extend(more_calls());
    let seen = talk(&case, "mcp --tools all", &calls);
    every_tool_answers(&seen);
    let facts = own(&case, case.run("facts list")).success().stdout();
    assert!(facts.contains("coffee"), "{facts}");
}
