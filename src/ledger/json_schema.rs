//! Checks a JSON document against a schema, and names the place of each fault.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Value, json};

use crate::error::Problem;
use crate::text::quantity;

/// Checks a document against the part of JSON Schema that templates/ledger/update.schema.json uses.
///
/// A value of another type than it should have becomes an empty one of the right type, so that the rest of the
/// document can be read and checked all the same.
pub(crate) fn check(schema: &Value, document: &mut Value) -> Vec<Problem> {
    let mut checker = Checker { root: schema, patterns: HashMap::new(), problems: Vec::new() };
    checker.check(schema, document, "");
    checker.problems
}

struct Checker<'a> {
    root: &'a Value,
    patterns: HashMap<&'a str, Option<Regex>>,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &mut Value, pointer: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let target = self.root.pointer(target.trim_start_matches('#'));
            return target.map_or((), |target| self.check(target, value, pointer));
        }
        if schema.get("not").is_some() {
            let description = schema["description"].as_str().unwrap_or_default();
            return self.report(pointer, description.to_owned());
        }
        let expected = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        let is_allowed = |kind: &Value| kind.as_str() == Some(kind_of(value).0);
        if let Some(expected) = expected
            && !is_allowed(&schema["type"])
            && !elements(&schema["type"]).iter().any(is_allowed)
        {
            let (right, description) = match expected {
                "object" => (json!({}), "an object"),
                "array" => (json!([]), "a list"),
                _ => (json!(""), "a string"),
            };
            let found = kind_of(value).1;
            *value = right;
            return self.report(pointer, format!("must be {description}, not {found}"));
        }
        for part in elements(&schema["allOf"]) {
            self.check(part, value, pointer);
        }
        if let Some(condition) = schema.get("if") {
            let branch = if check_alone(condition, value) { "then" } else { "else" };
            if let Some(branch) = schema.get(branch) {
                self.check(branch, value, pointer);
            }
        }
        if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
            let words: Vec<String> = words.iter().map(Value::to_string).collect();
            self.report(pointer, format!("must be one of {}", words.join(", ")));
        }
        match value {
            Value::String(text) => self.check_text(schema, text, pointer),
            Value::Array(items) => self.check_items(schema, items, pointer),
            Value::Object(_) => self.check_fields(schema, value, pointer),
            _ => {}
        }
    }

    fn check_text(&mut self, schema: &'a Value, text: &str, pointer: &str) {
        if let Some(pattern) = schema["pattern"].as_str() {
            let pattern = self.patterns.entry(pattern).or_insert_with(|| Regex::new(pattern).ok());
            if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(text)) {
                let description = schema["description"].as_str().unwrap_or_default();
                self.report(pointer, format!("must be {description}"));
            }
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
            self.report(&field_pointer(pointer, name), "is required".to_owned());
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

    fn report(&mut self, pointer: &str, message: String) {
        self.problems.push(Problem::new(pointer, message));
    }
}

/// Returns whether a value has the fields that a condition requires, and the words that it states.
fn check_alone(condition: &Value, value: &Value) -> bool {
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
