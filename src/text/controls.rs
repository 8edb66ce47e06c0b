//! Removes terminal escape sequences, invisible characters, and secrets.

use std::borrow::Cow;

use regex::Regex;
use serde_json::Value;

use crate::secrets;
use crate::text::{Pattern, is_unspaced, without_harness_tags};

/// Terminal escape sequences: colours and cursor moves, control strings (title, link), and others; only the introducer of
/// an unterminated one. A control string ends before the next control character.
static SEQUENCES: Pattern<Regex> = Pattern::new(
    r"(?:\x1b\[|\u{9b})[ -?]*[@-~]|(?:\x1b[\]PX^_]|[\u{90}\u{98}\u{9d}-\u{9f}])[^\x00-\x1f\x7f-\u{9f}]*(?:\x07|\u{9c}|\x1b\\)|\x1b(?:[ -/]*[0-~])?",
);

/// Returns the text without control characters, terminal escape sequences and invisible characters.
///
/// `\n` and `\t` are kept. CRLF and other controls that end a line become `\n`, so that words stay separated.
/// Characters that people cannot see but models read are removed, too: zero-width characters, directional
/// marks, tags. A joiner is kept between two characters of a script that uses joiners. Of an unterminated
/// sequence only its introducer is removed, since a terminal would swallow everything after it.
pub fn strip_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(needs_check) {
        return Cow::Borrowed(text);
    }
    let text = SEQUENCES.replace_all(text, "");
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let (before, next) = (clean.chars().next_back(), rest.peek().copied());
        match c {
            '\r' if next == Some('\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' => clean.push('\n'),
            c if is_removed(c) => {}
            c if is_selector(c) && !is_selectable(before, next) => {}
            c if is_joiner(c) && !(accepts_joiner(before) && accepts_joiner(next)) => {}
            c => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

fn needs_check(c: char) -> bool {
    is_removed(c) || is_joiner(c) || is_selector(c)
}

/// Returns whether a character is a variation selector, which styles the character before it; elsewhere it
/// splits a word invisibly.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether a selector may follow a character: a symbol, an ideograph, or a keycap digit.
fn is_selectable(before: Option<char>, next: Option<char>) -> bool {
    before.is_some_and(|c| match c {
        '#' | '*' | '0'..='9' => next == Some('\u{20e3}'),
        c => !c.is_ascii() && (!c.is_alphabetic() || is_unspaced(c)) && !needs_check(c),
    })
}

fn is_removed(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_ascii() => c.is_ascii_control(),
        _ => c.is_control() || is_invisible(c),
    }
}

/// Returns whether a character is invisible and not part of a letter.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        // Soft hyphen, grapheme joiner, fillers.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Blank braille, Mongolian selectors, placeholders of objects and of shorthand and hieroglyph formats.
        | '\u{2800}' | '\u{180b}'..='\u{180f}' | '\u{fffc}' | '\u{1bca0}'..='\u{1bca3}' | '\u{13430}'..='\u{1345f}'
        // Zero-width space, directional marks and overrides, invisible operators, byte order mark.
        | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        // Tags and variation selectors, which can encode hidden text.
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is the zero-width joiner or non-joiner, needed by Persian, Indic scripts and
/// emoji.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Returns whether a character joins or styles the one before it, which decides whether it is removed.
pub(crate) fn is_joiner_or_selector(c: char) -> bool {
    is_joiner(c) || is_selector(c)
}

/// Returns whether a joiner is legitimate beside this character.
fn accepts_joiner(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(|c| !c.is_ascii() && !c.is_whitespace() && !needs_check(c))
}

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
    // Text of which only the line breaks would differ is safe, and keeps its bytes.
    let clean = |text: &str| {
        let clean = sanitized(text);
        let is_safe = clean == text || clean == text.replace("\r\n", "\n");
        if is_safe { text.to_owned() } else { clean.into_owned() }
    };
    match document {
        Value::String(text) => *text = clean(text),
        Value::Array(values) => values.iter_mut().for_each(sanitize_json),
        Value::Object(fields) => {
            let sanitized = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                sanitize_json(&mut value);
                (clean(&name), value)
            });
            *fields = sanitized.collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn control_characters_and_escape_sequences_are_removed() {
        for (text, expected) in [
            ("plain\n\ttext, größer 日本", "plain\n\ttext, größer 日本"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jx\u{9d}t\u{9c}y", "xy"),
            ("\u{1b}Pq#0\u{1b}\\z", "z"),
            ("\u{1b}(Bx\u{1b}cy\u{1b}7z", "xyz"),
            ("\u{1b}]never closed\nnext", "never closed\nnext"),
            ("\u{1b}[12", "12"),
            ("end\u{1b}", "end"),
            ("a\u{0}b\u{8}c\u{7f}d", "abcd"),
            ("a\r\nb\rc\u{c}d", "a\nb\nc\nd"),
            ("\u{202e}evil\u{2066}x\u{2069}", "evilx"),
            ("hid\u{e0041}\u{e0042}den", "hidden"),
            ("hid\u{200b}d\u{2060}\u{feff}e\u{ad}n\u{200d}", "hidden"),
            ("\u{200b}\u{200c}\u{200d}", ""),
            ("می\u{200c}خواهم 👩\u{200d}💻", "می\u{200c}خواهم 👩\u{200d}💻"),
            ("é\u{200d}\u{200b}\u{200d}e", "ée"),
            ("\u{1b}é", "é"),
        ] {
            assert_eq!(strip_controls(text), expected, "{text:?}");
        }
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(strip_controls("a\n\tb"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn stripping_twice_changes_nothing(text in "[\\x00-\\x1f\\u{80}-\\u{9f}\\u{1b}\\[\\]P0-9;m\\\\é\u{202e}\u{200b}\u{200d}]{0,40}") {
            let clean = strip_controls(&text);
            prop_assert!(!clean.contains(is_removed));
            prop_assert_eq!(strip_controls(&clean), clean.as_ref());
        }
    }

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
    fn only_strings_and_field_names_are_sanitized_and_their_order_stays() {
        let mut document = json!({
            "z": [1, 2.5, null, "a\u{200b}b\n", "a\r\nb"],
            "a": {"c\u{200b}": {"deep": "d\u{200b}"}},
        });
        sanitize_json(&mut document);
        let expected = r#"{"z":[1,2.5,null,"ab\n","a\r\nb"],"a":{"c":{"deep":"d"}}}"#;
        assert_eq!(document.to_string(), expected);
    }
}
