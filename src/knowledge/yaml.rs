//! Writes values in YAML such that every parser reads back the same text.

use serde_json::Value;

use crate::text::join;

/// Returns a text as a YAML scalar: plain if it is unambiguous, otherwise in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Returns a text in double quotes, as in JSON, with escapes for line breaks, marks of direction and what YAML forbids.
pub(crate) fn quoted(text: &str) -> String {
    let is_escaped = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let shown = |c: char| match is_escaped(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    Value::from(text).to_string().chars().map(shown).collect()
}

/// Returns scalars in YAML syntax as a flow sequence: `[a, b]`.
pub(crate) fn list(scalars: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", join(scalars, ", "))
}

/// Returns fields with values in YAML syntax as a flow mapping: `{a: x, b: y}`.
pub(crate) fn map(fields: &[(&str, String)]) -> String {
    let fields = fields.iter().map(|(name, value)| format!("{name}: {value}"));
    format!("{{{}}}", join(fields, ", "))
}

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-_./ ()".contains(c);
    if !first.is_alphanumeric() || text.ends_with(' ') || !text.chars().all(is_plain) {
        return false;
    }
    // Other parsers could read as a number or a date what consists only of digits, signs and hexadecimal
    // digits.
    let is_number_like = |c: char| !c.is_alphabetic() || "abcdefoxABCDEFOXzZtT".contains(c);
    if first.is_numeric() && text.chars().all(is_number_like) {
        return false;
    }
    let word = text.to_ascii_lowercase();
    !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::markdown::FrontMatter;

    #[test]
    fn ambiguous_scalars_are_quoted() {
        for plain in ["test-runner", "2026-q2", "Test runner", "a/b.rs", "日本語"] {
            assert_eq!(scalar(plain), plain);
        }
        for mistaken in [
            "", "yes", "No", "null", "12", "1.5", "0x1f", "1e5", "2026-02-17", "- a", "a: b",
            "# a", "[a]", "a, b", "'a'", " a", "a ", "*a", "a\"b",
        ] {
            assert_eq!(scalar(mistaken), quoted(mistaken));
        }
        assert_eq!(quoted("a\"\\\n\u{1b}\u{202e}"), "\"a\\\"\\\\\\n\\u001b\\u202e\"");
        assert_eq!(quoted("\u{ffff}"), "\"\\uffff\"");
        assert_eq!(list(["a".to_owned(), "b".to_owned()]), "[a, b]");
        assert_eq!(map(&[("a", "x".to_owned())]), "{a: x}");
    }

    proptest! {
        #[test]
        fn every_text_round_trips(text in ".{0,40}") {
            let written = format!("---\na: {}\nb: [{}]\n---\n", scalar(&text), scalar(&text));
            let read = FrontMatter::parse(&written, Path::new("a.md"));
            prop_assert_eq!(&read.warnings, &[]);
            let same = |name: &str| {
                let node = read.value.get(&[name]).unwrap().elements().first().map(|node| node.value.clone());
                node.is_none_or(|value| value == crate::markdown::Value::Text(text.clone()))
            };
            prop_assert!(same("a") && same("b"), "{}", written);
        }
    }
}
