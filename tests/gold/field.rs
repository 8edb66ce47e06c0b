//! Values inside an answer, where a missing key and a null are not the same.

use serde_json::Value;

/// Returns the value at a dotted path: the null of a null parent, and nothing where a key is missing.
///
/// The documents are promised with all their keys, so what is missing is never right.
pub(super) fn at<'a>(answer: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(answer, |value, key| match value {
        Value::Object(map) => map.get(key),
        Value::Null if !std::ptr::eq(value, answer) => Some(value),
        _ => None,
    })
}

/// Returns a text or a number as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the texts of a list whose entries are texts or objects with a text under `key`.
pub(super) fn texts(list: &Value, key: &str) -> Option<Vec<String>> {
    let entries = list.as_array()?;
    entries.iter().map(|entry| text(entry).or_else(|| text(&entry[key]))).collect()
}

/// Returns whether two numbers are equal to the last digit that the gold writes.
pub(super) fn same_number(expected: f64, got: &Value) -> bool {
    got.as_f64().is_some_and(|got| (got - expected).abs() < 0.0101)
}

#[test]
fn a_missing_key_is_no_null() {
    let answer = serde_json::json!({"phase": null, "plan": {"number": 2}});
    assert_eq!(at(&answer, "phase"), Some(&Value::Null));
    assert_eq!(at(&answer, "phase.number"), Some(&Value::Null));
    assert_eq!(at(&answer, "plan.number").and_then(Value::as_u64), Some(2));
    assert_eq!(at(&answer, "plan.total"), None);
    assert_eq!(at(&answer, "title"), None);
    assert_eq!(at(&Value::Null, "title"), None);
}
