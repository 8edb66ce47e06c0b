//! Made-up sessions, written in the formats of the four clients.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::Case;

/// What happened in a session, in the words of `tideboard.txt`.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// `> TEXT`: the user says something.
    Asked(String),
    /// `- TEXT`: the agent does.
    Said(String),
    /// `plan TEXT`: a line of the plan that the agent presents.
    Plan(String),
    /// `ran COMMAND`, and what it printed if it failed: the lines `! TEXT` after it.
    Ran(String, Option<String>),
    /// `wrote PATH`.
    Wrote(String),
}

/// A session: its client, its day, and what happened.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) client: String,
    pub(crate) day: String,
    pub(crate) events: Vec<Event>,
}

/// Reads sessions from their script.
pub(crate) fn script(text: &str) -> Vec<Made> {
    let mut sessions: Vec<Made> = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap();
        if word == "#" {
            let (client, day) = rest.split_once(' ').unwrap();
            let (client, day) = (client.to_owned(), day.to_owned());
            sessions.push(Made { client, day, events: Vec::new() });
            continue;
        }
        let events = &mut sessions.last_mut().unwrap().events;
        let rest = rest.to_owned();
        match (word, events.last_mut()) {
            (">", _) => events.push(Event::Asked(rest)),
            ("-", _) => events.push(Event::Said(rest)),
            ("wrote", _) => events.push(Event::Wrote(rest)),
            ("ran", _) => events.push(Event::Ran(rest, None)),
            ("plan", Some(Event::Plan(plan))) => *plan = format!("{plan}\n{rest}"),
            ("plan", _) => events.push(Event::Plan(rest)),
            ("!", Some(Event::Ran(_, Some(error)))) => *error = format!("{error}\n{rest}"),
            ("!", Some(Event::Ran(_, error))) => *error = Some(rest),
            _ => panic!("{line}"),
        }
    }
    sessions
}

/// Writes a session where its client would keep it, and returns the transcript.
pub(crate) fn write(case: &Case, number: usize, made: &Made) -> PathBuf {
    let root = case.root().to_str().unwrap();
    let id = format!("0000000{number:x}-1111-4222-8333-444444444444");
    match made.client.as_str() {
        "claude" => {
            let folder: String =
                root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let path = case.home().join(format!(".claude/projects/{folder}/{id}.jsonl"));
            lines(&path, &claude(made, root, &id))
        }
        "codex" => {
            let day = made.day.replace('-', "/");
            let name = format!("rollout-{}T10-00-00-{id}.jsonl", made.day);
            let path = case.home().join(format!(".codex/sessions/{day}/{name}"));
            lines(&path, &codex(made, root, &id))
        }
        "gemini" => {
            let folder = case.home().join(".gemini/tmp/project");
            fs::create_dir_all(folder.join("chats")).unwrap();
            fs::write(folder.join(".project_root"), root).unwrap();
            let name = format!("chats/session-{}T10-00-{}.jsonl", made.day, &id[..8]);
            lines(&folder.join(name), &gemini(made, root, &id))
        }
        "opencode" => {
            let folder = case.home().join(".local/share/opencode");
            fs::create_dir_all(&folder).unwrap();
            opencode(made, root, &format!("ses_{number}"), &folder.join("opencode.db"))
        }
        other => panic!("{other}"),
    }
}

fn lines(path: &Path, records: &[Value]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
    path.to_owned()
}

/// The time of an event: one for each minute of the day.
fn time(made: &Made, at: usize) -> String {
    format!("{}T{:02}:{:02}:00.000Z", made.day, 10 + at / 60, at % 60)
}

fn claude(made: &Made, root: &str, id: &str) -> Vec<Value> {
    let mut records = vec![json!({"type": "mode", "mode": "normal", "sessionId": id})];
    let mut add = |at: usize, kind: &str, content: Value| {
        records.push(json!({
            "type": kind, "message": {"role": kind, "content": content}, "isSidechain": false,
            "timestamp": time(made, at), "cwd": root, "sessionId": id, "version": "2.1.330",
            "uuid": format!("u{at}"),
        }));
    };
    for (at, event) in made.events.iter().enumerate() {
        let call = format!("toolu_{at}");
        let used = |name: &str, input: Value| json!([{"type": "tool_use", "id": call, "name": name, "input": input}]);
        let result = |text: &str, is_error: bool| json!([{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error}]);
        match event {
            Event::Asked(text) => add(at, "user", json!(text)),
            Event::Said(text) => add(at, "assistant", json!([{"type": "text", "text": text}])),
            Event::Plan(text) => add(at, "assistant", used("ExitPlanMode", json!({"plan": text}))),
            Event::Ran(command, error) => {
                add(at, "assistant", used("Bash", json!({"command": command})));
                let output = error.as_ref().map(|error| format!("Exit code 101\n{error}"));
                add(at, "user", result(output.as_deref().unwrap_or("ok"), error.is_some()));
            }
            Event::Wrote(path) => {
                let path = format!("{root}/{path}");
                let input = json!({"file_path": path, "content": "let text = 1;\n"});
                add(at, "assistant", used("Write", input));
                add(at, "user", result("File created", false));
            }
        }
    }
    records
}

fn codex(made: &Made, root: &str, id: &str) -> Vec<Value> {
    let mut records = vec![json!({
        "timestamp": time(made, 0), "type": "session_meta",
        "payload": {"id": id, "cwd": root, "cli_version": "0.169.0", "source": "exec",
                    "base_instructions": {"text": "You are an agent."}},
    })];
    let mut add = |at: usize, kind: &str, payload: Value| {
        records.push(json!({"timestamp": time(made, at), "type": kind, "payload": payload}));
    };
    for (at, event) in made.events.iter().enumerate() {
        let call = format!("call_{at}");
        match event {
            Event::Asked(text) => {
                let sent = json!([{"type": "input_text", "text": text}]);
                add(
                    at,
                    "response_item",
                    json!({"type": "message", "role": "user", "content": sent}),
                );
                let content = json!([{"type": "text", "text": text}]);
                let item = json!({"type": "UserMessage", "content": content});
                add(at, "event_msg", json!({"type": "item_completed", "item": item}));
            }
            Event::Said(text) => {
                let content = json!([{"type": "output_text", "text": text}]);
                let payload = json!({"type": "message", "role": "assistant", "content": content});
                add(at, "response_item", payload);
            }
            Event::Plan(text) => {
                let item = json!({"type": "Plan", "text": text});
                add(at, "event_msg", json!({"type": "item_completed", "item": item}));
            }
            Event::Ran(command, error) => {
                let arguments = json!({"cmd": command}).to_string();
                add(
                    at,
                    "response_item",
                    json!({
                        "type": "function_call", "name": "exec_command", "arguments": arguments,
                        "call_id": call,
                    }),
                );
                let code = usize::from(error.is_some());
                let text = error.as_deref().unwrap_or("ok");
                let output = format!(
                    "Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{text}"
                );
                add(
                    at,
                    "response_item",
                    json!({
                        "type": "function_call_output", "call_id": call, "output": output,
                    }),
                );
            }
            Event::Wrote(path) => {
                let patch = format!(
                    "*** Begin Patch\n*** Add File: {path}\n+let text = 1;\n*** End Patch\n"
                );
                add(
                    at,
                    "response_item",
                    json!({
                        "type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call,
                    }),
                );
                add(
                    at,
                    "response_item",
                    json!({
                        "type": "custom_tool_call_output", "call_id": call,
                        "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
                    }),
                );
            }
        }
    }
    records
}

fn gemini(made: &Made, root: &str, id: &str) -> Vec<Value> {
    let mut records = vec![json!({"sessionId": id, "projectHash": "0", "startTime": time(made, 0),
                                  "lastUpdated": time(made, 0), "kind": "main"})];
    for (at, event) in made.events.iter().enumerate() {
        let answer = |calls: Value| {
            json!({"id": format!("m{at}"), "timestamp": time(made, at), "type": "gemini",
                   "content": "", "toolCalls": calls})
        };
        let called = |name: &str, args: Value, error: Option<&String>| {
            let output = match error {
                Some(error) => format!("Output: {error}\nExit Code: 1"),
                None => "Output: ok".to_owned(),
            };
            answer(json!([{"id": format!("c{at}"), "name": name, "args": args, "status": "success",
                "result": [{"functionResponse": {"name": name, "response": {"output": output}}}]}]))
        };
        let (kind, text) = match event {
            Event::Asked(text) => ("user", text),
            Event::Said(text) => ("gemini", text),
            Event::Plan(text) => {
                records.push(json!({"$set": {"summary": text}}));
                continue;
            }
            Event::Ran(command, error) => {
                // A message is written again when its calls are done.
                records.push(answer(json!([])));
                let args = json!({"command": command});
                records.push(called("run_shell_command", args, error.as_ref()));
                continue;
            }
            Event::Wrote(path) => {
                let args = json!({"file_path": format!("{root}/{path}"), "content": "1"});
                records.push(called("write_file", args, None));
                continue;
            }
        };
        records.push(json!({"id": format!("m{at}"), "timestamp": time(made, at), "type": kind,
                            "content": [{"text": text}]}));
        records.push(json!({"$set": {"lastUpdated": time(made, at)}}));
    }
    records
}

fn opencode(made: &Made, root: &str, id: &str, path: &Path) -> PathBuf {
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL,
           title TEXT NOT NULL, version TEXT NOT NULL, time_updated INTEGER NOT NULL);
         CREATE TABLE IF NOT EXISTS message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
           time_created INTEGER NOT NULL, data TEXT NOT NULL);
         CREATE TABLE IF NOT EXISTS part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL,
           session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
         CREATE INDEX IF NOT EXISTS part_session ON part(session_id);",
    )
    .unwrap();
    let day = chrono::NaiveDate::parse_from_str(&made.day, "%Y-%m-%d").unwrap();
    let start = day.and_hms_opt(10, 0, 0).unwrap().and_utc().timestamp_millis();
    let last = start + 60_000 * i64::try_from(made.events.len()).unwrap();
    db.execute(
        "INSERT INTO session VALUES(?1, NULL, ?2, 'a title', '1.18.33', ?3)",
        (id, root, last),
    )
    .unwrap();
    for (at, event) in made.events.iter().enumerate() {
        let tool = |tool: &str, input: Value, error: Option<&String>| {
            json!({"type": "tool", "tool": tool, "callID": format!("call_{at}"), "state": {
                "status": "completed", "input": input, "output": error.map_or("ok", String::as_str),
                "metadata": {"exit": usize::from(error.is_some())}}})
        };
        let (role, data, is_summary) = match event {
            Event::Asked(text) => ("user", json!({"type": "text", "text": text}), false),
            Event::Said(text) => ("assistant", json!({"type": "text", "text": text}), false),
            Event::Plan(text) => ("assistant", json!({"type": "text", "text": text}), true),
            Event::Ran(command, error) => {
                ("assistant", tool("bash", json!({"command": command}), error.as_ref()), false)
            }
            Event::Wrote(path) => {
                let input = json!({"filePath": format!("{root}/{path}"), "content": "1"});
                ("assistant", tool("write", input, None), false)
            }
        };
        let when = start + 60_000 * i64::try_from(at).unwrap();
        let message = format!("{id}_msg_{at:03}");
        let of_message = json!({"role": role, "summary": is_summary}).to_string();
        db.execute("INSERT INTO message VALUES(?1, ?2, ?3, ?4)", (&message, id, when, of_message))
            .unwrap();
        let part = format!("{id}_prt_{at:03}");
        db.execute(
            "INSERT INTO part VALUES(?1, ?2, ?3, ?4, ?5)",
            (part, &message, id, when, data.to_string()),
        )
        .unwrap();
    }
    path.to_owned()
}
