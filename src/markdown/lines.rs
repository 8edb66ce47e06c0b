//! Maps byte offsets to lines.

use std::ops::Range;

/// Byte offsets at which lines start, for looking up line numbers.
#[derive(Clone, Debug)]
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

/// Returns the end of the lines of a list item whose own text ends at `own`, without trailing blank lines: indented lines
/// belong to it, and unindented text, such as a rule, does not.
pub(crate) fn item_end(text: &str, own: usize, limit: usize) -> usize {
    // The text of an item may include its line end.
    let own = text[..own].trim_end().len().min(limit);
    let (mut end, mut at) = (own, own);
    for line in text[own..limit].split_inclusive('\n') {
        let is_first = at == own;
        at += line.len();
        if is_first || line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            end = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    end
}

/// Merged ranges, so that a lookup is a binary search.
#[derive(Clone, Debug, Default)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::new("a\nbc\n\nd");
        let found: Vec<usize> = (0..7).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 2, 2, 2, 3, 4]);
        assert_eq!(Lines::new("").line(0), 1);
    }
}

#[cfg(test)]
mod ranges_tests {
    use super::*;

    #[test]
    fn merged_ranges_contain_the_same_offsets() {
        let ranges = Ranges::merge([0..3, 1..2, 3..5, 7..9].into_iter());
        let contained: Vec<usize> = (0..10).filter(|at| ranges.contains(*at)).collect();
        assert_eq!(contained, [0, 1, 2, 3, 4, 7, 8]);
    }
}
