//! A single line of foreign text, escaped so that it cannot act as markdown structure, and clipped.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::text::{inert, join, sanitized, strip_controls, with_paired_backticks};

/// A single line of foreign text, safe at the start of a line of the generated context.
///
/// Planning files are data: their text must not become a heading, a fence, a list, a quote, a table, an HTML
/// block, a thematic break or a comment marker in generated files, nor what [`inert`] takes care of. Text that
/// could is escaped with a backslash; all other text stays as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Line(String);

impl Line {
    /// Returns the text as one line: controls removed, white space collapsed, structure escaped.
    pub fn new(text: &str) -> Self {
        let stripped = strip_controls(text);
        let words = join(
            stripped
                .split(|c: char| c.is_whitespace() || c == '\u{feff}')
                .filter(|word| !word.is_empty()),
            " ",
        );
        let mut line = with_paired_backticks(&words).into_owned();
        if let Some(at) = escape_offset(&line) {
            line.insert(at, '\\');
        }
        line = inert(&line).into_owned();
        for (marker, harmless) in [("<!--", "<\\!--"), ("-->", "--\\>"), ("--!>", "--!\\>")] {
            if line.contains(marker) {
                line = line.replace(marker, harmless);
            }
        }
        Self(line)
    }

    /// Returns the text as one line, without secrets.
    pub(crate) fn sanitized(text: &str) -> Self {
        Self::new(&sanitized(text))
    }

    /// Returns the line as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the line is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the line truncated to at most `width` characters, at a word boundary.
    #[must_use]
    pub fn clipped(&self, width: usize) -> Self {
        Self(inert(&with_paired_backticks(&clip(&self.0, width))).into_owned())
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns the offset where a backslash prevents a line from opening a block, if it would open one.
fn escape_offset(line: &str) -> Option<usize> {
    let first = line.chars().next()?;
    let opens = match first {
        '#' => ends_marker(line.trim_start_matches('#')),
        '`' | '~' => line.trim_start_matches(first).len() + 3 <= line.len(),
        '-' | '+' | '*' if ends_marker(&line[1..]) => true,
        '>' | '|' => true,
        '<' => opens_html(&line[1..]),
        '0'..='9' => {
            let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let delimiter = line.len() - after.len();
            let is_item = after.starts_with(['.', ')']) && ends_marker(&after[1..]);
            return is_item.then_some(delimiter);
        }
        _ => is_rule(line),
    };
    opens.then_some(0)
}

/// Returns whether a marker before `rest` is complete.
fn ends_marker(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

/// Returns whether a line is a thematic break, a setext underline or the delimiter row of a table.
fn is_rule(line: &str) -> bool {
    let only = |set: &str| line.chars().all(|c| set.contains(c));
    only("= ") || only("*_ ") || (only("-:| ") && line.contains('-'))
}

/// Returns whether `<` before `rest` opens a tag, a declaration or an instruction; an autolink does not.
fn opens_html(rest: &str) -> bool {
    let name =
        rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+.-".contains(c)).unwrap_or(rest.len());
    match rest.chars().next() {
        Some('/' | '!' | '?') => true,
        Some(c) if c.is_ascii_alphabetic() => !rest[name..].starts_with([':', '@']),
        _ => false,
    }
}

/// Returns the first characters of a text, at most `count`.
pub(crate) fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
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
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    #[test]
    fn ordinary_text_stays_verbatim() {
        for text in [
            "Use `sqlite` for **storage**, never <5 MB",
            "#123 is fixed",
            "-5 degrees, --flag, *emphasis*, **bold** text",
            "***all*** of it",
            "1.2 is the version",
            "3.5x faster | a pipe inside",
            "[02-03]: Keep the index",
            "<https://example.org> is an address",
            "<me@example.org>",
            "a -> b, a => c, a == c -- d",
            "mail me@example.org about `@scope/name`.",
            "`code` first, ~~gone~~",
            "日本語の文章",
            "",
        ] {
            assert_eq!(Line::new(text).as_str(), text);
        }
    }

    #[test]
    fn structure_is_escaped() {
        for (text, expected) in [
            ("# Heading", "\\# Heading"),
            ("  ###", "\\###"),
            ("```rust", "'''rust"),
            ("~~~~", "\\~~~~"),
            ("- item", "\\- item"),
            ("*", "\\*"),
            ("12. item", "12\\. item"),
            ("1)", "1\\)"),
            ("> quote", "\\> quote"),
            (">quote", "\\>quote"),
            ("| a | b |", "\\| a | b |"),
            (":--- | ---", "\\:--- | ---"),
            ("---", "\\---"),
            ("- - -", "\\- - -"),
            ("* * *", "\\* * *"),
            ("___", "\\___"),
            ("=", "\\="),
            ("====", "\\===="),
            ("<div>", "\\<div>"),
            ("</div>", "\\</div>"),
            ("<?php", "\\<?php"),
            ("a <!-- b --> c", "a <\\!-- b --\\> c"),
            ("<!-->", "\\<\\!--\\>"),
            ("a\n\n# b\r\n\tc", "a # b c"),
            ("\u{1b}[1m# b\u{1b}[0m", "\\# b"),
            ("see @~/.ssh/id and @docs/x.md", "see \\@~/.ssh/id and \\@docs/x.md"),
            ("@./x @/etc/passwd", "\\@./x \\@/etc/passwd"),
        ] {
            assert_eq!(Line::new(text).as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_are_clipped_and_padded_like_text() {
        let line = Line::new("# one two three");
        assert_eq!(line.clipped(10).as_str(), "\\# one…");
        assert_eq!(format!("{:>4}", Line::new("a")), "   a");
        assert!(Line::new(" \n ").is_empty());
        assert_eq!(serde_json::to_string(&line).unwrap(), r#""\\# one two three""#);
    }

    /// Returns whether markdown contains only paragraphs and `items` list items.
    fn is_plain(markdown: &str, items: usize) -> bool {
        let mut seen = 0;
        let github = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        Parser::new_ext(markdown, github).all(|event| match event {
            Event::Start(Tag::List(_)) => true,
            Event::Start(Tag::Item) => {
                seen += 1;
                seen <= items
            }
            Event::Start(tag) => matches!(
                tag,
                Tag::Paragraph
                    | Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::Subscript
                    | Tag::Superscript
                    | Tag::Link { .. }
                    | Tag::Image { .. }
            ),
            Event::Html(_) | Event::Rule => false,
            _ => true,
        })
    }

    proptest! {
        #[test]
        fn no_line_opens_a_block(text in "[-#+*=_~`>|:<!/a1.)( \\n\\[\\]]{0,12}") {
            let line = Line::new(&text);
            prop_assert!(!line.as_str().contains("<!--") && !line.as_str().contains("-->"));
            // Both alone and under a paragraph, where setext underlines and delimiter rows take effect.
            prop_assert!(is_plain(line.as_str(), 0), "{line}");
            prop_assert!(is_plain(&format!("a | b\n{line}"), 0), "{line}");
            prop_assert!(is_plain(&format!("- {line}"), 1), "{line}");
            prop_assert!(is_plain(&line.clipped(5).to_string(), 0), "{line}");
        }
    }

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
