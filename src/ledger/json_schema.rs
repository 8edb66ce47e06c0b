//! Checks a JSON document against a schema, and names the place of each fault.

use regex::Regex;
use serde_json::{Value, json};

use crate::error::Problem;
use crate::text::quantity;

/// Checks a document against the part of JSON Schema that templates/ledger/update.schema.json uses.
///
/// A value of another type than it should have becomes an empty one of the right type, so that the rest of the
/// document can be read and checked all the same.
pub(crate) fn check(root: &Value, document: &mut Value) -> Vec<Problem> {
    let mut checker = Checker { root, problems: Vec::new() };
    checker.check(root, document, "");
    checker.problems
}

struct Checker<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &mut Value, pointer: &str) {
        let description = schema["description"].as_str().unwrap_or_default();
        if let Some(target) = schema["$ref"].as_str() {
            let target = self.root.pointer(target.trim_start_matches('#'));
            return target.map_or((), |target| self.check(target, value, pointer));
        }
        if schema.get("not").is_some() {
            return self.report(pointer, description);
        }
        if let Some((right, expected)) = replacement(&schema["type"], value) {
            let message = format!("must be {expected}, not {}", kind_of(value).1);
            *value = right;
            return self.report(pointer, message);
        }
        for part in elements(&schema["allOf"]) {
            self.check(part, value, pointer);
        }
        if let Some(condition) = schema.get("if") {
            let branch = if holds(condition, value) { "then" } else { "else" };
            if let Some(branch) = schema.get(branch) {
                self.check(branch, value, pointer);
            }
        }
        if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
            let words: Vec<String> = words.iter().map(Value::to_string).collect();
            self.report(pointer, format!("must be one of {}", words.join(", ")));
        }
        match value {
            Value::String(text) => {
                let pattern = schema["pattern"].as_str().and_then(|text| Regex::new(text).ok());
                if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
                    self.report(pointer, format!("must be {description}"));
                }
            }
            Value::Array(items) => self.check_items(schema, items, pointer),
            Value::Object(_) => self.check_fields(schema, value, pointer),
            _ => {}
        }
    }

    fn check_items(&mut self, schema: &'a Value, items: &mut [Value], pointer: &str) {
        let count = items.len() as u64;
        let limit = match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
            (Some(least), _) if count < least => Some(format!("at least {least} are needed")),
            (_, Some(most)) if count > most => Some(format!("at most {most} are allowed")),
            _ => None,
        };
        if let Some(limit) = limit {
            self.report(pointer, format!("has {}; {limit}", quantity(count, "item")));
        }
        for (index, item) in items.iter_mut().enumerate() {
            self.check(&schema["items"], item, &format!("{pointer}/{index}"));
        }
    }

    fn check_fields(&mut self, schema: &'a Value, value: &mut Value, pointer: &str) {
        let Some(fields) = value.as_object_mut() else { return };
        let required = elements(&schema["required"]).iter().filter_map(Value::as_str);
        for name in required.filter(|name| !fields.contains_key(*name)) {
            self.report(&field_pointer(pointer, name), "is required");
        }
        let Some(known) = schema["properties"].as_object() else { return };
        for (name, field) in fields.iter_mut() {
            let place = field_pointer(pointer, name);
            if let Some(schema) = known.get(name) {
                self.check(schema, field, &place);
            } else if schema["additionalProperties"] == json!(false) {
                let known: Vec<&str> = known.keys().map(String::as_str).collect();
                let known = known.join(", ");
                self.report(&place, format!("is not a known field; known fields: {known}"));
            }
        }
    }

    fn report(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(pointer, message));
    }
}

/// Returns whether a value has the fields that a condition requires, and the words that it states.
fn holds(condition: &Value, value: &Value) -> bool {
    let has = |name: &Value| name.as_str().is_some_and(|name| value.get(name).is_some());
    let mut stated = condition["properties"].as_object().into_iter().flatten();
    let is_equal = |(name, rule): (&String, &Value)| value.get(name) == rule.get("const");
    elements(&condition["required"]).iter().all(has) && stated.all(is_equal)
}

/// Returns the pointer of a field.
pub(crate) fn field_pointer(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns an empty value of the type that one should have, and the type's description; `None` if it has it.
fn replacement(types: &Value, value: &Value) -> Option<(Value, &'static str)> {
    let allowed = if types.is_array() { elements(types) } else { std::slice::from_ref(types) };
    let expected = allowed.first()?.as_str()?;
    if allowed.iter().any(|kind| kind.as_str() == Some(kind_of(value).0)) {
        return None;
    }
    Some(match expected {
        "object" => (json!({}), "an object"),
        "array" => (json!([]), "a list"),
        _ => (json!(""), "a string"),
    })
}

/// Returns the type of a value, for the schema and for people.
fn kind_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", "null"),
        Value::Bool(_) => ("boolean", "true or false"),
        Value::Number(_) => ("number", "a number"),
        Value::String(_) => ("string", "a string"),
        Value::Array(_) => ("array", "a list"),
        Value::Object(_) => ("object", "an object"),
    }
}
