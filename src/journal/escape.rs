//! Formats JSON for the file and for readers: on one line, without invisible characters.

use std::borrow::Cow;

use crate::text::{is_invisible, is_joiner_or_selector, strip_controls};

/// Returns a JSON text in which all line separators and invisible characters are escaped.
///
/// JSON itself requires escapes only for the control characters below U+0020. This also escapes U+007F to
/// U+009F, the line separators at which many programs split, and the invisible characters that are removed
/// from all output, as `\u…`. They occur only inside strings, so the meaning is unchanged.
pub(crate) fn visible(json: &str) -> Cow<'_, str> {
    let may_be_hidden = |c: char| is_hidden(c) || is_joiner_or_selector(c);
    if !json.bytes().any(may_begin) || !json.chars().any(may_be_hidden) {
        return Cow::Borrowed(json);
    }
    let text = with_escapes(json, is_hidden);
    // Joiners and variation selectors are removed where they join or style nothing.
    if strip_controls(&text) == text {
        return Cow::Owned(text);
    }
    Cow::Owned(with_escapes(&text, is_joiner_or_selector))
}

fn with_escapes(json: &str, is_escaped: fn(char) -> bool) -> String {
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_escaped(c) {
            text.push_str(&escaped(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// Returns a JSON text without the white space between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        text.push(c);
    }
    text
}

/// Returns a character in escaped form.
pub(crate) fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') || is_invisible(c)
}

/// Returns whether the UTF-8 encoding of a hidden character may start with this byte.
fn may_begin(byte: u8) -> bool {
    byte == 0x7f || byte >= 0xc2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_escaped_and_means_the_same() {
        let text = "\u{200b}\u{ad}\u{feff}\u{61c}a\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\u{2066}\u{e0041}é日\n\"\\";
        let json = serde_json::to_string(text).unwrap();
        let shown = visible(&json);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        let stray = visible("\"x\u{200d}y v\u{fe0f}\"");
        assert_eq!(stray, "\"x\\u200dy v\\ufe0f\"");
        let family = "\"\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}\"";
        assert_eq!(visible(family), family);
        assert!(shown.contains("\\u2028\\u2029"), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert!(matches!(visible("\"é – 日\""), Cow::Borrowed(_)));
    }

    #[test]
    fn white_space_goes_outside_of_strings_only() {
        assert_eq!(
            compact("{ \"a \\\" b\" :\n [1, 2.50 ,\"c\\\\\" ] }\r\n"),
            "{\"a \\\" b\":[1,2.50,\"c\\\\\"]}"
        );
    }
}
