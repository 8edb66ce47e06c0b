//! The answers that a binary without a fault would give.

use serde_json::{Value, json};

pub(super) fn perfect_summary(gold: &Value) -> Value {
    let starts = gold["deviations"].as_array().unwrap();
    let deviations: Vec<_> =
        starts.iter().map(|start| json!({"text": start, "kind": null})).collect();
    json!({
        "kind": "summary", "file": gold["file"], "phase": gold["phase"], "plan": gold["plan"],
        "title": gold["title"], "status": gold["status"], "duration_minutes": gold["duration_minutes"],
        "duration_derived": false, "completed": gold["completed"], "deviation_count": gold["deviation_count"],
        "deviations": deviations, "tasks": {"completed": gold["tasks_completed"], "total": gold["tasks_total"]},
        "files": gold["files"], "commits": gold["commits"], "decisions": [], "warnings": [],
    })
}

pub(super) fn perfect_state(gold: &Value) -> Value {
    let objects = |list: &Value, key: &str| -> Vec<Value> {
        let entries = list.as_array().unwrap();
        entries.iter().map(|entry| json!({key: entry})).collect()
    };
    json!({
        "kind": "state", "project": gold["project"], "core_value": gold["core_value"], "milestone": gold["milestone"],
        "phase": {"number": gold["phase_number"], "total": gold["phase_total"], "name": gold["phase_name"],
                  "status": gold["status"], "progress_percent": gold["progress_percent"]},
        "decisions": objects(&gold["decisions"], "text"), "todos": gold["todos_open"], "blockers": gold["blockers"],
        "skills": objects(&gold["skills"], "name"),
    })
}

pub(super) fn perfect_status(row: &Value) -> Value {
    let expected = row["true_next"].as_str().or(row["expected_next"].as_str()).unwrap();
    let (action, phase) = match expected.split_once(' ') {
        Some((action, phase)) => (action, json!(phase)),
        None => (expected, Value::Null),
    };
    json!({"next": {"action": action, "phase": phase, "conflict": false, "because": []}})
}
