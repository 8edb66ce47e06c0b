//! Parses labelled lines: `**Label:** value`, `Label: value` and similar forms.

use std::ops::Range;

/// A labelled value on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The label, without emphasis and colon.
    pub name: String,
    /// The value, verbatim; empty if there is none.
    pub value: String,
    /// Byte range of the value.
    pub range: Range<usize>,
    /// Line number in the file, counted from 1.
    pub line: usize,
    /// Whether the label is bold.
    pub is_bold: bool,
}

/// Maximum length of a label, in bytes: a longer one is a sentence with a colon in it.
const MAX_NAME_LENGTH: usize = 48;

impl Label {
    /// Parses a line that starts at byte `offset` of the text: `**Name:** value`, `**Name**: value` or
    /// `Name: value`, with an optional list marker before it.
    pub(crate) fn parse(raw: &str, offset: usize, line: usize) -> Option<Self> {
        let content = strip_marker(raw);
        let (name, rest, is_bold) = parse_bold(content).or_else(|| parse_plain(content))?;
        let value = rest.trim();
        let start = offset + (raw.len() - rest.len()) + (rest.len() - rest.trim_start().len());
        Some(Self {
            name: name.to_owned(),
            value: value.to_owned(),
            range: start..start + value.len(),
            line,
            is_bold,
        })
    }
}

/// Returns a line without the bullet `-`, `*` or `+` and the space after it.
pub(crate) fn without_bullet(line: &str) -> &str {
    let rest = line.strip_prefix(['-', '*', '+']);
    rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line)
}

fn strip_marker(raw: &str) -> &str {
    let content = without_bullet(raw.trim_start().trim_start_matches("> "));
    ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|marker| content.strip_prefix(marker))
        .unwrap_or(content)
        .trim_start()
}

fn parse_bold(content: &str) -> Option<(&str, &str, bool)> {
    let inner = content.strip_prefix("**")?;
    let (name, rest) = inner.split_once("**")?;
    match name.trim_end().strip_suffix(':') {
        Some(name) => Some((name.trim(), rest, true)),
        None => Some((name.trim(), rest.trim_start().strip_prefix(':')?, true)),
    }
    .filter(|(name, ..)| is_name(name))
}

fn parse_plain(content: &str) -> Option<(&str, &str, bool)> {
    let (name, rest) = content.split_once(':')?;
    let ends_label = rest.is_empty() || rest.starts_with([' ', '\t']);
    (ends_label && is_name(name)).then_some((name.trim(), rest, false))
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME_LENGTH && !name.contains(['`', '|', '[', '*'])
}
