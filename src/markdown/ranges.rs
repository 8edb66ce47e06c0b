//! Tests whether byte offsets are inside a set of ranges.

use std::ops::Range;

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
    fn merged_ranges_contain_the_same_offsets() {
        let ranges = Ranges::merge([0..3, 1..2, 3..5, 7..9].into_iter());
        let contained: Vec<usize> = (0..10).filter(|at| ranges.contains(*at)).collect();
        assert_eq!(contained, [0, 1, 2, 3, 4, 7, 8]);
    }
}
