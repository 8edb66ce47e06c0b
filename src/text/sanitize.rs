//! Sanitizes text from other sources for display; all output of the program passes through here.

use std::borrow::Cow;

use serde_json::Value;

use crate::secrets;
use crate::text::without_harness_tags;

/// Returns the text without terminal escape sequences, invisible characters, tags that an agent's client uses, and
/// secrets.
pub fn sanitized(text: &str) -> Cow<'_, str> {
    // Controls first: the detector would not recognise a key that contains one.
    let plain = without_harness_tags(text);
    match secrets::redact(&plain).text {
        Cow::Owned(redacted) => Cow::Owned(redacted),
        Cow::Borrowed(_) => plain,
    }
}

/// Sanitizes each string and field name of a document, before JSON escapes hide their content.
pub(crate) fn sanitize_json(document: &mut Value) {
    map_strings(document, &|text| {
        let clean = sanitized(text);
        (clean != text).then(|| clean.into_owned())
    });
}

/// Replaces each string and field name of a document for which `change` returns a new text.
fn map_strings(document: &mut Value, change: &impl Fn(&str) -> Option<String>) {
    match document {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(values) => {
            for value in values {
                map_strings(value, change);
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                map_strings(value, change);
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
    fn a_key_split_by_invisible_characters_is_redacted() {
        let key = format!("ghp_{}", "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo");
        let split = format!("use \u{1b}[1m{}\u{200b}{} now", &key[..9], &key[9..]);
        assert_eq!(sanitized(&split), "use [redacted] now");
        assert_eq!(sanitized("plain"), "plain");
        assert_eq!(sanitized("a\u{200b}b"), "ab");
        let mut document = json!({ split.clone(): [split, "a\u{202e}b", 1] });
        sanitize_json(&mut document);
        assert_eq!(document.to_string(), r#"{"use [redacted] now":["use [redacted] now","ab",1]}"#);
    }

    #[test]
    fn only_strings_and_field_names_are_mapped() {
        let mut document = json!({
            "z": [1, 2.5, null, "with a key\n", "a\r\nb"],
            "a": {"key": {"deep": "key"}},
        });
        map_strings(&mut document, &|text| text.contains("key").then(|| text.replace("key", "-")));
        let expected = r#"{"z":[1,2.5,null,"with a -\n","a\r\nb"],"a":{"-":{"deep":"-"}}}"#;
        assert_eq!(document.to_string(), expected);
    }
}
