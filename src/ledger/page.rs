//! What the three files have in common: bullets, placeholders, and insertions between blank lines.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::markdown::edit::Edit;
use crate::markdown::{FrontMatter, Outline, edit, item_end, line_start};
use crate::text::{line_end, pattern};

/// A text that says nothing: a word for nothing or for what is unknown, or one pair of brackets around all of it, which
/// may not be closed. Text after the closing bracket, such as the target of a link, is content.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?is)^(?:none|none yet|n/a|tbd|todo|-|unknown \(needs human.*|needs triage.*|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}?|<[^<>]*>?|\[[^\[\]]*\]?)?$",
    )
});

/// A bullet of the outermost list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bullet {
    /// Index of its section.
    pub(crate) section: usize,
    /// Its own text on one line, without nested items.
    pub(crate) text: String,
    /// Whether it has a checkbox.
    pub(crate) has_box: bool,
    /// Byte range of its own text.
    pub(crate) range: Range<usize>,
    /// Byte range of its lines, including nested ones.
    pub(crate) lines: Range<usize>,
    /// Its line number, from 1.
    pub(crate) line: usize,
}

/// Returns the outermost bullets of a part of a text, which is the section with this index.
pub(crate) fn bullets(outline: &Outline<'_>, own: &Range<usize>, section: usize) -> Vec<Bullet> {
    let text = outline.text();
    let items: Vec<_> = outline.items(own).filter(|(_, item)| item.depth == 0).collect();
    let starts = items.iter().map(|(block, _)| line_start(text, block.range.start));
    let starts: Vec<usize> = starts.chain([own.end]).collect();
    let bullets = items.iter().zip(starts.windows(2)).map(|((block, item), lines)| Bullet {
        section,
        text: item.text.clone(),
        has_box: item.checked.is_some(),
        range: block.range.clone(),
        lines: lines[0]..item_end(text, block.range.end, lines[1]),
        line: block.line,
    });
    bullets.collect()
}

/// Returns whether a bullet is more than a placeholder for nothing or for an unknown value.
pub(crate) fn is_filled(bullet: &str) -> bool {
    let plain = bullet.trim_matches(['(', ')', '*', '_', '.', ' ', '`']);
    // `<https://…>` is a link.
    plain.starts_with('<') && plain.contains("://") || !PLACEHOLDER.is_match(plain)
}

/// Returns the end of the front matter and of a byte order mark before it.
pub(crate) fn body_start(text: &str) -> usize {
    FrontMatter::parse(text, Path::new("")).value.range.end
}

/// Returns the line ends that leave a blank line between `before` and the text inserted after it.
pub(crate) fn gap_after(before: &str, line_end: &str) -> String {
    if matches!(before, "" | "\u{feff}") || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        return String::new();
    }
    line_end.repeat(if before.ends_with('\n') { 1 } else { 2 })
}

/// Returns a text with lines inserted at the start of a line, between blank lines.
pub(crate) fn with_lines(text: &str, at: usize, lines: &str) -> String {
    let end = line_end(text);
    let below = if at < text.len() { end } else { "" };
    let piece = lines.replace("\r\n", "\n").replace('\n', end);
    let piece = format!("{}{piece}{end}{below}", gap_after(&text[..at], end));
    edit::apply(text, vec![Edit::insert(at, piece)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_entirely_in_brackets_is_a_placeholder() {
        for text in [
            "{one line}",
            "{{ decision }}",
            "<what is next>",
            "[Decision].",
            "**[todo]**",
            "[what",
            "None.",
            "needs triage",
            "Unknown (needs human), ask Ada",
            "Unknown (needs human): see https://example.org",
        ] {
            assert!(!is_filled(text), "{text}");
        }
        for text in [
            "[ADR-12] Sessions live in Redis",
            "[ADR-12](docs/adr/12.md)",
            "[a] and [b]",
            "{id} is the key of a session",
            "<Suspense> wraps every route",
            "<b>Never</b>",
            "<https://example.org>",
        ] {
            assert!(is_filled(text), "{text}");
        }
    }
}
