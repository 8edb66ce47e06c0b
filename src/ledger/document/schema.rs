//! Validates a document against the built-in JSON schema, and reports all violations at once.
//!
//! The keywords are those that the schema uses: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `minItems`, `maxItems`, `maxLength`, `pattern`, `enum`, `const`,
//! `if`/`then`/`else`, `allOf`, `$ref`. A pattern that does not match is reported by its `description`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::templates::Template;
use crate::text::quantity;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    // It is compiled in, and a test parses it.
    serde_json::from_str(Template::LedgerSchema.text()).unwrap_or_default()
});

/// Returns the schema of the update document.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// Returns the violations of the schema in a document.
pub(crate) fn validate(document: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    check(&SCHEMA, document, "", &mut problems);
    problems
}

/// Returns the JSON pointer of a field.
pub(crate) fn child_pointer(pointer: &str, name: &str) -> String {
    let name = name.replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{name}")
}

fn check(schema: &Value, value: &Value, pointer: &str, problems: &mut Vec<Problem>) {
    let Some(schema) = schema.as_object() else {
        return;
    };
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = SCHEMA.pointer(target.trim_start_matches('#'));
        check(target.unwrap_or(&Value::Null), value, pointer, problems);
    }
    if let Some(expected) = schema.get("type")
        && !has_type(expected, value)
    {
        let expected = describe_types(expected);
        let message = format!("must be {expected}, not {}", describe_type(json_type(value)));
        return problems.push(Problem::new(pointer, message));
    }
    check_conditional(schema, value, pointer, problems);
    check_choice(schema, value, pointer, problems);
    match value {
        Value::Object(fields) => check_object(schema, fields, pointer, problems),
        Value::Array(items) => check_array(schema, items, pointer, problems),
        Value::String(text) => check_string(schema, text, pointer, problems),
        _ => {}
    }
}

fn check_conditional(
    schema: &Map<String, Value>,
    value: &Value,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        check(part, value, pointer, problems);
    }
    let Some(condition) = schema.get("if") else {
        return;
    };
    let mut condition_problems = Vec::new();
    check(condition, value, pointer, &mut condition_problems);
    let branch = if condition_problems.is_empty() { "then" } else { "else" };
    if let Some(branch) = schema.get(branch) {
        check(branch, value, pointer, problems);
    }
}

fn check_choice(
    schema: &Map<String, Value>,
    value: &Value,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let message = format!("must be one of {}", allowed.join(", "));
        problems.push(Problem::new(pointer, message));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        problems.push(Problem::new(pointer, format!("must be {only}")));
    }
}

fn check_object(
    schema: &Map<String, Value>,
    fields: &Map<String, Value>,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !fields.contains_key(name) {
            problems.push(Problem::new(child_pointer(pointer, name), "is required"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let is_strict = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, field) in fields {
        let pointer = child_pointer(pointer, name);
        match known.and_then(|known| known.get(name)) {
            Some(schema) => check(schema, field, &pointer, problems),
            None if is_strict => {
                let names: Vec<&str> =
                    known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                let message = format!("is not a known field; known fields: {}", names.join(", "));
                problems.push(Problem::new(pointer, message));
            }
            None => {}
        }
    }
}

fn check_array(
    schema: &Map<String, Value>,
    items: &[Value],
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let count = items.len() as u64;
    if let Some(max) = limit("maxItems").filter(|max| count > *max) {
        let message = format!("has {}; at most {max} are allowed", quantity(count, "item"));
        problems.push(Problem::new(pointer, message));
    }
    if let Some(min) = limit("minItems").filter(|min| count < *min) {
        let message = format!("has {}; at least {min} are needed", quantity(count, "item"));
        problems.push(Problem::new(pointer, message));
    }
    if let Some(schema) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            check(schema, item, &format!("{pointer}/{index}"), problems);
        }
    }
}

fn check_string(
    schema: &Map<String, Value>,
    text: &str,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    let length = text.chars().count() as u64;
    let max = schema.get("maxLength").and_then(Value::as_u64);
    if let Some(max) = max.filter(|max| length > *max) {
        let message = format!("has {length} characters; at most {max} are allowed");
        problems.push(Problem::new(pointer, message));
    }
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if let Some(pattern) = pattern.and_then(|pattern| Regex::new(pattern).ok())
        && !pattern.is_match(text)
    {
        let expected = schema.get("description").and_then(Value::as_str);
        let message = format!("must be {}", expected.unwrap_or("in a different format"));
        problems.push(Problem::new(pointer, message));
    }
}

fn has_type(expected: &Value, value: &Value) -> bool {
    match expected {
        Value::Array(alternatives) => alternatives.iter().any(|one| has_type(one, value)),
        Value::String(name) => name == json_type(value),
        _ => true,
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn describe_types(expected: &Value) -> String {
    match expected {
        Value::Array(alternatives) => {
            let names: Vec<String> = alternatives.iter().map(describe_types).collect();
            names.join(" or ")
        }
        one => describe_type(one.as_str().unwrap_or_default()).to_owned(),
    }
}

fn describe_type(name: &str) -> &'static str {
    match name {
        "null" => "null",
        "boolean" => "true or false",
        "number" => "a number",
        "string" => "a string",
        "array" => "a list",
        _ => "an object",
    }
}
