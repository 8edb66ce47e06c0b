//! Edits a text by byte range and keeps every other byte, and finds its lines and comments.

use std::ops::Range;

/// One replacement: the bytes of `range` become `text`.
#[derive(Debug)]
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

/// Byte offsets at which lines start, for looking up line numbers.
#[derive(Debug)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Indexes the line starts of `text`.
    pub fn new(text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    /// Returns the number (counted from 1) of the line that contains the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset).max(1)
    }
}

/// Returns the byte offset at which the line that contains an offset starts.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the end of the lines of a list item that starts at a line and whose own text ends at `own`, without trailing
/// blank lines: lines that are indented more than it belong to it, and other text, such as a rule, does not.
pub(crate) fn item_end(text: &str, start: usize, own: usize, limit: usize) -> usize {
    // The text of an item may include its line end.
    let own = text[..own].trim_end().len().min(limit);
    let column = indent(&text[start..]) + 2;
    let (mut end, mut at) = (own, own);
    for line in text[own..limit].split_inclusive('\n') {
        let is_first = at == own;
        at += line.len();
        if is_first || indent(line) >= column && !line.trim().is_empty() {
            end = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    end
}

/// Returns the column at which the text of a line begins; a tab leads to the next multiple of 4.
fn indent(line: &str) -> usize {
    line.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .fold(0, |column, byte| if byte == b' ' { column + 1 } else { column / 4 * 4 + 4 })
}

/// Merged ranges, so that a lookup is a binary search.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    /// Disjoint, in file order.
    merged: Vec<Range<usize>>,
}

impl Ranges {
    /// Merges ranges that are sorted by their starts.
    pub(crate) fn merge(ranges: impl Iterator<Item = Range<usize>>) -> Self {
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Self { merged }
    }

    /// Returns whether one of the ranges contains the byte at an offset.
    pub(crate) fn contains(&self, offset: usize) -> bool {
        let next = self.merged.partition_point(|range| range.start <= offset);
        next.checked_sub(1).is_some_and(|last| self.merged[last].contains(&offset))
    }
}

/// Returns the name of a line that is a marker of annals, and the rest of the line: `begin` and ` v1 -->`.
pub(crate) fn annals_marker(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim().strip_prefix("<!--")?.trim_start();
    let marker = inner.strip_prefix("annals:")?;
    let end = marker.find(|c: char| !c.is_ascii_alphanumeric());
    Some(marker.split_at(end.unwrap_or(marker.len())))
}

/// Returns the lines of the generated block of a context file with its markers; `None` unless there is one of each.
pub(crate) fn generated_block(text: &str) -> Option<Range<usize>> {
    let mut markers = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some((name @ ("begin" | "end"), _)) = annals_marker(line) {
            markers.push((name, start..end));
        }
        start = end;
    }
    match &markers[..] {
        [("begin", begin), ("end", end)] => Some(begin.start..end.end),
        _ => None,
    }
}

/// Returns a text without HTML comments outside of code fences.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_fenced = false;
    let mut is_comment = false;
    for line in text.split_inclusive('\n') {
        if !is_comment && is_fence(line) {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            kept.push_str(line);
        } else {
            let before = kept.len();
            let was_comment = is_comment;
            prose(line, &mut is_comment, &mut kept);
            // A line that consisted only of a comment leaves no empty line behind.
            let is_bare = kept[before..].trim().is_empty() && !line.trim().is_empty();
            if is_bare || was_comment && kept[before..].trim().is_empty() {
                kept.truncate(before);
            }
        }
    }
    kept
}

fn prose(line: &str, is_comment: &mut bool, kept: &mut String) {
    let mut rest = line;
    while !rest.is_empty() {
        let sign = if *is_comment { "-->" } else { "<!--" };
        let (before, after) = match rest.split_once(sign) {
            Some((before, after)) => (before, Some(after)),
            None => (rest, None),
        };
        if !*is_comment {
            kept.push_str(before);
        }
        let Some(after) = after else { return };
        *is_comment = !*is_comment;
        rest = after;
    }
}

/// Returns whether a line opens or closes a code fence.
pub(crate) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
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

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::new("a\nbc\n\nd");
        let found: Vec<usize> = (0..7).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 2, 2, 2, 3, 4]);
        assert_eq!(Lines::new("").line(0), 1);
    }

    #[test]
    fn merged_ranges_contain_the_same_offsets() {
        let ranges = Ranges::merge([0..3, 1..2, 3..5, 7..9].into_iter());
        let contained: Vec<usize> = (0..10).filter(|at| ranges.contains(*at)).collect();
        assert_eq!(contained, [0, 1, 2, 3, 4, 7, 8]);
    }

    #[test]
    fn a_generated_block_has_one_marker_at_each_end() {
        for begin in ["<!-- annals:begin v1 -->", "  <!--annals:begin v1-->"] {
            let block = format!("{begin}\nx\n<!-- annals:end -->\n");
            let text = format!("a\n{block}b\n");
            assert_eq!(generated_block(&text), Some(2..2 + block.len()), "{begin}");
            assert_eq!(generated_block(&format!("{block}{block}")), None);
        }
        let marker = "<!-- annals:begin v1 -->\n";
        for text in ["", marker, "<!-- annals:end -->\n<!-- annals:begin v1 -->\n"] {
            assert_eq!(generated_block(text), None, "{text}");
        }
    }

    #[test]
    fn comments_outside_of_code_are_removed() {
        let text =
            "a\n<!-- one -->\nb <!-- two --> c\n<!--\nthree\n-->\n\n```\n<!-- code -->\n```\n";
        assert_eq!(without_comments(text), "a\nb  c\n\n```\n<!-- code -->\n```\n");
    }
}
