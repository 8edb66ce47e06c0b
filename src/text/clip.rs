//! Truncates a text to a maximum width, at a word boundary.

use std::borrow::Cow;

/// Returns the first characters of a text, at most `count`.
pub(crate) fn first_chars(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(count);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the text truncated to at most `width` characters, at a word boundary and with a trailing `…`.
///
/// A word longer than half the width is split, as is text in a script without spaces. A character is never
/// separated from its accents, variation selectors or joined emoji.
pub fn clip(text: &str, width: usize) -> Cow<'_, str> {
    // A text has at least as many bytes as characters, so most texts need not be counted.
    if text.len() <= width || text.char_indices().nth(width).is_none() {
        return Cow::Borrowed(text);
    }
    if width == 0 {
        return Cow::Borrowed("");
    }
    // Two offsets: the first character replaced by the ellipsis, and half the width, before which no word end
    // is searched for.
    let end_of = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(i, _)| i);
    let (half, limit) = (end_of((width - 1) / 2), end_of(width - 1));
    let cut = boundary(text, half, limit, is_word_end)
        .or_else(|| boundary(text, 0, limit, |_, next| !is_combining(next)))
        .unwrap_or(0);
    let kept = text[..cut].trim_end_matches(|c: char| c.is_whitespace() || ",;:([{-–—".contains(c));
    Cow::Owned(format!("{kept}…"))
}

/// Returns the last offset in `from..=to` at which `is_boundary` is true for the characters on either side.
fn boundary(
    text: &str,
    from: usize,
    to: usize,
    is_boundary: fn(char, char) -> bool,
) -> Option<usize> {
    let mut next = text[to..].chars().next()?;
    for (start, previous) in text[..to].char_indices().rev() {
        let offset = start + previous.len_utf8();
        if offset < from {
            return None;
        }
        if previous != ZERO_WIDTH_JOINER && is_boundary(previous, next) {
            return Some(offset);
        }
        next = previous;
    }
    None
}

const ZERO_WIDTH_JOINER: char = '\u{200d}';

fn is_word_end(previous: char, next: char) -> bool {
    !is_combining(next)
        && (previous.is_whitespace()
            || next.is_whitespace()
            || is_unspaced(previous)
            || is_unspaced(next))
}

/// Returns whether a character combines with the one before it.
pub(crate) fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94d}' | '\u{e31}'
        | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | ZERO_WIDTH_JOINER | '\u{20d0}'..='\u{20ff}'
        | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns whether a character belongs to a script without spaces.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_truncated_at_a_word_boundary() {
        for (text, width, expected) in [
            ("one two three", 13, "one two three"),
            ("one two three", 12, "one two…"),
            ("one two three", 8, "one two…"),
            ("one two, three", 9, "one two…"),
            ("one two three", 7, "one…"),
            ("a internationalisation", 12, "a internati…"),
            ("abcdefgh", 4, "abc…"),
            ("日本語の文章です", 5, "日本語の…"),
            ("use 日本語の文章です", 8, "use 日本語…"),
            ("e\u{301}e\u{301}e\u{301}", 4, "e\u{301}…"),
            ("ab👩\u{200d}👩\u{200d}👧cd", 5, "ab…"),
            ("one two", 1, "…"),
            ("one two", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(clip(text, width), expected, "{text:?} at {width}");
        }
    }

    proptest! {
        #[test]
        fn clipped_text_never_exceeds_the_width(text in ".*", width in 0_usize..40) {
            let clipped = clip(&text, width);
            prop_assert!(clipped.chars().count() <= width);
            prop_assert!(text.starts_with(clipped.trim_end_matches('…')));
            prop_assert_eq!(clipped == text.as_str(), text.chars().count() <= width);
        }
    }
}
