//! Truncates text, counts tokens, strips control characters and keys, and formats quantities.

mod clip;
mod controls;
mod hexadecimal;
mod inert;
mod line;
mod line_end;
mod pattern;
mod quantity;
mod sanitize;
mod slashed;
mod tokens;
mod word_cache;
mod word_enum;

pub use clip::clip;
pub(crate) use clip::{first_chars, is_combining, is_unspaced};
pub use controls::strip_controls;
pub(crate) use controls::{is_invisible, is_joiner_or_selector};
pub use hexadecimal::hexadecimal;
pub use inert::inert;
pub(crate) use inert::{with_paired_backticks, without_harness_tags};
pub use line::Line;
pub(crate) use line_end::{line_end, line_gap};
pub(crate) use pattern::pattern;
pub(crate) use quantity::{pluralize, quantity};
pub(crate) use sanitize::sanitize_json;
pub use sanitize::sanitized;
pub(crate) use slashed::{file_name, slashed};
pub use tokens::estimate_tokens;
pub(crate) use word_cache::WordCache;
pub(crate) use word_enum::word_enum;

/// The byte order mark in UTF-8, which only the start of a file can have.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without its byte order mark.
pub(crate) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Returns a heading normalised for comparison: lower case, single spaces, no trailing colon.
pub fn fold(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut folded = String::with_capacity(lower.len());
    for word in lower.trim_end_matches([':', ' ', '\t']).split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Returns the rest of a text that begins with a prefix, whatever the case of its ASCII letters.
pub(crate) fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns the number of the line that contains a byte offset, counted from 1.
pub(crate) fn line_number(text: impl AsRef<[u8]>, offset: usize) -> usize {
    let text = text.as_ref();
    let before = text.get(..offset).unwrap_or(text);
    before.split(|byte| *byte == b'\n').count()
}

/// Splits a text at commas, except those inside round brackets.
pub(crate) fn comma_separated(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Returns whether a word is one of a list that is separated by spaces.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns whether a number is 0: for fields that are left out then.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde needs it")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns a text as one line with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_letter_is_capitalized() {
        for (text, expected) in [("the Store", "The Store"), ("\u{e9}tat", "\u{c9}tat"), ("", "")] {
            assert_eq!(capitalized(text), expected);
        }
    }

    #[test]
    fn folded_headings_ignore_case_spacing_and_a_trailing_colon() {
        assert_eq!(fold("  Key\u{a0}  DECISIONS: "), "key decisions");
        assert_eq!(fold("Выполнено"), "выполнено");
        assert_eq!(fold("Deviations: None"), "deviations: none");
        assert_eq!(fold(":"), "");
    }
}
