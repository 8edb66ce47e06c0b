//! Edits the strings of a JSON document.

use serde_json::Value;

/// Replaces each string and field name for which `change` returns a new value.
pub(crate) fn change_texts(document: &mut Value, change: &impl Fn(&str) -> Option<String>) {
    match document {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(values) => {
            for value in values {
                change_texts(value, change);
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                change_texts(value, change);
            }
            if fields.keys().any(|name| change(name).is_some()) {
                let old = std::mem::take(fields).into_iter();
                fields.extend(old.map(|(name, value)| (change(&name).unwrap_or(name), value)));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_strings_and_field_names_change() {
        let mut document = json!({
            "z": [1, 2.5, null, "with a key\n", "a\r\nb"],
            "a": {"key": {"deep": "key"}},
        });
        change_texts(&mut document, &|text| {
            text.contains("key").then(|| text.replace("key", "-"))
        });
        let expected = r#"{"z":[1,2.5,null,"with a -\n","a\r\nb"],"a":{"-":{"deep":"-"}}}"#;
        assert_eq!(document.to_string(), expected);
    }
}
