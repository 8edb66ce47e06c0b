//! Maps byte offsets to lines.

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
