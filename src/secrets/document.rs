//! Keys in the texts of a JSON document.

use std::borrow::Cow;

use serde_json::Value;

use crate::secrets;
use crate::text::strip_controls;

/// Redacts every text of a document, and the name of every field; numbers and structure stay as they are.
pub(crate) fn redact_document(document: &mut Value) {
    change_texts(document, &redacted);
}

/// Returns a text without its keys; nothing where it has none.
fn redacted(text: &str) -> Option<String> {
    // A character that no eye sees may part a key.
    match secrets::redact(&strip_controls(text)).text {
        Cow::Owned(redacted) => Some(redacted),
        Cow::Borrowed(_) => None,
    }
}

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

    #[test]
    fn keys_go_from_texts_and_names_and_all_else_stays() {
        let key = ["ghp_", "Ab1xQ9zT4mN7vK2pL8sD3fG6hJ5wR0yC1uEb"].concat();
        let parted = key.replacen('x', "x\u{200b}", 1);
        let mut document = json!({
            "z": [1, 2.5, null, format!("with {key}\n"), "a\r\nb"],
            "a": {key.clone(): {"deep": parted}},
        });
        redact_document(&mut document);
        let expected = r#"{"z":[1,2.5,null,"with [redacted]\n","a\r\nb"],"a":{"[redacted]":{"deep":"[redacted]"}}}"#;
        assert_eq!(document.to_string(), expected);
    }
}
