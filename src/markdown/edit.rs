//! Replaces byte ranges of a text and keeps every other byte unchanged.

use std::ops::Range;

/// One replacement: the bytes of `range` become `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte range to replace; empty to insert.
    pub range: Range<usize>,
    /// The replacement text.
    pub text: String,
}

impl Edit {
    /// Returns an edit that replaces `range` by `text`.
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    /// Returns an edit that inserts `text` at `offset`.
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self::replace(offset..offset, text)
    }
}

/// Returns `text` with all edits applied, in any order.
///
/// An edit whose range overlaps an earlier one, exceeds the text or splits a character is skipped, because a
/// partial replacement would be worse than none. This never happens to edits obtained from an
/// [`Outline`](crate::markdown::Outline) of the same text.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut edited = String::with_capacity(text.len());
    let mut position = 0;
    for edit in edits {
        let Some(unchanged) = text.get(position..edit.range.start) else {
            continue;
        };
        if text.get(edit.range.clone()).is_none() {
            continue;
        }
        edited.push_str(unchanged);
        edited.push_str(&edit.text);
        position = edit.range.end;
    }
    edited.push_str(text.get(position..).unwrap_or_default());
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_every_other_byte() {
        let edits = vec![Edit::insert(6, "!"), Edit::replace(0..1, "H")];
        assert_eq!(apply("hello \r\n", edits), "Hello !\r\n");
    }

    #[test]
    fn overlapping_edits_are_skipped() {
        let edits = vec![Edit::replace(0..3, "x"), Edit::replace(2..4, "y")];
        assert_eq!(apply("abcdef", edits), "xdef");
        assert_eq!(apply("ä", vec![Edit::replace(1..2, "x")]), "ä");
        assert_eq!(apply("a", vec![Edit::replace(1..9, "x")]), "a");
    }
}
