//! Parses plans and summaries in JSON Lines with short keys: a header row, then one row per task.
//!
//! ```text
//! {"p":"03","n":"01","t":"Parser","s":"complete","dt":"2026-02-17","tc":2,"tt":2,"ch":["84e9493"],"fm":["a.rs"],"dv":[]}
//! {"id":"T1","s":"complete","c":"84e9493","f":["a.rs"]}
//! ```
//!
//! The rows are converted to the fields of a markdown file's front matter.

use std::path::Path;

use serde_json::Value as Json;

use crate::markdown::Node;
use crate::markdown::Value;
use crate::plan::read::vocabulary::find;
use crate::warning::{Parsed, Warning};

/// Returns whether a text is JSON Lines rather than markdown.
pub(crate) fn is_json_lines(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))
}

/// Parses the rows into one mapping of fields, with the tasks as a list under `task_rows`.
pub(crate) fn parse(text: &str, path: &Path) -> Parsed<Node> {
    let mut warnings = Vec::new();
    let mut fields = Vec::new();
    let mut tasks = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let raw = raw.trim_start_matches('\u{feff}').trim();
        if raw.is_empty() {
            continue;
        }
        match serde_json::from_str::<Json>(raw) {
            Ok(Json::Object(row)) => {
                let is_task = row.contains_key("id");
                let row = node(renamed(row), line);
                if is_task {
                    tasks.push(row);
                } else {
                    fields.extend(row.pairs().to_vec());
                }
            }
            Ok(_) => warnings.push(Warning::at(path, line, "not a JSON object; skipped")),
            Err(error) => {
                warnings.push(Warning::at(path, line, format!("not JSON ({error}); skipped")));
            }
        }
    }
    if !tasks.is_empty() {
        let value = Value::List(tasks);
        fields.push(("task_rows".to_owned(), Node { value, line: 2 }));
    }
    let value = Value::Map(fields);
    Parsed::new(Node { value, line: 1 }, warnings)
}

fn renamed(row: serde_json::Map<String, Json>) -> Json {
    let long =
        |key: String| find("key of a row", |short| short == key).map_or(key, |(long, _)| long);
    Json::Object(row.into_iter().map(|(key, value)| (long(key), value)).collect())
}

fn node(json: Json, line: usize) -> Node {
    let value = match json {
        Json::Null => Value::Text(String::new()),
        Json::Bool(flag) => Value::Text(flag.to_string()),
        Json::Number(number) => Value::Text(number.to_string()),
        Json::String(text) => Value::Text(text),
        Json::Array(list) => Value::List(list.into_iter().map(|json| node(json, line)).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(key, json)| (key, node(json, line))).collect())
        }
    };
    Node { value, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_fields_and_tasks() {
        let text = "{\"p\":\"03-02\",\"s\":\"complete\",\"d\":[\"x\"],\"tt\":4}\n\nnonsense\n{\"id\":\"T1\",\"c\":\"0753326\",\"f\":[\"a\"]}\n";
        let parsed = parse(text, Path::new("a.jsonl"));
        let fields = parsed.value;
        let text = |key: &str| fields.get(&[key]).and_then(Node::as_text);
        assert_eq!(text("tasks_total"), Some("4"));
        assert_eq!(fields.get(&["depends_on"]).unwrap().texts(), ["x"]);
        let task = fields.get(&["task_rows"]).unwrap().elements()[0];
        assert_eq!(task.get(&["commit"]).unwrap().as_text(), Some("0753326"));
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].place.line, Some(3));
    }

    #[test]
    fn markdown_is_not_json_lines() {
        assert!(is_json_lines("\u{feff}\n{\"p\":1}"));
        assert!(!is_json_lines("{placeholder}\n# Title"));
        assert!(!is_json_lines("---\na: 1\n---"));
    }
}
