//! The texts of a JSON document, changed one by one.

use serde_json::Value;

/// Puts what a function returns in the place of each text of a document, and of each name of a field.
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
    use crate::secrets::redact;

    #[test]
    fn keys_go_from_texts_and_names_and_all_else_stays() {
        let key = ["ghp_", "Ab1xQ9zT4mN7vK2pL8sD3fG6hJ5wR0yC1uEb"].concat();
        let mut document = json!({
            "z": [1, 2.5, null, format!("with {key}\n"), "a\r\nb"],
            "a": {key.clone(): {"deep": key}},
        });
        change_texts(&mut document, &|text| {
            Some(redact(text).text.into_owned()).filter(|new| new != text)
        });
        let expected = r#"{"z":[1,2.5,null,"with [redacted]\n","a\r\nb"],"a":{"[redacted]":{"deep":"[redacted]"}}}"#;
        assert_eq!(document.to_string(), expected);
    }
}
