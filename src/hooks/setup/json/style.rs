//! How a JSON text is laid out, so that what is added looks like the rest.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::PrettyFormatter;
use serde_json::ser::Serializer;

use crate::hooks::setup::json::scan::Node;

/// The line ends and the indentation of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    newline: &'static str,
    unit: String,
    has_lines: bool,
}

impl Style {
    /// Returns the style of a text whose value is `root`.
    pub(crate) fn of(text: &str, root: &Node) -> Self {
        let inside = &text[root.range.clone()];
        let is_crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        let first = root.children().into_iter().next();
        let unit = first.and_then(|child| indentation(text, child.start));
        Self {
            newline: if is_crlf { "\r\n" } else { "\n" },
            unit: unit
                .filter(|unit| !unit.is_empty())
                .unwrap_or("  ")
                .to_owned(),
            has_lines: root.children().is_empty() || inside.contains('\n'),
        }
    }

    /// Returns where a piece goes as the last child of a container, and the bytes that go there.
    pub(crate) fn addition(
        &self,
        text: &str,
        container: &Node,
        name: Option<&str>,
        value: &Value,
    ) -> serde_json::Result<(Range<usize>, String)> {
        let inner = container.range.start + 1..container.range.end - 1;
        let outer = line_indentation(text, container.range.start);
        let deeper = format!("{outer}{}", self.unit);
        let children = container.children();
        let (Some(first), Some(last)) = (children.first(), children.last()) else {
            if !self.has_lines {
                return Ok((inner, piece(name, &serde_json::to_string(value)?, ":")));
            }
            let body = piece(name, &self.pretty(value, &deeper)?, ": ");
            let newline = self.newline;
            return Ok((inner, format!("{newline}{deeper}{body}{newline}{outer}")));
        };
        let place = last.end..last.end;
        if !text[inner.start..first.start].contains('\n') {
            return Ok((
                place,
                format!(",{}", piece(name, &serde_json::to_string(value)?, ":")),
            ));
        }
        let indent = indentation(text, last.start).unwrap_or(&deeper);
        let body = piece(name, &self.pretty(value, indent)?, ": ");
        Ok((place, format!(",{}{indent}{body}", self.newline)))
    }

    fn pretty(&self, value: &Value, indent: &str) -> serde_json::Result<String> {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
        // Line ends inside of strings are escaped, so every one here is layout.
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.replace('\n', &format!("{}{indent}", self.newline)))
    }
}

fn piece(name: Option<&str>, value: &str, colon: &str) -> String {
    match name {
        Some(name) => format!("{}{colon}{value}", Value::from(name)),
        None => value.to_owned(),
    }
}

/// Returns the white space before a byte, where nothing else stands before it on its line.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before
        .chars()
        .all(|c| c == ' ' || c == '\t')
        .then_some(before)
}

/// Returns the white space that the line of a byte starts with.
fn line_indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[line..at]
        .find(|c| c != ' ' && c != '\t')
        .map_or(at, |length| line + length);
    &text[line..end]
}
